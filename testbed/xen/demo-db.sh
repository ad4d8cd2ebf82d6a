#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The domU db of the demonstration: samples its program with its own perf.
. /lib.sh

echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
until_go
perf record -q -e cycles -c 500000 -o samples work db 5 >/dev/null
perf report -q --stdio -i samples --sort symbol 2>/dev/null | sed '/^$/d; s/[ -]*$//' | head -n 6 >shown
until_go
cat shown
