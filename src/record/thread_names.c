/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/thread_names.h"

#include <stdlib.h>

#include "base/str.h"
#include "base/vec.h"

static int compare(const void *a, const void *b)
{
	const struct thread_name *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void settle(struct thread_names *t)
{
	size_t n = 0;

	if (t->settled)
		return;
	if (t->n)
		qsort(t->v, t->n, sizeof(*t->v), compare);
	for (size_t i = 0; i < t->n; i++)
		if (i + 1 == t->n || t->v[i + 1].tid != t->v[i].tid)
			t->v[n++] = t->v[i];
	t->n = n;
	t->settled = true;
}

bool thread_names_set(struct thread_names *t, pid_t tid, const char *name)
{
	struct thread_name item = { .tid = tid, .order = t->order++ };

	str_copy(item.name, sizeof(item.name), name);
	str_clean(item.name);
	/* A thread that is renamed without end takes no more room than its names. */
	if (t->n && t->n == t->cap)
		settle(t);
	if (VEC_PUSH(t->v, t->n, t->cap, item))
		return false;
	t->settled = false;
	return true;
}

const char *thread_names_find(struct thread_names *t, pid_t tid)
{
	const struct thread_name *v;
	size_t lo = 0, hi;

	settle(t);
	v = t->v;
	hi = t->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v[mid].tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->n && v[lo].tid == tid ? v[lo].name : NULL;
}

void thread_names_free(struct thread_names *t)
{
	free(t->v);
	*t = (struct thread_names) { 0 };
}
