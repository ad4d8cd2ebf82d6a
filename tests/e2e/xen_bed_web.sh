#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A domU of test_xen_bed.
. /lib.sh

result name web
digits=0123456789
ten=$digits$digits$digits$digits$digits$digits$digits$digits$digits$digits
result long "$ten$ten"
result text "$(grep ' T _stext$' /proc/kallsyms)"
exit 7
