#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a shell can do to a program: closed and full outputs, values out of range.
# usage: cli.sh VMMPROF
set -uo pipefail
vmmprof=$1
failed=0

# expect STATUS WORDS-ON-STDERR COMMAND...
expect()
{
	local wanted=$1 words=$2 said status
	shift 2
	said=$("$@" 2>&1 >&3)
	status=$?
	if [ $status != "$wanted" ] || [[ "$said" != *"$words"* ]]; then
		echo "$*: expected status $wanted and \"$words\", got $status: $said"
		failed=1
	fi
} 3>/dev/null

full()
{
	"$@" >/dev/full
}

closed()
{
	"$@" >&-
}

for command in help 'list' 'check' 'completion bash' 'stat --help'; do
	expect 1 'standard output' full "$vmmprof" $command
	expect 1 'standard output' closed "$vmmprof" $command
done
expect 2 '--json=1: takes no value' "$vmmprof" list --json=1
expect 2 '--nothing: no such option' "$vmmprof" list --nothing
expect 2 '-Z: no such option' "$vmmprof" list -Z
expect 2 '--ring 0: expected' "$vmmprof" record --ring 0
expect 2 '--ring 18014398509481984: expected' "$vmmprof" record --ring 18014398509481984
expect 2 '--duration 0: expected' "$vmmprof" record --duration 0
expect 2 '--duration 0: expected' "$vmmprof" stat --duration 0
expect 0 '' "$vmmprof" help
exit $failed
