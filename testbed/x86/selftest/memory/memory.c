/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the cores' counters count. */
#include "memory.h"
#include "../tests.h"

static const struct events k10 = {
	.accesses = EVENT(0x40, 0),
	.l1_misses = EVENT(0x41, 0),
	.from_l2 = EVENT(0x42, 0x1e),
	.beyond_l2 = EVENT(0x43, 0x1f),
	.l1_lines = 1024,
	.l1_sets = 512,
};

static const struct events zen12 = {
	.loads = EVENT(0x29, 0x01),
	.stores = EVENT(0x29, 0x02),
	.accesses = EVENT(0x40, 0),
	.l1_misses = EVENT(0x41, 0x03),
	.from_l2 = EVENT(0x43, 0x01),
	.beyond_l2 = EVENT(0x43, 0x5a),
	.from_llc = EVENT(0x43, 0x02),
	.from_core = EVENT(0x43, 0x02),
	.near_dram = EVENT(0x43, 0x08),
	.far_dram = EVENT(0x43, 0x40),
	.near_cache = EVENT(0x43, 0x02),
	.far_cache = EVENT(0x43, 0x10),
	.l1_lines = 512,
	.l1_sets = 64,
};

static const struct events zen3 = {
	.loads = EVENT(0x29, 0x01),
	.stores = EVENT(0x29, 0x02),
	.accesses = EVENT(0x40, 0),
	.l1_misses = EVENT(0x41, 0x3f),
	.from_l2 = EVENT(0x43, 0x01),
	.beyond_l2 = EVENT(0x44, 0x5e),
	.from_llc = EVENT(0x44, 0x02),
	.from_core = EVENT(0x43, 0x02),
	.near_dram = EVENT(0x44, 0x08),
	.far_dram = EVENT(0x43, 0x40),
	.near_cache = EVENT(0x43, 0x14),
	.far_cache = EVENT(0x44, 0x14),
	.l1_lines = 512,
	.l1_sets = 64,
};

static const struct events nehalem = {
	.loads = EVENT(0x0b, 0x01),
	.stores = EVENT(0x0b, 0x02),
	.l1_misses = EVENT(0x51, 0x01),
	.from_l2 = EVENT(0xcb, 0x02),
	.beyond_l2 = EVENT(0x2e, 0x4f),
	.from_llc = EVENT(0xcb, 0x04),
	.from_core = EVENT(0x0f, 0x02),
	.near_dram = EVENT(0x0f, 0x20),
	.far_dram = EVENT(0x0f, 0x10),
	.near_cache = EVENT(0xb7, 0x01),
	.far_cache = EVENT(0xb7, 0x01),
	.l1_lines = 512,
	.l1_sets = 64,
	.offcore = 0x0801, /* reads, that a modified line of another node answers */
};

#define OFFCORE_RESPONSE 0x1a6

const struct events *find_events(void)
{
	uint32_t eax = cpuid(1).eax, family = (eax >> 8 & 0xf) + (eax >> 20 & 0xff);

	if (find_pmu()->intel)
		return &nehalem;
	return family == 0x10 ? &k10 : family == 0x17 ? &zen12 : &zen3;
}

/* QEMU's fw_cfg: docs/specs/fw_cfg.rst; the NUMA item is hw/i386/fw_cfg.c's. */
static uint64_t read_config(uint16_t item, int skip, int bytes)
{
	static int lock;
	uint64_t value = 0;
	uint8_t byte;

	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	__asm__ volatile("outw %0, %1" : : "a"(item), "Nd"((uint16_t)0x510));
	for (int i = -skip; i < bytes; i++) {
		__asm__ volatile("inb %1, %0" : "=a"(byte) : "Nd"((uint16_t)0x511));
		if (i >= 0)
			value |= (uint64_t)byte << 8 * i;
	}
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	return value;
}

static int node_of(int apic_id)
{
	return read_config(0x0d, 8 * (1 + apic_id), 8);
}

