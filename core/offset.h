/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_OFFSET_H
#define CORE_OFFSET_H

/*
 * Offset mode: a counter that keeps its event is never rewritten. What was counted is
 * sum + (physical - start), in the counter's own width; the same algebra at the level
 * of the vCPU (physical: the register) and of the thread (physical: the vCPU's logical
 * value, 64 bits wide).
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/page.h"

struct vpmu_offset {
	uint64_t sum, start;
};

static inline uint64_t vpmu_width_mask(unsigned width)
{
	return width >= 64 ? ~0ULL : (1ULL << width) - 1;
}

/* Taken after the counter was set up, so that the setting up is not counted. */
static inline void vpmu_offset_start(struct vpmu_offset *o, uint64_t physical)
{
	o->start = physical;
}

static inline uint64_t vpmu_offset_value(const struct vpmu_offset *o, uint64_t physical,
					 unsigned width)
{
	return o->sum + ((physical - o->start) & vpmu_width_mask(width));
}

/* Folds what has been counted into the sum; counting may go on from @physical. */
static inline void vpmu_offset_stop(struct vpmu_offset *o, uint64_t physical,
				    unsigned width)
{
	o->sum = vpmu_offset_value(o, physical, width);
	o->start = physical;
}

/* The hypervisor's end of the page: writes counter @i under the sequence count. */
void vpmu_page_publish(struct vpmu_page *page, unsigned i, const struct vpmu_offset *o,
		       unsigned index, unsigned width, bool running);
/*
 * The guest's end: counter @i, given a way to read the physical counter. Retries while
 * the page changes, at most @tries times. False: it kept changing, or @i is not there.
 */
bool vpmu_page_read(const struct vpmu_page *page, unsigned i,
		    uint64_t (*physical)(void *ctx, unsigned index), void *ctx,
		    unsigned tries, uint64_t *value);

#endif
