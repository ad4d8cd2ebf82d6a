#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The demonstration, as typed in dom0 of a Xen with the graft.
. /usr/lib/testbed/lib.sh

show() {
	printf '\n# %s\n' "$*" | fold -sw 84 | sed '3,$s/^/      /; $!s/ $/ \\/'
	"$@"
}

tell() {
	echo
	printf '%s\n' "$@"
}

with_toolstack
syms=/usr/lib/testbed
echo "dom0 on $(uname -sr) and $(uname -m), one CPU. Xen says: $(xl dmesg |
	sed -n 's/.*(XEN) vpmu: //p')"

show vmmprof list

tell "Now web and db, each on its own, use perf as on bare metal: web counts instructions," \
	"db samples cycles. At the same time dom0 counts both, with other events, and Xen itself:"
domu_go 1 2
show vmmprof stat --vm web:cycles:u,cycles:k --vm db:instructions --vm xen:cycles --duration 1.5

tell "They are still at it. Now dom0 samples both and Xen, each with a period of its own:"
show vmmprof record --vm web:cycles/period=200000/ --vm db:cycles/period=500000/ \
	--vm xen:cycles/period=20000/ --symbols web=/proc/kallsyms --symbols web=$syms/work \
	--symbols db=/proc/kallsyms --symbols db=$syms/work --symbols xen=$syms/xen-syms \
	-o /out/demo.data --duration 1.5
show vmmprof report /out/demo.data --limit 6

tell "(What Xen does with interrupts off is seen at its way out, leave_hypervisor_to_guest.)" \
	"" "And this is what web's perf stat and db's perf record saw meanwhile, of themselves:"
domu_go 1 2
domu_ended 1 2
