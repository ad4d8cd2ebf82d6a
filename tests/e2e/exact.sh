#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two VMs on the one CPU, one counting instructions, the other cycles, of as many as the
# arguments say.
. /usr/lib/testbed/lib.sh

for n; do
	vm_create ins --insns $n
	vm_create cyc --insns $n
	vmmprof stat --vm ins:instructions --vm cyc:cycles -I 10 --json \
		-o /out/exact-$n.json -- \
		sh -c '. /usr/lib/testbed/lib.sh; vm_start ins cyc; vm_done ins cyc'
	result "status-$n" $?
	result "ins-$n" "$(vm_field ins insns)"
	result "cyc-$n" "$(vm_field cyc insns)"
	vm_end ins cyc
done

# both sides of one vCPU thread at once
vm_create sides --insns 50000000
vmmprof stat --vm sides:instructions --both --json -o /out/sides.json -- \
	sh -c '. /usr/lib/testbed/lib.sh; vm_start sides; vm_done sides'
result sides "$(vm_field sides insns)"
vm_end sides
