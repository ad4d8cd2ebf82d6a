# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# The Arm machine: stock QEMU's, with EL2 and a PMU.

debian=arm64
triplet=aarch64-linux-gnu
cpu_family=aarch64
compiler_package=gcc-aarch64-linux-gnu
console=ttyAMA0

# make_kernel FILE: the one that the emulator, Xen and guests boot
make_kernel() {
	cp "$sysroot/boot/Image" "$1"
}

need_emulator() {
	need qemu-system-aarch64 qemu-system-arm
	emulator=qemu-system-aarch64
}

# Pointer authentication is left out because emulating its cipher is slow.
cpu_model() {
	[[ $1 == max ]] || fail "--cpu $1: this machine has one processor only"
	echo max,sve=off,lpa2=off,pauth=off
}

# numa_processors: half of $smp processors on each of two nodes
numa_processors() {
	processor_options=(-smp "$smp")
	node_processors=("0-$((smp / 2 - 1))" "$((smp / 2))-$((smp - 1))")
}

processor=max
machine_options=(-M "virt,virtualization=on,gic-version=3"
	-cpu "$(cpu_model $processor)" -nodefaults -no-user-config)
machine_words=''
# how a guest starts; the processor that it has without KVM
linux_guest="qemu-system-aarch64 -M virt,gic-version=3"
tcg_cpu=cortex-a57
