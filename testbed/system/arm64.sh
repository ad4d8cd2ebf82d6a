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

cpu_model() {
	fail "--cpu $1: this machine has one processor only"
}

# Pointer authentication is left out because emulating its cipher is slow.
machine_options=(-M "virt,virtualization=on,gic-version=3"
	-cpu "max,sve=off,lpa2=off,pauth=off" -nodefaults -no-user-config)
machine_words=''
# how a guest starts; the processor that it has without KVM
linux_guest="qemu-system-aarch64 -M virt,gic-version=3"
tcg_cpu=cortex-a57
