/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_TRACKER_H
#define NUMASIM_TRACKER_H

/*
 * A queue of so many entries, each held from its allocation until its request is done.
 * As the time at which a request will be done is known when it begins, an entry is the
 * time at which it is free again; a request takes the one that is free first. Times are
 * ps; requests come about in the order of time.
 */

#include <stdint.h>

/* Time in which something was so: the union of intervals that come about in order. */
struct union_time {
	uint64_t total, until;
};

static inline void union_add(struct union_time *u, uint64_t from, uint64_t to)
{
	if (to <= u->until)
		return;
	u->total += to - (from > u->until ? from : u->until);
	u->until = to;
}

/* What of it was up to @at. */
static inline uint64_t union_upto(const struct union_time *u, uint64_t at)
{
	uint64_t later = u->until > at ? u->until - at : 0;

	return u->total > later ? u->total - later : 0;
}

struct tracker {
	uint64_t *free_at; /* a heap, the least first */
	unsigned n;
	uint64_t alloc;
	uint64_t occupancy; /* sum over requests of the time that they held an entry */
	struct union_time full, not_empty;
};

/* When a request that comes at @at gets an entry. */
static inline uint64_t tracker_begin(const struct tracker *t, uint64_t at)
{
	return t->free_at[0] > at ? t->free_at[0] : at;
}

/* It got one at @begin, as told by tracker_begin(), and holds it until @end. */
static inline void tracker_end(struct tracker *t, uint64_t begin, uint64_t end)
{
	uint64_t *h = t->free_at;
	const unsigned n = t->n;
	unsigned i = 0, child = 1;

	while (child < n) {
		child += child + 1 < n && h[child + 1] < h[child];
		if (h[child] >= end)
			break;
		h[i] = h[child];
		i = child;
		child = 2 * i + 1;
	}
	h[i] = end;
	t->alloc++;
	t->occupancy += end - begin;
	union_add(&t->not_empty, begin, end);
	if (h[0] > begin)
		union_add(&t->full, begin, h[0]);
}

/* Occupancy up to @at: without what is held later. */
static inline uint64_t tracker_occupancy(const struct tracker *t, uint64_t at)
{
	uint64_t later = 0;

	for (unsigned i = 0; i < t->n; i++)
		later += t->free_at[i] > at ? t->free_at[i] - at : 0;
	return t->occupancy > later ? t->occupancy - later : 0;
}

/*
 * A server that does one thing after the other: what waits there is so much work. Requests
 * come about in the order of time only: one that comes late, for a time that is over, takes
 * what the server was idle since, and no one that is reserved early for a late time takes
 * anything from those in between.
 */
struct server {
	uint64_t at, backlog, work;
	uint64_t idle; /* of late */
};

#define SERVER_LATE 200000u /* ps: no later than this */

/* @service more comes at @at; returns how long it waits. */
static inline uint64_t server_wait(struct server *s, uint64_t at, uint64_t service)
{
	uint64_t wait;

	s->work += service;
	if (at > s->at) {
		uint64_t passed = at - s->at;
		uint64_t done = passed < s->backlog ? passed : s->backlog;

		s->backlog -= done;
		s->idle += passed - done;
		s->idle = s->idle < SERVER_LATE ? s->idle : SERVER_LATE;
		s->at = at;
	} else if (s->idle >= service && s->at - at >= service) {
		s->idle -= service;
		return 0;
	}
	wait = s->backlog;
	s->backlog += service;
	return wait;
}

#endif
