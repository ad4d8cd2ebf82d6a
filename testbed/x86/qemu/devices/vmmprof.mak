# SPDX-License-Identifier: GPL-2.0-or-later
# What the test machine has: half of QEMU's devices would cost a third of its first build.
CONFIG_I440FX=y
CONFIG_Q35=y
CONFIG_PCI_DEVICES=n
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_BLK=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_RNG=y
CONFIG_ISA_DEBUG=y
