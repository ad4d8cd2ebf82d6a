#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The order of the ring's loads and stores holds, and what checks it notices when it
# does not: two threads under ThreadSanitizer, and all interleavings of a model by spin.
#
# usage: ring_order.sh stress GOOD NO_RELEASE NO_ACQUIRE   (builds of stress_ring.c)
#        ring_order.sh model ring.pml
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

stress() {
	local output still=(setarch -R)
	# an address space that is shuffled more than gcc 12's TSan expects ends it
	"${still[@]}" true 2>/dev/null || still=()
	output=$("${still[@]}" "$1" 200000 2>&1)
	result $? 'two threads: no record torn, out of order or unaccounted for' "$output"
	for broken in "$2" "$3"; do
		output=$("${still[@]}" "$broken" 200000 2>&1)
		[[ $output == *'data race'* ]]
		result $? "two threads: what ${broken##*_no_} alone keeps in order is noticed" \
			"$output"
	done
}

# All states of the model built with -D$2; its verdict is the output.
explore() {
	(cd "$scratch" && spin -a ${2:+-D$2=0} "$1" >/dev/null &&
		gcc -O1 -w -DSAFETY -o pan pan.c && ./pan) 2>&1
}

model() {
	local output
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	output=$(explore "$1" '')
	[[ $output == *'errors: 0'* ]]
	result $? 'model: every interleaving is in order' "$output"
	for order in HEAD_RELEASE HEAD_ACQUIRE TAIL_RELEASE TAIL_ACQUIRE; do
		output=$(explore "$1" $order)
		[[ $output == *'assertion violated'* ]]
		result $? "model: without $order something goes wrong" "$output"
	done
}

"$@"
echo "1..$results"
