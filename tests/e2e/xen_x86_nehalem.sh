#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dom0's part of test_xen_x86 on an Intel processor.
. /usr/lib/testbed/lib.sh

domu_go 1
/measure.sh perf
