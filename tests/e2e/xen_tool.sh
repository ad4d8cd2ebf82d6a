#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of test_xen_tool.
. /usr/lib/testbed/lib.sh

syms=/usr/lib/testbed

# run NAME COMMAND…: its output to /out, its status as a result
run() {
	name=$1
	shift
	"$@" >"/out/$name.txt" 2>"/out/$name.err"
	result "$name" $?
}

run numbers vmmprof list --json
with_toolstack
run check vmmprof check --json
run list vmmprof list --json --vcpus

run stat vmmprof stat --json --per-vcpu -I 50 --vm web:instructions:u --vm db:cycles:u &
until_line /out/stat.txt '"count"'
domu_go 1 2
until_domu 1 '@@ spun'
until_domu 2 '@@ spun'
pkill -INT -x vmmprof
wait

domu_go 1 2
run record vmmprof record --json -o /out/rec --vm web:cycles/period=50000/u \
	--vm xen:cycles/period=20000/ --symbols web=$syms/spin --symbols xen=$syms/xen-syms -- \
	sleep 0.5
run report vmmprof report --json /out/rec
run by_vcpu vmmprof report --json --by vcpu /out/rec

# a tool that is killed leaves its sets open, until the next one comes
vmmprof stat -I 50 --vm web:cycles,instructions --vm xen:cycles >killed &
until_line killed instructions
kill -9 $!
run after vmmprof stat --json --vm web:cycles:u,instructions:u,cycles:k -- sleep 0.1

run taken vmmprof stat --json --vm web:cycles --vm xen:r8,r11,r23,r24 -- sleep 0.1
run refused vmmprof stat --json --vm web:cycles,cache-misses,cycles:H -- sleep 0.1
sleep 1000 &
run process vmmprof stat --json -p $! -e task-clock -- sleep 0.1
kill $!
run gone vmmprof stat --json -I 50 --vm db:cycles &
until_line /out/gone.txt '"count"'
xl destroy db
wait $!
