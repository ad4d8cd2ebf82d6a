# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# For the scripts of domUs: . /lib.sh

# result NAME VALUE: comes out of `run` as "@@ NAME@domN VALUE"
result() {
	echo "@@ $1 $2"
}

# until_told: waits for a line on the console. While that still has its focus here, Xen
# prints lines without our name.
until_told() {
	read -r _
	sleep 0.1
}

# until_go: waits for dom0's scenario to say `domu_go` of this domU
until_go() {
	echo "testbed: waiting"
	until_told
}

# counted EVENT COMMAND…: what perf stat reads of one event
counted() {
	event=$1
	shift
	perf stat -x , -o /tmp/counted -e "$event" "$@" >/dev/null
	sed -n '/^[^#]/s/,.*//p' /tmp/counted
}
