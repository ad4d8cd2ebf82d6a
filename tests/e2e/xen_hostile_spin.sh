#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A domU's part of test_xen_hostile: when dom0 says so, a loop of known length.
. /lib.sh

until_go
spin 20000000
