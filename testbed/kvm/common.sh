# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# Shared by the scripts of this folder: where things are, and how progress is told.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${VMMPROF_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vmmprof}/kvm
cross=aarch64-linux-gnu-

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

# key FILE…: one word that changes with any of their contents
key() {
	cat "$@" | sha256sum | cut -c1-16
}

# pack DIRECTORY: a cpio archive of it on stdout
pack() {
	(cd "$1" && find . -print0 | LC_ALL=C sort -z |
		cpio --null --create --format=newc --owner=0:0 --quiet)
}

# What prepare makes and run uses. Each is named by what it is made of, so that several
# work trees, at different versions, can share one cache.
made_of=$(key "$here/packages.txt")
sysroot=$cache/sysroot-$made_of
made_of=$made_of-$(key "$here/prepare")
base_image=$cache/base-$made_of.ext4
host_initrd=$cache/host-$made_of-$(key "$here/host/init").cpio
guest_initrd=$cache/guest-$made_of-$(key "$here"/guest/*).cpio
guest_work=${guest_initrd%.cpio}.work
minivm=$cache/minivm-$(key "$here"/../minivm/*)
kernel=$sysroot/boot/Image
