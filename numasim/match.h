/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_MATCH_H
#define NUMASIM_MATCH_H

#include <stdint.h>

/* Sets are so many entries, or a multiple; ways beyond the cache's stay empty. */
#define MATCH_STEP 8u

/* A bit for each of a set's @stride entries that, without its low @drop bits, is @key. */
#ifdef __SSE2__
#include <emmintrin.h>

static inline uint32_t match(const uint32_t *set, unsigned stride, uint32_t key,
			     unsigned drop)
{
	const __m128i *v = (const __m128i *)set, k = _mm_set1_epi32((int)key);
	uint32_t found = 0;

	for (unsigned i = 0; i < stride; i += MATCH_STEP, v += 2) {
		__m128i a = _mm_cmpeq_epi32(_mm_srli_epi32(v[0], (int)drop), k);
		__m128i b = _mm_cmpeq_epi32(_mm_srli_epi32(v[1], (int)drop), k);
		__m128i ab = _mm_packs_epi32(a, b);

		ab = _mm_packs_epi16(ab, _mm_setzero_si128());
		found |= (uint32_t)_mm_movemask_epi8(ab) << i;
	}
	return found;
}

#else

static inline uint32_t match(const uint32_t *set, unsigned stride, uint32_t key,
			     unsigned drop)
{
	uint32_t found = 0;

	for (unsigned i = 0; i < stride; i++)
		found |= (uint32_t)(set[i] >> drop == key) << i;
	return found;
}

#endif
#endif
