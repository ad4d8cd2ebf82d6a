#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What each domain of test_xen_x86 counts and samples of its own programs:
#   measure.sh [perf|vmmprof]   by the one; without a word by all that it has
# A domU's copy begins with another event: its name for perf, its number of
# PERF_TYPE_HARDWARE; the event that is sampled, the samples that are due; what vmmprof
# counts; how many instructions the program has, and how often it is counted at most.
: "${event:=instructions}" "${config:=1}" "${sampled:=$event}" "${due:=1000}"
: "${by_vmmprof:=instructions cycles}" "${n:=100000000}" "${times:=1}"
. /lib.sh
PATH=$PATH:/usr/lib/testbed

# how long an interrupt takes is a matter of who else runs here
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent

# in ticks of USER_HZ
stolen() {
	awk '$1 == "cpu" { print $9 }' /proc/stat
}

# reading NAME VALUE: a count, which in a PVH or HVM domain may be another's (docs/xen.md)
reading() {
	result "$1" "$2"
	echo "$1 $2" >>readings
}

# settle COMMAND NAME N: takes its counts until each was read the same twice, or $times
settle() {
	: >readings
	for try in $(seq "$times"); do
		"$@"
		twice=$(sort readings | uniq -d | wc -l)
		[ "$twice" -lt "$(cut -d ' ' -f 1 readings | sort -u | wc -l)" ] || break
	done
	result "$2.tries" "$try"
}

# count NAME N: the event of spin N, and the interrupts that its process took
count() {
	perf stat -x , -o counts -e "$event:u,irq:irq_handler_entry" spin "$2"
	reading "$1" "$(sed -n "/$event/s/,.*//p" counts)"
	result "$1.interrupts" "$(sed -n '/irq_handler/s/,.*//p' counts)"
}

# by perf
measure_perf() {
	stolen=$(stolen)
	laps "$config" 100000 1000
	settle count empty 300
	settle count count "$n"
	result stolen $(($(stolen) - stolen))
	# a domain may miss samples while others sample, too (docs/xen.md)
	for try in 1 2 3 4 5; do
		perf record -q -N -B -e "$sampled:u" -c 100003 -o samples spin 100050000
		perf script -i samples -F ip,sym >shown
		had=$(grep -c -e spin_loop -e ffffffff shown)
		[ "$try" -gt 1 ] || result first_had "$had"
		[ "$had" -lt "$due" ] || break
	done
	result tries "$try"
	result samples "$(wc -l <shown)"
	result spinning "$(grep -c spin_loop shown)"
	result kernel "$(grep -c ffffffff shown)"
}

# vmmprof_counts NAME N: of a process that becomes spin N once it is being counted
vmmprof_counts() {
	events=$(printf '%s:u,' $by_vmmprof)irq:irq_handler_entry # words
	sh -c "read -r _ <go; exec spin $2" &
	until grep -q '^State:.S' /proc/$!/status; do
		sleep 0.05
	done
	vmmprof stat --source kvm --json -p $! -e "$events" \
		-- sh -c "echo >go; while grep -qs '^State:.[^Z]' /proc/$!/status; do sleep 0.1; done" \
		>stat 2>stat.err
	cat stat.err
	for name in $(echo "$events" | tr , ' '); do
		value=$(sed -n "/\"vcpu\":null/s/.*\"event\":\"$name\",\"value\":\([0-9]*\).*/\1/p" stat)
		case $name in
		irq:*) result "$1.$name" "$value" ;;
		*) reading "$1.$name" "$value" ;;
		esac
	done
}

# by vmmprof, and what it says of this domain from inside: --source kvm, as dom0 has Xen's
measure_vmmprof() {
	vmmprof check --source kvm --json >check
	for row in pmu counters modes vms; do
		result "check.$row" "$(sed -n "s/.*\"id\":\"$row\".*\"verdict\":\"\([a-z]*\)\".*/\1/p" check)"
	done
	vmmprof list --source kvm --json >list
	result list "$? $(grep -c '"type":"vm"' list)"
	mkfifo go
	settle vmmprof_counts stat.empty 000000300
	settle vmmprof_counts stat "$n"
}

[ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing
[ ! -e /script ] || until_go
case ${1:-all} in
all)
	measure_perf
	[ ! -e /bin/vmmprof ] || measure_vmmprof
	;;
*) "measure_$1" ;;
esac
