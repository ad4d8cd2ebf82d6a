/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The caches: see memory.h.
 *
 * Protocol: M. Papamarcos, J. Patel, "A low-overhead coherence solution for
 * multiprocessors with private cache memories", ISCA 1984 (MESI); directory in an
 * inclusive LLC as in Intel's Nehalem, "Intel 64 and IA-32 Architectures Optimization
 * Reference Manual", "Enhancements of Intel microarchitecture code name Nehalem".
 * A cache of another node answers for memory if it has the line modified or exclusive:
 * [APM2] 7.3; on Intel, whose protocol is MESIF, also if it shares it.
 */
#include "qemu/osdep.h"
#include "memory.h"

/* In what follows 0 is no line. Counts by state are in the order M, E, S. */
enum { S = SHARED, E = EXCLUSIVE, M = MODIFIED };

Machine x86_memory;

static int home(uint64_t line)
{
	return line >> 56;
}

static void send_line(int from, int to)
{
	if (from != to) {
		x86_memory.node[from].n[SENT + to - (to > from)]++;
	}
}

/* A line of its home's memory is read or written for a node. */
static void use_memory(Node *node, uint64_t line, bool write)
{
	Node *at = &x86_memory.node[home(line)];
	int channel = (line & MAKE_64BIT_MASK(0, 48)) % x86_memory.channels;

	node->n[ASKED + at->index]++;
	if (write) {
		at->n[at == node ? WRITE_OWN : WRITE_OTHER]++;
		at->n[WRITE_CHANNEL + channel]++;
		send_line(node->index, at->index);
	} else {
		at->n[at == node ? READ_OWN : READ_OTHER]++;
		at->n[READ_CHANNEL + channel]++;
		send_line(at->index, node->index);
	}
}

/* Private caches */

static uint64_t *l1_set(X86MemoryCore *core, uint64_t line)
{
	return core->l1 + (line & (core->l1_sets - 1)) * core->l1_ways;
}

static uint64_t *l2_set(X86MemoryCore *core, uint64_t line)
{
	return core->l2 + (line & (core->l2_sets - 1)) * core->l2_ways;
}

/* Puts way i first: it is now the set's first. */
static void way_first(uint64_t *set, uint32_t i)
{
	uint64_t way = set[i];

	memmove(set + 1, set, i * sizeof(*set));
	set[0] = way;
}

static uint64_t *way_find(uint64_t *set, uint32_t ways, uint64_t line)
{
	uint32_t i;

	for (i = 0; i < ways && set[i]; i++) {
		if (set[i] >> 2 == line) {
			return set + i;
		}
	}
	return NULL;
}

static uint64_t way_insert(uint64_t *set, uint32_t ways, uint64_t way)
{
	uint64_t out = set[ways - 1];

	memmove(set + 1, set, (ways - 1) * sizeof(*set));
	set[0] = way;
	return out;
}

static void way_remove(uint64_t *set, uint32_t ways, uint64_t *way)
{
	memmove(way, way + 1, (set + ways - way - 1) * sizeof(*set));
	set[ways - 1] = 0;
}

/* Gives a core's copy another state, 0: takes it away. */
static void set_copy(X86MemoryCore *core, uint64_t line, int state)
{
	uint64_t *sets[] = { l1_set(core, line), l2_set(core, line) };
	uint32_t ways[] = { core->l1_ways, core->l2_ways };
	int i;

	for (i = 0; i < 2; i++) {
		uint64_t *way = way_find(sets[i], ways[i], line);

		if (!way) {
			continue;
		}
		if (state) {
			*way = line << 2 | state;
		} else {
			way_remove(sets[i], ways[i], way);
		}
	}
}

/* The same for all CPUs of a mask. */
static void set_copies(uint64_t cpus, uint64_t line, int state)
{
	while (cpus) {
		set_copy(x86_memory.core[ctz64(cpus)], line, state);
		cpus &= cpus - 1;
	}
}

/* Last-level caches */

static Line *llc_set(Node *node, uint64_t line)
{
	return node->llc + (line & (x86_memory.llc_sets - 1)) * LLC_WAYS;
}

static Line *llc_find(Node *node, uint64_t line)
{
	Line *set = llc_set(node, line);
	int i;

	for (i = 0; i < LLC_WAYS && set[i].state; i++) {
		if (set[i].line == line) {
			return set + i;
		}
	}
	return NULL;
}

static Line *llc_first(Node *node, Line *l)
{
	Line *set = llc_set(node, l->line), line = *l;

	memmove(set + 1, set, (l - set) * sizeof(*set));
	set[0] = line;
	return set;
}

static void llc_remove(Node *node, Line *l)
{
	Line *set = llc_set(node, l->line);

	set_copies(l->sharers, l->line, 0);
	memmove(l, l + 1, (set + LLC_WAYS - l - 1) * sizeof(*l));
	set[LLC_WAYS - 1].state = 0;
}

static Line *llc_insert(Node *node, uint64_t line, int state)
{
	Line *set = llc_set(node, line), *out = &set[LLC_WAYS - 1];

	if (out->state) {
		node->n[OUT_M + M - out->state]++;
		if (out->state == M) {
			use_memory(node, out->line, true);
		}
		set_copies(out->sharers, out->line, 0);
	}
	*out = (Line) { .line = line, .owner = -1, .state = state };
	node->n[IN_M + M - state]++;
	return llc_first(node, out);
}

