/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_MATCH_H
#define NUMASIM_MATCH_H

#include <stdint.h>

/* Sets are whole vectors: so many entries each, ways beyond the cache's stay empty. */
#define MATCH_STEP 4u

typedef uint32_t match_vec __attribute__((vector_size(16)));

/* A bit for each of a set's @stride entries that, without its low @drop bits, is @key. */
static inline uint32_t match(const uint32_t *set, unsigned stride, uint32_t key,
			     unsigned drop)
{
	const match_vec *v = (const match_vec *)set;
	match_vec bit = { 1, 2, 4, 8 }, found = { 0 };

	for (unsigned i = 0; i < stride / MATCH_STEP; i++, bit <<= 4)
		found |= (match_vec)(v[i] >> drop == key) & bit;
	return found[0] | found[1] | found[2] | found[3];
}

#endif
