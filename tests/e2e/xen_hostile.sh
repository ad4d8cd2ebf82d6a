#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of test_xen_hostile: a plain caller first, then hostile ones.
. /usr/lib/testbed/lib.sh

calls=$(sed -n 's/.*calls=\([0-9]*\).*/\1/p' /proc/cmdline)

# watch NAME DOMID PERIOD FRAMES MODE: in the background, begun when this returns
watch() {
	xenpmu watch "$2" "$3" "$4" "$5" "/tmp/$1" >"/tmp/$1.out" 2>&1 &
	echo $! >"/tmp/$1.pid"
	while [ ! -e "/tmp/$1.ready" ] && kill -0 $! 2>/dev/null; do
		sleep 0.01
	done
}

# watched NAME: ends it; its results are NAME_…
watched() {
	touch "/tmp/$1"
	wait "$(cat "/tmp/$1.pid")"
	result "$1_status" $?
	sed "s/^@@ /@@ $1_/" "/tmp/$1.out"
}

xenpmu info

# the way through: two domUs sampled at once, and Xen; one ring is read when its half is full, one never
watch plain 1 20000 17 woken
watch full 2 20000 2 full
watch xen xen 20000 129 drain
domu_go 1 2
domu_ended 1 2
watched plain
watched full
watched xen

xenpmu abuse 3
xenpmu random 1 "$calls" 3
result random_status $?

# a ring spoiled while its domain runs, which then is destroyed
watch spoiled 3 1000 3 rubbish
watch doomed 3 20000 257 drain
domu_go 3
sleep 0.2
xenpmu destroy 3
watched spoiled
watched doomed

# so is one that has a set open itself
domu_ended 5
xenpmu destroy 5 | sed 's/^@@ /@@ owner_/'

# what came of it: all is as it was
watch after 4 20000 17 drain
domu_go 4
domu_ended 4
watched after
