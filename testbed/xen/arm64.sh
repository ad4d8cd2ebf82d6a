# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# The Arm machine's part of `run`: Xen starts dom0 and domUs itself, from its device tree.

domu_usage() {
	cat <<-END
		  vpmu=1          it has a PMU of its own (0)
		  aarch32         PROGRAM.c is to run in AArch32
		  -DNAME=VALUE    PROGRAM.c is compiled so
		  KEY=NUMBER, KEY=TEXT
		                  more properties of its node in the device tree
	END
}

# Where the emulator puts kernels and RAM disks: above its own device tree. What is there
# twice lies there once.
address=$((0x50000000))
declare -A placed=()
loads=()

# place FILE: where it is going to be, as two cells of an address and two of a size
place() {
	local size
	if [[ -z ${placed[$1]:-} ]]; then
		size=$(stat -Lc %s "$1")
		placed[$1]=$(printf '0x0 0x%x 0x0 0x%x' "$address" "$size")
		loads+=(-device "loader,file=$1,addr=$address,force-raw=on")
		address=$(((address + size + 0x1fffff) & ~0x1fffff))
	fi
	read -ra cells <<<"${placed[$1]}"
}

# node PATH [KEY VALUE…]: made with these; a value is a number, a text, or empty
node() {
	local path=$1
	fdtput -cp "$work/dtb" "$path"
	shift
	while (($#)); do
		case $2 in
		'') fdtput "$work/dtb" "$path" "$1" ;;
		*[!0-9]*) fdtput -t s "$work/dtb" "$path" "$1" "$2" ;;
		*) fdtput -t i "$work/dtb" "$path" "$1" "$2" ;;
		esac
		shift 2
	done
}

# module PATH KIND FILE: what Xen is to load
module() {
	place "$3"
	node "$1"
	fdtput -t s "$work/dtb" "$1" compatible "multiboot,$2" multiboot,module
	fdtput -t x "$work/dtb" "$1" reg "${cells[@]}"
}

machine_begin() {
	"$emulator" "${machine_options[@]}" -smp "$smp" \
		-M "dumpdtb=$work/dtb" 2>"$work/dumped" || { cat "$work/dumped" >&2 && exit 1; }
}

domu_begin() {
	bits=64 defines=() properties=()
}

domu_option() {
	case $1 in
	vpmu=1) properties+=(vpmu '') ;;
	vpmu=0) ;;
	aarch32) bits=32 ;;
	-D*) defines+=("$1") ;;
	*=*) properties+=("${1%%=*}" "${1#*=}") ;;
	*) return 1 ;;
	esac
}

domu_end() {
	local path=/chosen/domU$id
	node "$path" compatible xen,domain '#address-cells' 2 '#size-cells' 2 cpus "$vcpus" \
		vpl011 '' "${properties[@]}"
	fdtput -t i "$work/dtb" "$path" memory 0 $((memory * 1024))
	if [[ $kind == linux ]]; then
		module "$path/ramdisk" ramdisk "$ramdisk"
		module "$path/kernel" kernel "$kernel"
		node "$path/kernel" bootargs "console=$console nokaslr $quiet_words"
	else
		if [[ $file == *.c ]]; then
			"$here/bare/build" "$bits" "$file" "$work/domu$id.image" \
				"${defines[@]}"
			file=$work/domu$id.image
		fi
		module "$path/kernel" kernel "$file"
	fi
}

add_dom0() {
	module /chosen/dom0-kernel kernel "$kernel"
	module /chosen/dom0-ramdisk ramdisk "$work/initrd"
	# Xen keeps the interrupt controller's message part to itself; and dom0's symbols are
	# those of the domUs' kernels too
	node /chosen xen,dom0-bootargs "console=hvc0 pci=nomsi nokaslr $quiet_words $dom0_args"
}

# xen_options WORDS: how the emulator starts Xen with these words
xen_options() {
	node /chosen xen,xen-bootargs "console=dtuart dtuart=/pl011@9000000 $1"
	# dom0's memory lies where it says it does, in pieces between what else is there
	options=(-m "$((dom0_memory + domu_memory + 1024))M" "${loads[@]}"
		-kernel "$xen_dir/xen" -dtb "$work/dtb")
}
