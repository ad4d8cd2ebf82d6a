# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# Shared by the scripts of this folder.

# shellcheck source=../run.sh
. "$(dirname "${BASH_SOURCE[0]}")/../run.sh"

here=$testbed/xen
top=$(dirname "$testbed")
xen=$cache/xen
domu_key=$made_of-$(key "$here"/prepare "$here"/guest/* "$testbed/system/guest/work.c")
domu_initrd=$xen/domu-$domu_key.cpio
domu_spin=$xen/spin-$machine-$(key "$here/guest/spin-$machine.S")
domu_laps=$xen/laps-$machine-$(key "$here/guest/laps.c")
domu_perf=$xen/domu-perf-$made_of.cpio
domu_start_hvm=$xen/start-hvm-$made_of-$(key "$here/guest/start-hvm.S")

# needed_by FILE: it and the libraries it needs, by name, from the unpacked system
needed_by() {
	local todo=("$@") seen=' ' name path
	while ((${#todo[@]})); do
		path=${todo[0]}
		todo=("${todo[@]:1}")
		[[ $seen != *" $path "* ]] || continue
		seen+="$path "
		echo "$path"
		while read -r name; do
			todo+=("$(find "$sysroot/lib" "$sysroot/usr/lib" -maxdepth 2 -name "$name" -print -quit)")
		done < <("${cross}readelf" -d "$path" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
	done
}

# pack_program FILE STAGE: an archive on stdout, of the program and its libraries for domUs
pack_program() {
	local stage=$2 file
	mkdir -p "$stage/bin" "$stage/lib"
	ln -s lib "$stage/lib64" # where x86 has its dynamic linker
	needed_by "$1" | while read -r file; do
		case $file in
		"$1") install -D "$file" "$stage/bin/$(basename "$file")" ;;
		*) install -D "$file" "$stage/lib/$(basename "$file")" ;;
		esac
	done
	find "$stage" -type f -exec "${cross}strip" {} +
	pack "$stage"
}

# variant_words NAME: its row of the table, without the name
variant_words() {
	sed -n "s/^$1  *//p" "$here/variants"
}

# variant_path NAME: the directory of its xen and xen-syms, named by what they are built of;
# on x86 Debian's own Xen
variant_path() {
	local words ingredients
	if [[ $machine == x86 ]]; then
		[[ $1 == plain ]] || fail "$1: on x86 there is Debian's own Xen only: plain"
		echo "$xen/debian-$made_of"
		return
	fi
	words=$(variant_words "$1")
	[[ -n $words ]] || fail "$1: no such variant; $here/variants has $(variants)"
	ingredients=$(
		cat "$xen_source/.debian-version"
		"${cross}gcc" --version
		echo "$words"
		[[ $words != grafted* ]] || cat_graft
	)
	echo "$xen/xen-$1-$(sha256sum <<<"$ingredients" | cut -c1-16)"
}

variants() {
	sed 's/ .*//; /^#/d' "$here/variants" | xargs
}

# names and contents of all that a graft consists of
cat_graft() {
	(cd "$top" && find core xen tools/grafting.py -type f ! -name '*.pyc' -print0 | LC_ALL=C sort -z |
		xargs -0 tail -n +1 --)
}
