#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two VMs sampled at once, one by cycles, each with its own period: primes, which do not
# beat with the programs' rounds. The argument is the other one's event.
. /usr/lib/testbed/lib.sh

minivm --write-symbols /out/guest.elf
vm_create hot --program two --insns 400000000 --ratio 9:1 --rounds 50
vm_create even --program two --insns 200000000 --ratio 1:1 --rounds 50
vmmprof record --vm hot:cycles/period=99991/ --vm "even:$1/period=20011/" \
	--symbols hot=/out/guest.elf --symbols even=/out/guest.elf -o /out/rec -- \
	sh -c '. /usr/lib/testbed/lib.sh; vm_start hot even; vm_done hot even' >/out/record.txt 2>&1
result status $?
for vm in hot even; do
	result "$vm-insns" "$(vm_field $vm insns)"
	result "$vm-hot" "$(vm_field $vm hot)"
	result "$vm-cold" "$(vm_field $vm cold)"
done
vm_end hot even
vmmprof report /out/rec --json >/out/report.json
result report_status $?
