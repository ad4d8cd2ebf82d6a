/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numabench/plan.h"

#include <stdio.h>
#include <string.h>

#define ALONE                                                                              \
	{                                                                                  \
		.threads = 0                                                               \
	}
#define ONE(p, m, size)                                                                    \
	{                                                                                  \
		.pattern = (p), .memory = (m), .threads = 1, .llcs = (size)                \
	}

const struct benchmark benchmarks[] = {
	{
		.name = "local",
		.what = "one chain of pointers through the own node's memory",
		.victim = ONE(PATTERN_CHASE, WHERE_HERE, 8),
		.calm = ONE(PATTERN_CHASE, WHERE_HERE, 8),
		.others = ALONE,
		.slower = 0,
	},
	{
		.name = "remote",
		.provokes = "locality",
		.what = "one chain of pointers through another node's memory",
		.victim = ONE(PATTERN_CHASE, WHERE_THERE, 8),
		.calm = ONE(PATTERN_CHASE, WHERE_HERE, 8),
		.others = ALONE,
		.slower = 1.2,
	},
	{
		.name = "llc",
		.provokes = "llc",
		.what = "a chain that fits the last-level cache, which others sweep",
		.victim = ONE(PATTERN_CHASE, WHERE_HERE, 0.6),
		.calm = ONE(PATTERN_CHASE, WHERE_HERE, 0.6),
		.others = { .pattern = PATTERN_RANDOM,
			    .many = true,
			    .llcs = 8,
			    .few_misses = true },
		.slower = 1.2,
	},
	{
		.name = "sharing",
		.provokes = "sharing",
		.what = "two threads that add to the same lines",
		.victim = { .pattern = PATTERN_COUNTERS, .threads = 2 },
		.calm = { .pattern = PATTERN_COUNTERS, .threads = 1 },
		.others = ALONE,
		.slower = 2,
	},
	{
		.name = "memory",
		.provokes = "memory",
		.what = "a chain through memory that others stream from",
		.victim = ONE(PATTERN_CHASE, WHERE_HERE, 8),
		.calm = ONE(PATTERN_CHASE, WHERE_HERE, 8),
		.others = { .pattern = PATTERN_STREAM, .many = true, .llcs = 8 },
		.slower = 1.2,
	},
	{
		.name = "trackers",
		.provokes = "trackers",
		.what = "many hits in the last-level cache beside others' many long misses",
		.victim = ONE(PATTERN_RANDOM, WHERE_HERE, 0.1),
		.calm = ONE(PATTERN_RANDOM, WHERE_HERE, 0.1),
		.others = { .pattern = PATTERN_RANDOM,
			    .memory = WHERE_THERE,
			    .many = true,
			    .llcs = 8 },
		.slower = 1.1,
	},
	{ .name = NULL },
};

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
