#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of what a host's sample costs: it samples domain 1 while that runs.
. /usr/lib/testbed/lib.sh

exec 4>&1
echo '. /usr/lib/testbed/lib.sh; domu_go 1 >&4; domu_ended 1' >lap
vmmprof record --vm dom1:cycles/period=20000/ -o samples -- sh lap
result recorded $?