/* Asks another node for a line, to read or to have alone; its state there until now. */
static int snoop(Node *node, uint64_t line, bool store)
{
	Line *l = llc_find(node, line);
	int state = l ? l->state : 0;
	int answers = home(line) == node->index ? SNOOP_NEAR_I : SNOOP_FAR_I;

	node->n[answers + (state == M ? 2 : state ? 1 : 0)]++;
	if (!l) {
		return 0;
	}
	if (store) {
		llc_remove(node, l);
		return state;
	}
	set_copies(l->sharers, line, S);
	l->state = S;
	l->owner = -1;
	if (state == M) {
		use_memory(node, line, true);
	}
	return state;
}

/* Takes a line away from all other nodes. */
static void take_alone(Node *node, uint64_t line)
{
	int i;

	for (i = 0; i < x86_memory.nodes; i++) {
		if (i != node->index) {
			snoop(&x86_memory.node[i], line, true);
		}
	}
}

/* Fetches a line that the node does not have: from where. */
static Source fetch(Node *node, uint64_t line, bool store, Line **filled)
{
	bool near = home(line) == node->index;
	int i, giver = -1, had = 0;
	Source source;

	for (i = 0; i < x86_memory.nodes; i++) {
		int state = 0;

		if (i != node->index) {
			state = snoop(&x86_memory.node[i], line, store);
		}
		if (state > had || (state && state == had && i == home(line))) {
			had = state;
			giver = i;
		}
	}
	if (had > S || (had == S && x86_memory.shared_answers)) {
		source = (near ? FROM_CACHE_NEAR : FROM_CACHE_FAR) + (had == M);
		send_line(giver, node->index);
	} else {
		source = near ? FROM_DRAM_NEAR : FROM_DRAM_FAR;
		use_memory(node, line, false);
	}
	*filled = llc_insert(node, line, store ? M : had ? S : E);
	return source;
}

/* A core that lacks a line asks its node for it: from where, and the state it gets. */
static Source ask_node(X86MemoryCore *core, uint64_t line, bool store, int *state)
{
	Node *node = core->node;
	Line *l = llc_find(node, line);
	uint64_t others = 0;
	Source source;

	if (l) {
		node->n[store ? STORE_HIT : LOAD_HIT]++;
		l = llc_first(node, l);
		others = l->sharers;
		source = l->owner >= 0 ? FROM_CORE_M : others ? FROM_CORE : FROM_LLC;
		set_copies(others, line, store ? 0 : S);
		l->owner = -1;
		if (store && l->state == S) {
			take_alone(node, line);
		}
	} else {
		node->n[store ? STORE_MISS : LOAD_MISS]++;
		source = fetch(node, line, store, &l);
	}
	if (store) {
		l->state = M;
		l->owner = core->index;
		l->sharers = 0;
	}
	l->sharers |= BIT_ULL(core->index);
	*state = store ? M : others || l->state == S ? S : E;
	return source;
}

/* A core has a line and writes to it: whether others had to be asked. */
static bool own(X86MemoryCore *core, uint64_t line, int state)
{
	Node *node = core->node;
	Line *l = llc_find(node, line);

	if (state == S) {
		node->n[UPGRADE]++;
		set_copies(l->sharers & ~BIT_ULL(core->index), line, 0);
		if (l->state == S) {
			take_alone(node, line);
		}
	}
	l->sharers = BIT_ULL(core->index);
	l->owner = core->index;
	l->state = M;
	set_copy(core, line, M);
	return state == S;
}

static void fill_l2(X86MemoryCore *core, uint64_t line, int state)
{
	uint64_t out = way_insert(l2_set(core, line), core->l2_ways, line << 2 | state);
	uint64_t *l1, *way;
	Line *l;

	if (!out) {
		return;
	}
	l1 = l1_set(core, out >> 2);
	way = way_find(l1, core->l1_ways, out >> 2);
	if (way) {
		way_remove(l1, core->l1_ways, way);
	}
	l = llc_find(core->node, out >> 2);
	l->sharers &= ~BIT_ULL(core->index);
	if ((out & 3) == M) {
		l->owner = -1;
		core->node->n[WRITTEN_BACK]++;
	}
}

Source memory_use_line(X86MemoryCore *core, uint64_t line, bool store)
{
	uint64_t *set = l1_set(core, line), *way = way_find(set, core->l1_ways, line);
	Source source = FROM_L1;
	int state;

	if (way) {
		state = *way & 3;
		way_first(set, way - set);
		if (store && state != M && own(core, line, state)) {
			source = UPGRADED_L1;
		}
		return source;
	}
	way = way_find(l2_set(core, line), core->l2_ways, line);
	if (way) {
		source = FROM_L2;
		state = *way & 3;
		way_first(l2_set(core, line), way - l2_set(core, line));
		if (store && state != M) {
			source = own(core, line, state) ? UPGRADED_L2 : FROM_L2;
			state = M;
		}
	} else {
		source = ask_node(core, line, store, &state);
		fill_l2(core, line, state);
	}
	way_insert(l1_set(core, line), core->l1_ways, line << 2 | state);
	return source;
}
