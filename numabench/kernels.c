/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numabench/kernels.h"

#include <string.h>

/* xorshift64* (Vigna 2016) */
static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dull;
}

/* A number below @n (Lemire 2019: by multiplication). */
static size_t below(uint64_t random, size_t n)
{
	return (size_t)((unsigned __int128)random * n >> 64);
}

static uint64_t *line(const struct kernel *k, size_t i)
{
	return (uint64_t *)(k->memory + i * KERNEL_LINE);
}

/* Sattolo's algorithm: a random permutation that is one cycle. */
void kernel_prepare(struct kernel *k)
{
	if (!k->random)
		k->random = 0x9e3779b97f4a7c15ull;
	if (k->pattern != PATTERN_CHASE)
		return;
	for (size_t i = 0; i < k->lines; i++)
		*line(k, i) = i;
	for (size_t i = k->lines - 1; i > 0; i--) {
		size_t j = below(next_random(&k->random), i);
		uint64_t other = *line(k, j);

		*line(k, j) = *line(k, i);
		*line(k, i) = other;
	}
}

static void chase(struct kernel *k, size_t n)
{
	uint64_t at = k->at;

	while (n--)
		at = *(volatile uint64_t *)line(k, at);
	k->at = at;
}

static void random_many(struct kernel *k, size_t n)
{
	uint64_t sum = 0;

	while (n--)
		sum += *(volatile uint64_t *)line(k,
						  below(next_random(&k->random), k->lines));
	k->sum += sum;
}

/* Where it goes next depends on what was read two accesses before. */
static void random_few(struct kernel *k, size_t n)
{
	uint64_t a = 0, b = 0;

	for (; n > 1; n -= 2) {
		a = *(volatile uint64_t *)line(
			k, below(next_random(&k->random) ^ (a & 1), k->lines));
		b = *(volatile uint64_t *)line(
			k, below(next_random(&k->random) ^ (b & 1), k->lines));
	}
	k->sum += a + b;
}

static void stream(struct kernel *k, size_t n)
{
	uint64_t at = k->at, sum = 0;

	while (n--) {
		sum += *(volatile uint64_t *)line(k, at);
		at = at + 1 == k->lines ? 0 : at + 1;
	}
	k->at = at;
	k->sum += sum;
}

static void counters(struct kernel *k, size_t n)
{
	for (; n; n--, k->at++) {
		char *p = k->shared + k->at % KERNEL_SHARED_LINES * KERNEL_LINE;

		__atomic_fetch_add((uint64_t *)p, 1, __ATOMIC_RELAXED);
		if (k->memory)
			random_many(k, 1);
	}
}

void kernel_run(struct kernel *k, size_t n)
{
	switch (k->pattern) {
	case PATTERN_CHASE: chase(k, n); break;
	case PATTERN_RANDOM: (k->few ? random_few : random_many)(k, n); break;
	case PATTERN_STREAM: stream(k, n); break;
	case PATTERN_COUNTERS: counters(k, n); break;
	}
}
