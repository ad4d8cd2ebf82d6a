# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# Shared by the scripts of this folder.

# shellcheck source=../run.sh
. "$(dirname "${BASH_SOURCE[0]}")/../run.sh"

here=$testbed/kvm
kvm=$cache/kvm
guest_initrd=$kvm/guest-$made_of-$(key "$here"/prepare "$here"/guest/* "$testbed/system/guest/work.c").cpio
minivm=$kvm/minivm-$machine-$(key "$testbed"/minivm/*)
pattern=$kvm/pattern-$(key "$testbed"/x86/pattern/*)
