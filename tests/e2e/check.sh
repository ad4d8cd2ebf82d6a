#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vmmprof check on a host with a real PMU: its counters, some held, some users. Arguments:
# as many events as there are counters, separated by commas; twelve; one that a counter is
# held with.
. /usr/lib/testbed/lib.sh

# ask NAME COMMAND…: its output to /out/NAME.txt, its messages to NAME.err
ask() {
	name=$1
	shift
	"$@" >"/out/$name.txt" 2>"/out/$name.err"
	result "$name" $?
}

# with_rights CAPS COMMAND…: as an ordinary user with these capabilities
with_rights() {
	caps=$1
	shift
	setpriv --reuid=ordinary --regid=ordinary --clear-groups \
		--inh-caps="$caps" --ambient-caps="$caps" "$@"
}

vm_create web --insns 2000000 --repeat 0 --pause 8
vm_start web
ask free vmmprof check --json
ask words vmmprof check
ask fitting vmmprof check --json --vm "web:$1"
ask twelve vmmprof check --json --vm "web:$1" -e "$2"
ask lacking vmmprof check --json --vm web:ref-cycles,instructions
ask nobody vmmprof check --json --vm wbe:cycles

# someone holds two of the counters
perf stat -e "cycles:D,$3:D" -a -o /tmp/held &
perf=$!
until readlink /proc/$perf/fd/* | grep -q perf_event; do
	sleep 0.05
done
sleep 0.5
ask held vmmprof check --json
kill -INT $perf
wait $perf

for level in 3 2 1; do
	echo $level >/proc/sys/kernel/perf_event_paranoid
	ask "level$level" as_ordinary 'vmmprof check --json'
done
echo 3 >/proc/sys/kernel/perf_event_paranoid
ask strict with_rights +perfmon,+sys_ptrace,+dac_read_search vmmprof check --json
echo 2 >/proc/sys/kernel/perf_event_paranoid
ask remedy with_rights +perfmon,+sys_ptrace,+dac_read_search vmmprof check --json
ask remedy_list with_rights +perfmon,+sys_ptrace,+dac_read_search vmmprof list --json
vm_end web
