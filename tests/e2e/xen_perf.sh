#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of test_xen_perf: its own perf, while the domUs are at theirs.
. /usr/lib/testbed/lib.sh

loop='i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done'

# how long an interrupt takes is a matter of who else runs here
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
domu_go 1 2
perf stat -x , -o stat -e '{instructions:u,cycles:u}' sh -c "$loop"
result instructions "$(sed -n '/instructions/s/,.*//p' stat)"
result cycles "$(sed -n '/cycles/s/,.*//p' stat)"
perf record -q -e cycles:u -c 100000 -o samples sh -c "$loop"
result samples "$(perf script -i samples -F ip | wc -l)"
