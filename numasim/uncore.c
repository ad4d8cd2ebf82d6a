/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/machine_impl.h"

/* What other sockets have of a line. */
struct found {
	unsigned node; /* that gives it, NO_NODE: memory does */
	unsigned hops; /* to the farthest that had it; 0: none had */
	bool written;  /* it had been written there */
	uint64_t wait; /* for a peer-probe tracker */
};

/* The probed socket's line: invalid if @write, else shared; counts its answer. */
static void answer(struct machine *m, struct node *n, struct llc *l, uint32_t slot,
		   const struct request *r, uint64_t at, struct found *f)
{
	const bool here = r->home == n->index;
	const enum line_state state = *llc_meta(m, l, slot) & META_STATE;
	const enum node_event base = here ? NODE_SNOOP_LOCAL_I : NODE_SNOOP_REMOTE_I;
	unsigned what = 0;

	n->events[NODE_LLC_PROBE_HIT]++;
	if (state != LINE_S) {
		f->node = n->index;
		f->written = state == LINE_M;
		what = r->write ? NODE_SNOOP_LOCAL_FWD_I : NODE_SNOOP_LOCAL_FWD_S;
		if (state == LINE_M && !here)
			n->events[NODE_SNOOP_REMOTE_HITM]++;
		if (state == LINE_M && !r->write)
			what = NODE_SNOOP_LOCAL_WB;
	} else if (!r->write) {
		what = NODE_SNOOP_LOCAL_S;
	}
	if (what) {
		n->answered[here]++;
		n->events[base + (what - NODE_SNOOP_LOCAL_I)]++;
	}
	if (r->write) {
		llc_drop_owners(m, n, l, slot);
		llc_out(m, n, l, slot);
		return;
	}
	if (*llc_meta(m, l, slot) & META_WRITTEN)
		for (uint32_t o = *llc_meta(m, l, slot) >> META_OWNER_SHIFT; o; o &= o - 1)
			core_clean(&n->cores[__builtin_ctz(o)], r->line);
	*llc_meta(m, l, slot) =
		(*llc_meta(m, l, slot) & ~(META_STATE | META_WRITTEN)) | LINE_S;
	if (state == LINE_M)
		memory_write(m, n->index, r->home, r->line, at);
}

/*
 * A socket did not have a line of a page that it may have. Now and then the whole page is
 * looked for, so that one that lost it all is not looked into for ever.
 */
static void unlearn(struct machine *m, struct node *peer, const struct request *r)
{
	struct llc *l = llc_of(peer, r->vm);
	uint32_t first = r->line & ~(PAGE_LINES - 1);

	if (++peer->in_vain % (PAGE_LINES / 2))
		return;
	for (uint32_t line = first; line < first + PAGE_LINES; line++)
		if (llc_find(m, l, line) != NO_SLOT)
			return;
	m->pages[first / PAGE_LINES] &= (uint8_t) ~(1u << peer->index);
}

/* Every other socket is asked; those that cannot have the line are not looked into. */
static struct found probe(struct machine *m, struct node *n, const struct request *r,
			  uint64_t at)
{
	struct found f = { .node = NO_NODE };
	uint32_t nodes = m->pages[r->line / PAGE_LINES] & ~(1u << n->index);

	n->missed[r->home]++;
	if (m->off.sharing)
		return f;
	for (; nodes; nodes &= nodes - 1) {
		struct node *peer = &m->nodes[__builtin_ctz(nodes)];
		struct llc *l = llc_of(peer, r->vm);
		uint32_t slot = llc_find(m, l, r->line);
		uint64_t begin = tracker_begin(&peer->ppt, at);

		tracker_end(&peer->ppt, begin, begin + m->spec.llc.latency);
		if (begin - at > f.wait)
			f.wait = begin - at;
		if (slot == NO_SLOT) {
			unlearn(m, peer, r);
			continue;
		}
		if (m->spec.hops[peer->index][n->index] > f.hops)
			f.hops = m->spec.hops[peer->index][n->index];
		answer(m, peer, l, slot, r, begin, &f);
	}
	return f;
}

/*
 * How long it takes on idle ways. A line comes from memory or from another socket's cache;
 * the right to write it (!@data) from the farthest socket that has the line.
 */
