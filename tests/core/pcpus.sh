#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Several pCPUs at once under ThreadSanitizer, and that what is wrong there is noticed.
#
# usage: pcpus.sh GOOD NO_FETCH NO_RELEASE   (builds of stress_pcpus.c)
set -u

results=0
result() { # OK NAME OUTPUT
	results=$((results + 1))
	if [ "$1" = 0 ]; then
		echo "ok $results - $2"
	else
		printf '%s\n' "$3" | sed 's/^/# /'
		echo "not ok $results - $2"
	fi
}

still=(setarch -R)
# an address space that is shuffled more than gcc 12's TSan expects ends it
"${still[@]}" true 2>/dev/null || still=()
for access in trap direct; do
	output=$("${still[@]}" "$1" $access 20000 2>&1)
	result $? "by $access access: every count is right, and no two pCPUs race" "$output"
	for broken in "$2" "$3"; do
		output=$("${still[@]}" "$broken" $access 20000 2>&1)
		[[ $? != 0 && $output == *'data race'* || $output == *'counter is wrong'* ]]
		result $? "by $access access: ${broken##*_pcpus_} is noticed" "$output"
	done
done
echo "1..$results"
