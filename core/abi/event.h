/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CORE_ABI_EVENT_H
#define CORE_ABI_EVENT_H

#include <stdint.h>

/* A host's event on a VM. Part of the hypercall ABI: hostile until encode() took it. */
#define VPMU_EVENT_USER 1u   /* count in the guest's user mode (EL0, ring 3) */
#define VPMU_EVENT_KERNEL 2u /* in the guest's kernel mode (EL1, ring 0) */
#define VPMU_EVENT_HYP 4u    /* in the hypervisor (EL2); for the target "xen" only */

struct vpmu_event {
	uint64_t config; /* the PMU's own number (perf's raw config), e.g. 0x11 */
	uint64_t period; /* a sample every so many events; 0: only count */
	uint32_t flags;	 /* VPMU_EVENT_…; at least one */
	uint32_t zero;
};

#define VPMU_SET_EVENTS 8	     /* most events of one set */
#define VPMU_PERIOD_MIN 1000	     /* a shorter one could keep a pCPU in its interrupt */
#define VPMU_PERIOD_MIN_HYP 10000    /* that interrupt's own events are among these */
#define VPMU_PERIOD_MAX (1ULL << 30) /* half of the narrowest counter, to be safe */

#endif
