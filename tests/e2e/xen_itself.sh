#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of test_xen_itself: a domain that works and one that has Xen work, with Xen.
. /usr/lib/testbed/lib.sh

syms=/usr/lib/testbed

# it would take half of the time that the others need to boot
with_toolstack
xl pause calls
cat /proc/kallsyms >/out/kallsyms
domu_go 1
xl unpause calls

vmmprof record --json -o /out/rec --vm web:cycles/period=50021/ --vm xen:cycles/period=20011/ \
	--symbols web=/out/kallsyms --symbols web=$syms/spin --symbols xen=$syms/xen-syms \
	-- sleep 0.5 >/out/record.txt 2>/out/record.err
result record $?
vmmprof report --json /out/rec >/out/report.txt
result report $?

# no pCPU is idle: all time is somebody's
vmmprof stat --json --vm Domain-0:cycles --vm web:cycles --vm calls:cycles --vm xen:cycles \
	-- sleep 1 >/out/stat.txt
result stat $?
