/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model of the caches and the memory of a NUMA machine, for the counters of pmu.h.
 *
 * While some counter of the machine counts a memory event, every data access of every CPU
 * goes through it: a private L1 and L2, as CPUID describes them; one last-level cache
 * (LLC) for each NUMA node, inclusive of its cores' caches, with a directory of which core
 * has a line and who has it modified; MESI among the nodes; a line's home is the node
 * whose memory backend holds it. True LRU everywhere.
 *
 * What it is not: time does not stretch with misses; nothing is prefetched, by hardware or
 * by an instruction; no instruction fetches, no page walks, no DMA, no accesses to VMCBs;
 * all RAM is write-back, whatever MTRRs and PAT say; CLFLUSH, WBINVD and non-temporal
 * stores do not empty anything. While no memory event is counted, it stands still, and
 * what is in it stays.
 *
 * An access counts once for each line it touches. 16 and 32 bytes are one access; a REP
 * instruction accesses once an iteration; FXSAVE, XSAVE and their kin eight bytes at a
 * time or less, 80 bit floats in two pieces; a read-modify-write, LOCKed or not, is a load
 * and a store. An instruction that faults after its first access is counted again when it
 * is repeated.
 */
#ifndef I386_PMU_MEMORY_H
#define I386_PMU_MEMORY_H

#include "cpu.h"
#include "qemu/thread.h"

#define MOST_CPUS 64
#define MOST_NODES 8
#define CHANNELS 8
#define LINKS (MOST_NODES - 1)
#define LLC_WAYS 16

/* States of a line: MESI, but that nothing has I. */
enum { SHARED = 1, EXCLUSIVE, MODIFIED };

/* Who answered. NEAR and FAR: where the line's home is; _M: that cache had it modified. */
typedef enum Source {
	FROM_L1,
	FROM_L2,
	FROM_LLC,	 /* no other core of the node has it */
	FROM_CORE,	 /* from the LLC, but another core of the node has it, too */
	FROM_CORE_M,	 /* … modified */
	FROM_CACHE_NEAR, /* another node's cache */
	FROM_CACHE_NEAR_M,
	FROM_CACHE_FAR,
	FROM_CACHE_FAR_M,
	FROM_DRAM_NEAR,
	FROM_DRAM_FAR,
	UPGRADED_L1, /* a store to a line that is here, but shared: no data came */
	UPGRADED_L2,
	SOURCES
} Source;

/* An access's outcome: of loads the even, of stores the odd numbers. */
#define OUTCOME(source, store) ((source)*2 + (store))
#define OUTCOMES (2 * SOURCES)

/* What is counted for a node. */
enum {
	/* requests of its cores to its LLC; WRITTEN_BACK: an L2 puts out a modified line */
	LOAD_HIT,
	LOAD_MISS,
	STORE_HIT,
	STORE_MISS,
	UPGRADE,
	WRITTEN_BACK,
	/* lines that come into its LLC, and that it puts out, by their state */
	IN_M,
	IN_E,
	IN_S,
	OUT_M,
	OUT_E,
	OUT_S,
	/* what its LLC answered when another node asked: lines homed here, elsewhere */
	SNOOP_NEAR_I,
	SNOOP_NEAR_S,
	SNOOP_NEAR_M,
	SNOOP_FAR_I,
	SNOOP_FAR_S,
	SNOOP_FAR_M,
	/* lines read from and written to its memory, by itself and by others */
	READ_OWN,
	READ_OTHER,
	WRITE_OWN,
	WRITE_OTHER,
	READ_CHANNEL, /* the same by channel */
	WRITE_CHANNEL = READ_CHANNEL + CHANNELS,
	SENT = WRITE_CHANNEL + CHANNELS, /* lines sent to each of the other nodes */
	ASKED = SENT + LINKS,		 /* lines read and written for it, by home */
	NODE_COUNTS = ASKED + MOST_NODES
};
QEMU_BUILD_BUG_ON(NODE_COUNTS > 64 || OUTCOMES > 64);

/* What a counter counts: a sum of some of these, times a weight. */
typedef struct Sum {
	uint64_t mask; /* of a core's outcomes or a node's counts; 0: nothing */
	uint8_t weight;
	bool node;
} Sum;

/* A line of an LLC. */
typedef struct Line {
	uint64_t line;	  /* its address / 64; its home in the top byte */
	uint64_t sharers; /* CPUs of the node that have it */
	int16_t owner;	  /* the one that has it modified, or -1 */
	uint8_t state;
} Line;

typedef struct NodeCounter {
	uint64_t select, value, base;
	Sum sum; /* of nothing while it does not count */
} NodeCounter;

typedef struct Node {
	int index;
	void *ram;
	uint64_t ram_size;
	Line *llc; /* sets of LLC_WAYS, the last used first */
	uint64_t n[NODE_COUNTS];

	NodeCounter l3[6], df[4], uncore[8];
	uint64_t global_ctrl, global_status, fixed_ctrl, fixed, fixed_base;
} Node;

typedef struct X86MemoryCore {
	int index;
	int turn; /* accesses since it was another CPU's turn */
	Node *node;
	uint64_t *l1, *l2; /* sets of ways, the last used first: line << 2 | state */
	uint32_t l1_sets, l1_ways, l2_sets, l2_ways;
	uint64_t n[X86_PMU_MODES][OUTCOMES];

	uint64_t watched[X86_PMU_MODES]; /* outcomes that count down pmu.memory_left */
	struct {
		Sum sum;
		uint8_t modes;
		uint64_t base;
	} counter[X86_PMU_COUNTERS];
} X86MemoryCore;

typedef struct Machine {
	QemuMutex lock; /* of all of this but the cores' counts */
	bool threads;	/* it is needed: thread=multi */
	int nodes;	/* 0: not made yet */
	int channels;
	bool shared_answers; /* another node's cache, for a line that it shares */
	uint32_t llc_sets;
	Node node[MOST_NODES];
	X86MemoryCore *core[MOST_CPUS];
} Machine;

extern Machine x86_memory;

static inline void memory_lock(void)
{
	if (x86_memory.threads) {
		qemu_mutex_lock(&x86_memory.lock);
	}
}

static inline void memory_unlock(void)
{
	if (x86_memory.threads) {
		qemu_mutex_unlock(&x86_memory.lock);
	}
}

/* accesses.c: makes the model at the first use, when the machine is complete. */
void memory_make(void);
/* The CPU's caches; NULL while there is no model. */
X86MemoryCore *memory_core(CPUX86State *env);
/* By how much the number of counters that need accesses changes. With the lock held. */
void memory_use(int change);
uint64_t memory_node_sum(const Node *node, const Sum *sum);

/* caches.c: a core loads from or stores to a line. With the lock held. */
Source memory_use_line(X86MemoryCore *core, uint64_t line, bool store);

/* The same, if it is the line that was used last of its set: nothing changes. */
static inline bool memory_at_hand(const X86MemoryCore *core, uint64_t line, bool store)
{
	uint64_t way = core->l1[(line & (core->l1_sets - 1)) * core->l1_ways];

	return way >> 2 == line && (!store || (way & 3) == MODIFIED);
}

/* events.c: what an event select register counts; of nothing, if it is none of these */
Sum memory_core_event(CPUX86State *env, uint64_t select);
Sum memory_l3_event(CPUX86State *env, uint64_t select);
Sum memory_df_event(CPUX86State *env, uint64_t select);
Sum memory_uncore_event(CPUX86State *env, uint64_t select);

#endif