/* Memory of a node that no one but this CPU uses: 20 MB. */
static uint64_t region(int node)
{
	return node * NODE_SIZE + (16 + 24 * this_cpu()->id) * MB;
}

/* So far of it has not been touched yet. */
static uint64_t used[CPUS][NODES];

uint64_t fresh_lines(int node, uint64_t lines)
{
	uint64_t *offset = &used[this_cpu()->id][node], address = region(node) + *offset;

	*offset += lines * 64;
	return address;
}

uint64_t measure(uint64_t event, pattern *pattern, uint64_t address, uint64_t laps,
		 uint64_t argument)
{
	uint64_t count;

	counter_start(0, event | USER | OS, 0);
	count = pattern(find_pmu()->counter, address, laps, argument);
	counter_stop(0);
	return count;
}

/* If this CPU has the event. */
static void expect_count(const char *name, uint64_t event, pattern *pattern,
			 uint64_t address, uint64_t laps, uint64_t wanted)
{
	if (event)
		expect(name, measure(event, pattern, address, laps, 0), wanted);
}

/* [SDM1] 14.3; false if the CPU has none */
static bool enable_avx(void)
{
	uint64_t cr4;

	if (!(cpuid(1).ecx & 1 << 28))
		return false;
	__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
	__asm__ volatile("mov %0, %%cr4" : : "r"(cr4 | 1 << 18));
	__asm__ volatile("xsetbv" : : "c"(0), "a"(7), "d"(0));
	return true;
}

static void test_widths(const struct events *events)
{
	static uint64_t space[32] __attribute__((aligned(64)));
	uint64_t at = (uint64_t)space;
	static const struct {
		const char *name;
		pattern *pattern;
		int offset, loads, stores;
	} cases[] = {
		{ "a byte", load_8, 0, 1, 0 },
		{ "a load", load_64, 0, 1, 0 },
		{ "a load over two lines", load_64, 60, 2, 0 },
		{ "a store", store_64, 0, 0, 1 },
		{ "a store over two lines", store_64, 60, 0, 2 },
		{ "an addition to memory", modify, 0, 1, 1 },
		{ "with LOCK", locked, 0, 1, 1 },
		{ "XCHG", exchange, 0, 1, 1 },
		{ "16 bytes", load_sse, 0, 1, 0 },
		{ "16 bytes over two lines", load_sse, 56, 2, 0 },
		{ "16 bytes stored", store_sse, 0, 0, 1 },
		{ "16 bytes stored over two lines", store_sse, 52, 0, 2 },
		{ "16 bytes, an operand", add_sse, 16, 1, 0 },
		{ "8 bytes into an XMM register", load_sse_64, 0, 1, 0 },
		{ "x87's 8 bytes", load_x87, 0, 1, 0 },
		{ "x87's 10 bytes, in two pieces", load_x87_80, 0, 2, 0 },
		{ "CMPXCHG16B, in two pieces", exchange_16, 0, 2, 2 },
		{ "CALL and RET", call_return, 0, 1, 1 },
		{ "PUSH and POP", push_pop, 0, 1, 1 },
		{ "REP MOVSB, ten times", move_bytes, 0, 10, 10 },
		{ "REP STOSQ, ten times", fill_words, 0, 0, 10 },
		{ "32 bytes", load_avx, 0, 1, 0 },
		{ "32 bytes over two lines", load_avx, 36, 2, 0 },
		{ "32 bytes stored over two lines", store_avx, 56, 0, 2 },
	};
	unsigned int count = sizeof(cases) / sizeof(cases[0]) - (enable_avx() ? 0 : 3);

	for (unsigned int i = 0; i < count; i++) {
		uint64_t where = at + cases[i].offset;

		expect_count(cases[i].name, events->loads, cases[i].pattern, where, 100,
			     100 * cases[i].loads);
		expect_count(cases[i].name, events->stores, cases[i].pattern, where, 100,
			     100 * cases[i].stores);
		expect_count(cases[i].name, events->accesses, cases[i].pattern, where, 100,
			     100 * (cases[i].loads + cases[i].stores));
	}
}

