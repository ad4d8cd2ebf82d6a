# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The Arm machine's part of the scenarios' library; Xen started the domUs.

domus_begin() { :; }

# let_go ID: `run` types into its console
let_go() {
	echo "testbed: go $1"
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
