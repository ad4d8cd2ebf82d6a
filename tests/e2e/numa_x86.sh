#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two nodes with an LLC of 1 MB each. What a VM of known accesses reads, by vmmprof and by
# perf at once; then a wrong placement, an LLC for two, a line that two nodes write.
. /usr/lib/testbed/lib.sh

on() { # NAME CPUS
	taskset -ap "$2" "$(vm_pid "$1")" >/dev/null
}

sweep() { # NAME NODE KB CPUS OPTION…
	vm_create "$1" --node "$2" --memory 4 --program sweep --footprint "$3" "${@:5}"
	on "$1" "$4"
}

measure() { # FILE COMMAND [WORD…]
	vmmprof "$2" --json --windows 1 --window 5 "${@:3}" \
		>"/out/$1.json" 2>"/out/$1.err"
	result "$1" $?
}

remote() { # FILE: where far's lines from memory come from
	vmmprof stat --json --duration 0.5 -o "/out/$1.json" \
		--vm far:ls_refills_from_sys.local_dram,ls_refills_from_sys.remote_dram 2>"/out/$1.err"
}

placed() { # FILE
	vmmprof list --json --vcpus --memory >"/out/$1.json"
}

sweep known 1 3072 0x1 --insns 4000000
perf stat -x, -o /out/perf-vcpu -e cpu/event=0x29,umask=0x1/G,cpu/event=0x43,umask=0x40/G \
	-t "$(vm_field known tid)" -- \
	vmmprof stat --json -o /out/known.json \
	--vm known:ls_dispatch.ld_dispatch,ls_refills_from_sys.remote_dram \
	-e dram_channel_data_controller_0,l3_comb_clstr_state.request_miss -- \
	perf stat -x, -a -o /out/perf-nodes --per-node \
	-e amd_df/event=0x7,umask=0x38/,amd_l3/event=0x6,umask=0x1/ \
	-e cpu/event=0x43,umask=0x48/GH,cpu/event=0x43,umask=0x58/GH -- \
	sh -c '. /usr/lib/testbed/lib.sh; vm_start known; vm_done known' 2>/out/known.err
result insns "$(vm_field known insns)"
vm_end known

sweep far 1 3072 0x1 --insns 20000000 --repeat 0
sweep home 1 256 0x4 --insns 20000000 --repeat 0
vm_start far home
measure far diagnose
remote unmoved
placed before
vmmprof advise --json --apply --windows 1 --window 0.5 >/out/advice.json 2>/out/advice.err
result advise $?
remote moved
placed after
vmmprof advise --json --undo >/out/undo.json 2>/out/undo.err
result undo $?
remote undone
placed back
vm_end far home

sweep one 0 700 0x1 --memory 2 --insns 20000000 --repeat 0
sweep two 0 700 0x2 --memory 2 --insns 20000000 --repeat 0
vm_start one two
measure thrash diagnose
vm_end one two

vm_create share --vcpus 2 --node 0 --memory 4 --program bounce --insns 20000000 --repeat 0
taskset -p 0x1 "$(vm_field share tid 0)" >/dev/null
taskset -p 0x4 "$(vm_field share tid 1)" >/dev/null
vm_start share
vmmprof stat --json --duration 0.5 -o /out/shared.json \
	--vm share:instructions,ls_refills_from_sys.local_cache,ls_refills_from_sys.remote_cache \
	2>/out/shared.err
measure share diagnose --window 10 # its events take turns, and a busy host has fewer of them
vm_end share