static uint64_t latency(const struct machine *m, const struct node *n,
			const struct request *r, const struct found *f, bool data)
{
	unsigned hops = f->hops;
	uint64_t time = (f->written ? m->spec.remote_modified : m->spec.remote_cache) -
			m->remote_hop;

	if (data && f->node == NO_NODE) {
		hops = m->spec.hops[r->home][n->index];
		time = m->spec.local;
	} else if (data) {
		hops = m->spec.hops[f->node][n->index];
	}
	return m->off.remote ? time : time + hops * m->remote_hop;
}

static void count_source(struct core *c, struct node *n, const struct request *r,
			 const struct found *f, bool data)
{
	if (f->node != NO_NODE || !data) {
		c->events[f->written ? CORE_REMOTE_HITM : CORE_REMOTE_CACHE]++;
		n->events[NODE_DATA_FROM_LINK] += data;
	} else if (r->home == n->index) {
		c->events[CORE_LOCAL_DRAM]++;
		n->events[NODE_DATA_FROM_MEMORY]++;
	} else {
		c->events[CORE_REMOTE_DRAM]++;
		n->events[NODE_DATA_FROM_LINK]++;
	}
}

/*
 * A request leaves the socket; @data: it wants the line, not only the right to write it.
 * Returns when it is done, if it began at @at and waited for @wait already.
 */
static uint64_t go_out(struct machine *m, struct core *c, struct node *n,
		       const struct request *r, const struct found *f, bool data,
		       uint64_t at, uint64_t wait)
{
	struct memory_request ask = { .from = n->index,
				      .home = r->home,
				      .line = r->line,
				      .source = f->node,
				      .data = data };
	uint64_t time = latency(m, n, r, f, data);

	if (!data)
		ask.source = n->index;
	ask.held = time - m->spec.llc.latency;
	c->events[CORE_LLC_MISS]++;
	n->events[NODE_RT_LLC_MISS]++;
	n->events[r->write ? NODE_LLC_WRITE_MISS : NODE_LLC_READ_MISS]++;
	count_source(c, n, r, f, data);
	wait += f->wait;
	wait += memory_request(m, &ask, at + wait + m->spec.llc.latency);
	return at + wait + time;
}

static uint64_t miss(struct machine *m, struct core *c, struct node *n,
		     const struct request *r, uint64_t at)
{
	struct llc *l = llc_of(n, r->vm);
	struct found f = probe(m, n, r, at + m->spec.llc.latency);
	uint64_t wait = 0, done;
	enum line_state state = r->write ? LINE_M : f.hops ? LINE_F : LINE_E;
	uint32_t slot = llc_make_room(m, n, l, r->line, at + m->spec.llc.latency, &wait);

	done = go_out(m, c, n, r, &f, true, at, wait);
	n->events[NODE_LINES_IN_M + (state - LINE_M)]++;
	l->line[slot] = r->line + 1;
	*llc_meta(m, l, slot) = state | (r->write ? META_WRITTEN : 0) |
				(uint32_t)r->home << META_HOME_SHIFT |
				1u << (META_OWNER_SHIFT + c->index);
	llc_touch(m, l, r->line, slot);
	m->pages[r->line / PAGE_LINES] |= (uint8_t)(1u << n->index);
	if (m->page_vm)
		m->page_vm[r->line / PAGE_LINES] = r->vm;
	return done;
}

/* What the other cores of the socket have of a line that one of them asks for. */
enum copies { COPIES_NONE, COPIES_CLEAN, COPIES_WRITTEN };

/*
 * They lose it to a write and their right to write it to a read. A core that had
 * written it may have evicted it since, which the LLC is not told: it asks the core.
 */
