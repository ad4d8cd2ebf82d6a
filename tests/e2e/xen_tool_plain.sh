#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of test_xen_tool on a Xen without the graft.
. /usr/lib/testbed/lib.sh

vmmprof check --json >/out/check.txt
result check $?
vmmprof list --json >/out/list.txt
result list $?
vmmprof stat --json --vm dom0 -- sleep 0.1 >/out/stat.txt
result stat $?
