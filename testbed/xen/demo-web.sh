#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The domU web of the demonstration: counts its program with its own perf.
. /lib.sh

until_go
perf stat -o counts -e instructions:u,instructions:k work web 5 >/dev/null
until_go
sed -n '/instructions/s/ *$//p' counts
