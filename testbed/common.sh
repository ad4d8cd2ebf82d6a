# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# Shared by all test beds: where things are, how progress is told, how things are made
# once. What they boot in common is made by system/prepare.

set -euo pipefail

testbed=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${VMMPROF_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vmmprof}

# mke2fs and depmod live where an ordinary user's PATH may not look
PATH=$PATH:/usr/sbin:/sbin

say() {
	printf 'testbed: %s\n' "$*" >&2
}

fail() {
	say "$*"
	exit 1
}

# need COMMAND PACKAGE
need() {
	command -v "$1" >/dev/null || fail "$1 is missing: apt-get install $2"
}

# with_progress TEXT WATCHED COMMAND…: says what is being done, and every five seconds
# for how long and how large WATCHED has become. The command's own words are kept,
# and shown where it fails.
with_progress() {
	local text=$1 watched=$2 log start=$SECONDS pid size
	shift 2
	log=$(mktemp)
	say "$text …"
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	while sleep 1 && kill -0 "$pid" 2>/dev/null; do
		if (((SECONDS - start) % 5 == 0)); then
			size=$(du -sm "$watched" 2>/dev/null | cut -f1 || true)
			say "  … $((SECONDS - start)) s, ${size:-0} MB"
		fi
	done
	if ! wait "$pid"; then
		cat "$log" >&2
		rm -f "$log"
		fail "failed: $text"
	fi
	rm -f "$log"
	say "  done in $((SECONDS - start)) s"
}

# key [FILE…]: one word that changes with any of their contents, or of stdin
key() {
	cat -- "$@" | sha256sum | cut -c1-16
}

# pack DIRECTORY: a cpio archive of it on stdout
pack() {
	(cd "$1" && find . -print0 | LC_ALL=C sort -z |
		cpio --null --create --format=newc --owner=0:0 --quiet)
}

# one_at_a_time DIRECTORY: makes it, and keeps others from preparing in it meanwhile, until
# this script ends or asks for another
one_at_a_time() {
	mkdir -p "$1"
	exec 9>"$1/lock"
	flock -n 9 || { say "waiting for another preparation to end …" && flock 9; }
}

# make_once TARGET COMMAND [WORD…]: unless it is there; complete, or not there at all.
# The command gets its words and then the name to make.
make_once() {
	local target=$1
	shift
	if [[ ! -e $target ]]; then
		rm -rf "$target.new"
		"$@" "$target.new"
		mv "$target.new" "$target"
	fi
	touch "$target"
}

# forget_old DIRECTORY: what no run has used for two weeks
forget_old() {
	find "$1" -mindepth 1 -maxdepth 1 -mtime +14 ! -name lock -exec rm -rf {} +
}

# debian_sources deb|deb-src: the machine's own apt sources of Debian, as one-line entries
debian_sources() {
	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' | sed -n "s/^Debian /$1 /p" | sort -u
}

stage_busybox() {
	mkdir -p "$1"/{bin,dev,proc,sys,mnt}
	cp "$sysroot/bin/busybox" "$1/bin/"
	ln -s busybox "$1/bin/sh"
}

kernel_version() {
	basename "${1:-$sysroot}"/lib/modules/*
}

# module_files MODULE…: each with what it depends on, in loading order, once
module_files() {
	local module
	for module; do
		modprobe -d "$sysroot" -S "$(kernel_version)" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ {print $2}'
}

# stage_modules DIRECTORY MODULE…: numbered, so that a shell's * is the loading order
stage_modules() {
	local to=$1 file n=10
	shift
	mkdir -p "$to"
	while read -r file; do
		cp "$file" "$to/$n-$(basename "$file")"
		n=$((n + 1))
	done < <(module_files "$@")
}

# The machine to emulate: `--machine NAME` before all other words of a script.
machine=arm64
if [[ ${1:-} == --machine ]]; then
	machine=${2:-}
	shift 2
fi
[[ -f $testbed/system/$machine.sh ]] || fail "--machine $machine: expected arm64 or x86"
# shellcheck source=system/arm64.sh
. "$testbed/system/$machine.sh"
cross=$triplet-

# packages: the machine's, one a line
packages() {
	sed "s/#.*//; s/^$machine: //; /^$/d; /:/d" "$testbed/system/packages.txt"
}

# What system/prepare makes. Each thing is named by what it is made of, so that several
# work trees, at different versions, can share one cache.
system=$cache/system-$machine
made_of=$(packages | key)
sysroot=$system/sysroot-$made_of
made_of=$made_of-$(key "$testbed/system/prepare" "$testbed/system/$machine.sh" "$testbed/common.sh")
base_image=$system/base-$made_of.ext4
host_initrd=$system/host-$made_of-$(key "$testbed/system/host/init").cpio
guest_work=$system/work-$made_of-$(key "$testbed/system/guest/work.c")
kernel=$system/kernel-$made_of
cross_file=$system/cross-$made_of-$(key "$testbed/system/cross.ini.in")
