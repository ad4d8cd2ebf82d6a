/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#define FIRST_SLOTS 4096 /* a power of two, as every size after it */

struct slot {
	uint64_t ip;
	uint64_t rest;	      /* thread, event and mode: pack() */
	struct weight weight; /* samples 0: the slot is free */
};

/*
 * An open-addressing table. Guests choose the addresses they run at, so the
 * hash is keyed with random bytes: nobody outside can aim at one
 * slot. What is printed is sorted, so the key does not show.
 */
struct profile {
	unsigned keys;
	uint64_t seed[2];
	struct slot *slots;
	size_t mask, used;
	struct weight *totals;
	size_t nevents;
	uint64_t first, last;
};

static void weigh(struct weight *w, const struct weight *more)
{
	w->samples += more->samples;
	w->kernel += more->kernel;
	if (__builtin_add_overflow(w->period, more->period, &w->period))
		w->period = UINT64_MAX;
}

static struct weight weight_of(const struct sample *s)
{
	return (struct weight) {
		.samples = 1,
		.kernel = s->mode == MODE_KERNEL || s->mode == MODE_GUEST_KERNEL,
		.period = s->period,
	};
}

int profile_new(unsigned keys, size_t nevents, struct profile **out)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->keys = keys;
	p->nevents = nevents;
	p->first = UINT64_MAX;
	p->mask = FIRST_SLOTS - 1;
	if (getrandom(p->seed, sizeof(p->seed), GRND_NONBLOCK) < 0)
		p->seed[0] = (uintptr_t)p; /* early at boot: the layout has to do */
	p->slots = calloc(FIRST_SLOTS, sizeof(*p->slots));
	p->totals = calloc(nevents ? nevents : 1, sizeof(*p->totals));
	if (!p->slots || !p->totals) {
		profile_free(p);
		return -ENOMEM;
	}
	*out = p;
	return 0;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->slots);
	free(p->totals);
	free(p);
}

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static uint64_t pack(pid_t tid, uint32_t event, enum sample_mode mode)
{
	return (uint64_t)(uint32_t)tid << 32 | event << 8 | mode;
}

static struct slot *find(const struct profile *p, struct slot *slots, size_t mask,
			 uint64_t ip, uint64_t rest)
{
	uint64_t h = fold(ip ^ p->seed[0], rest ^ p->seed[1] ^ 0x9e3779b97f4a7c15);

	for (size_t i = fold(h ^ rest, 0xd6e8feb86659fd93);; i++) {
		struct slot *s = &slots[i & mask];

		if ((s->ip == ip && s->rest == rest) || !s->weight.samples)
			return s;
	}
}

static bool grow(struct profile *p)
{
	size_t mask = 2 * p->mask + 1;
	struct slot *slots = calloc(mask + 1, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i <= p->mask; i++)
		if (p->slots[i].weight.samples)
			*find(p, slots, mask, p->slots[i].ip, p->slots[i].rest) =
				p->slots[i];
	free(p->slots);
	p->slots = slots;
	p->mask = mask;
	return true;
}

bool profile_add(struct profile *p, const struct sample *s)
{
	uint64_t ip = p->keys & PROFILE_BY_ADDRESS ? s->ip : 0;
	uint64_t rest = pack(p->keys & PROFILE_BY_THREAD ? s->tid : 0, s->event,
			     p->keys & PROFILE_BY_MODE ? s->mode : MODE_UNKNOWN);
	const struct weight one = weight_of(s);
	struct slot *slot;

	if (s->event >= p->nevents || s->event > 0xffffff)
		return true;
	if (p->used > p->mask / 2 && !grow(p))
		return false;
	slot = find(p, p->slots, p->mask, ip, rest);
	if (!slot->weight.samples) {
		slot->ip = ip;
		slot->rest = rest;
		p->used++;
	}
	weigh(&slot->weight, &one);
	weigh(&p->totals[s->event], &one);
	if (s->time_ns < p->first)
		p->first = s->time_ns;
	if (s->time_ns > p->last)
		p->last = s->time_ns;
	return true;
}

struct weight profile_total(const struct profile *p, size_t event)
{
	return event < p->nevents ? p->totals[event] : (struct weight) { 0 };
}

