/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VPMU_ACQUIRE_H
#define VPMU_ACQUIRE_H

/* What xen/common/memory.c, which other architectures have too, calls of ours. */

#include <public/memory.h>

#ifdef CONFIG_VPMU
/*
 * XENMEM_acquire_resource with @xmar as copied in from @arg, from frame @start on. True:
 * it was about a sample ring, and *@result is its answer.
 */
bool vpmu_hook_acquire(xen_mem_acquire_resource_t *xmar,
		       XEN_GUEST_HANDLE_PARAM(xen_mem_acquire_resource_t) arg,
		       unsigned long start, int *result);
#else
#define vpmu_hook_acquire(xmar, arg, start, result) false
#endif

#endif
