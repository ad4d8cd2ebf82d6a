/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which event of which CPU counts what of the model in memory.h: one row for an event, or
 * for a bit of its unit mask. What has no row counts nothing.
 *
 * Sources: Linux, tools/perf/pmu-events/arch/x86/amdzen1, amdzen2, amdzen3; LIKWID,
 * src/includes/perfmon_zen2_events.txt (data fabric); AMD 31116, BIOS and Kernel
 * Developer's Guide for family 10h, 3.14; intel/perfmon, NHM-EP/events/nehalemep_core.json;
 * libpfm4, lib/events/intel_nhm_unc_events.h; [SDM3] 20.3.1.1.3, "Off-core Response
 * Performance Monitoring in the Processor Core".
 *
 * AMD has a bit for operations that load and store the same place; here they are a load
 * and a store. Masks of L3 slices, threads and cores are not looked at: all count. K10's
 * pages of DRAM are not modelled: each of a channel's bits counts all of it.
 */
#include "qemu/osdep.h"
#include "memory.h"

enum {
	K10 = 1,
	ZEN1 = 2,
	ZEN2 = 4,
	ZEN3 = 8,
	NEHALEM = 16,
	ZEN12 = ZEN1 | ZEN2,
	ZEN = ZEN12 | ZEN3,
};

/* Whose counters; NODE: a core's, but they count what its node does. */
enum { CORE, NODE, L3, DF, UNCORE };

/* Which bits the unit mask must have: any, some of the row's, all of the row's. */
enum { ANY, SOME, ALL };

typedef struct Row {
	uint8_t cpus, unit;
	uint16_t event;
	uint8_t how, umask;
	uint8_t weight;
	uint64_t mask;
} Row;

#define FROM(source) (3ULL << OUTCOME(source, 0))
#define LOADS (MAKE_64BIT_MASK(0, OUTCOMES) / 3)
#define STORES (LOADS << 1)
#define IN_L1 (FROM(FROM_L1) | FROM(UPGRADED_L1))
#define IN_L2 (FROM(FROM_L2) | FROM(UPGRADED_L2))
#define OWN_LLC (FROM(FROM_LLC) | FROM(FROM_CORE) | FROM(FROM_CORE_M))
#define CACHES_NEAR (FROM(FROM_CACHE_NEAR) | FROM(FROM_CACHE_NEAR_M))
#define CACHES_FAR (FROM(FROM_CACHE_FAR) | FROM(FROM_CACHE_FAR_M))
#define CACHES (CACHES_NEAR | CACHES_FAR)
#define DRAM (FROM(FROM_DRAM_NEAR) | FROM(FROM_DRAM_FAR))
#define BEYOND_LLC (CACHES | DRAM)
#define BEYOND_L2 (OWN_LLC | BEYOND_LLC)
#define BEYOND_L1 (IN_L2 | BEYOND_L2)

#define N(count) (1ULL << (count))
#define HITS (N(LOAD_HIT) | N(STORE_HIT) | N(UPGRADE))
#define MISSES (N(LOAD_MISS) | N(STORE_MISS))
#define READS(channel) N(READ_CHANNEL + (channel))
#define WRITES(channel) N(WRITE_CHANNEL + (channel))
#define CHANNEL(channel) (READS(channel) | WRITES(channel))

