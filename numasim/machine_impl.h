/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_MACHINE_IMPL_H
#define NUMASIM_MACHINE_IMPL_H

/*
 * The parts of a machine, for its own files. Times of the uncore are ps; a core counts
 * its own in TICKS to the ps, so that a cycle is a whole number of them to 1e-6.
 *
 * core.c    L1, L2, line-fill buffers, the window
 * uncore.c  a request to the socket: Global Queue, LLC, who has the line
 * llc.c     lines in and out of the LLC
 * memory.c  home agents, channels, links
 */

#include "numasim/machine.h"
#include "numasim/match.h"
#include "numasim/spec_impl.h"
#include "numasim/tracker.h"
#include "numasim/truth.h"

#define TICKS 256u
#define RING 64u /* longer windows are as long */
#define BUSY 256u
#define NO_KEY 0u

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* A private cache's line: its number + 1, << 1, and 1 if the core has written it. */
struct private_cache {
	uint32_t *key;	/* [set][ways] */
	uint32_t *used; /* per set: the ways used since all were */
	uint32_t mask;	/* sets - 1 */
	uint32_t all;	/* a bit for each way */
	unsigned stride;
};

struct core {
	uint64_t now; /* ticks */
	uint64_t next_fill, last_done;
	uint32_t seq, marked;
	bool waits; /* for its turn, with */
	struct access waiting;
	struct private_cache l1, l2;
	uint64_t cycle, l1_time, l2_time; /* ticks */
	unsigned lfbs, lfb_max;
	unsigned node, index, number; /* its index in the node, in the machine */
	uint32_t lfb_key[SPEC_LFB];
	uint64_t lfb_done[SPEC_LFB];
	uint64_t stalled, lfb_full; /* ticks */
	uint64_t outstanding;	    /* ps */
	struct union_time outstanding_any;
	uint64_t events[CORE_EVENTS];
	uint64_t mark[CORE_EVENTS];
	uint64_t retired[RING]; /* when all accesses up to one were done, ticks */
};

/* Of a socket, as to the other sockets. */
enum line_state { LINE_I, LINE_M, LINE_E, LINE_S, LINE_F };

/* A line in the LLC: packed, as each access to it costs a miss of ours. */
#define META_STATE 7u
#define META_WRITTEN 8u /* by the one core that has it, if it has it still */
#define META_HOME_SHIFT 4
#define META_OWNER_SHIFT 8
#define META_OWNERS 0xffffff00u

struct llc {
	uint32_t *line; /* of each set: @stride lines, and then as many metas */
	uint32_t *used; /* per set */
};

/* Lines on which something is on its way: who comes later waits for it. */
struct busy {
	uint64_t until;
	uint32_t line;
};

struct channel {
	struct server server;
	uint64_t reads, writes, occupancy;
	struct union_time full;
};

struct node {
	struct core *cores;
	unsigned index;
	struct llc own;
	struct llc *per_vm; /* instead, if contention is switched off */
	struct tracker rt, wt, ppt;
	struct tracker home_local, home_remote;
	struct union_time conflict, link_stalled;
	struct channel channel[SPEC_CHANNELS];
	struct server link[SPEC_NODES]; /* to a neighbour */
	uint64_t missed[SPEC_NODES];	/* requests that went out, by home: each a snoop */
	uint64_t answered[2]; /* snoops that were looked up here: home here; else */
	uint64_t random;
	uint32_t in_vain; /* times that it was looked into */
	uint64_t events[NODE_EVENTS];
	struct busy busy[BUSY];	 /* in this socket */
	struct busy asked[BUSY]; /* at this home */
};

struct machine {
	struct machine_spec spec;
	struct machine_off off;
	uint64_t service, link_service;	      /* ps a line */
	uint64_t remote_hop;		      /* ps that one hop adds */
	uint64_t dram;			      /* ps of spec.local that are not the LLC's */
	uint32_t sets, stride, all_ways;      /* of the LLC */
	uint64_t channel_full;		      /* ps of waiting: its queue is full */
	uint64_t core_mult, uncore_mult;      /* ps to cycles, as a fraction of 2^64 */
	uint64_t tick_mult;		      /* ticks to cycles of the core */
	uint8_t next[SPEC_NODES][SPEC_NODES]; /* on the way */
	uint8_t *pages;	  /* per 4 KiB: nodes that may have lines of it cached */
	uint8_t *page_vm; /* whose they are: needed if each VM has an LLC of its own */
	size_t npages;
	void *memory; /* all of it, @size bytes */
	size_t size;
	unsigned ncores;
	void (*alarm)(void *ctx, unsigned core);
	void *alarm_ctx;
	struct core *cores;
	struct node *nodes;
};

