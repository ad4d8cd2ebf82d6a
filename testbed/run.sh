# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# What the beds' `run` have in common: options, the layer over the host's disk image, the
# emulator with a time limit, and what comes back.

# shellcheck source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out='' smp=1 icount='' timeout=900 quiet=''
bin_dirs=() adds=()

common_usage() {
	cat <<-END
		  --machine NAME  arm64 or x86; before all other words (arm64)
		  --out DIR       where the files of /out and the console's log go (a fresh directory)
		  --bin-dir DIR   put the programs in DIR into the host's /usr/bin (may be repeated)
		  --add FROM:TO   put a file or directory there on the host (may be repeated)
		  --smp N         processors (1)
		  --icount, --no-icount
		                  time by instructions: counts are exact and repeat exactly with one
		                  processor (the default then), over-count with more;
		                  on x86 with one only
		  --timeout S     give up after so long (900)
		  --quiet         show only the results
	END
}

# common_option WORD…: takes an option that every bed has; $taken is its length in words
common_option() {
	taken=1
	case $1 in
	--icount) icount=yes ;;
	--no-icount) icount=no ;;
	--quiet) quiet=yes ;;
	*)
		taken=2
		case $1 in
		--out) out=$2 ;;
		--bin-dir) bin_dirs+=("$2") ;;
		--add) adds+=("$2") ;;
		--smp) smp=$2 ;;
		--timeout) timeout=$2 ;;
		*) return 1 ;;
		esac
		;;
	esac
}

qemu='' watchdog=''
cleanup() {
	[[ -z $watchdog ]] || kill "$watchdog" 2>/dev/null || true
	[[ -z $qemu ]] || kill "$qemu" 2>/dev/null || true
	rm -rf "$work"
}

# $work for the time of the run, $out for good
begin_run() {
	[[ -n $icount ]] || icount=$( ((smp == 1)) && echo yes || echo no)
	[[ $machine != x86 || $icount == no || $smp == 1 ]] ||
		fail "--icount with --smp $smp: on x86 Linux never starts its second processor then"
	work=$(mktemp -d)
	trap cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	out=${out:-$(mktemp -d "${TMPDIR:-/tmp}/vmmprof-run.XXXXXX")}
	mkdir -p "$out"
}

# stage_layer SCENARIO [ARGUMENT…]: what changes from run to run. It goes into an archive
# after the initial RAM disk's, which the kernel unpacks over it.
stage_layer() {
	local scenario=$1 dir program add
	shift
	layer=$work/tree/layer
	mkdir -p "$layer/usr/bin" "$layer/usr/lib/testbed"
	install "$testbed/system/host/session" "$layer/usr/lib/testbed/"
	cat "$testbed/system/host/lib.sh" "$here/host/lib.sh" >"$layer/usr/lib/testbed/lib.sh"
	# for what runs on the host to know it by
	cat >"$layer/usr/lib/testbed/machine" <<-END
		machine=$machine
		console=$console
		quiet_words="$quiet_words"
		linux_guest="$linux_guest"
		tcg_cpu=$tcg_cpu
	END
	for dir in "${bin_dirs[@]}"; do
		for program in "$dir"/*; do
			[[ -f $program && -x $program ]] && install "$program" "$layer/usr/bin/"
		done
	done
	for add in "${adds[@]}"; do
		mkdir -p "$(dirname "$layer/${add#*:}")"
		cp -rL "${add%%:*}" "$layer/${add#*:}"
	done
	install "$scenario" "$layer/scenario.sh"
	# its arguments, quoted for the shell that will read them
	{
		echo '#!/bin/sh'
		printf 'exec /scenario.sh'
		(($# == 0)) || printf ' %q' "$@"
		echo
	} >"$layer/scenario"
	chmod 755 "$layer/scenario"
}

pack_layer() {
	cat "$host_initrd" && pack "$work/tree"
}

# For Linux, everywhere. The kernel's tests of its own ciphers are half of a boot.
quiet_words="quiet panic=-1 cryptomgr.notests $machine_words"

processor_options=()
# start_emulator OPTION…: replaces this process; what the host's disks hold is in $work
start_emulator() {
	[[ $icount == no ]] || set -- "$@" -icount "shift=0,sleep=off"
	((${#processor_options[@]})) || processor_options=(-smp "$smp")
	exec "$emulator" "${machine_options[@]}" "${processor_options[@]}" "$@" \
		-display none -monitor none -no-reboot \
		-drive "file=$base_image,format=raw,if=none,id=base,readonly=on" \
		-device virtio-blk-pci,drive=base,serial=base \
		-drive "file=$work/out.tar,format=raw,if=none,id=out,cache=unsafe" \
		-device virtio-blk-pci,drive=out,serial=out
}

# Ends the emulator after the time limit, and itself with this script.
watch() {
	local sleeper
	sleep "$timeout" &
	sleeper=$!
	trap 'kill "$sleeper" 2>/dev/null; exit' TERM
	wait "$sleeper"
	touch "$work/timed-out"
	kill "$qemu"
}

# emulate EMULATOR READER: two functions; READER reads what EMULATOR prints, and ends with it
emulate() {
	truncate -s 1G "$work/out.tar"
	mkfifo "$work/console"
	"$1" </dev/null >"$work/console" 2>&1 &
	qemu=$!
	echo "$qemu" >"$work/qemu"
	watch &
	watchdog=$!
	# in the background and waited for, because bash runs its traps only in between
	"$2" <"$work/console" &
	reader=$!
	wait "$qemu" || true
	wait "$reader" || true
	qemu=''
	if [[ -e $work/timed-out ]]; then
		say "stopped after $timeout s; the console's log is $out/console.log"
		exit 124
	fi
}

# Brings back what the host left, and ends with the scenario's status.
end_run() {
	local status
	tar -C "$out" -xf "$work/out.tar" --no-same-owner 2>/dev/null || true
	[[ -s $out/.status ]] || { say "the host ended early; its console's log is in $out" && exit 125; }
	status=$(<"$out/.status")
	rm "$out/.status"
	[[ $quiet ]] || say "files are in $out"
	exit "$status"
}
