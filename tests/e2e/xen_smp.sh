#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of test_xen_smp: counts, samples and moves domUs that count themselves.
. /usr/lib/testbed/lib.sh

seconds=$(sed -n 's/.*seconds=\([0-9]*\).*/\1/p' /proc/cmdline)
period=$(sed -n 's/.*period=\([0-9]*\).*/\1/p' /proc/cmdline)
frames=$((period ? 5 : 0))

# start NAME COMMAND…: in the background, until the file /tmp/NAME is there
start() {
	name=$1
	shift
	xenpmu "$@" "/tmp/$name" >"/tmp/$name.out" 2>&1 &
	echo $! >"/tmp/$name.pid"
}

# stop NAME…: their results are NAME_…
stop() {
	for name in "$@"; do
		touch "/tmp/$name"
	done
	for name in "$@"; do
		wait "$(cat "/tmp/$name.pid")"
		result "${name}_status" $?
		sed "s/^@@ /@@ ${name}_/" "/tmp/$name.out"
	done
}

start web watch 1 "$period" "$frames" drain
start db watch 2 "$period" "$frames" drain
start strict watch 3 "$period" "$frames" drain
start doomed watch 4 "$period" "$frames" drain
for name in web db strict doomed; do
	while [ ! -e /tmp/$name.ready ] && kill -0 "$(cat /tmp/$name.pid)"; do
		sleep 0.01
	done
done
start shuffle shuffle 1 0,1,2,3,4
domu_go 1 2 3 4
sleep "$seconds"
xenpmu destroy 4
# they end
domu_go 1 2 3
domu_ended 1 2 3
stop shuffle web db strict doomed
