/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clang-format off */
/*
 * No C: comes into xen/include/hypercall-defs.c twice, as the prototype of the hypercall,
 * then as its row of the table.
 */
#ifdef CONFIG_VPMU
#ifndef VPMU_PROTOTYPE
#define VPMU_PROTOTYPE
xenpmu_op(unsigned int op, void *arg)
#else
xenpmu_op                          -        -        -        -        do
#endif
#endif
