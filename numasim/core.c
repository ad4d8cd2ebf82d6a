/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/machine_impl.h"

#define LATER UINT64_MAX
#define TURN (8000 * TICKS) /* a wait this long, ps, lets others come first */

/* ---- private caches: not-recently-used replacement; L2 does not include L1. */

static inline uint32_t key_of(uint32_t line)
{
	return (line + 1) << 1;
}

static inline uint32_t line_of(uint32_t key)
{
	return (key >> 1) - 1;
}

static inline uint32_t *set_of(const struct private_cache *p, uint32_t line)
{
	return p->key + (size_t)(line & p->mask) * p->stride;
}

static inline uint32_t *find(const struct private_cache *p, uint32_t line)
{
	uint32_t *set = set_of(p, line), found = match(set, p->stride, line + 1, 1);

	return found ? set + __builtin_ctz(found) : NULL;
}

static inline void touch(const struct private_cache *p, uint32_t line, const uint32_t *slot)
{
	uint32_t *used = &p->used[line & p->mask], bit = 1u << (slot - set_of(p, line));

	*used |= bit;
	if (*used == p->all)
		*used = bit;
}

/* Puts @key in; returns what it replaced, NO_KEY: nothing. */
static uint32_t put(const struct private_cache *p, uint32_t key)
{
	uint32_t line = line_of(key), *set = set_of(p, line), old;
	uint32_t empty = match(set, p->stride, NO_KEY, 0) & p->all;
	uint32_t *slot =
		set + __builtin_ctz(empty ? empty : ~p->used[line & p->mask] & p->all);

	old = *slot;
	*slot = key;
	touch(p, line, slot);
	return old;
}

static void put_l2(struct machine *m, struct core *c, uint32_t key)
{
	uint32_t old = put(&c->l2, key), *above;

	if (old == NO_KEY || !(old & 1))
		return;
	above = find(&c->l1, line_of(old));
	if (above)
		*above |= 1;
	else
		uncore_writeback(m, c);
}

static void put_l1(struct machine *m, struct core *c, uint32_t key)
{
	uint32_t old = put(&c->l1, key), *below;

	if (old == NO_KEY || !(old & 1))
		return;
	below = find(&c->l2, line_of(old));
	if (below)
		*below |= 1;
	else
		put_l2(m, c, old);
}

static inline uint32_t *find_lfb(struct core *c, uint32_t line)
{
	for (unsigned i = 0; i < c->lfbs; i++)
		if (line_of(c->lfb_key[i]) == line)
			return &c->lfb_key[i];
	return NULL;
}

/* Ends @line's copies, or, with @stays, that they are written. Was one? */
static inline bool end_written(struct core *c, uint32_t line, bool stays)
{
	uint32_t *const copies[] = { find(&c->l1, line), find(&c->l2, line) };
	uint32_t written = 0;

	for (unsigned i = 0; i < 2; i++)
		if (copies[i]) {
			written |= *copies[i];
			*copies[i] = stays ? *copies[i] & ~1u : NO_KEY;
		}
	for (unsigned i = 0; i < c->lfbs; i++)
		if (line_of(c->lfb_key[i]) == line) {
			written |= c->lfb_key[i];
			c->lfb_key[i] = stays ? c->lfb_key[i] & ~1u : NO_KEY;
		}
	return written & 1;
}

bool core_drop(struct core *c, uint32_t line)
{
	return end_written(c, line, false);
}

bool core_clean(struct core *c, uint32_t line)
{
	return end_written(c, line, true);
}

/* ---- time */

/* It waits until @until, ticks. */
static void stall(const struct machine *m, struct core *c, uint64_t until)
{
	uint64_t cycles, more;

	c->stalled += until - c->now;
	c->now = until;
	cycles = scale(c->stalled, m->tick_mult);
	more = cycles - c->events[CORE_STALL];
	c->events[CORE_STALL] = cycles;
	c->events[CORE_CYCLES] += more;
	c->events[CORE_REF_CYCLES] += more;
}

