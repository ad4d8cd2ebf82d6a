#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of test_xen_ends: a tool that is stopped, spoiled, bereft and killed.
. /usr/lib/testbed/lib.sh

# a command under a tool talks to the console that the tool's own output does not reach
exec 4>&1
with_toolstack

# record NAME EVENTS… -- COMMAND…: with the smallest rings
record() {
	name=$1
	shift
	vmmprof record --json --ring 4 -c 10000 -o "/out/$name.data" \
		--symbols web=/usr/lib/testbed/spin --symbols db=/usr/lib/testbed/spin \
		"$@" >"/out/$name.txt" 2>"/out/$name.err"
	result "$name" $?
	vmmprof report --json "/out/$name.data" >"/out/$name.report"
	result "${name}_report" $?
	xenpmu sets | sed "s/^@@ /@@ ${name}_/"
}

cat >words <<'END'
. /usr/lib/testbed/lib.sh
tool=$PPID
END
cat words - >stopped <<'END'
kill -STOP $tool
domu_go 1 >&4
until_domu 1 '@@ stopped'
kill -CONT $tool
END
cat words - >rubbish <<'END'
xenpmu spoil 1 2 spoiled &
domu_go 1 2 >&4
until_domu 1 '@@ rubbish'
until_domu 2 '@@ rubbish'
touch spoiled
wait
END
cat words - >destroyed <<'END'
domu_go 1 2 >&4
until_domu 1 '@@ destroyed'
xl destroy db
until_line /out/destroyed.txt 'VM ended (dom2)'
END
cat words - >killed <<'END'
domu_go 1 >&4
until_domu 1 '@@ killed'
kill -KILL $tool
END
cat words - >again <<'END'
domu_go 1 >&4
until_domu 1 '@@ again'
END

record stopped --vm web:cycles:u -- sh stopped
record rubbish --vm web:cycles:u --vm db:cycles:u -- sh rubbish
record destroyed --vm web:cycles:u --vm db:cycles:u -- sh destroyed
record killed --vm web:cycles:u --vm xen:cycles -- sh killed
record again --vm web:cycles:u --vm xen:cycles -- sh again
