#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What goes wrong in practice: each with the right words and exit status.
. /usr/lib/testbed/lib.sh

# ask NAME COMMAND…: its output to /out/NAME.txt, its messages to NAME.err
ask() {
	name=$1
	shift
	"$@" >"/out/$name.txt" 2>"/out/$name.err"
	result "$name" $?
}

# a fifth of the time at work: the rest costs the emulator nothing
busy='--insns 2000000 --repeat 0 --pause 8'

# an event that the PMU lacks, beside one that it has
vm_create web $busy
vm_start web
ask unsupported vmmprof stat --vm web:ref-cycles,instructions --duration 0.5 --json
ask only_unsupported vmmprof record --vm web:ref-cycles -o /out/none --duration 0.5
ask no_such_vm vmmprof stat --vm wbe:cycles --duration 0.5
ask no_such_event vmmprof stat --vm web:cycels --duration 0.5
ask zero vmmprof stat --vm web:instructions:u --duration 0.3 --json

# a vCPU that idles is no suspect, and its zero is a true one
vm_create idle --program idle
vm_start idle
ask idle vmmprof stat --vm idle:cycles --duration 0.5 --json

# more than one VM, one of them ending in the middle
vm_create dying $busy --die-after 400
ask dies vmmprof stat --vm dying:instructions --vm web:instructions -I 200 --duration 1.2 --json -- \
	sh -c '. /usr/lib/testbed/lib.sh; vm_start dying; sleep 1.2'
vm_create dying $busy --die-after 400
ask dies_recorded vmmprof record --vm dying:cycles/period=20000/ -o /out/dead -- \
	sh -c '. /usr/lib/testbed/lib.sh; vm_start dying; sleep 1.2'

# a VM that starts in the middle, and a vCPU that is added
ask starts vmmprof stat --vm 'late*:instructions' --vm web:cycles -I 500 --json -- \
	sh -c '. /usr/lib/testbed/lib.sh; sleep 0.3; vm_create late --insns 2000000 --repeat 0 --pause 8
	vm_start late; sleep 2; vm_end late'
vm_create plug $busy --add-vcpu-after 300
ask hotplug vmmprof stat --vm plug:instructions --per-vcpu -I 500 --json -- \
	sh -c '. /usr/lib/testbed/lib.sh; vm_start plug; sleep 3'
vm_end plug

# an ordinary user at Debian's strictest level
chmod 666 /dev/kvm
echo 3 >/proc/sys/kernel/perf_event_paranoid
as_ordinary 'minivm --name mine '"$busy"' >/dev/null 2>&1 & echo $! >/tmp/mine.pid; sleep 0.5'
ask paranoid as_ordinary 'vmmprof stat --vm mine:instructions --duration 0.3 --json'
ask paranoid_record as_ordinary 'vmmprof record --vm mine:cycles -o /tmp/mine.data --duration 0.3'
ask paranoid_check as_ordinary 'vmmprof check'
kill "$(cat /tmp/mine.pid)"
echo 1 >/proc/sys/kernel/perf_event_paranoid

# a disk of 1 MB
small_disk 1 /small
ask full_disk vmmprof record --vm web:cycles/period=5000/ -o /small/rec --duration 20
ask full_disk_report vmmprof report /small/rec --vm web
cp -r /small/rec /out/small

# Ctrl-C, TERM and KILL
for signal in INT TERM KILL; do
	vmmprof record --vm web:cycles/period=20000/ -o /out/$signal >/out/$signal.txt 2>&1 &
	pid=$!
	sleep 3
	kill -$signal $pid
	wait $pid
	result "signal_$signal" $?
	ask "report_$signal" vmmprof report /out/$signal
done
vmmprof stat --vm web:instructions --json >/out/stat_int.txt 2>/out/stat_int.err &
pid=$!
sleep 0.5
kill -INT $pid
wait $pid
result stat_int $?
vm_end web idle
