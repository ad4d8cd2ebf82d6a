/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VPMU_VALID_H
#define VPMU_VALID_H

/*
 * What a caller of HYPERVISOR_xenpmu_op may ask for at all, from the copied struct
 * alone: versions, fields that should be zero, counts, sizes. Plain C, so that it is
 * tested outside Xen too.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/xenpmu.h"

/* *@bad: the event at fault, nevents where it is none of them. */
bool vpmu_open_valid(const struct xenpmu_open *open, uint32_t *bad);
/* Whether any of its events samples. */
bool vpmu_open_samples(const struct xenpmu_open *open);
bool vpmu_domain_valid(const struct xenpmu_domain *domain);
bool vpmu_read_valid(const struct xenpmu_read *read);
bool vpmu_next_valid(const struct xenpmu_next *next);
/* Whether rings of so many frames each, for so many vCPUs, stay within the bounds. */
bool vpmu_rings_fit(uint32_t frames, uint32_t tallies);

/*
 * A handle names a slot of the table of open sets and how often it has been used, so
 * that a stale one is noticed. Never 0.
 */
#define VPMU_SLOTS 64

static inline uint32_t vpmu_handle(uint32_t slot, uint32_t generation)
{
	return generation << 8 | slot;
}

static inline uint32_t vpmu_handle_slot(uint32_t handle)
{
	return handle & 0xff;
}

/* The generation that follows, of 24 bits. */
static inline uint32_t vpmu_generation_next(uint32_t generation)
{
	return generation >= 0xffffff ? 1 : generation + 1;
}

/*
 * The ABI as it was agreed, for compile-time checks in Xen and in a hosted test:
 * struct, field, where it begins. The last row of each is its size.
 */
#define VPMU_ABI_LAYOUT(offset, size)                                                      \
	offset(vpmu_event, period, 8);                                                     \
	offset(vpmu_event, flags, 16);                                                     \
	size(vpmu_event, 24);                                                              \
	offset(xenpmu_info, now_ns, 24);                                                   \
	offset(xenpmu_info, family, 48);                                                   \
	offset(xenpmu_info, why, 80);                                                      \
	size(xenpmu_info, 208);                                                            \
	offset(xenpmu_domain, vcpus, 8);                                                   \
	size(xenpmu_domain, 24);                                                           \
	offset(xenpmu_open, ring_frames, 12);                                              \
	offset(xenpmu_open, event, 16);                                                    \
	offset(xenpmu_open, owner, 208);                                                   \
	offset(xenpmu_open, handle, 216);                                                  \
	size(xenpmu_open, 232);                                                            \
	size(xenpmu_count, 40);                                                            \
	offset(xenpmu_read, now_ns, 24);                                                   \
	offset(xenpmu_read, count, 32);                                                    \
	size(xenpmu_read, 352);                                                            \
	size(xenpmu_close, 8);                                                             \
	offset(xenpmu_next, domid, 8);                                                     \
	offset(xenpmu_next, owner, 16);                                                    \
	size(xenpmu_next, 24);                                                             \
	offset(vpmu_sample, time, 16);                                                     \
	size(vpmu_sample, 40);                                                             \
	offset(vpmu_ring_page, head, 64);                                                  \
	offset(vpmu_ring_page, tail, 128)

#endif
