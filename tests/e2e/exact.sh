#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two VMs on the one CPU, one counting instructions, the other the event of the first
# argument: the one as many instructions long as the further arguments say, the other an
# eighth longer.
. /usr/lib/testbed/lib.sh

event=$1
shift
for n; do
	vm_create ins --insns $n
	vm_create other --insns $((n + n / 8))
	vmmprof stat --vm ins:instructions --vm "other:$event" -I 10 --json \
		-o /out/exact-$n.json -- \
		sh -c '. /usr/lib/testbed/lib.sh; vm_start ins other; vm_done ins other'
	result "status-$n" $?
	result "ins-$n" "$(vm_field ins insns)"
	result "other-$n" "$(vm_field other insns)"
	vm_end ins other
done

# both sides of one vCPU thread at once
vm_create sides --insns 50000000
vmmprof stat --vm sides:instructions --both --json -o /out/sides.json -- \
	sh -c '. /usr/lib/testbed/lib.sh; vm_start sides; vm_done sides'
result sides "$(vm_field sides insns)"
vm_end sides
