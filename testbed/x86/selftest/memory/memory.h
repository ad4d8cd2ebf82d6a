/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory events of known access patterns, each against what it must be. The caches are
 * CPUID's L1 and L2, and an LLC of 1 MB for each of two nodes of 64 MB.
 */
#ifndef SELFTEST_MEMORY_H
#define SELFTEST_MEMORY_H

#include "../counters.h"

#define MB (1ULL << 20)
#define NODES 2
#define NODE_SIZE (64 * MB)
#define LLC_LINES 16384
#define MANY_LINES (3 * LLC_LINES / 2)

/* patterns.S: (an MSR, address, laps, …), by how much the MSR rises meanwhile */
typedef uint64_t pattern(uint32_t msr, uint64_t address, uint64_t laps, ...);
pattern walk_loads, walk_stores, sampled_loads, chase, random_loads, ping_pong, hot_line;
pattern load_8, load_64, store_64, modify, locked, exchange, load_sse, store_sse, add_sse;
pattern load_sse_64, load_x87, load_x87_80, call_return, push_pop, exchange_16;
pattern move_bytes, fill_words, load_avx, store_avx;
extern char after_load[];

/* An event select, without its flags. */
#define EVENT(number, umask) (((number)&0xffULL) | (umask) << 8 | ((number)&0xf00ULL) << 24)

/* What this CPU calls it; 0 if it has no such event. */
struct events {
	uint64_t loads, stores, accesses;
	uint64_t l1_misses, from_l2, beyond_l2, from_llc, near_dram, far_dram;
	/* of the line of the ping pong: from the other core, or the other node's */
	uint64_t from_core, near_cache, far_cache;
	uint32_t offcore; /* what OFFCORE_RESPONSE needs for the last two */
	uint64_t l1_lines, l1_sets;
};

const struct events *find_events(void);

/* Memory of a node that no one has touched yet; but for others' in the same way. */
uint64_t fresh_lines(int node, uint64_t lines);
/* By how much the event counts with a pattern, the last argument of which is given. */
uint64_t measure(uint64_t event, pattern *pattern, uint64_t address, uint64_t laps,
		 uint64_t argument);
/* Both CPUs are there when either goes on. */
void meet(void);

/* nodes.c: the counters of the CPU's node; of both nodes, by both CPUs at once */
void test_node(int own);
void test_nodes(const struct events *events);

#endif
