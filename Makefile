# SPDX-License-Identifier: GPL-2.0-or-later
# Habits on top of Meson. `make help` lists them.

BUILD := build

.PHONY: all setup demo demo-kvm demo-xen check check-unit check-sim check-kvm check-xen \
	check-long asan fuzz \
	bench bench-xen format install clean help

all: setup $(BUILD)/build.ninja ## build vmmprof (build/src/vmmprof)
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@meson setup $(BUILD)

build-asan/build.ninja:
	@meson setup build-asan -Db_sanitize=address,undefined -Db_lundef=false \
		-Dwerror=false

build-fuzz/build.ninja:
	@CC=clang meson setup build-fuzz -Dfuzz=true -Db_lundef=false

setup: ## install what is missing, by apt
	@tools/setup

demo: all ## profile the VMs of the built-in, simulated host: in seconds
	@tools/demo

demo-kvm: all ## boot a real KVM host with guests in QEMU and profile them (MACHINE=x86)
	@testbed/demo kvm $(if $(MACHINE),--machine $(MACHINE))

demo-xen: all ## boot a real Xen with dom0 and domUs in QEMU and profile them
	@testbed/demo xen

check: all ## every test; ends with "N passed, N failed, N skipped"
	@tests/run all

check-unit: all ## what needs nothing but a compiler
	@tests/run house unit local

check-sim: all ## the built-in host: the diagnosis scored on all generated hosts
	@tests/run sim

check-kvm: all ## the tests on the emulated KVM hosts, Arm and x86
	@tests/run kvm kvm-x86

check-xen: all ## the tests on the emulated Xen, Arm and x86
	@tests/run xen xen-x86

check-long: all ## campaigns that take longer; run by hand before an issue ends
	@tests/run long

asan: setup build-asan/build.ninja ## unit tests under AddressSanitizer and UBSan
	@tests/run asan

fuzz: setup build-fuzz/build.ninja ## every fuzzer for FUZZ_SECONDS (30), two at a time
	@tests/run fuzz

bench: all ## costs beside perf's, the built-in host's speed; figures in build/results
	@bench/run

bench-xen: all ## instructions that PMUs cost in Xen; figures in build/results
	@bench/xen/cost

format: ## clang-format on everything in C
	@git ls-files '*.c' '*.h' | xargs clang-format -i

install: all ## PREFIX and DESTDIR as meson knows them
	@meson install -C $(BUILD)

clean:
	@rm -rf build build-asan build-fuzz

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
