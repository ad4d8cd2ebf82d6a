# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# More for scenarios of the Xen bed; appended to what every bed offers.

# What the domUs have printed, each line with "domN: " before it.
domus=/run/domus/console

# until_domu ID PATTERN: waits until domU ID prints a line that matches from its start
until_domu() {
	until_line $domus "^dom$1: $2"
}

# domu_go ID…: lets domUs go on whose scripts are in `until_go`
domu_go() {
	for domu in "$@"; do
		until_domu "$domu" 'testbed: waiting'
		let_go "$domu"
	done
}

# domu_ended ID…: waits until their scripts have ended
domu_ended() {
	for domu in "$@"; do
		until_domu "$domu" 'testbed: ended'
	done
}

# domu_value ID NAME: its last result of that name
domu_value() {
	sed -n "s/^dom$1: @@ $2 //p" $domus | tail -n 1
}
