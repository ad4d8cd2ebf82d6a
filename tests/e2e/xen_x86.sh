#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of test_xen_x86: what vmmprof says there; then its own perf, while the domUs
# are at theirs.
. /usr/lib/testbed/lib.sh

# run NAME COMMAND…: its output to /out, its status as a result
run() {
	name=$1
	shift
	"$@" >"/out/$name.txt" 2>"/out/$name.err"
	result "$name" $?
}

with_toolstack
run check vmmprof check --json
run list vmmprof list --json --vcpus
# a domain from outside, by its hardware's events and by its time
run stat vmmprof stat --json --vm '*:task-clock,instructions' -- sleep 0.2

# shellcheck disable=SC2046 # the domUs' numbers
domu_go $(sed 's/ .*//' /usr/lib/testbed/domus)
/measure.sh

# a process of dom0, which sleeps until it is being counted
spin=/usr/lib/testbed/spin
$spin 100000000 $(($(sed 's/\..*//' /proc/uptime) + 3)) &
run process vmmprof stat --json -p $! -e "instructions:u,cycles:u"
