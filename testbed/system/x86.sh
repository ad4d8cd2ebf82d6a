# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# The x86 machine: QEMU with a PMU (../x86), an AMD processor with SVM and nested paging.

debian=amd64
triplet=x86_64-linux-gnu
cpu_family=x86_64
compiler_package=gcc-x86-64-linux-gnu
console=ttyS0

need_emulator() {
	emulator=$("$testbed/x86/prepare")/qemu-system-x86_64
}

machine_options=(-M q35 -cpu "EPYC,pmu=on,+svm,+npt" -rtc clock=vm -nodefaults
	-no-user-config)
# The watchdog would hold a counter.
machine_words="nmi_watchdog=0"
linux_guest="qemu-system-x86_64 -M q35"
