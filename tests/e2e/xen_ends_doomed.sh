#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A domU of test_xen_ends: from the second go on it runs without end.
. /lib.sh

until_go
spin 50000000
result rubbish yes
until_go
while :; do
	spin 1000000000
done
