/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a node's counters count, against the patterns, and against what its cores count. */
#include "memory.h"

/*
 * As many on each of eight channels; and few in each of the LLC's sets, so that what this
 * program itself uses stays there.
 */
#define NEAR_LINES 1600
#define FAR_LINES 800
#define OWN_LINES 8 /* at most, that a larger walk takes with it */

/* Registers: AMD PPR of family 17h; [SDM4], Nehalem. */
#define AMD_L3_SELECT 0xc0010230
#define AMD_DF_SELECT 0xc0010240
#define UNCORE_CONTROL 0x391
#define UNCORE_COUNTER 0x3b0
#define UNCORE_SELECT 0x3c0

/* The events of one kind of node. */
struct node_events {
	uint32_t select, counter, step; /* MSRs */
	int passes, at_once;		/* all of memory's traffic takes so many of them */
	uint64_t memory[8];
};

static const struct node_events zen_fabric = {
	.select = AMD_DF_SELECT,
	.counter = AMD_DF_SELECT + 1,
	.step = 2,
	.passes = 2,
	.at_once = 4,
	.memory = { EVENT(0x007, 0x38), EVENT(0x047, 0x38), EVENT(0x087, 0x38),
		    EVENT(0x0c7, 0x38), EVENT(0x107, 0x38), EVENT(0x147, 0x38),
		    EVENT(0x187, 0x38), EVENT(0x1c7, 0x38) },
};

static const struct node_events nehalem_uncore = {
	.select = UNCORE_SELECT,
	.counter = UNCORE_COUNTER,
	.step = 1,
	.passes = 1,
	.at_once = 3,
	.memory = { EVENT(0x2c, 0x01), EVENT(0x2c, 0x02), EVENT(0x2c, 0x04) },
};

static void node_counter_start(uint32_t select, uint32_t counter, uint64_t event)
{
	wrmsr(select, 0);
	wrmsr(counter, 0);
	wrmsr(select, event | ENABLE);
}

/* Lines that a CPU's node read from memory, and that the CPU's core got from there. */
struct traffic {
	uint64_t moved, filled;
};

/* Both CPUs do this at once, each for its node; only the first walks. */
static struct traffic window(const struct events *events, const struct node_events *node,
			     int pass)
{
	struct traffic traffic = { 0, 0 };

	meet();
	for (int i = 0; i < node->at_once; i++)
		node_counter_start(node->select + i * node->step,
				   node->counter + i * node->step,
				   node->memory[pass * node->at_once + i]);
	meet();
	counter_start(0, events->near_dram | USER | OS, 0);
	counter_start(1, events->far_dram | USER | OS, 0);
	meet();
	if (this_cpu()->id == 0) {
		walk_loads(find_pmu()->counter, fresh_lines(0, NEAR_LINES), NEAR_LINES);
		walk_loads(find_pmu()->counter, fresh_lines(1, FAR_LINES), FAR_LINES);
	}
	meet();
	traffic.filled = counter_stop(0) + counter_stop(1);
	meet();
	for (int i = 0; i < node->at_once; i++) {
		traffic.moved += rdmsr(node->counter + i * node->step);
		wrmsr(node->select + i * node->step, 0);
	}
	meet();
	return traffic;
}

/* First the caches are filled with clean lines, and then with this program's own. */
static void test_sum(const struct events *events, const struct node_events *node)
{
	static struct traffic total[CPUS];
	int id = this_cpu()->id;
	uint64_t clean = fresh_lines(id, 2 * LLC_LINES);

	for (int pass = 0; pass < node->passes; pass++) {
		struct traffic traffic;

		measure(events->l1_misses, walk_loads, clean, 2 * LLC_LINES, 0);
		window(events, node, pass);
		traffic = window(events, node, pass);
		total[id].moved += traffic.moved;
		total[id].filled += traffic.filled;
	}
	meet();
	if (id == 0) {
		expect("one node's memory", total[0].moved, NEAR_LINES);
		expect("the other node's", total[1].moved, FAR_LINES);
		expect("the nodes' sum is the cores' sum", total[0].moved + total[1].moved,
		       (total[0].filled + total[1].filled) / node->passes);
	}
}

/*
 * Where a walk takes all of an LLC, a few of this program's own lines have to come and go
 * with it.
 */
static void expect_lines(const char *name, uint64_t got, uint64_t wanted)
{
	if (got + OWN_LINES < wanted || got > wanted + OWN_LINES)
		expect(name, got, wanted);
	else
		expect(name, wanted, wanted);
}

