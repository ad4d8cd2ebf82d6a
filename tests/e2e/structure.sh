#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Several CPUs and two nodes: what `list` tells of VMs of several kinds.
. /usr/lib/testbed/lib.sh
. /usr/lib/testbed/machine

for vmm in qemu firecracker cloud-hypervisor crosvm kvmtool none; do
	vm_create "as-$vmm" --vcpus 2 --insns 1000000 --repeat 0 --pause 200 --thread-names $vmm
	vm_start "as-$vmm"
done
vm_create far --node 1 --memory 64 --insns 1000000 --repeat 0 --pause 100
taskset -ap 0x1 "$(vm_pid far)" >/dev/null
vm_start far
vm_create big --vcpus 16 --program idle
vm_start big
lguest start linux idle --pmu off --vcpus 2
$linux_guest -cpu $tcg_cpu -accel tcg -m 64 -nographic -nodefaults -S \
	-name guest=soft,debug-threads=on >/dev/null 2>&1 &
soft=$!
lguest ready linux
result linux-pmu "$(tr -d '\r' </run/guests/linux/console | sed -n 's/.*guest: pmu //p')"
sleep 1
for vm in as-qemu as-firecracker as-cloud-hypervisor as-crosvm as-kvmtool as-none far big; do
	result "pid-$vm" "$(vm_pid $vm)"
done
result pid-linux "$(cat /run/guests/linux/pid)"
result pid-soft $soft
vmmprof list --json --vcpus --memory >/out/list.json 2>/out/list.err
result list $?
vmmprof list >/out/list.txt
vmmprof check >/out/check.txt
result check $?
kill $soft
lguest stop linux
