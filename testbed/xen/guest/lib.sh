# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# For the scripts of domUs: . /lib.sh

# result NAME VALUE: comes out of `run` as "@@ NAME@domN VALUE"
result() {
	echo "@@ $1 $2"
}

# until_go: waits for dom0's scenario to say `domu_go` of this domU
until_go() {
	echo "testbed: waiting"
	read -r _
	# while Xen's console still has its focus here, Xen prints lines without our name
	sleep 0.1
}

# counted EVENT COMMAND…: what perf stat reads of one event
counted() {
	event=$1
	shift
	perf stat -x , -o /tmp/counted -e "$event" "$@" >/dev/null
	sed -n '/^[^#]/s/,.*//p' /tmp/counted
}
