#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A domU's part of test_xen_hostile: it runs when it is destroyed.
. /lib.sh

until_go
while :; do
	:
done
