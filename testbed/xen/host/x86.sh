# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The x86 machine's part of the scenarios' library; dom0 starts the domUs.

# domus_begin: what they print goes to `run`, marked, as it does from Xen on Arm
domus_begin() {
	[ -s /usr/lib/testbed/domus ] || return 0
	with_toolstack
	mkdir /run/domus/disk /run/domus/log
	for disk in /sys/block/vd*; do
		[ "$(cat "$disk/serial")" = domus ] && mount -o ro "/dev/${disk##*/}" /run/domus/disk
	done
	xenconsoled --log=guest --log-dir=/run/domus/log
	while read -r domu name _; do
		log=/run/domus/log/guest-$name.log
		touch "$log"
		tail -n +1 -f "$log" | sed -u "s/^/testbed: dom$domu: /" &
		xl create -qe "/run/domus/disk/$domu.cfg" || poweroff -f
	done </usr/lib/testbed/domus
}

# let_go ID: types into its console
let_go() {
	echo >"$(xenstore-read "/local/domain/$1/console/tty")"
}

# with_toolstack: starts what xl needs, unless domUs needed it already
with_toolstack() {
	PATH=$PATH:/usr/lib/xen-4.17/bin
	[ ! -e /run/xenstored.pid ] || return 0
	modprobe xenfs
	mount -t xenfs xenfs /proc/xen
	mkdir -p /var/run/xen /run/xenstored /var/log/xen /var/lib/xen /var/lib/xenstored
	xenstored --pid-file /run/xenstored.pid
	xen-init-dom0 >/dev/null
}
