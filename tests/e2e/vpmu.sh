#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A VM whose guest counts itself, by its own PMU, and one without a PMU, both counted by
# vmmprof: by events of the first argument; then by those of the second, which leave no
# counter for the guest; then, on x86, with KVM told that guests get no PMU.
. /usr/lib/testbed/lib.sh
. /usr/lib/testbed/machine

minivm=/tmp/qemu-system-minivm # a name by which vmmprof knows what the command line means
cp /usr/bin/minivm $minivm

# counted NAME EVENTS INSNS
counted() {
	vm_create own --program counts --insns "$3" --repeat 3 --cpu host,pmu=on
	vm_create plain --insns $(($3 + $3 / 8)) --cpu host,pmu=off
	vmmprof list --json >"/out/$1-list.json"
	vmmprof stat --vm "own:$2" --vm plain:instructions -I 10 --json -o "/out/$1.json" -- \
		sh -c '. /usr/lib/testbed/lib.sh; vm_start own plain; vm_done own plain'
	result "$1-status" $?
	for key in laps insns hot own; do
		result "$1-$key" "$(vm_field own $key)"
	done
	result "$1-plain" "$(vm_field plain insns)"
	vm_end own plain
}

counted room "$1" 10000000
counted crowd "$2" 30000000
[ "$machine" = x86 ] || exit 0
# the way back is the remedy that `vmmprof check` names
modprobe -r kvm_amd && modprobe kvm enable_pmu=0 && modprobe kvm_amd
result reloaded $?
counted off "$2" 10000000
vmmprof check --json >/out/check.json
