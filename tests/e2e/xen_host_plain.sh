#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The domU of test_xen_host that has no PMU: the same laps, by itself.
. /lib.sh

for lap in before_all:1000 only_brief:1000 only_whole:100000000 stat_brief:1000 \
	stat_whole:100000000 perf_brief:1000 perf_whole:100000000 take_turns:1000; do
	until_go
	spin "${lap#*:}"
	result "lap_${lap%:*}" yes
done
until_go