/* clang-format off */
static const Row rows[] = {
	/* Zen: loads, stores; accesses; misses of the L1 */
	{ ZEN, CORE, 0x029, SOME, 0x01, 1, LOADS },
	{ ZEN, CORE, 0x029, SOME, 0x02, 1, STORES },
	{ ZEN, CORE, 0x040, ANY, 0, 1, LOADS | STORES },
	{ ZEN12, CORE, 0x041, SOME, 0x01, 1, BEYOND_L1 & LOADS },
	{ ZEN12, CORE, 0x041, SOME, 0x02, 1, BEYOND_L1 & STORES },
	{ ZEN3, CORE, 0x041, SOME, 0x3f, 1, BEYOND_L1 },
	/* fills by source */
	{ ZEN, CORE, 0x043, SOME, 0x01, 1, FROM(FROM_L2) },
	{ ZEN12, CORE, 0x043, SOME, 0x02, 1, OWN_LLC | CACHES_NEAR },
	{ ZEN3, CORE, 0x043, SOME, 0x02, 1, OWN_LLC },
	{ ZEN, CORE, 0x043, SOME, 0x08, 1, FROM(FROM_DRAM_NEAR) },
	{ ZEN12, CORE, 0x043, SOME, 0x10, 1, CACHES_FAR },
	{ ZEN3, CORE, 0x043, SOME, 0x10, 1, CACHES },
	{ ZEN, CORE, 0x043, SOME, 0x40, 1, FROM(FROM_DRAM_FAR) },
	/* the same with prefetches, of which there are none */
	{ ZEN3, CORE, 0x044, SOME, 0x01, 1, FROM(FROM_L2) },
	{ ZEN3, CORE, 0x044, SOME, 0x02, 1, OWN_LLC },
	{ ZEN3, CORE, 0x044, SOME, 0x08, 1, FROM(FROM_DRAM_NEAR) },
	{ ZEN3, CORE, 0x044, SOME, 0x10, 1, CACHES },
	{ ZEN3, CORE, 0x044, SOME, 0x40, 1, FROM(FROM_DRAM_FAR) },
	/* requests to the L2: reads, stores, changes to exclusive; what became of them */
	{ ZEN, CORE, 0x060, SOME, 0x80, 1, BEYOND_L1 & LOADS },
	{ ZEN, CORE, 0x060, SOME, 0x40, 1, BEYOND_L1 & STORES },
	{ ZEN, CORE, 0x060, SOME, 0x08, 1, FROM(UPGRADED_L1) },
	{ ZEN, CORE, 0x064, SOME, 0x40, 1, IN_L2 & LOADS },
	{ ZEN, CORE, 0x064, SOME, 0x10, 1, (IN_L2 & STORES) | FROM(UPGRADED_L1) },
	{ ZEN, CORE, 0x064, SOME, 0x08, 1, BEYOND_L2 },
	/* the L3: lookups, misses, others; fills */
	{ ZEN, L3, 0x001, SOME, 0x80, 1, HITS | MISSES },
	{ ZEN, L3, 0x004, SOME, 0xff, 1, HITS | MISSES },
	{ ZEN, L3, 0x006, SOME, 0x01, 1, MISSES },
	{ ZEN, L3, 0x006, SOME, 0xfe, 1, HITS },
	{ ZEN12, L3, 0x09a, SOME, 0x3f, 1, MISSES },
	{ ZEN3, L3, 0x09a, SOME, 0xff, 1, MISSES },
	/* the data fabric: channels, in 64 bytes; what is sent to other nodes, in 32 */
	{ ZEN, DF, 0x007, ALL, 0x38, 1, CHANNEL(0) },
	{ ZEN, DF, 0x047, ALL, 0x38, 1, CHANNEL(1) },
	{ ZEN, DF, 0x087, ALL, 0x38, 1, CHANNEL(2) },
	{ ZEN, DF, 0x0c7, ALL, 0x38, 1, CHANNEL(3) },
	{ ZEN, DF, 0x107, ALL, 0x38, 1, CHANNEL(4) },
	{ ZEN, DF, 0x147, ALL, 0x38, 1, CHANNEL(5) },
	{ ZEN, DF, 0x187, ALL, 0x38, 1, CHANNEL(6) },
	{ ZEN, DF, 0x1c7, ALL, 0x38, 1, CHANNEL(7) },
	{ ZEN, DF, 0x7c7, ALL, 0x02, 2, N(SENT + 0) },
	{ ZEN, DF, 0x807, ALL, 0x02, 2, N(SENT + 1) },
	{ ZEN, DF, 0x847, ALL, 0x02, 2, N(SENT + 2) },
	{ ZEN, DF, 0x887, ALL, 0x02, 2, N(SENT + 3) },
	{ ZEN2, DF, 0x187, ALL, 0x02, 2, N(SENT + 0) },
	{ ZEN2, DF, 0x1c7, ALL, 0x02, 2, N(SENT + 1) },
	{ ZEN2, DF, 0x207, ALL, 0x02, 2, N(SENT + 2) },
	{ ZEN2, DF, 0x287, ALL, 0x02, 2, N(SENT + 3) },
	{ ZEN2, DF, 0x247, ALL, 0x02, 2, N(SENT + 4) },
	{ ZEN2, DF, 0x2c7, ALL, 0x02, 2, N(SENT + 5) },

	/* K10: accesses, misses; fills from the L2 and from beyond; requests to the L2 */
	{ K10, CORE, 0x040, ANY, 0, 1, LOADS | STORES },
	{ K10, CORE, 0x041, ANY, 0, 1, BEYOND_L1 },
	{ K10, CORE, 0x042, SOME, 0x01, 1, BEYOND_L2 },
	{ K10, CORE, 0x042, SOME, 0x1e, 1, IN_L2 },
	{ K10, CORE, 0x043, SOME, 0x1f, 1, BEYOND_L2 },
	{ K10, CORE, 0x07d, SOME, 0x02, 1, BEYOND_L1 },
	{ K10, CORE, 0x07e, SOME, 0x02, 1, BEYOND_L2 },
	/* its northbridge: channels of DRAM; requests to DRAM by its node; the L3 */
	{ K10, NODE, 0x0e0, SOME, 0x07, 1, CHANNEL(0) },
	{ K10, NODE, 0x0e0, SOME, 0x38, 1, CHANNEL(1) },
	{ K10, NODE, 0x1e0, SOME, 0x01, 1, N(ASKED + 0) },
	{ K10, NODE, 0x1e0, SOME, 0x02, 1, N(ASKED + 1) },
	{ K10, NODE, 0x1e0, SOME, 0x04, 1, N(ASKED + 2) },
	{ K10, NODE, 0x1e0, SOME, 0x08, 1, N(ASKED + 3) },
	{ K10, NODE, 0x1e0, SOME, 0x10, 1, N(ASKED + 4) },
	{ K10, NODE, 0x1e0, SOME, 0x20, 1, N(ASKED + 5) },
	{ K10, NODE, 0x1e0, SOME, 0x40, 1, N(ASKED + 6) },
	{ K10, NODE, 0x1e0, SOME, 0x80, 1, N(ASKED + 7) },
	{ K10, NODE, 0x4e0, SOME, 0x03, 1, N(LOAD_HIT) | N(LOAD_MISS) },
	{ K10, NODE, 0x4e0, SOME, 0x04, 1, N(STORE_HIT) | N(STORE_MISS) },
	{ K10, NODE, 0x4e1, SOME, 0x03, 1, N(LOAD_MISS) },
	{ K10, NODE, 0x4e1, SOME, 0x04, 1, N(STORE_MISS) },

	/* Nehalem: retired loads and stores; loads by who answered */
	{ NEHALEM, CORE, 0x00b, SOME, 0x01, 1, LOADS },
	{ NEHALEM, CORE, 0x00b, SOME, 0x02, 1, STORES },
	{ NEHALEM, CORE, 0x0cb, SOME, 0x01, 1, IN_L1 & LOADS },
	{ NEHALEM, CORE, 0x0cb, SOME, 0x02, 1, IN_L2 & LOADS },
	{ NEHALEM, CORE, 0x0cb, SOME, 0x04, 1, FROM(FROM_LLC) & LOADS },
	{ NEHALEM, CORE, 0x0cb, SOME, 0x08, 1,
	  (FROM(FROM_CORE) | FROM(FROM_CORE_M)) & LOADS },
	{ NEHALEM, CORE, 0x0cb, SOME, 0x10, 1, BEYOND_LLC & LOADS },
	{ NEHALEM, CORE, 0x00f, SOME, 0x02, 1, FROM(FROM_CORE_M) & LOADS },
	{ NEHALEM, CORE, 0x00f, SOME, 0x08, 1,
	  (CACHES_NEAR | FROM(FROM_CACHE_FAR)) & LOADS },
	{ NEHALEM, CORE, 0x00f, SOME, 0x10, 1,
	  (FROM(FROM_CACHE_FAR_M) | FROM(FROM_DRAM_FAR)) & LOADS },
	{ NEHALEM, CORE, 0x00f, SOME, 0x20, 1, FROM(FROM_DRAM_NEAR) & LOADS },
	/* references to and misses of the LLC; lines brought into the L1 */
	{ NEHALEM, CORE, 0x02e, ALL, 0x4f, 1, BEYOND_L2 },
	{ NEHALEM, CORE, 0x02e, ALL, 0x41, 1, BEYOND_LLC },
	{ NEHALEM, CORE, 0x051, SOME, 0x01, 1, BEYOND_L1 },
	/* the uncore: requests, by tracker; answers to snoops; the LLC */
	{ NEHALEM, UNCORE, 0x003, SOME, 0x01, 1, HITS | MISSES },
	{ NEHALEM, UNCORE, 0x003, SOME, 0x02, 1, MISSES },
	{ NEHALEM, UNCORE, 0x003, SOME, 0x20, 1, N(WRITTEN_BACK) },
	{ NEHALEM, UNCORE, 0x006, SOME, 0x01, 1, N(SNOOP_NEAR_I) },
	{ NEHALEM, UNCORE, 0x006, SOME, 0x02, 1, N(SNOOP_NEAR_S) },
	{ NEHALEM, UNCORE, 0x006, SOME, 0x20, 1, N(SNOOP_NEAR_M) },
	{ NEHALEM, UNCORE, 0x007, SOME, 0x01, 1, N(SNOOP_FAR_I) },
	{ NEHALEM, UNCORE, 0x007, SOME, 0x02, 1, N(SNOOP_FAR_S) },
	{ NEHALEM, UNCORE, 0x007, SOME, 0x20, 1, N(SNOOP_FAR_M) },
	{ NEHALEM, UNCORE, 0x008, SOME, 0x01, 1, HITS },
	{ NEHALEM, UNCORE, 0x008, SOME, 0x02, 1, N(WRITTEN_BACK) },
	{ NEHALEM, UNCORE, 0x009, SOME, 0x01, 1, MISSES },
	{ NEHALEM, UNCORE, 0x00a, SOME, 0x01, 1, N(IN_M) },
	{ NEHALEM, UNCORE, 0x00a, SOME, 0x02, 1, N(IN_E) },
	{ NEHALEM, UNCORE, 0x00a, SOME, 0x04, 1, N(IN_S) },
	{ NEHALEM, UNCORE, 0x00b, SOME, 0x01, 1, N(OUT_M) },
	{ NEHALEM, UNCORE, 0x00b, SOME, 0x02, 1, N(OUT_E) },
	{ NEHALEM, UNCORE, 0x00b, SOME, 0x04, 1, N(OUT_S) },
	/* its home logic: requests by who asks; its memory: lines by channel */
	{ NEHALEM, UNCORE, 0x020, SOME, 0x04, 1, N(READ_OTHER) },
	{ NEHALEM, UNCORE, 0x020, SOME, 0x08, 1, N(WRITE_OTHER) },
	{ NEHALEM, UNCORE, 0x020, SOME, 0x10, 1, N(READ_OWN) },
	{ NEHALEM, UNCORE, 0x020, SOME, 0x20, 1, N(WRITE_OWN) },
	{ NEHALEM, UNCORE, 0x02c, SOME, 0x01, 1, READS(0) },
	{ NEHALEM, UNCORE, 0x02c, SOME, 0x02, 1, READS(1) },
	{ NEHALEM, UNCORE, 0x02c, SOME, 0x04, 1, READS(2) },
	{ NEHALEM, UNCORE, 0x02f, SOME, 0x01, 1, WRITES(0) },
	{ NEHALEM, UNCORE, 0x02f, SOME, 0x02, 1, WRITES(1) },
	{ NEHALEM, UNCORE, 0x02f, SOME, 0x04, 1, WRITES(2) },
	{ NEHALEM, UNCORE, 0x063, SOME, 0x01, 1, READS(0) },
	{ NEHALEM, UNCORE, 0x063, SOME, 0x04, 1, READS(1) },
	{ NEHALEM, UNCORE, 0x063, SOME, 0x10, 1, READS(2) },
	{ NEHALEM, UNCORE, 0x064, SOME, 0x01, 1, WRITES(0) },
	{ NEHALEM, UNCORE, 0x064, SOME, 0x04, 1, WRITES(1) },
	{ NEHALEM, UNCORE, 0x064, SOME, 0x10, 1, WRITES(2) },
};
/* clang-format on */

