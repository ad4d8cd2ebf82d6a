#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two nodes: one VM runs on node 0 with its memory on node 1, another one is at home.
. /usr/lib/testbed/lib.sh

vm_create far --node 1 --memory 64 --insns 1000000 --repeat 0 --pause 1
taskset -ap 0x1 "$(vm_pid far)" >/dev/null
vm_create home --node 1 --memory 64 --insns 1000000 --repeat 0 --pause 1
taskset -ap 0x2 "$(vm_pid home)" >/dev/null
vm_start far home
sleep 1

vmmprof diagnose --json --windows 2 --window 0.5 >/out/before.json 2>/out/before.err
result before $?
vmmprof diagnose --windows 2 --window 0.5 >/out/before.txt
vmmprof advise --windows 2 --window 0.5 >/out/advice.txt 2>&1
vmmprof advise --json --apply --windows 2 --window 0.5 >/out/advice.json 2>/out/advice.err
result advise $?
vmmprof list --json --vcpus --memory >/out/moved.json
vmmprof diagnose --json --windows 2 --window 0.5 >/out/after.json
result after $?
vmmprof advise --json --undo >/out/undo.json 2>/out/undo.err
result undo $?
vmmprof list --json --vcpus --memory >/out/back.json
vm_end far home
