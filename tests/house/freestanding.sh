#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# core/ asks for nothing that a hypervisor has not: compiled as Xen would, by every
# compiler that is here, it leaves at most memcpy and memset undefined.
# usage: freestanding.sh [ROOT]
#        freestanding.sh --self-test   plant a call of the C library and see it found
set -uo pipefail
root=$(realpath "$(dirname "$0")/../..")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
failed=0

# check ROOT COMPILER FLAG...: prints what is wrong
check()
{
	local root=$1 cc=$2 source objects=()
	shift
	shift
	for source in "$root"/core/*.c "$root"/core/pmu/*.c; do
		[ -e "$source" ] || continue
		objects+=("$top/$cc-$(basename "$source").o")
		"$cc" "$@" -std=gnu99 -ffreestanding -Wall -Wextra -Werror -I"$root" \
			-c "$source" -o "${objects[-1]}" || return
	done
	"$cc" "$@" -nostdlib -r -o "$top/$cc.o" "${objects[@]}" || return
	nm -u "$top/$cc.o" | awk -v cc="$cc $*" \
		'$2 !~ /^mem(cpy|set)$/ { print cc ": core/ asks for " $2; bad = 1 }
		END { exit bad }'
}

if [ "${1:-}" = --self-test ]; then
	mkdir -p "$top/planted/core/pmu"
	printf 'int puts(const char *s);\nint f(void);\nint f(void)\n{\n\treturn puts("");\n}\n' \
		>"$top/planted/core/planted.c"
	if check "$top/planted" gcc -O2 >/dev/null; then
		echo "self-test: a call of puts() was not found"
		exit 1
	fi
	exit 0
fi
root=${1:-$root}
# Xen has no floating point, and none of gcc's helpers for atomics; a debug one is -O1.
arm='aarch64-linux-gnu-gcc -mgeneral-regs-only -mno-outline-atomics'
for how in 'gcc -O2' 'clang -O2' "$arm -O1" "$arm -O2"; do
	command -v ${how%% *} >/dev/null || continue
	check "$root" $how || failed=1
done
exit $failed
