#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of test_xen_x86 on a Xen whose vpmu= is not given.
. /usr/lib/testbed/lib.sh

vmmprof check --json >/out/check.txt
result check $?
vmmprof list --json >/out/list.txt
result list $?
perf stat -x , -e instructions true 2>stat
result instructions "$(sed -n '/instructions/s/,.*//p' stat)"