static inline uint64_t scale(uint64_t value, uint64_t mult)
{
	return (uint64_t)((unsigned __int128)value * mult >> 64);
}

static inline uint32_t line_hash(uint32_t line)
{
	uint32_t h = line * 0x9e3779b1u;

	return h ^ h >> 15;
}

/* ---- cores */
/* The core's copies of a line go; whether it had written it. */
bool core_drop(struct core *c, uint32_t line);
/* They stay, but are as in the LLC; whether it had written it. */
bool core_clean(struct core *c, uint32_t line);
void core_alarm(struct machine *m, struct core *c);

/* ---- uncore: what a core asks of its socket at @at (ps); returns when it is done. */
struct request {
	uint32_t line;
	uint8_t home;
	uint8_t vm;
	bool write;
	bool has; /* the core has the line and wants to write it */
};
uint64_t uncore_request(struct machine *m, struct core *c, const struct request *r,
			uint64_t at);
/* A core that alone has a line in its socket, unshared, writes it: no one is asked. */
bool uncore_own(struct machine *m, struct core *c, uint32_t line, uint8_t vm);
/* A written line leaves the core's caches. */
void uncore_writeback(struct machine *m, struct core *c);

/* ---- LLC */
#define NO_SLOT UINT32_MAX
#define PAGE_LINES 64u

static inline struct llc *llc_of(struct node *n, unsigned vm)
{
	return unlikely(n->per_vm) ? &n->per_vm[vm] : &n->own;
}

/* Where a line is of which the owner is not at hand. */
static inline struct llc *llc_of_page(const struct machine *m, struct node *n,
				      uint32_t line)
{
	return llc_of(n, m->page_vm ? m->page_vm[line / PAGE_LINES] : 0);
}

static inline uint32_t llc_set(const struct machine *m, uint32_t line)
{
	return (uint32_t)((uint64_t)line_hash(line) * m->sets >> 32);
}

static inline uint32_t *llc_meta(const struct machine *m, const struct llc *l,
				 uint32_t slot)
{
	return &l->line[slot + m->stride];
}

/* Lines are kept as their number + 1: memory of zeros is an empty cache. */
static inline uint32_t llc_find(const struct machine *m, const struct llc *l, uint32_t line)
{
	uint32_t first = llc_set(m, line) * 2 * m->stride;
	uint32_t found = match(l->line + first, m->stride, line + 1, 0);

	return found ? first + (uint32_t)__builtin_ctz(found) : NO_SLOT;
}

/* It will be wanted: what is looked at then is on its way to our caches. Inlined at once,
 * or gcc 12 takes it for a function without effect. */
static inline __attribute__((always_inline)) void
llc_expect(const struct machine *m, const struct llc *l, uint32_t line)
{
	const uint32_t number = llc_set(m, line);
	const uint32_t *set = l->line + (size_t)number * 2 * m->stride;

	__builtin_prefetch(set);
	__builtin_prefetch(set + m->stride);
	__builtin_prefetch(&l->used[number]);
	__builtin_prefetch(&m->pages[line / PAGE_LINES]);
}

static inline void llc_touch(const struct machine *m, const struct llc *l, uint32_t line,
			     uint32_t slot)
{
	const uint32_t set = llc_set(m, line), bit = 1u << (slot - set * 2 * m->stride);

	l->used[set] |= bit;
	if (l->used[set] == m->all_ways)
		l->used[set] = bit;
}

/* Makes room in the line's set at @at; *wait grows by what a write-back waits. */
uint32_t llc_make_room(struct machine *m, struct node *n, struct llc *l, uint32_t line,
		       uint64_t at, uint64_t *wait);
/* A slot's line leaves the socket's cores; whether one had written it. */
bool llc_drop_owners(const struct machine *m, struct node *n, const struct llc *l,
		     uint32_t slot);
/* It leaves the LLC. */
void llc_out(const struct machine *m, struct node *n, struct llc *l, uint32_t slot);

/* ---- memory and links */
#define NO_NODE UINT32_MAX

struct memory_request {
	unsigned from, home;
	unsigned source; /* the node whose cache gives the line; NO_NODE: memory does */
	uint32_t line;
	bool data;     /* the line itself is sent */
	uint64_t held; /* how long the home agent is busy with it if nothing waits, ps */
};

/* A request that comes to its home at @at; returns what it waits there and on links. */
uint64_t memory_request(struct machine *m, const struct memory_request *r, uint64_t at);
/* A line that goes back to memory; returns when it is out of the way. */
uint64_t memory_write(struct machine *m, unsigned from, unsigned to, uint32_t line,
		      uint64_t at);
/* A line on its way from node to node; returns what it waits. */
uint64_t link_send(struct machine *m, unsigned from, unsigned to, uint64_t at);

#endif