static enum copies take_from_others(struct machine *m, struct node *n, struct llc *l,
				    uint32_t slot, const struct request *r, uint32_t me)
{
	uint32_t *meta = llc_meta(m, l, slot);
	const uint32_t others = *meta & META_OWNERS & ~me;
	const bool claimed = *meta & META_WRITTEN;
	bool written = false;

	if (!others || m->off.sharing) {
		if (!r->write)
			*meta &= ~META_WRITTEN; /* who wants it again had evicted it */
		return COPIES_NONE;
	}
	if (r->write) {
		*meta &= ~me;
		written = llc_drop_owners(m, n, l, slot);
		*meta &= ~META_OWNERS;
	} else if (claimed) {
		written = core_clean(&n->cores[__builtin_ctz(others >> META_OWNER_SHIFT)],
				     r->line);
		*meta &= ~(META_WRITTEN | (written ? 0 : others));
	}
	return written ? COPIES_WRITTEN : claimed ? COPIES_NONE : COPIES_CLEAN;
}

static uint64_t hit(struct machine *m, struct core *c, struct node *n, struct llc *l,
		    uint32_t slot, const struct request *r, uint64_t at, bool *moves)
{
	static const struct {
		enum core_event core;
		enum node_event node;
	} events[] = {
		[COPIES_NONE] = { CORE_LLC_UNSHARED_HIT, NODE_DATA_FROM_LLC },
		[COPIES_CLEAN] = { CORE_OTHER_CORE_HIT, NODE_DATA_FROM_LLC },
		[COPIES_WRITTEN] = { CORE_OTHER_CORE_HITM, NODE_DATA_FROM_CORES },
	};
	const uint32_t times[] = { m->spec.llc.latency, m->spec.shared, m->spec.modified };
	const uint32_t me = 1u << (META_OWNER_SHIFT + c->index);
	uint32_t *meta = llc_meta(m, l, slot);
	const enum line_state state = *meta & META_STATE;
	struct found f = { .node = NO_NODE };
	enum copies copies;

	llc_touch(m, l, r->line, slot);
	if (r->write && (state == LINE_S || state == LINE_F))
		f = probe(m, n, r, at + m->spec.llc.latency);
	copies = take_from_others(m, n, l, slot, r, me);
	*meta |= me;
	if (r->write)
		*meta = (*meta & ~META_STATE) | LINE_M | META_WRITTEN;
	*moves = copies == COPIES_WRITTEN || (copies && r->write) || f.hops;
	if (f.hops)
		return go_out(m, c, n, r, &f, false, at, 0);
	n->events[r->write ? NODE_LLC_WRITE_HIT : NODE_LLC_READ_HIT]++;
	n->events[events[copies].node] += !r->has;
	c->events[events[copies].core]++;
	return at + times[copies];
}

uint64_t uncore_request(struct machine *m, struct core *c, const struct request *r,
			uint64_t at)
{
	struct node *n = &m->nodes[c->node];
	struct busy *b = &n->busy[line_hash(r->line) % BUSY];
	struct llc *l = llc_of(n, r->vm);
	uint32_t slot = llc_find(m, l, r->line);
	uint64_t begin = tracker_begin(&n->rt, at), start = begin, done;
	bool moves = true;

	/* Who comes while a line is on its way, into or within the socket, waits. */
	if (b->line == r->line + 1 && b->until > start && !m->off.sharing)
		start = b->until;
	c->events[CORE_LLC_REF]++;
	done = slot == NO_SLOT ? miss(m, c, n, r, start)
			       : hit(m, c, n, l, slot, r, start, &moves);
	if (moves)
		*b = (struct busy) { done, r->line + 1 };
	tracker_end(&n->rt, begin, done);
	return done;
}

bool uncore_own(struct machine *m, struct core *c, uint32_t line, uint8_t vm)
{
	struct llc *l = llc_of(&m->nodes[c->node], vm);
	uint32_t slot = llc_find(m, l, line), meta;

	if (slot == NO_SLOT)
		return false;
	meta = *llc_meta(m, l, slot);
	if (!m->off.sharing &&
	    ((meta & META_OWNERS) != 1u << (META_OWNER_SHIFT + c->index) ||
	     (meta & META_STATE) == LINE_S || (meta & META_STATE) == LINE_F))
		return false;
	*llc_meta(m, l, slot) = (meta & ~META_STATE) | LINE_M | META_WRITTEN;
	return true;
}

void uncore_writeback(struct machine *m, struct core *c)
{
	struct tracker *t = &m->nodes[c->node].wt;
	uint64_t begin = tracker_begin(t, c->now / TICKS);

	tracker_end(t, begin, begin + m->spec.llc.latency);
}
