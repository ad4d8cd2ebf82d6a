/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>

#include "core/offset.h"

/* Both ends run on one CPU or on several: orders by acquire and release. */
static uint32_t sequence_begin(struct vpmu_page *page)
{
	uint32_t sequence = page->sequence + 1;

	__atomic_store_n(&page->sequence, sequence, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	return sequence;
}

void vpmu_page_publish(struct vpmu_page *page, unsigned i, const struct vpmu_offset *o,
		       unsigned index, unsigned width, bool running)
{
	struct vpmu_page_counter *c = &page->counter[i];
	uint32_t sequence = sequence_begin(page);
	uint32_t bits = page->running & ~(1u << i);

	__atomic_store_n(&c->sum, o->sum, __ATOMIC_RELAXED);
	__atomic_store_n(&c->start, o->start, __ATOMIC_RELAXED);
	__atomic_store_n(&c->index, index, __ATOMIC_RELAXED);
	__atomic_store_n(&c->width, width, __ATOMIC_RELAXED);
	__atomic_store_n(&page->running, bits | (uint32_t)running << i, __ATOMIC_RELAXED);
	__atomic_store_n(&page->sequence, sequence + 1, __ATOMIC_RELEASE);
}

static uint64_t read_once(const struct vpmu_page *page, unsigned i,
			  uint64_t (*physical)(void *ctx, unsigned index), void *ctx)
{
	const struct vpmu_page_counter *c = &page->counter[i];
	struct vpmu_offset o = {
		.sum = __atomic_load_n(&c->sum, __ATOMIC_RELAXED),
		.start = __atomic_load_n(&c->start, __ATOMIC_RELAXED),
	};

	if (!(__atomic_load_n(&page->running, __ATOMIC_RELAXED) & 1u << i))
		return o.sum;
	return vpmu_offset_value(
		&o, physical(ctx, __atomic_load_n(&c->index, __ATOMIC_RELAXED)),
		__atomic_load_n(&c->width, __ATOMIC_RELAXED));
}

bool vpmu_page_read(const struct vpmu_page *page, unsigned i,
		    uint64_t (*physical)(void *ctx, unsigned index), void *ctx,
		    unsigned tries, uint64_t *value)
{
	if (i >= VPMU_PAGE_COUNTERS || i >= page->counters)
		return false;
	while (tries--) {
		uint32_t before = __atomic_load_n(&page->sequence, __ATOMIC_ACQUIRE);
		uint64_t now = read_once(page, i, physical, ctx);

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) &&
		    before == __atomic_load_n(&page->sequence, __ATOMIC_RELAXED)) {
			*value = now;
			return true;
		}
	}
	return false;
}
