/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "valid.h"

bool vpmu_rings_fit(uint32_t frames, uint32_t tallies)
{
	return frames <= XENPMU_RING_FRAMES_MAX &&
	       (uint64_t)frames * tallies <= XENPMU_RING_FRAMES_ALL;
}

bool vpmu_open_samples(const struct xenpmu_open *open)
{
	for (uint32_t i = 0; i < open->nevents && i < VPMU_SET_EVENTS; i++) {
		if (open->event[i].period)
			return true;
	}
	return false;
}

static bool event_is_zero(const struct vpmu_event *event)
{
	return !event->config && !event->period && !event->flags && !event->zero;
}

bool vpmu_open_valid(const struct xenpmu_open *open, uint32_t *bad)
{
	uint32_t i;

	*bad = open->nevents;
	if (open->version != XENPMU_VERSION || open->zero || open->zero2 ||
	    open->nevents == 0 || open->nevents > VPMU_SET_EVENTS)
		return false;
	for (i = 0; i < open->nevents && !open->event[i].zero; i++)
		;
	*bad = i;
	if (i < open->nevents)
		return false;
	for (; i < VPMU_SET_EVENTS; i++) {
		if (!event_is_zero(&open->event[i]))
			return false;
	}
	/* a ring is a header and at least one page of records, and only for samples */
	if (vpmu_open_samples(open))
		return open->ring_frames >= 2 && vpmu_rings_fit(open->ring_frames, 1);
	return open->ring_frames == 0;
}

bool vpmu_domain_valid(const struct xenpmu_domain *domain)
{
	return domain->version == XENPMU_VERSION && !domain->zero && !domain->zero2;
}

bool vpmu_read_valid(const struct xenpmu_read *read)
{
	return read->version == XENPMU_VERSION && !read->zero;
}

bool vpmu_next_valid(const struct xenpmu_next *next)
{
	return next->version == XENPMU_VERSION && !next->zero;
}
