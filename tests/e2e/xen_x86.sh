#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of test_xen_x86: what vmmprof says there; then what it counts of its own, with
# perf and with vmmprof, while the domUs are at theirs.
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

# not while the HVM domain boots: its device model is a process of dom0
until_domu 3 'testbed: waiting'
# at once in dom0, PV and PVH; then in dom0 and HVM
domu_go 1 2
/measure.sh perf
domu_go 3
/measure.sh vmmprof
