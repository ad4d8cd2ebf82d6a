# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# The x86 machine: QEMU with a PMU (../x86), an AMD processor with SVM and nested paging.

debian=amd64
triplet=x86_64-linux-gnu
cpu_family=x86_64
compiler_package=gcc-x86-64-linux-gnu
console=ttyS0

# number FILE OFFSET SIZE: unsigned, little-endian
number() {
	od -An -v -t "u$3" -j "$2" -N "$3" "$1"
}

# make_kernel FILE: the one that the emulator, Xen and guests boot, unpacked: to have it
# do so itself would be half of a boot. Fields as in the kernel's
# Documentation/x86/boot.rst; four bytes of the size come last.
make_kernel() {
	local packed=$sysroot/boot/Image start size
	start=$((($(number "$packed" $((0x1f1)) 1) + 1) * 512 + $(number "$packed" $((0x248)) 4)))
	size=$(($(number "$packed" $((0x24c)) 4) - 4))
	head -c $((start + size)) "$packed" | tail -c "$size" | xz -dc >"$1"
}

need_emulator() {
	emulator=$("$testbed/x86/prepare")/qemu-system-x86_64
}

# cpu_model NAME: with counters and, of AMD, SVM, without what the emulator cannot do; of
# MWAIT it makes a pause, with which idle processors never halt. Where a hypervisor shows
# itself, Linux does not look for Nehalem's uncore.
cpu_model() {
	local lacks=monitor,misalignsse
	case $1 in
	EPYC*) lacks+=,rdseed,sha-ni,fxsr-opt,3dnowprefetch,osvw,topoext,nrip-save,xsavec ;;&
	EPYC-*) lacks+=,rdpid,clzero,xsaveerptr,wbnoinvd,ibpb,amd-stibp,xsaves,perfctr-core ;;&
	EPYC-Milan) lacks+=,pcid,invpcid,fsrm,ibrs,amd-ssbd ;;
	Opteron_G3) lacks+=,rdtscp ;;
	EPYC | EPYC-Rome) ;;
	Nehalem) echo "$1,pmu=on,-hypervisor" && return ;;
	*) fail "$1: the processors are EPYC, EPYC-Rome, EPYC-Milan, Opteron_G3 and Nehalem" ;;
	esac
	echo "$1,pmu=on,+svm,+npt,-${lacks//,/,-}"
}

# numa_processors: half of $smp processors on each of two sockets, which are nodes. Linux
# takes eight APIC IDs of an EPYC for one LLC, so each has room for as many.
numa_processors() {
	local i
	processor_options=(-smp "$((smp / 2)),sockets=2,cores=8,maxcpus=16")
	for ((i = 0; i < smp / 2; i++)); do
		processor_options+=(-device
			"$processor-x86_64-cpu,socket-id=1,core-id=$i,thread-id=0")
	done
	node_processors=(0-7 8-15)
}

processor=EPYC
machine_options=(-M q35 -cpu "$(cpu_model $processor)" -rtc clock=vm -nodefaults
	-no-user-config)
# The watchdog would hold a counter.
machine_words="nmi_watchdog=0"
# how a guest starts; the processor that it has without KVM
linux_guest="qemu-system-x86_64 -M q35"
tcg_cpu=qemu64
