#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What each domain of test_xen_x86 counts and samples of its own programs, with perf and
# with vmmprof. A domU's copy
# begins with another event: its name for perf, its number of PERF_TYPE_HARDWARE.
: "${event:=instructions}" "${config:=1}"
. /lib.sh
PATH=$PATH:/usr/lib/testbed

# how long an interrupt takes is a matter of who else runs here
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent

# in ticks of USER_HZ
stolen() {
	awk '$1 == "cpu" { print $9 }' /proc/stat
}

[ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing
[ ! -e /script ] || until_go
stolen=$(stolen)
laps "$config" 100000 1000
# count NAME N: the event of spin N, and the interrupts that its process took
count() {
	perf stat -x , -o counts -e "$event:u,irq:irq_handler_entry" spin "$2"
	result "$1" "$(sed -n "/$event/s/,.*//p" counts)"
	result "$1.interrupts" "$(sed -n '/irq_handler/s/,.*//p' counts)"
}

count empty 300
count count 100000000
result stolen $(($(stolen) - stolen))
perf record -q -N -B -e "$event:u" -c 100003 -o samples spin 100050000
perf script -i samples -F ip,sym >shown
result samples "$(wc -l <shown)"
result spinning "$(grep -c spin_loop shown)"
result kernel "$(grep -c ffffffff shown)"

# What vmmprof says of this domain from inside: --source kvm, as dom0 has Xen's too.
vmmprof check --source kvm --json >check
for row in pmu counters modes vms; do
	result "check.$row" "$(sed -n "s/.*\"id\":\"$row\".*\"verdict\":\"\([a-z]*\)\".*/\1/p" check)"
done
vmmprof list --source kvm --json >list
result list "$? $(grep -c '"type":"vm"' list)"
