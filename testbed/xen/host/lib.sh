# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# More for scenarios of the Xen bed; appended to what every bed offers.

# What the domUs have printed, each line with "domN: " before it.
domus=/run/domus/console

# until_domu ID PATTERN: waits until domU ID prints a line that matches from its start
until_domu() {
	until_line $domus "^dom$1: $2"
}

# domu_go ID…: lets domUs go on whose scripts are in `until_go`
domu_go() {
	for domu in "$@"; do
		until_domu "$domu" 'testbed: waiting'
		echo "testbed: go $domu"
	done
}

# domu_ended ID…: waits until their scripts have ended
domu_ended() {
	for domu in "$@"; do
		until_domu "$domu" 'testbed: ended'
	done
}

# with_toolstack: starts what xl needs, whose names of domUs are then those given to `run`
with_toolstack() {
	PATH=$PATH:/usr/lib/xen-4.17/bin
	modprobe xenfs
	mount -t xenfs xenfs /proc/xen
	mkdir -p /var/run/xen /run/xenstored /var/log/xen /var/lib/xen /var/lib/xenstored
	xenstored --pid-file /run/xenstored.pid
	{ xen-init-dom0 && init-dom0less; } >/dev/null
	while read -r domu name _; do
		xenstore-write "/local/domain/$domu/name" "$name" "/libxl/$domu/type" pvh
	done </usr/lib/testbed/domus
}

# domu_value ID NAME: its last result of that name
domu_value() {
	sed -n "s/^dom$1: @@ $2 //p" $domus | tail -n 1
}
