#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A domU of test_xen_perf.
. /lib.sh

# how long an interrupt takes is a matter of who else runs here
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
until_go
result instructions "$(counted instructions:u spin 100000000)"
result cycles "$(counted cycles:u spin 100000000)"
perf record -q -e cycles:u -c 100000 -o samples spin 100000050
perf script -i samples -F ip,sym >shown
result samples "$(wc -l <shown)"
result spinning "$(grep -c spin_loop shown)"
