/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CORE_ABI_PAGE_H
#define CORE_ABI_PAGE_H

/*
 * The page by which a paravirtual guest reads its counters without a call (offset
 * mode; Perfctr-Xen, VEE 2011): read-only to the guest's user space, guarded by a
 * sequence count that is odd while the page changes.
 */

#include <stdint.h>

#define VPMU_PAGE_VERSION 1
#define VPMU_PAGE_COUNTERS 8

struct vpmu_page_counter {
	uint64_t sum;	/* events until @start */
	uint64_t start; /* what the physical counter showed then */
	uint32_t index; /* of the physical counter, as the guest reads it */
	uint32_t width; /* its bits */
};

struct vpmu_page {
	uint32_t version;
	uint32_t sequence;
	uint32_t counters; /* how many are in use */
	uint32_t running;  /* a bit each: it counts now; else the value is @sum alone */
	struct vpmu_page_counter counter[VPMU_PAGE_COUNTERS];
};

#endif
