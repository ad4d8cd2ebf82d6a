/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/hosted/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One set of the hypervisor. */
struct part {
	uint32_t handle; /* 0: nothing is open there */
	unsigned n;	 /* events in it, at these places: */
	int at[VPMU_SET_EVENTS];
};

struct hosted_set {
	struct hosted *h;
	struct hosted_set *next;
	unsigned refs, users; /* who has it; who has not stopped it */
	struct hosted_target target;
	size_t ring_bytes;
	const struct event_set *events; /* the VM's, whose address is its name here */
	unsigned nparts;
	struct part parts[HOSTED_SETS_MAX];
	struct vpmu_event *asked; /* per event */
	struct opened *opened;
};

/* ---- opening */

static void refuse_all(struct hosted_set *set, struct part *part, int code)
{
	struct hosted *h = set->h;

	for (unsigned i = 0; i < part->n; i++)
		h->ops->explain(h->ctx, &set->target, code, &set->opened[part->at[i]]);
	part->n = 0;
}

static void refuse_one(struct hosted_set *set, struct part *part, unsigned place, int code)
{
	struct hosted *h = set->h;

	h->ops->explain(h->ctx, &set->target, code, &set->opened[part->at[place]]);
	part->n--;
	memmove(&part->at[place], &part->at[place + 1],
		(part->n - place) * sizeof(part->at[0]));
}

/* Until the hypervisor takes what is left. */
static int open_part(struct hosted_set *set, struct part *part, struct err *err)
{
	struct hosted *h = set->h;

	while (part->n) {
		struct vpmu_event events[VPMU_SET_EVENTS];
		unsigned bad = part->n;
		int ret;

		for (unsigned i = 0; i < part->n; i++)
			events[i] = set->asked[part->at[i]];
		ret = h->ops->open(h->ctx, &set->target, events, part->n, set->ring_bytes,
				   &part->handle, &bad, err);
		if (!ret && !part->handle)
			ret = -EPROTO;
		if (!ret || ret == -ESRCH || ret == -ENOMEM)
			return ret;
		part->handle = 0;
		if ((ret == -EOPNOTSUPP || ret == -EINVAL) && bad < part->n)
			refuse_one(set, part, bad, ret);
		else
			refuse_all(set, part, ret);
	}
	return 0;
}

/* How many events are in @i's group; 1: it is alone. */
static size_t company(const struct event_set *events, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; events->ev[i].group >= 0 && k < events->n; k++)
		n += events->ev[k].group == events->ev[i].group;
	return n ? n : 1;
}

/* A group is counted at the same time where it is a set, or where there are no turns. */
static bool group_holds(const struct hosted_set *set, size_t i)
{
	const struct hosted_ops *ops = set->h->ops;
	size_t n = company(set->events, i);
	unsigned most = ops->capacity(set->h->ctx, &set->target, set->ring_bytes);

	if (n == 1 || (ops->together ? n : set->events->n) <= most)
		return true;
	if (ops->together)
		return opened_say(&set->opened[i], READ_UNSUPPORTED,
				  "%zu events cannot be counted together: there are %u "
				  "counters; put fewer into {...}",
				  n, most);
	return opened_say(&set->opened[i], READ_UNSUPPORTED,
			  "%s lets events take turns one by one, and has %u counters "
			  "for %zu events: a group of them would not be counted "
			  "together; leave {...} out or ask for fewer",
			  ops->who, most, set->events->n);
}

/* The part that takes event @i: its group's, or the one for all that are alone. */
static struct part *part_for(struct hosted_set *set, size_t i)
{
	bool together = set->h->ops->together;
	unsigned most = set->ring_bytes ? 1 : set->h->ops->sets_max;

	for (unsigned p = 0; p < set->nparts; p++) {
		struct part *part = &set->parts[p];
		int group = set->events->ev[part->at[0]].group;

		if (part->n < VPMU_SET_EVENTS &&
		    (most == 1 || !together || group == set->events->ev[i].group))
			return part;
	}
	return set->nparts < most ? &set->parts[set->nparts++] : NULL;
}

/* Which events go into the set; of the others it is said why not. */
static void choose(struct hosted_set *set)
{
	const struct hosted_ops *ops = set->h->ops;
	const struct event_set *events = set->events;
	int most = VPMU_SET_EVENTS * (set->ring_bytes ? 1 : (int)ops->sets_max);

	for (size_t i = 0; i < events->n; i++) {
		struct part *part;

		if (!ops->event(set->h->ctx, &set->target, &events->ev[i], set->ring_bytes,
				&set->asked[i], &set->opened[i]) ||
		    !group_holds(set, i))
			continue;
		part = part_for(set, i);
		if (part)
			part->at[part->n++] = (int)i;
		else
			opened_say(&set->opened[i], READ_UNSUPPORTED,
				   "%s takes %d events of one user on a %s: ask for "
				   "fewer",
				   ops->who, most, ops->vm);
	}
}

