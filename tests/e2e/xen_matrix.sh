#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What perf counts and samples: the same on the bare machine and in each domU of
# test_xen_matrix. A domU's copy begins with other values of the variables: the event
# counted first and second, the vCPUs, what is counted to 10^9, and whether it is the whole.
: "${first:=instructions}" "${second:=cycles}" "${cpus:=0}" "${far:=instructions cycles}"
: "${whole=yes}"
. /lib.sh

# how long an interrupt takes is a matter of who else runs here
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
at=0

# together COMMAND…: on each vCPU, which is $cpu. What spins until $at begins in all
# domains at nearly the same time, because their clocks did; idle time passes at once.
together() {
	at=$((at + 20))
	for cpu in $cpus; do
		"$@" &
	done
	wait
}

count_one() {
	taskset -c "$cpu" perf stat -x , -o "stat.$cpu" -e "$2:u" spin "$1" $at
	sed 's/\(.*\)\.\(..\) .*/\1\20/' /proc/uptime >"ended.$cpu"
}

# count NAME N EVENT: says of each vCPU what was counted, and in how many milliseconds
count() {
	together count_one "$2" "$3"
	for cpu in $cpus; do
		result "$1" "$(sed -n "/$3/s/,.*//p" "stat.$cpu")"
		result "$1.ms" $(($(cat "ended.$cpu") - at * 1000))
	done
}

record_one() {
	n=$1
	shift
	taskset -c "$cpu" perf record -q -N -B -o "samples.$cpu" "$@" spin "$n" $at
}

# sample NAME N OPTION…: says of each vCPU how many samples are at which address, how many
# milliseconds lie between the first and the last, and how often half of one lies between
# two, because another vCPU ran
sample() {
	name=$1
	shift
	together record_one "$@"
	for cpu in $cpus; do
		perf script -i "samples.$cpu" -F time,event,ip | sed -n 's/: .*real.*: */ /p' >shown
		result "$name" "$(awk '{ n[$2]++ } END { for (ip in n) print ip ":" n[ip] }' shown |
			tr '\n' ' ')"
		result "$name.ms" "$(awk 'NR == 1 { a = $1 } END { print int(($1 - a) * 1000) }' shown)"
		result "$name.gaps" "$(awk '$1 - a > 0.0005 { n++ } { a = $1 } END { print n - 1 }' shown)"
	done
}

# everywhere N: a line that spins on each vCPU
everywhere() {
	at=$((at + 20))
	for cpu in $cpus; do
		echo "taskset -c $cpu spin $1 $at &"
	done
	echo wait
}

count "$first.8" 100000000 "$first"
count "$second.8" 100000000 "$second"
for event in $far; do
	count "$event.9" 1000000000 "$event"
done
sample cycles 100050000 -e cycles/period=100003,name=real/u
sample fine 200010000 -e cycles/period=20000,name=real/u
# the emulator notices an overflow of instructions when the other event's comes, which is
# due one event later
sample instructions 100050000 \
	-e '{instructions/period=100003,name=real/u,instructions/period=100004,name=kick/u}'
[ "$whole" ] || exit 0

everywhere 100000000 >both
perf stat -a -A -x , -o wide -e '{instructions:u,cycles:u}' sh both
result wide.instructions "$(sed -n '/instructions/s/CPU[0-9]*,\([0-9]*\).*/\1/p' wide | xargs)"
result wide.cycles "$(sed -n '/cycles/s/CPU[0-9]*,\([0-9]*\).*/\1/p' wide | xargs)"
everywhere 100050000 >both
perf record -a -q -N -B -o wide -e cycles/period=100003/u sh both
perf script -i wide -F comm,cpu,ip | awk '$1 == "spin"' >shown
for cpu in $cpus; do
	result wide "$(grep -c "\[00$cpu\]" shown)"
done
result wide.ips "$(awk '{ n[$3]++ } END { for (ip in n) print ip ":" n[ip] }' shown | xargs)"

# user and kernel; more events than counters
everywhere 50000000 >work
echo 'busybox dd if=/dev/zero of=/dev/null bs=64k count=2000 2>/dev/null' >>work
perf stat -x , -o sides -e '{instructions:u,instructions:k,instructions,cycles}' sh work
result sides "$(sed -n 's/^\([0-9]*\),.*/\1/p' sides | xargs)"
perf record -q -N -B -o kernel -e cycles/period=50021/k sh work
result kernel "$(perf script -i kernel -F ip | awk '/ffff/ { n++ } END { print n, NR - n }')"
at=$((at + 20))
i=instructions:u
perf stat -x , -o turns -e $i,$i,$i,$i,$i,$i,$i,cycles:u spin 2000000000 $at
result turns "$(sed -n 's/^\([0-9]*\),.*/\1/p' turns | xargs)"
result turns.on "$(awk -F, '/:u/ { print int($5) }' turns | xargs)"