/* All of it comes from one place, lap after lap: LRU, and a walk in order. */
static void test_sizes(const struct events *events, int node)
{
	uint64_t at = fresh_lines(node, MANY_LINES);

	expect_count("new lines are misses of the L1", events->l1_misses, walk_loads, at,
		     200, 200);
	expect_count("lines of the L1 are not", events->l1_misses, walk_loads, at, 200, 0);
	measure(events->l1_misses, walk_loads, at, 2048, 0);
	expect_count("lines of the L2", events->from_l2, walk_loads, at, 2048, 2048);
	expect_count("are nowhere else", events->beyond_l2, walk_loads, at, 2048, 0);
	measure(events->l1_misses, walk_loads, at, 12288, 0);
	expect_count("lines of the LLC", events->from_llc, walk_loads, at, 12288, 12288);
	expect_count("are beyond the L2", events->beyond_l2, walk_loads, at, 12288, 12288);
	measure(events->l1_misses, walk_loads, at, MANY_LINES, 0);
	expect_count("more lines than the LLC has", events->near_dram, walk_loads, at,
		     MANY_LINES, MANY_LINES);
	expect_count("none of them from elsewhere", events->far_dram, walk_loads, at,
		     MANY_LINES, 0);
}

/* More lines of one set than it has ways, but one of them is never the oldest: LRU. */
static void test_lru(const struct events *events, int node)
{
	uint64_t others = 12, stride = 64 * events->l1_sets;
	uint64_t at = fresh_lines(node, (others + 1) * events->l1_sets);

	expect("a line that is used again and again stays",
	       measure(events->l1_misses, hot_line, at, others, stride), others + 1);
}

/* Within 1 % of wanted. */
static void expect_about(const char *name, uint64_t got, uint64_t wanted)
{
	uint64_t off = got > wanted ? got - wanted : wanted - got;

	expect(name, off * 100 <= wanted, 1);
}

/*
 * At random, of lines that fit in the L2: of each set's lines, those in the L1 are hit;
 * under true LRU, that is the share of the lines that fit.
 */
static void test_random(const struct events *events, int node)
{
	uint64_t at = fresh_lines(node, 2048);
	uint64_t laps = 300000;

	measure(events->l1_misses, walk_loads, at, 2048, 0);
	measure(events->l1_misses, random_loads, at, 10000, 2047);
	expect_about("random lines that the L1 has some of",
		     measure(events->l1_misses, random_loads, at, laps, 2047),
		     laps - laps * events->l1_lines / 2048);
}

/* A cycle through all lines of a place, in a random order (Sattolo's algorithm). */
static void make_cycle(uint64_t at, uint64_t lines)
{
	uint64_t seed = 1;

	for (uint64_t i = 0; i < lines; i++)
		*(uint64_t *)(at + 64 * i) = at + 64 * i;
	for (uint64_t i = lines - 1; i > 0; i--) {
		uint64_t *a = (uint64_t *)(at + 64 * i), *b, value = *a;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		b = (uint64_t *)(at + 64 * ((seed >> 33) % i));
		*a = *b;
		*b = value;
	}
}

/* Chased twice round: with more lines in each set than ways, none is ever found. */
static void test_chase(const struct events *events, int node, uint64_t event,
		       const char *name)
{
	uint64_t lines = 2 * LLC_LINES, at = fresh_lines(node, lines);

	make_cycle(at, lines);
	measure(events->l1_misses, chase, at, lines, 0);
	expect_count(name, event, chase, at, 2 * lines, 2 * lines);
}

static uint32_t line[16] __attribute__((aligned(64))); /* in node 0 */

/*
 * Through the mask registers of the two PICs, whose interrupts this program never takes: a
 * line of memory that both wait for would be in the counts.
 */
