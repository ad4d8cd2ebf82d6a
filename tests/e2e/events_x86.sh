#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of known accesses, counted by vmmprof and by perf; which events of which is the
# test's plan, made of these functions. CPU 0 is for all else: the programs run where
# neither ticks (nohz_full) nor other programs are.
. /usr/lib/testbed/lib.sh
declare -A pid threads

start() { # NAME LOOP LINES LAPS NODE CPU [CPU]
	pattern "$@" >"/out/$1.ready" &
	pid[$1]=$! threads[$1]=$(($# - 5))
	until_line "/out/$1.ready" '^pattern: ready'
}

ask() { # FILE NAME COMMAND…: counts while the program runs once
	"${@:3}" -- pattern go "$2" "${threads[$2]}" 2>"/out/$1.err"
	result "$1" $?
}

mine() { # FILE NAME EVENTS: what vmmprof counts of the program, and of the nodes
	ask "$1" "$2" vmmprof stat --json -o "/out/$1.json" -p "${pid[$2]}" -e "$3"
}

theirs() { # FILE NAME EVENTS: what perf counts of the program
	ask "$1" "$2" perf stat -x\; -o "/out/$1.perf" -p "${pid[$2]}" -e "$3"
}

all() { # FILE NAME EVENTS: what perf counts of each CPU and of the nodes
	ask "$1" "$2" perf stat -x\; -o "/out/$1.all" -a -A -e "$3"
}

stop() { # NAME
	kill "${pid[$1]}"
	! wait "${pid[$1]}" 2>/dev/null
}

taskset -p 1 $$ >/dev/null
# neither must move pages meanwhile
echo 0 >/proc/sys/kernel/numa_balancing
echo never >/sys/kernel/mm/transparent_hugepage/enabled
! grep -qw GenuineIntel /proc/cpuinfo || modprobe intel-uncore
for node in 0 1; do
	echo 8 >/sys/devices/system/node/node$node/hugepages/hugepages-2048kB/nr_hugepages
done
. /usr/lib/testbed/plan
