#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A domU of test_xen_tool: spins a known number of times, then without end.
. /lib.sh

until_go
spin 100000000
result spun yes
until_go
while :; do
	spin 1000000000
done
