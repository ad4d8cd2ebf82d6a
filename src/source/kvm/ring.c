/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/kvm/ring.h"

#include <string.h>

/*
 * The VM's own view: guest modes become plain. What the host did on the vCPU's
 * thread meanwhile is, from inside, the hypervisor's.
 */
static void see_from_inside(struct perf_event_header *h, bool by_address)
{
	unsigned mode = h->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	const uint64_t *field = (const void *)(h + 1);
	bool guest = mode == PERF_RECORD_MISC_GUEST_KERNEL ||
		     mode == PERF_RECORD_MISC_GUEST_USER;

	if (by_address && guest && h->size >= sizeof(*h) + 2 * sizeof(*field))
		mode = field[1] >> 63 ? PERF_RECORD_MISC_GUEST_KERNEL
				      : PERF_RECORD_MISC_GUEST_USER;
	switch (mode) {
	case PERF_RECORD_MISC_GUEST_KERNEL: mode = PERF_RECORD_MISC_KERNEL; break;
	case PERF_RECORD_MISC_GUEST_USER: mode = PERF_RECORD_MISC_USER; break;
	case PERF_RECORD_MISC_KERNEL:
	case PERF_RECORD_MISC_USER: mode = PERF_RECORD_MISC_HYPERVISOR; break;
	}
	h->misc = (h->misc & ~PERF_RECORD_MISC_CPUMODE_MASK) | mode;
}

/* The u64 at @offset into the record at @pos; both are 8-aligned. */
static uint64_t field(const struct ring *r, uint64_t pos, size_t offset)
{
	return *(const uint64_t *)(r->data + ((pos + offset) & (r->size - 1)));
}

/* Copies the record at walked behind those that wait in the stage. */
static void stage(struct ring *r, size_t size)
{
	char *to = r->stage + (r->walked - r->tail);
	size_t at = r->walked & (r->size - 1);
	size_t first = size < r->size - at ? size : r->size - at;

	memcpy(to, r->data + at, first);
	memcpy(to + first, r->data, size - first);
	if (((struct perf_event_header *)to)->type == PERF_RECORD_SAMPLE)
		see_from_inside((struct perf_event_header *)to, r->by_address);
}

static void account(const struct ring *r, const struct perf_event_header *h,
		    struct sampler_tally *tally)
{
	switch (h->type) {
	case PERF_RECORD_SAMPLE: tally->samples++; break;
	case PERF_RECORD_LOST:
		if (h->size >= 24)
			tally->lost += field(r, r->walked, 16);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		if (h->size >= 16)
			tally->lost += field(r, r->walked, 8);
		break;
	case PERF_RECORD_THROTTLE: tally->throttled++; break;
	}
}

int ring_peek(struct ring *r, struct iovec spans[2], struct sampler_tally *tally)
{
	uint64_t head, whole;
	size_t at, first;

	if (!r->page)
		return 0;
	head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	while (r->walked != head && !r->resume) {
		const struct perf_event_header *h =
			(void *)(r->data + (r->walked & (r->size - 1)));
		size_t size = h->size;

		if (size < sizeof(*h) || size % 8 || size > head - r->walked) {
			/* a record starts at head again */
			tally->corrupt += head - r->walked;
			r->resume = head;
			break;
		}
		account(r, h, tally);
		if (r->stage)
			stage(r, size);
		tally->bytes += size;
		r->walked += size;
	}
	whole = r->walked - r->tail;
	if (r->stage) {
		spans[0] = (struct iovec) { r->stage, whole };
		return whole ? 1 : 0;
	}
	at = r->tail & (r->size - 1);
	first = whole < r->size - at ? whole : r->size - at;
	spans[0] = (struct iovec) { r->data + at, first };
	spans[1] = (struct iovec) { r->data, whole - first };
	return !whole ? 0 : whole > first ? 2 : 1;
}

void ring_release(struct ring *r)
{
	if (!r->page)
		return;
	if (r->resume)
		r->walked = r->resume;
	r->resume = 0;
	if (r->tail == r->walked)
		return;
	r->tail = r->walked;
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}