/* ---- line-fill buffers: a line is in the caches when it has arrived. */

static void __attribute__((noinline)) land(struct machine *m, struct core *c)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < c->lfbs;) {
		uint32_t key = c->lfb_key[i];

		if (c->lfb_done[i] > c->now) {
			next = c->lfb_done[i] < next ? c->lfb_done[i] : next;
			i++;
			continue;
		}
		c->lfbs--;
		c->lfb_key[i] = c->lfb_key[c->lfbs];
		c->lfb_done[i] = c->lfb_done[c->lfbs];
		if (key != NO_KEY) {
			put_l2(m, c, key);
			put_l1(m, c, key);
		}
	}
	c->next_fill = next;
}

/* Whether a line-fill buffer is free; else it has waited for one. */
static bool take_lfb(struct machine *m, struct core *c)
{
	if (likely(c->lfbs < c->lfb_max))
		return true;
	if (c->next_fill > c->now) {
		c->lfb_full += c->next_fill - c->now;
		c->events[CORE_LFB_FULL] = scale(c->lfb_full, m->tick_mult);
		stall(m, c, c->next_fill);
	}
	land(m, c);
	return false;
}

/* A request to the uncore for a line, or for the right to write it; when it is done, or
 * LATER. */
static uint64_t ask(struct machine *m, struct core *c, const struct access *a, bool has)
{
	const struct request r = { (uint32_t)a->line, a->home, (uint8_t)a->vm, a->write,
				   has };
	uint64_t at, done, ticks;

	if (!take_lfb(m, c))
		return LATER;
	at = c->now / TICKS;
	done = uncore_request(m, c, &r, at);
	ticks = done * TICKS;
	c->outstanding += done - at;
	union_add(&c->outstanding_any, at, done);
	c->lfb_key[c->lfbs] = has ? NO_KEY : key_of(r.line) | a->write;
	c->lfb_done[c->lfbs++] = ticks;
	if (ticks < c->next_fill)
		c->next_fill = ticks;
	return ticks;
}

/* A write to a line that the core has, but has not written yet. */
static uint64_t write_first(struct machine *m, struct core *c, const struct access *a,
			    uint64_t done)
{
	uint32_t line = (uint32_t)a->line, *slot;

	if (!uncore_own(m, c, line, (uint8_t)a->vm)) {
		uint64_t asked = ask(m, c, a, true);

		if (asked == LATER)
			return LATER;
		done = asked > done ? asked : done;
	}
	/* Wherever it is: a fill that ask() waited for may have moved it. */
	slot = find(&c->l1, line);
	if (!slot)
		slot = find(&c->l2, line);
	if (slot)
		*slot |= 1;
	for (unsigned i = 0; !slot && i < c->lfbs; i++)
		if (line_of(c->lfb_key[i]) == line)
			c->lfb_key[i] |= 1;
	return done;
}

/* Not in L1, or in L1 and written for the first time. */
static uint64_t __attribute__((noinline))
beyond_l1(struct machine *m, struct core *c, const struct access *a, uint32_t *l1)
{
	uint32_t line = (uint32_t)a->line, *slot;
	enum core_event event;
	uint64_t done;
	bool has = true;

	if (l1) {
		event = CORE_L1_HIT;
		done = c->now + c->l1_time;
	} else if ((slot = find_lfb(c, line))) {
		event = CORE_LFB_HIT;
		done = c->lfb_done[slot - c->lfb_key];
		has = *slot & 1;
	} else {
		slot = find(&c->l2, line);
		if (!slot)
			return ask(m, c, a, false);
		event = CORE_L2_HIT;
		done = c->now + c->l2_time;
		has = *slot & 1;
		touch(&c->l2, line, slot);
		put_l1(m, c, *slot);
	}
	if (a->write && (l1 || !has))
		done = write_first(m, c, a, done);
	c->events[event] += done != LATER;
	return done;
}