static int cpu_of(CPUX86State *env)
{
	int model = (env->cpuid_version >> 4 & 0xf) + (env->cpuid_version >> 12 & 0xf0);

	if (env->pmu.kind & X86_PMU_INTEL) {
		return NEHALEM;
	}
	switch (x86_pmu_family(env)) {
	case 0x10: return K10;
	case 0x17: return model < 0x30 ? ZEN1 : ZEN2;
	case 0x19: return ZEN3;
	default: return 0;
	}
}

static bool selects(const Row *r, int umask)
{
	return r->how == ANY || (umask & r->umask && r->how == SOME) ||
	       ((umask & r->umask) == r->umask && r->how == ALL);
}

static Sum find(CPUX86State *env, int unit, int event, int umask)
{
	int i, cpu = cpu_of(env);
	Sum sum = { .node = unit != CORE };

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const Row *r = &rows[i];

		if (r->cpus & cpu && r->unit == unit && r->event == event &&
		    selects(r, umask)) {
			sum.mask |= r->mask;
			sum.weight = r->weight;
		}
	}
	return sum;
}

/* MSR_OFFCORE_RSP_0: who asks is the low byte, who answers the next. */
static Sum offcore_response(uint64_t msr)
{
	static const uint64_t answers[] = {
		FROM(FROM_LLC),
		FROM(FROM_CORE),
		FROM(FROM_CORE_M),
		FROM(FROM_CACHE_NEAR_M) | FROM(FROM_CACHE_FAR_M),
		FROM(FROM_CACHE_NEAR) | FROM(FROM_CACHE_FAR),
		FROM(FROM_DRAM_FAR),
		FROM(FROM_DRAM_NEAR),
	};
	Sum sum = { .weight = 1 };
	int i;

	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		sum.mask |= msr >> (8 + i) & 1 ? answers[i] : 0;
	}
	sum.mask &= (msr & 1 ? LOADS : 0) | (msr & 2 ? STORES : 0);
	return sum;
}

Sum memory_core_event(CPUX86State *env, uint64_t select)
{
	int event = select & 0xff, umask = select >> 8 & 0xff;
	Sum sum;

	if (!(env->pmu.kind & X86_PMU_INTEL)) {
		event |= select >> 24 & 0xf00;
	} else if (event == 0xb7 && umask & 1) {
		return offcore_response(env->pmu.offcore_response);
	}
	sum = find(env, CORE, event, umask);
	return sum.mask ? sum : find(env, NODE, event, umask);
}

Sum memory_l3_event(CPUX86State *env, uint64_t select)
{
	return find(env, L3, select & 0xff, select >> 8 & 0xff);
}

/* Bits 0-7, 32-35, 59-60 are the event, in version 2 bits 0-7, 32-37. */
Sum memory_df_event(CPUX86State *env, uint64_t select)
{
	int event = (select & 0xff) | (select >> 24 & 0x3f00) | (select >> 47 & 0x3000);

	return find(env, DF, event, select >> 8 & 0xff);
}

Sum memory_uncore_event(CPUX86State *env, uint64_t select)
{
	return find(env, UNCORE, select & 0xff, select >> 8 & 0xff);
}