void meet(void)
{
	static uint8_t times[CPUS][64] __attribute__((aligned(64)));
	int id = this_cpu()->id;
	uint16_t own = id ? 0xa1 : 0x21, other = id ? 0x21 : 0xa1;
	uint8_t now = times[id][0] + 1, seen;

	times[id][0] = now;
	__asm__ volatile("outb %0, %1" : : "a"(now), "Nd"(own) : "memory");
	do {
		__asm__ volatile("pause; inb %1, %0" : "=a"(seen) : "Nd"(other) : "memory");
	} while (seen != now && seen != (uint8_t)(now + 1));
}

/* What counts that the line comes from the other CPU. */
static uint64_t transfer_event(const struct events *events, bool same_node)
{
	if (same_node)
		return events->from_core;
	return node_of(this_cpu()->id) == 0 ? events->near_cache : events->far_cache;
}

/* The line that one CPU has written comes to the other's load once each time. */
static void test_ping_pong(const struct events *events, bool same_node)
{
	int id = this_cpu()->id;
	uint64_t rounds = 1000, count;
	uint64_t event = transfer_event(events, same_node);

	if (!event)
		return;
	if (events->offcore)
		wrmsr(OFFCORE_RESPONSE, events->offcore);
	counter_start(0, event | USER | OS, 0);
	meet();
	if (id == 0)
		line[0] = 0;
	meet();
	(void)*(volatile uint32_t *)line; /* now both have it, clean */
	meet();
	count = ping_pong(find_pmu()->counter, (uint64_t)line, rounds, id);
	counter_stop(0);
	meet();
	/* the first CPU begins; what the second wrote last, no one reads */
	expect("a line that two CPUs write", count, id == 0 ? rounds - 1 : rounds);
}

/*
 * Both add to it at once, without waiting for each other: it moves about every 100
 * accesses, and that the whole time, but for what the first has done alone until the second
 * begins.
 */
static void test_contended(const struct events *events, bool same_node)
{
	uint64_t laps = 200000, count, event = transfer_event(events, same_node);

	if (!event)
		return;
	counter_start(0, event | USER | OS, 0);
	meet();
	count = modify(find_pmu()->counter, (uint64_t)line, laps);
	counter_stop(0);
	meet();
	expect("a line that two CPUs add to at once", count > 2 * laps / 400, 1);
}

/* Each interrupt comes between the load that overflows the counter and the next. */
static void test_samples(const struct events *events, int node)
{
	uint64_t at = fresh_lines(node, 10000), wrong = 0;
	struct samples *samples;

	if (!events->near_dram)
		return;
	samples = samples_start(0, events->near_dram | OS, 100, true);
	sampled_loads(find_pmu()->counter, at, 10000);
	samples_stop();
	for (int i = 0; i < samples->count && i < MOST_SAMPLES; i++)
		wrong += samples->rip[i] != (uint64_t)after_load;
	expect("samples of every 100th miss", samples->count, 100);
	expect("those not right after the load", wrong, 0);
}

static void test_sides(const struct events *events)
{
	uint64_t at = fresh_lines(0, 100);

	counter_start(0, events->l1_misses | USER, 0);
	expect("no miss of CPL 0 is the user's", walk_loads(find_pmu()->counter, at, 100),
	       0);
	counter_stop(0);
}

void test_all(void)
{
	const struct events *events = find_events();
	int id = this_cpu()->id, node = node_of(id);
	bool same_node = node_of(0) == node_of(1);

	this_cpu()->subject = "memory";
	for (int turn = 0; turn < CPUS; turn++) {
		if (turn == id) {
			test_widths(events);
			test_sides(events);
			test_sizes(events, node);
			test_lru(events, node);
			test_random(events, node);
			test_chase(events, node, events->near_dram,
				   "the own node's memory");
			test_chase(events, !node, events->far_dram,
				   "the other node's memory");
			test_samples(events, node);
			test_node(node);
		}
		meet();
	}
	test_ping_pong(events, same_node);
	test_contended(events, same_node);
	if (!same_node)
		test_nodes(events);
}