/* The access at the core's clock; false: it had to wait for a line-fill buffer first. */
static inline bool perform(struct machine *m, struct core *c, const struct access *a)
{
	const uint32_t line = (uint32_t)a->line;
	uint64_t done, before;
	uint32_t *slot;

	if (c->now >= c->next_fill)
		land(m, c);
	slot = find(&c->l1, line);
	if (likely(slot && (!a->write || (*slot & 1)))) {
		touch(&c->l1, line, slot);
		c->events[CORE_L1_HIT]++;
		done = c->now + c->l1_time;
	} else {
		done = beyond_l1(m, c, a, slot);
		if (done == LATER)
			return false;
	}
	c->last_done = done;
	before = c->retired[(c->seq - 1) % RING];
	c->retired[c->seq++ % RING] = done > before ? done : before;
	c->now += a->cycles * c->cycle;
	return true;
}

/*
 * A core that waits comes to its next access later than others to theirs: to keep
 * requests in the order of time, its clock alone moves at first, and the access is
 * performed when it is the core's turn again.
 */
static void __attribute__((noinline)) catch_up(struct machine *m, struct core *c)
{
	c->waits = false;
	while (!perform(m, c, &c->waiting))
		continue;
	if (c->marked)
		core_alarm(m, c);
}

static void wait_for_turn(struct core *c, const struct access *a)
{
	c->waiting = *a;
	c->waits = true;
}

void machine_expect(const struct machine *m, unsigned core, unsigned vm, uint64_t line)
{
	const struct core *c = &m->cores[core];

	__builtin_prefetch(set_of(&c->l2, (uint32_t)line));
	llc_expect(m, llc_of(&m->nodes[c->node], vm), (uint32_t)line);
}

uint64_t machine_access(struct machine *m, unsigned core, const struct access *a)
{
	struct core *c = &m->cores[core];
	uint64_t until, began;

	if (c->waits)
		catch_up(m, c);
	c->events[CORE_INSTRUCTIONS] += a->instructions;
	c->events[CORE_CYCLES] += a->cycles;
	c->events[CORE_REF_CYCLES] += a->cycles;
	c->events[a->write ? CORE_STORES : CORE_LOADS]++;
	until = c->retired[(c->seq - a->window) % RING];
	if (a->dependent && c->last_done > until)
		until = c->last_done;
	began = c->now;
	if (until > began)
		stall(m, c, until);
	if (c->now - began > TURN || !perform(m, c, a))
		wait_for_turn(c, a);
	if (unlikely(c->marked))
		core_alarm(m, c);
	return c->now / TICKS;
}

uint64_t machine_compute(struct machine *m, unsigned core, uint64_t instructions,
			 uint64_t cycles)
{
	struct core *c = &m->cores[core];

	if (c->waits)
		catch_up(m, c);
	c->events[CORE_INSTRUCTIONS] += instructions;
	c->events[CORE_CYCLES] += cycles;
	c->events[CORE_REF_CYCLES] += cycles;
	c->now += cycles * c->cycle;
	if (unlikely(c->marked))
		core_alarm(m, c);
	return c->now / TICKS;
}

void machine_drain(struct machine *m, unsigned core)
{
	struct core *c = &m->cores[core];
	uint64_t until;

	if (c->waits)
		catch_up(m, c);
	until = c->retired[(c->seq - 1) % RING];
	if (until > c->now)
		stall(m, c, until);
	land(m, c);
	if (unlikely(c->marked))
		core_alarm(m, c);
}

void machine_idle(struct machine *m, unsigned core, uint64_t at)
{
	struct core *c = &m->cores[core];

	if (c->waits)
		catch_up(m, c);
	if (at * TICKS > c->now)
		c->now = at * TICKS;
}

uint64_t machine_now(const struct machine *m, unsigned core)
{
	return m->cores[core].now / TICKS;
}
