#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A domU of test_xen_smp: counts itself, in one thread after the other and as a whole,
# and has its second vCPU, if there is one, unplugged and plugged in. Twice two counters
# count the same.
. /lib.sh

second=/sys/devices/system/cpu/cpu1/online
exec 4<&0
cpus=$(nproc)

# told NAME: once dom0 says so, /tmp/NAME is there
told() {
	{ until_told <&4; : >"/tmp/$1"; } &
}

unplug() {
	times=0
	while [ ! -e /tmp/end ]; do
		echo 0 >$second && sleep 0.2 && echo 1 >$second && times=$((times + 1))
		sleep 0.2
	done
	result unplugged $times
}

# 64 bits wide: none overflows, and each has a name of its own
wide() {
	echo "armv8_pmuv3/config=0x11,config1=1,name=$1/$2"
}

until_go
told end
perf stat -a -I 500 -x , --summary -e "$(wide cycles)" -e "$(wide again)" \
	-o intervals </dev/null &
stat=$!
# perf wants all that it counts on to be there when it begins
while kill -0 $stat && ! grep -q cycles intervals; do
	sleep 0.1
done 2>/dev/null
[ "$cpus" = 1 ] || { spin 100000000000 & unplug & }
while :; do
	perf stat -x , -e "$(wide user u)" -e task-clock -o lap spin 20000000
	cat lap >>laps
	[ ! -e /tmp/end ] || break
done
kill -INT $stat
wait $stat
# what a counter can have counted is what the clock showed
awk -F , -v cpus="$cpus" '
	/summary/ { total[$4] = $2; next }
	/^ *[0-9]/ {
		rows++
		sum[$4] += $2
		time = $1 - last[$4]
		last[$4] = $1
		if ($2 / 1e9 - cpus * time > over) over = $2 / 1e9 - cpus * time
		if (sum[$4] / 1e9 - cpus * $1 > ahead) ahead = sum[$4] / 1e9 - cpus * $1
	}
	END {
		printf "@@ intervals %d\n", rows
		printf "@@ over_us %.0f\n@@ ahead_us %.0f\n", over * 1e6, ahead * 1e6
		printf "@@ cycles %.0f\n@@ again %.0f\n", sum["cycles"], sum["again"]
		printf "@@ cycles_total %.0f\n@@ again_total %.0f\n", total["cycles"], total["again"]
	}' intervals
awk -F , '
	{ count[$3] = $1 }
	$3 == "task-clock" {
		laps++
		cycles += count["user"]
		over = count["user"] / 1e6 - $1
		if (over > most) most = over
	}
	END {
		printf "@@ laps %d\n@@ lap_cycles %.0f\n", laps, cycles
		printf "@@ lap_over_us %.0f\n", most * 1e3
	}' laps
