/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_RING_H
#define CORE_RING_H

/* Both ends of a sample ring; the layout that they share is core/abi/ring.h. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/event.h"
#include "core/abi/ring.h"

/* The producer's end. Zero-initialised: no ring, every sample is lost (and counted). */
struct vpmu_ring {
	struct vpmu_ring_page *page;
	struct vpmu_sample *record;
	uint32_t records;
	uint64_t head, taken, lost;
};

/*
 * Takes @bytes of zeroed pages, page-aligned: a header page and as many records, a
 * power of two, as fit. 0, or -EINVAL (22) where not even one does.
 */
int vpmu_ring_init(struct vpmu_ring *ring, void *pages, size_t bytes);
/*
 * Writes one sample, or counts it as lost. Never waits. True when the consumer should
 * be woken: the ring has just become half full.
 */
bool vpmu_ring_put(struct vpmu_ring *ring, const struct vpmu_sample *sample);

/* The consumer's end, which distrusts a producer as much as the reverse. */
struct vpmu_reader {
	struct vpmu_ring_page *page;
	const struct vpmu_sample *record;
	uint32_t records;
	uint64_t tail;
};

/* Checks the header of a mapping of @bytes. 0, or -EINVAL (22). */
int vpmu_reader_init(struct vpmu_reader *reader, void *pages, size_t bytes);
/*
 * How many records wait, from reader->tail on (tail % records is the first). They stay
 * untouched until vpmu_reader_done(). A head that makes no sense counts as 0 waiting.
 */
uint32_t vpmu_reader_waiting(const struct vpmu_reader *reader);
/* Copies the @i-th waiting record out; false if its fields make no sense. */
bool vpmu_reader_copy(const struct vpmu_reader *reader, uint32_t i,
		      struct vpmu_sample *out);
/* Gives @n records back to the producer. */
void vpmu_reader_done(struct vpmu_reader *reader, uint32_t n);
/*
 * The producer's account: taken = received + lost once all waiting ones are read. False
 * if its numbers make no sense: they do not add up to the head.
 */
bool vpmu_reader_account(const struct vpmu_reader *reader, uint64_t *taken, uint64_t *lost);

#endif