/* By how much a node's counter rises with a pattern. */
static uint64_t node_measure(uint32_t select, uint32_t counter, uint64_t event,
			     pattern *pattern, uint64_t address, uint64_t laps)
{
	uint64_t count;

	node_counter_start(select, counter, event);
	count = pattern(counter, address, laps, 0);
	wrmsr(select, 0);
	return count;
}

static void test_amd(int other)
{
	uint64_t at = fresh_lines(other, MANY_LINES), lines = MANY_LINES;
	uint32_t l3 = AMD_L3_SELECT, df = AMD_DF_SELECT;

	node_measure(l3, l3 + 1, EVENT(0x04, 0xff), walk_stores, at, lines);
	expect_lines("the L3's lookups",
		     node_measure(l3, l3 + 1, EVENT(0x04, 0xff), walk_stores, at, lines),
		     lines);
	expect_lines(
		"its misses",
		node_measure(l3 + 2, l3 + 3, EVENT(0x06, 0x01), walk_stores, at, lines),
		lines);
	expect_lines(
		"and its hits",
		node_measure(l3 + 10, l3 + 11, EVENT(0x06, 0xfe), walk_stores, at, lines),
		0);
	expect_lines("lines written back to the other node, in halves",
		     node_measure(df, df + 1, EVENT(0x7c7, 0x02), walk_stores, at, lines),
		     2 * lines);
	node_measure(l3, l3 + 1, EVENT(0x04, 0xff), walk_loads, at, 12288);
	expect_lines("the L3's hits",
		     node_measure(l3, l3 + 1, EVENT(0x06, 0xfe), walk_loads, at, 12288),
		     12288);
	node_counter_start(df + 6, df + 7, EVENT(0x7c7, 0x02));
	wrmsr(df + 7, 12345);
	expect("RDPMC reads the data fabric's", rdpmc(9), 12345);
	wrmsr(df + 6, 0);
	node_counter_start(l3 + 10, l3 + 11, EVENT(0x04, 0xff));
	wrmsr(l3 + 11, 54321);
	expect("and the L3's", rdpmc(15), 54321);
	wrmsr(l3 + 10, 0);
}

static void test_nehalem(int own)
{
	static const struct {
		const char *name;
		uint64_t event;
	} cases[] = {
		{ "requests to the LLC", EVENT(0x03, 0x01) },
		{ "misses of the LLC", EVENT(0x09, 0x03) },
		{ "lines in, modified", EVENT(0x0a, 0x01) },
		{ "lines out, modified", EVENT(0x0b, 0x01) },
		{ "own reads of the own memory", EVENT(0x20, 0x10) },
		{ "own writes", EVENT(0x20, 0x20) },
		{ "lines read", EVENT(0x2c, 0x07) },
		{ "lines written", EVENT(0x2f, 0x07) },
	};
	uint64_t lines = MANY_LINES, at = fresh_lines(own, lines);

	node_measure(UNCORE_SELECT, UNCORE_COUNTER, cases[0].event, walk_stores, at, lines);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_lines(cases[i].name,
			     node_measure(UNCORE_SELECT + i, UNCORE_COUNTER + i,
					  cases[i].event, walk_stores, at, lines),
			     lines);
}

/* K10's northbridge is read by a core's counters. */
static void test_k10(int own)
{
	uint64_t lines = MANY_LINES, at = fresh_lines(own, lines);

	measure(EVENT(0xe0, 0x3f), walk_stores, at, lines, 0);
	expect_lines("the node's DRAM, read and written",
		     measure(EVENT(0xe0, 0x3f), walk_stores, at, lines, 0), 2 * lines);
	expect_lines("asked of the own node",
		     measure(EVENT(0x1e0, 1 << own), walk_stores, at, lines, 0), 2 * lines);
	expect_lines("asked of the other node",
		     measure(EVENT(0x1e0, 1 << !own), walk_stores, at, lines, 0), 0);
	expect_lines("writes that missed the L3",
		     measure(EVENT(0x4e1, 0xf4), walk_stores, at, lines, 0), lines);
}

void test_node(int own)
{
	if (find_pmu()->intel) {
		wrmsr(UNCORE_CONTROL, 0xff);
		test_nehalem(own);
	} else if (find_pmu()->counters == 4) {
		test_k10(own);
	} else {
		test_amd(!own);
	}
}

void test_nodes(const struct events *events)
{
	if (find_pmu()->intel)
		test_sum(events, &nehalem_uncore);
	else if (find_pmu()->counters > 4)
		test_sum(events, &zen_fabric);
}
