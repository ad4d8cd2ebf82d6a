#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A domU of test_xen_host: laps on each vCPU, alone and under perf. What a lap costs besides
# (the shell, perf) is nearly the same in a brief and in a whole one: as many digits to
# read, as many samples to write.
. /lib.sh

vcpus=$(nproc)
# how long an interrupt takes is a matter of who else runs here
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent

# on_each COMMAND…: at once on every vCPU
on_each() {
	for vcpu in $(seq "$vcpus"); do
		"$@" &
	done
	wait
}

stat() {
	perf stat -x , -o "stat.$vcpu" -e cycles:u,instructions:u spin "$1"
}

# without -B perf looks for build ids, which costs more the first time
record() {
	perf record -q -B -e cycles:u -c "$2" -o "samples.$vcpu" spin "$1"
}

# lap NAME COMMAND…
lap() {
	until_go
	name=$1
	shift
	on_each "$@"
	result "lap_$name" yes
}

lap before_all spin 000001000
lap only_brief spin 000001000
lap only_whole spin 100000000
lap stat_brief stat 000001000
lap stat_whole stat 100000000
lap perf_brief record 010000000 10003
lap perf_whole record 100000000 100003
lap take_turns spin 100000000
until_go
for vcpu in $(seq "$vcpus"); do
	perf script -i "samples.$vcpu" -F ip,sym >shown
	result samples "$(wc -l <shown)"
	result spinning "$(grep -c spin_loop shown)"
	for event in cycles instructions; do
		result $event "$(sed -n "/$event/s/,.*//p" "stat.$vcpu")"
	done
done
