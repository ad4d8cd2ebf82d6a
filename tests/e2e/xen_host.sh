#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of test_xen_host: it counts and samples while the domUs run their laps.
. /usr/lib/testbed/lib.sh

exec 4>&1
syms=/usr/lib/testbed
cat >lap <<'END'
. /usr/lib/testbed/lib.sh
domu_go 1 2 3 >&4
for domu in 1 2 3; do
	until_domu $domu "@@ lap_$1 "
done
END

# counted LAP EVENTS-OF-DOM1 EVENTS-OF-DOM2: and the third is sampled
counted() {
	vmmprof record --json -o "/out/$1.data" --vm dom3:cycles/period=100003/u \
		--symbols dom3=$syms/spin -- \
		vmmprof stat --json --per-vcpu -I 100 -o "/out/$1.stat" \
		--vm "dom1:$2" --vm "dom2:$3" -- sh lap "$1" >"/out/$1.record" 2>"/out/$1.err"
	result "$1" $?
}

for lap in before_all only_brief only_whole stat_brief stat_whole perf_brief perf_whole; do
	counted $lap instructions:u cycles:u
	vmmprof report --json /out/$lap.data >/out/$lap.report
done
# six events on the four counters that Xen keeps for the host
many=cycles:u
for i in 1 2 3 4 5; do
	many="$many,instructions/name=i$i/u"
done
counted take_turns "$many" "$many"
domu_go 1 2 3
