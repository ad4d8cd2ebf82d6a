/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A group fits if each of its events can have a counter of its own that can count it: a
 * matching in a bipartite graph, by augmenting paths (Kuhn 1955). Groups are small.
 */
#include "events/profile_groups.h"

#include <string.h>

#define COUNTERS 64

struct matching {
	const struct parts *p;
	size_t owner[COUNTERS]; /* part + 1; 0: free */
	uint64_t tried;
};

/* A counter for @part, from another part if that one can move. */
static bool place(struct matching *m, size_t part)
{
	for (uint64_t left = m->p->v[part].can & ~m->tried; left;
	     left = m->p->v[part].can & ~m->tried) {
		int c = __builtin_ctzll(left);

		m->tried |= UINT64_C(1) << c;
		if (m->owner[c] && !place(m, m->owner[c] - 1))
			continue;
		m->owner[c] = part + 1;
		return true;
	}
	return false;
}

bool groups_fit(const struct parts *p, const bool *in)
{
	struct matching m = { .p = p };

	for (size_t i = 0; i < p->n; i++) {
		m.tried = 0;
		if (in[i] && p->v[i].can && !place(&m, i))
			return false;
	}
	return true;
}

static bool same_pmu(const struct part *a, const struct part *b)
{
	return a->can && b->can && !strcmp(a->pmu, b->pmu);
}

static int new_group(const struct parts *p)
{
	int last = -1;

	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].ev.group > last)
			last = p->v[i].ev.group;
	return last + 1;
}

/* Adds to @in what is in the groups of those that are in it. */
static void add_company(const struct parts *p, bool *in)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; in[i] && p->v[i].ev.group >= 0 && k < p->n; k++)
			in[k] = in[k] || p->v[k].ev.group == p->v[i].ev.group;
}

static bool group_takes(const struct parts *p, int group, size_t part)
{
	bool in[PARTS_MAX] = { false };

	for (size_t i = 0; i < p->n; i++)
		in[i] = i == part || p->v[i].ev.group == group;
	return groups_fit(p, in);
}

/* One by one, each into the first group of its fellows that takes it. */
static void join_some(struct parts *p, const bool *wanted)
{
	for (size_t i = 0; i < p->n; i++) {
		if (!wanted[i] || p->v[i].ev.group >= 0)
			continue;
		for (size_t k = 0; k < p->n && p->v[i].ev.group < 0; k++)
			if (wanted[k] && p->v[k].ev.group >= 0 &&
			    group_takes(p, p->v[k].ev.group, i))
				p->v[i].ev.group = p->v[k].ev.group;
		if (p->v[i].ev.group < 0)
			p->v[i].ev.group = new_group(p);
	}
}

/* @wanted: all of one PMU. */
static void join_one_pmu(struct parts *p, const bool *wanted)
{
	bool all[PARTS_MAX];
	int group = new_group(p);

	memcpy(all, wanted, sizeof(all));
	add_company(p, all);
	if (!groups_fit(p, all)) {
		join_some(p, wanted);
		return;
	}
	for (size_t i = 0; i < p->n; i++)
		if (all[i])
			p->v[i].ev.group = group;
}

void groups_join(struct parts *p, const bool *wanted)
{
	bool done[PARTS_MAX] = { false };

	for (size_t i = 0; i < p->n; i++) {
		bool mine[PARTS_MAX] = { false };

		if (!wanted[i] || done[i] || !p->v[i].can)
			continue;
		for (size_t k = i; k < p->n; k++) {
			mine[k] = wanted[k] && same_pmu(&p->v[i], &p->v[k]);
			done[k] = done[k] || mine[k];
		}
		join_one_pmu(p, mine);
	}
}

bool groups_split(const struct parts *p, const bool *wanted, size_t *a, size_t *b)
{
	for (*a = 0; *a < p->n; (*a)++)
		for (*b = *a + 1; wanted[*a] && *b < p->n; (*b)++)
			if (wanted[*b] && same_pmu(&p->v[*a], &p->v[*b]) &&
			    p->v[*a].ev.group != p->v[*b].ev.group)
				return true;
	return false;
}

void groups_finish(struct parts *p)
{
	for (size_t i = 0; i < p->n; i++) {
		bool alone = true;

		for (size_t k = 0; k < p->n; k++)
			alone = alone && (k == i || p->v[k].ev.group != p->v[i].ev.group);
		if (alone)
			p->v[i].ev.group = -1;
	}
}
