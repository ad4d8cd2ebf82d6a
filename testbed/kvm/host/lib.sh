# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# More for scenarios of the KVM bed; appended to what every bed offers.

# vm_create NAME OPTION…: a minivm with its vCPUs in being, none started. What it prints
# goes to /run/minivm/NAME; it stays until vm_end. $minivm: a copy of minivm to run instead.
vm_create() {
	mkdir -p /run/minivm
	vm=$1
	shift
	# the lines of an earlier VM of that name must not be taken for this one's
	rm -f "/run/minivm/$vm"
	"${minivm:-minivm}" --name "$vm" --thread-names qemu --wait --linger 0 "$@" \
		>"/run/minivm/$vm" 2>&1 &
	echo $! >"/run/minivm/$vm.pid"
	vm_says "$vm" '^minivm: ready'
}

# vm_says NAME PATTERN: waits until a line of what it prints matches; if it ends before, so
# does the scenario
vm_says() {
	until grep -q "$2" "/run/minivm/$1" 2>/dev/null; do
		kill -0 "$(vm_pid "$1")" 2>/dev/null || grep -q "$2" "/run/minivm/$1" || {
			echo "minivm $1 ended: $(cat "/run/minivm/$1")" >&2
			exit 1
		}
		sleep 0.05
	done
}

vm_pid() {
	cat "/run/minivm/$1.pid"
}

# vm_field NAME KEY [VCPU]: from its last line of that vCPU, for example tid or insns
vm_field() {
	sed -n "/ vcpu=${3:-0} /s/.* $2=\([^ ]*\).*/\1/p" "/run/minivm/$1" | tail -n 1
}

vm_start() {
	for vm in "$@"; do
		kill -USR1 "$(vm_pid "$vm")"
	done
}

# vm_done NAME…: waits until each has run its program
vm_done() {
	for vm in "$@"; do
		vm_says "$vm" '^minivm: done'
	done
}

vm_end() {
	for vm in "$@"; do
		kill -TERM "$(vm_pid "$vm")" 2>/dev/null
		wait "$(vm_pid "$vm")" 2>/dev/null
		# started by another shell of the scenario, it cannot be waited for
		while kill -0 "$(vm_pid "$vm")" 2>/dev/null; do
			sleep 0.05
		done
	done
}
