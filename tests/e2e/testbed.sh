#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The emulated host itself, judged by perf: what vmmprof's own tests then rely on.
. /usr/lib/testbed/lib.sh

# started PERF-COMMAND…: in the background, and its events enabled when this returns. A
# sleep would not do: virtual time passes at once while perf waits for the disk.
started() {
	rm -f /tmp/control /tmp/answer
	mkfifo /tmp/control /tmp/answer
	"$@" -D -1 --control fifo:/tmp/control,/tmp/answer &
	echo enable >/tmp/control
	head -n 1 /tmp/answer >/dev/null
}

# count VM EVENTS: perf counts a waiting VM's first vCPU from before its start
count() {
	started perf stat -o "/tmp/$1.stat" -x, -e "$2" -t "$(vm_field "$1" tid)"
	echo $! >"/tmp/$1.perf"
}

# counted VM EVENT: what it read; ends the counting
counted() {
	if [ -e "/tmp/$1.perf" ]; then
		kill -INT "$(cat "/tmp/$1.perf")"
		wait "$(cat "/tmp/$1.perf")"
		rm "/tmp/$1.perf"
	fi
	awk -F, -v event="$2" '$3 == event {print $1}' "/tmp/$1.stat"
}

# Two VMs share the one processor; each counts something else, exactly.
vm_create web --insns 100000000
vm_create db --program two --insns 100000007
count web instructions:G,ref-cycles:G
count db cycles:G
vm_start web db
vm_done web db
for pair in web:instructions web:ref-cycles db:cycles; do
	result "$pair" "$(counted "${pair%:*}" "${pair#*:}:G")"
done
result web_true "$(vm_field web insns)"
result db_true "$(vm_field db insns)"
vm_end web db

# Samples: as many as the period says, each in the function that ran.
vm_create hot --program two --insns 100000000 --ratio 9:1
started perf record -q -e cycles:G -c 100000 -t "$(vm_field hot tid)" -o /out/hot.data
recorder=$!
vm_start hot
vm_done hot
kill -INT $recorder
wait $recorder
for pair in all:insns hot:hot cold:cold; do
	result "true_${pair%:*}" "$(vm_field hot "${pair#*:}")"
done
vm_end hot
# the raw records: perf script leaves out samples of guests that it knows nothing about
perf report -D -i /out/hot.data 2>/dev/null |
	sed -n 's/.*PERF_RECORD_SAMPLE.*: \(0x[0-9a-f]*\) period.*/\1/p' >/tmp/ips
result samples_all "$(wc -l </tmp/ips)"
result samples_hot "$(grep -c '^0x40003' /tmp/ips)"
result samples_cold "$(grep -c '^0x40004' /tmp/ips)"
result samples_outside "$(grep -vc '^0x4000[234]' /tmp/ips)"

# What a VM finder has to go by.
vm_create grown --thread-names qemu --insns 1000000 --add-vcpu-after 10
vm_start grown
vm_done grown
result vcpu_fds "$(readlink /proc/"$(vm_pid grown)"/fd/* | grep -c '^anon_inode:kvm-vcpu:')"
result vcpu_threads "$(cat /proc/"$(vm_pid grown)"/task/*/comm | grep -c '^CPU [01]/KVM$')"
vm_end grown
vm_create dying --insns 1000000000 --die-after 50
vm_start dying
wait "$(vm_pid dying)"
result dying_status $?

# A Linux guest, and its symbols.
lguest start linux web --seconds 1
lguest ready linux
result kallsyms "$(grep -c ' T _stext$' /run/guests/linux/kallsyms)"
lguest wait linux
result linux_done "$(grep -c '^guest: done' /run/guests/linux/console)"

result ordinary "$(as_ordinary 'perf stat -e cycles true >/dev/null 2>&1; echo $?')"
small_disk 1 /small
result small_disk_kb "$(df -k /small | awk 'NR == 2 {print $2}')"
