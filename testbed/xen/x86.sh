# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# The x86 machine's part of `run`: Xen starts dom0 as Multiboot tells it, and dom0 starts
# the domUs by xl, from a disk with their files.

domu_usage() {
	cat <<-END
		  type=pv, type=pvh, type=hvm
		                  how it is virtualized (pv); the others take an AMD processor
		  KEY=NUMBER, KEY=TEXT
		                  more lines for xl.cfg(5)

		On x86 a domU is a Linux one, dom0 is always there, and whether domains have a PMU
		is a matter of Xen's own words: --xen-args vpmu=1.
	END
}

# This machine's counters are exact without it, and a boot takes half as long.
icount=no

machine_begin() {
	[[ $dom0 ]] || fail "--no-dom0: on x86 it is dom0 that starts the domUs"
	mkdir "$work/domus"
}

domu_begin() {
	type=pv properties=()
	[[ $kind == linux ]] || fail "domU $name: --domu-bare is there on arm64 only"
}

domu_option() {
	local value=${1#*=}
	case $1 in
	type=pv | type=pvh | type=hvm) type=$value ;;
	type=* | vpmu=*) return 1 ;;
	*=*[!0-9]*) properties+=("${1%%=*}=\"$value\"") ;;
	*=?*) properties+=("$1") ;;
	*) return 1 ;;
	esac
}

# start_hvm: an HVM domain's device model loads kernel and RAM disk where start-hvm.S has
# them. To look for an AGP bridge on the buses that it emulates would take a minute.
start_hvm() {
	local at=/run/domus/disk size
	((memory >= 192)) || fail "domU $name: an HVM domain takes at least 192 MB"
	cp -u "$domu_start_hvm" "$work/domus/start-hvm"
	size=$(stat -c %s "$work/domus/$id.cpio")
	words+=" edd=off pci=noearly"
	start=("kernel=\"$at/start-hvm\"" 'vga="none"' vnc=0
		"device_model_args_hvm=[\"-device\", \"loader,file=/boot/Image\","
		"\"-device\", \"loader,file=$at/$id.cpio,addr=0x5000000,force-raw=on\","
		"\"-device\", \"loader,data=$size,data-len=4,addr=0x4fffff8\"]")
}

# An emulated clock is not worth its traps. The kernel is dom0's own.
domu_end() {
	local words="console=hvc0 nokaslr $quiet_words"
	local start=('kernel="/boot/Image"' "ramdisk=\"/run/domus/disk/$id.cpio\"")
	mv "$ramdisk" "$work/domus/$id.cpio"
	[[ $type != hvm ]] || start_hvm
	cat >"$work/domus/$id.cfg" <<-END
		name="$name"
		type="$type"
		cmdline="$words"
		memory=$memory
		vcpus=$vcpus
		tsc_mode="native"
		on_poweroff="preserve"
		$(printf '%s\n' "${start[@]}" "${properties[@]}")
	END
}

add_dom0() {
	local words="console=hvc0 nokaslr $quiet_words $dom0_args"
	# a comma ends a module's words, two are one
	modules="$kernel ${words//,/,,},$work/initrd"
}

# xen_options WORDS: how the emulator starts Xen with these words. Its processor is one
# that Debian's kernel can be a PV dom0 on.
xen_options() {
	local memory=dom0_mem=max:${dom0_memory}M model=$cpu,pmu=on
	[[ $cpu == Nehalem ]] || model=$(cpu_model "$cpu")
	options=(-m "$((dom0_memory + domu_memory + 384))M" -cpu "$model"
		-kernel "$xen_dir/xen" -append "console=com1 com1=115200 $1 $memory" -initrd "$modules")
	((${#domus[@]})) || return 0
	mke2fs -q -F -t ext4 -O ^has_journal -m 0 -d "$work/domus" "$work/domus.ext4" \
		"$(($(du -sm "$work/domus" | cut -f1) * 9 / 8 + 4))M" >/dev/null
	options+=(-drive "file=$work/domus.ext4,format=raw,if=none,id=domus,readonly=on"
		-device virtio-blk-pci,drive=domus,serial=domus)
}
