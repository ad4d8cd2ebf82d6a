#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The completions are bash that bash accepts, and complete what they should.
# usage: completion.sh VMMPROF
set -euo pipefail
vmmprof=$1
failed=0

for shell in bash zsh; do
	"$vmmprof" completion "$shell" | bash -n || failed=1
done
eval "$("$vmmprof" completion bash)"

# A stand-in with hostile names: the completion must not run them.
vmmprof()
{
	printf 'vm,id\nweb,1\ndb,2\n$(touch planted),3\n`touch planted`,4\n'
}
# compopt works only while readline completes.
compopt()
{
	:
}

expect()
{
	local wanted=$1
	shift
	COMP_WORDS=(vmmprof "$@")
	COMP_CWORD=$#
	_vmmprof
	if [[ " ${COMPREPLY[*]} " != *" $wanted "* ]]; then
		echo "vmmprof $*<TAB>: expected $wanted, got: ${COMPREPLY[*]}"
		failed=1
	fi
}

expect completion co
expect --version --v
expect completion help comp
expect --help completion --h
expect web stat --vm w
expect kvm list --source k
expect xen list --source ''
expect db stat --vm ''
expect "${BASH_SOURCE[0]}" stat "${BASH_SOURCE[0]%.sh}"
for command in $("$vmmprof" help | awk '/^  / { print $1 }'); do
	expect "$command" "$command"
	for option in $("$vmmprof" "$command" --help |
		sed -n 's/^  \(-., \)\? *\(--[a-z0-9-]*\).*/\2/p'); do
		expect "$option" "$command" "$option"
	done
done
if [ -e planted ]; then
	echo "the completion ran a VM's name"
	rm planted
	failed=1
fi
exit $failed
