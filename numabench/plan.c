/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numabench/plan.h"

#include <string.h>

/* clang-format off */
#define THREADS(n, p, where, size)                                                         \
	{.pattern = PATTERN_##p, .memory = WHERE_##where, .threads = (n), .llcs = (size)}
/* Others that put everything out of the cache, but leave memory and trackers room. */
#define SWEEP {.pattern = PATTERN_RANDOM, .many = true, .llcs = 8, .misses = 2}
#define STREAMS {.pattern = PATTERN_STREAM, .many = true, .llcs = 8}
/* … that hold trackers for long. */
#define FAR_MISSES                                                                         \
	{.pattern = PATTERN_RANDOM, .memory = WHERE_THERE, .many = true, .llcs = 8}

const struct benchmark benchmarks[] = {
	{
		.name = "local",
		.what = "one chain of pointers through the own node's memory",
		.victim = THREADS(1, CHASE, HERE, 8),
		.calm = THREADS(1, CHASE, HERE, 8),
	},
	{
		.name = "remote",
		.provokes = "locality",
		.what = "one chain of pointers through another node's memory",
		.victim = THREADS(1, CHASE, THERE, 8),
		.calm = THREADS(1, CHASE, HERE, 8),
		.slower = 1.2,
	},
	{
		.name = "llc",
		.provokes = "llc",
		.what = "a chain that fits the last-level cache, which others sweep",
		.victim = THREADS(1, CHASE, HERE, 0.6),
		.calm = THREADS(1, CHASE, HERE, 0.6),
		.others = SWEEP,
		.slower = 1.2,
	},
	{
		.name = "sharing",
		.provokes = "sharing",
		.what = "two threads that add to the same lines",
		.victim = THREADS(2, COUNTERS, HERE, 0),
		.calm = THREADS(1, COUNTERS, HERE, 0),
		.slower = 2,
	},
	{
		.name = "memory",
		.provokes = "memory",
		.what = "a chain through memory that others stream from",
		.victim = THREADS(1, CHASE, HERE, 16),
		.calm = THREADS(1, CHASE, HERE, 16),
		.others = STREAMS,
		.slower = 1.2,
	},
	{
		.name = "trackers",
		.provokes = "trackers",
		.what = "many misses beside others' many longer ones, more than there "
			"are trackers",
		.victim = THREADS(1, RANDOM, HERE, 8),
		.calm = THREADS(1, RANDOM, HERE, 8),
		.others = FAR_MISSES,
		.slower = 1.1,
	},
	{
		.name = "remote+llc",
		.provokes = "locality",
		.also = "llc",
		.what = "a chain that fits the last-level cache, of another node's "
			"memory; others sweep the cache",
		.victim = THREADS(1, CHASE, THERE, 0.6),
		.calm = THREADS(1, CHASE, HERE, 0.6),
		.others = SWEEP,
		.slower = 1.3,
	},
	{
		.name = "llc+memory",
		.provokes = "llc",
		.also = "memory",
		.what = "a chain that fits the last-level cache, which others stream "
			"through",
		.victim = THREADS(1, CHASE, HERE, 0.6),
		.calm = THREADS(1, CHASE, HERE, 0.6),
		.others = STREAMS,
		.slower = 1.3,
	},
	{
		.name = "sharing+memory",
		.provokes = "sharing",
		.also = "memory",
		.what = "two threads that add to the same lines and read memory that "
			"others stream from",
		.victim = THREADS(2, COUNTERS, HERE, 8),
		.calm = THREADS(1, COUNTERS, HERE, 8),
		.others = STREAMS,
		.slower = 1.3,
	},
	{
		.name = "remote+sharing",
		.provokes = "sharing",
		.also = "locality",
		.what = "two threads that add to the same lines and read another node's "
			"memory",
		.victim = THREADS(2, COUNTERS, THERE, 8),
		.calm = THREADS(1, COUNTERS, HERE, 8),
		.slower = 1.2,
	},
	{
		.name = "remote+memory",
		.provokes = "locality",
		.also = "memory",
		.what = "a chain through another node's memory, which that node's cores "
			"stream from",
		.victim = THREADS(1, CHASE, THERE, 16),
		.calm = THREADS(1, CHASE, HERE, 16),
		.others = {.pattern = PATTERN_STREAM, .memory = WHERE_THERE, .there = true,
			   .many = true, .llcs = 8},
		.slower = 1.3,
	},
	{
		.name = "llc+sharing",
		.provokes = "sharing",
		.also = "llc",
		.what = "two threads that add to the same lines and read what fits the "
			"last-level cache, which others sweep",
		.victim = THREADS(2, COUNTERS, HERE, 0.3),
		.calm = THREADS(1, COUNTERS, HERE, 0.3),
		.others = SWEEP,
		.slower = 1.3,
	},
	{
		.name = "llc+trackers",
		.provokes = "llc",
		.also = "trackers",
		.what = "many requests for what fits the last-level cache, beside "
			"others' many longer ones that sweep it",
		.victim = THREADS(1, RANDOM, HERE, 0.6),
		.calm = THREADS(1, RANDOM, HERE, 0.6),
		.others = FAR_MISSES,
		.slower = 1.3,
	},
	{.name = NULL},
};
/* clang-format on */

const struct benchmark *benchmark_find(const char *name)
{
	for (const struct benchmark *b = benchmarks; b->name; b++)
		if (!strcmp(b->name, name))
			return b;
	return NULL;
}

const char *pattern_name(enum pattern pattern)
{
	static const char *const names[] = {
		[PATTERN_CHASE] = "chase",
		[PATTERN_RANDOM] = "random",
		[PATTERN_STREAM] = "stream",
		[PATTERN_COUNTERS] = "counters",
	};

	return names[pattern];
}