void profile_span(const struct profile *p, uint64_t *first, uint64_t *last)
{
	*first = p->first;
	*last = p->last;
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b)
{
	const struct profile_row *x = a, *y = b;
	int o = order(x->event, y->event);

	o = o ? o : order(x->mode, y->mode);
	o = o ? o : order((uint32_t)x->tid, (uint32_t)y->tid);
	return o ? o : order(x->ip, y->ip);
}

static int by_weight(const void *a, const void *b)
{
	const struct profile_row *x = a, *y = b;
	int o = order(x->event, y->event);

	o = o ? o : order(y->weight.period, x->weight.period);
	o = o ? o : order(y->weight.samples, x->weight.samples);
	return o ? o : by_place(a, b);
}

static bool same_row(const struct profile_row *x, const struct profile_row *y)
{
	return x->event == y->event && x->mode == y->mode && x->tid == y->tid &&
	       (x->ip == y->ip || (x->sym && x->sym == y->sym));
}

static void name_row(const struct symtabs *tabs, struct maps *maps, struct profile_row *row)
{
	struct map_place place;

	row->sym = tabs ? symtabs_find(tabs, row->ip) : NULL;
	if (row->sym || !maps || row->mode != MODE_USER ||
	    !maps_find(maps, row->ip, &place))
		return;
	row->sym = place.sym;
	row->module = place.module;
	row->bias = place.bias;
}

/* Rows in order of address: each symbol is looked up once per thread and mode. */
static size_t merge(const struct symtabs *tabs, struct maps *maps, struct profile_row *rows,
		    size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		struct profile_row *row = &rows[i], *last = out ? &rows[out - 1] : NULL;

		if (last && last->sym && !last->module && row->ip >= last->sym->start &&
		    row->ip < last->sym->end)
			row->sym = last->sym;
		else
			name_row(tabs, maps, row);
		if (last && same_row(last, row))
			weigh(&last->weight, &row->weight);
		else
			rows[out++] = *row;
	}
	return out;
}

int profile_rows(const struct profile *p, const struct symtabs *tabs, struct maps *maps,
		 struct profile_row **rows, size_t *nrows)
{
	struct profile_row *v = calloc(p->used ? p->used : 1, sizeof(*v));
	size_t n = 0;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i <= p->mask; i++) {
		const struct slot *s = &p->slots[i];

		if (s->weight.samples)
			v[n++] = (struct profile_row) {
				.event = s->rest >> 8 & 0xffffff,
				.mode = s->rest & 0xff,
				.tid = (pid_t)(s->rest >> 32),
				.ip = s->ip,
				.weight = s->weight,
			};
	}
	qsort(v, n, sizeof(*v), by_place);
	if (p->keys & PROFILE_BY_ADDRESS)
		n = merge(tabs, maps, v, n);
	else
		n = merge(NULL, NULL, v, n);
	qsort(v, n, sizeof(*v), by_weight);
	*rows = v;
	*nrows = n;
	return 0;
}

int timeline_init(struct timeline *t, uint64_t first, uint64_t last, size_t max,
		  size_t nevents)
{
	static const unsigned steps[] = { 1, 2, 5 };
	uint64_t span = last > first ? last - first : 0, unit = 1;
	size_t step = 0;

	/* Stops: at 1e18 ns even the longest span fits 19 slots. */
	while (span / (unit * steps[step]) >= max && unit < 1000000000000000000u) {
		step = (step + 1) % 3;
		if (!step)
			unit *= 10;
	}
	*t = (struct timeline) {
		.start_ns = first,
		.width_ns = unit * steps[step],
		.nevents = nevents,
	};
	t->n = span / t->width_ns + 1;
	t->slot = calloc(t->n * (nevents ? nevents : 1), sizeof(*t->slot));
	return t->slot ? 0 : -ENOMEM;
}

void timeline_add(struct timeline *t, const struct sample *s)
{
	uint64_t i = (s->time_ns - t->start_ns) / t->width_ns;
	const struct weight one = weight_of(s);

	if (s->time_ns >= t->start_ns && i < t->n && s->event < t->nevents)
		weigh(&t->slot[s->event * t->n + i], &one);
}

void timeline_free(struct timeline *t)
{
	free(t->slot);
	*t = (struct timeline) { 0 };
}
