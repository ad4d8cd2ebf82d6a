#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Counters attached to a vCPU that runs and that nothing else makes way for.
. /usr/lib/testbed/lib.sh

result resync "$(grep -c kvm_vcpu_pmu_resync_el0 /proc/kallsyms)"

vm_create busy --program phases --insns 60000000000 --rounds 100000 --ratio 1:1
for task in /proc/"$(vm_pid busy)"/task/*; do
	taskset -pc 1 "${task##*/}" >/dev/null
done
vm_start busy
for i in 1 2 3 4 5 6; do
	vmmprof stat --vm busy:cycles:u,cycles:k --duration 0.2 --json -o /out/guest.$i.json
	result status $?
done
vmmprof stat --vm busy:cycles:u --host --duration 0.2 --json -o /out/host.json
vmmprof check --json >/out/check.json
vmmprof record --vm busy:cycles --duration 0.5 -o /tmp/chosen --json >/out/chosen.json
vmmprof record --vm busy:cycles -F 50 --duration 0.5 -o /tmp/rate --json >/out/rate.json
vmmprof record --vm busy:cycles:k -F 50 --duration 0.5 -o /tmp/kernel --json >/out/kernel.json
# a round is of 600,000: a period in no simple ratio to it falls on all parts alike
vmmprof record --vm busy:cycles -c 5170820 --duration 1 -o /tmp/period --json >/out/period.json
vmmprof report /tmp/period --json >/out/report.json
kill -KILL "$(vm_pid busy)"
