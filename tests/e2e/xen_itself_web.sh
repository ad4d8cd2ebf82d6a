#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A domU of test_xen_itself: its kernel works, then a program of its own.
. /lib.sh

until_go
while :; do
	dd if=/dev/urandom of=/dev/null bs=64k count=16 2>/dev/null
	spin 20000000
done