static void close_parts(struct hosted_set *set)
{
	struct hosted *h = set->h;

	for (unsigned i = 0; i < set->nparts; i++) {
		if (set->parts[i].handle)
			h->ops->close(h->ctx, &set->target, set->parts[i].handle);
		set->parts[i].handle = 0;
	}
}

static void set_free(struct hosted_set *set)
{
	free(set->asked);
	free(set->opened);
	free(set);
}

static int set_open(struct hosted *h, const struct hosted_target *t,
		    const struct event_set *events, size_t ring_bytes,
		    struct hosted_set **out, struct err *err)
{
	struct hosted_set *set = calloc(1, sizeof(*set));
	int ret = 0;

	if (set) {
		set->asked = calloc(events->n + 1, sizeof(*set->asked));
		set->opened = calloc(events->n + 1, sizeof(*set->opened));
	}
	if (!set || !set->asked || !set->opened) {
		ret = err_set(err, ENOMEM, "out of memory");
		goto out;
	}
	set->h = h;
	set->target = *t;
	set->events = events;
	set->ring_bytes = ring_bytes;
	choose(set);
	for (unsigned i = 0; !ret && i < set->nparts; i++)
		ret = open_part(set, &set->parts[i], err);
	set->target.name = NULL; /* the caller's */
	if (ret) {
		close_parts(set);
		goto out;
	}
	set->next = h->sets;
	h->sets = set;
	*out = set;
out:
	if (ret && set)
		set_free(set);
	return ret;
}

/* ---- sharing */

/* A VM that came with the number of one that left is another event set. */
static bool is_that(const struct hosted_set *set, const struct hosted_target *t,
		    const struct event_set *events, size_t ring_bytes)
{
	return set->target.kind == t->kind && set->target.id == t->id &&
	       set->events == events && !set->ring_bytes == !ring_bytes &&
	       (!set->refs || set->users);
}

int hosted_set_get(struct hosted *h, const struct hosted_target *t,
		   const struct event_set *events, size_t ring_bytes, struct opened *opened,
		   struct hosted_set **out, struct err *err)
{
	struct hosted_set *set = h->sets;
	int ret = 0;

	while (set && !is_that(set, t, events, ring_bytes))
		set = set->next;
	if (!set)
		ret = set_open(h, t, events, ring_bytes, &set, err);
	if (ret)
		return ret;
	memcpy(opened, set->opened, events->n * sizeof(*opened));
	set->refs++;
	set->users++;
	*out = set;
	return 0;
}

void hosted_set_stop(struct hosted_set *set)
{
	if (!--set->users && !set->h->ops->rings_end)
		close_parts(set);
}

bool hosted_set_stopped(const struct hosted_set *set)
{
	return !set->users;
}

void hosted_set_put(struct hosted_set *set)
{
	struct hosted_set **at = &set->h->sets;

	if (--set->refs)
		return;
	while (*at != set)
		at = &(*at)->next;
	*at = set->next;
	close_parts(set);
	set_free(set);
}

int hosted_set_place(const struct hosted_set *set, size_t i)
{
	for (unsigned p = 0; p < set->nparts; p++)
		for (unsigned k = 0; k < set->parts[p].n; k++)
			if (set->parts[p].at[k] == (int)i)
				return (int)(p * VPMU_SET_EVENTS + k);
	return -1;
}

int hosted_set_event(const struct hosted_set *set, unsigned place)
{
	unsigned p = place / VPMU_SET_EVENTS, k = place % VPMU_SET_EVENTS;

	return p < set->nparts && k < set->parts[p].n ? set->parts[p].at[k] : -1;
}

bool hosted_set_turns(const struct hosted_set *set)
{
	unsigned n = 0;

	for (unsigned i = 0; i < set->nparts; i++)
		n += set->parts[i].n;
	return n > set->h->ops->capacity(set->h->ctx, &set->target, set->ring_bytes != 0);
}

uint32_t hosted_set_handle(const struct hosted_set *set)
{
	return set->parts[0].handle;
}

size_t hosted_set_ring_bytes(const struct hosted_set *set)
{
	return set->ring_bytes;
}

const struct vpmu_event *hosted_set_asked(const struct hosted_set *set, size_t i)
{
	return &set->asked[i];
}

int hosted_set_read(const struct hosted_set *set, unsigned vcpu,
		    struct xenpmu_count out[HOSTED_SETS_MAX * VPMU_SET_EVENTS])
{
	struct hosted *h = set->h;
	int ret = 0;

	for (unsigned i = 0; !ret && i < set->nparts; i++) {
		if (!set->parts[i].n)
			continue;
		ret = set->parts[i].handle
			      ? h->ops->read(h->ctx, &set->target, set->parts[i].handle,
					     vcpu, &out[i * VPMU_SET_EVENTS])
			      : -ENOENT;
	}
	return ret;
}
