#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of test_xen_bed.
. /usr/lib/testbed/lib.sh

result hypervisor "$(cat /sys/hypervisor/type)"
result devices "$(cd /dev/xen && echo evtchn gntdev hypercall privcmd | xargs ls | xargs)"
with_toolstack
result domains "$(xl list | awk 'NR > 1 {print $1}' | xargs)"
xl destroy idle
result destroyed "$(xl list idle >/dev/null 2>&1; echo $?)"
result text "$(grep ' T _stext$' /proc/kallsyms)"
echo left >/out/file

until_domu 2 'testbed: waiting'
result before "$(domu_value 2 gone_on)"
domu_go 2
domu_ended 2
result after "$(domu_value 2 gone_on)"
