#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Twelve events on fewer counters, on programs of a steady and of a changing rate, of as
# many instructions as the argument says.
. /usr/lib/testbed/lib.sh

events=cycles:k
for i in 1 2 3 4 5 6 7 8 9 10 11; do
	events="$events,instructions/name=i$i/:k"
done
vm_create steady --insns "$1"
vmmprof stat --vm "steady:$events" --json -o /out/steady.json -- \
	sh -c '. /usr/lib/testbed/lib.sh; vm_start steady; vm_done steady' 2>/out/steady.err
result steady_status $?
result steady "$(vm_field steady insns)"
vm_end steady

events=instructions/name=u1/:u
for i in 2 3 4 5 6; do
	events="$events,instructions/name=u$i/:u"
done
for i in 1 2 3 4 5 6; do
	events="$events,instructions/name=k$i/:k"
done
vm_create phases --program phases --insns "$1" --rounds 400 --ratio 1:1
vmmprof stat --vm "phases:$events" --json -o /out/phases.json -- \
	sh -c '. /usr/lib/testbed/lib.sh; vm_start phases; vm_done phases' 2>/out/phases.err
result phases_status $?
result user "$(vm_field phases user)"
result kernel "$(vm_field phases kernel)"
vm_end phases
# a group of more events than there are counters: the rest is refused, the others count
# exactly
group=instructions/name=g1/
for i in 2 3 4 5 6 7 8; do
	group="$group,instructions/name=g$i/"
done
vm_create group --insns 100000000
vmmprof stat --vm "group:{$group}" --json -o /out/group.json -- \
	sh -c '. /usr/lib/testbed/lib.sh; vm_start group; vm_done group'
result group_status $?
result group "$(vm_field group insns)"
vm_end group
vm_create group --insns 100000000
vmmprof record --vm "group:{$group}" -c 1000003 --json -o /tmp/group -- \
	sh -c '. /usr/lib/testbed/lib.sh; vm_start group; vm_done group' >/out/record.json 2>/out/record.err
result record_status $?
vm_end group
result resync "$(grep -c kvm_vcpu_pmu_resync_el0 /proc/kallsyms)"
