#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A domU of test_xen_bed.
. /lib.sh

result name db
result vcpus "$(nproc)"
result instructions "$(counted instructions:u spin 1000000)"
until_go
result gone_on yes
