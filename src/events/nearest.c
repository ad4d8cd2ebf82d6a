/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The known name that is closest to one that is not known. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "events/lookup.h"

#define LONGEST 63

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/*
 * Edits (insert, delete, replace, swap of neighbours) that make @b of @a:
 * optimal string alignment, three rows of the usual table. Case is ignored.
 */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][LONGEST + 1];
	size_t na = strlen(a), nb = strlen(b);

	for (size_t j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *row = rows[i % 3], *up = rows[(i + 2) % 3];
		unsigned *up2 = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			bool same = tolower(a[i - 1]) == tolower(b[j - 1]);

			row[j] = min3(up[j] + 1, row[j - 1] + 1, up[j - 1] + !same);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && up2[j - 2] + 1 < row[j])
				row[j] = up2[j - 2] + 1;
		}
	}
	return rows[na % 3][nb];
}

void nearest_init(struct nearest *near, const char *wanted)
{
	size_t len = strlen(wanted);

	/* A third of the letters wrong is another word, not a misspelling. */
	*near = (struct nearest) { .wanted = wanted,
				   .distance = 1 + (len < 9 ? len / 3 : 3) };
	if (!len || len > LONGEST)
		near->wanted = NULL;
}

void nearest_offer(struct nearest *near, const char *candidate)
{
	unsigned d;

	if (!near->wanted || strlen(candidate) > LONGEST)
		return;
	d = distance(near->wanted, candidate);
	if (d < near->distance) {
		near->distance = d;
		str_copy(near->best, sizeof(near->best), candidate);
	}
}

const char *nearest_say(const struct nearest *near, char *buf, size_t size)
{
	*buf = '\0';
	if (near->best[0])
		snprintf(buf, size, "; did you mean %s?", near->best);
	return buf;
}

static int offer_name(void *ctx, const struct event_name *name)
{
	nearest_offer(ctx, name->name);
	return 0;
}

static int offer_alias(void *ctx, const char *name)
{
	nearest_offer(ctx, name);
	return 0;
}

int unknown_event(const struct rootfs *root, const struct event_table *table,
		  const char *name, const struct err *why, struct err *err)
{
	struct nearest near;
	struct pmu *pmus, same;
	char hint[96], first[64];
	size_t n;
	bool core;

	if (!pmu_find(root, name, &same, NULL))
		return err_set(err, ENOENT,
			       "%s: this is a PMU; its events are written %s/EVENT/ or "
			       "%s/TERM=VALUE,.../",
			       name, name, name);

	str_copy(first, sizeof(first), name);
	first[strcspn(first, ":")] = '\0';
	nearest_init(&near, first);
	names_each(offer_name, &near);
	monitor_each(offer_name, &near);
	for (size_t i = 0; table && i < event_table_size(table); i++)
		nearest_offer(&near, event_table_row(table, i)->name);
	if (pmu_list(root, &pmus, &n))
		return err_set(err, ENOMEM, "%s: %s", name, err_name(ENOMEM));
	core = n && pmus[0].core;
	for (size_t i = 0; i < n; i++) {
		nearest_offer(&near, pmus[i].name);
		if (pmus[i].core)
			pmu_each(root, &pmus[i], "events", offer_alias, &near);
	}
	free(pmus);
	if (near.best[0])
		return err_set(err, ENOENT, "%s: no such event%s", name,
			       nearest_say(&near, hint, sizeof(hint)));
	if (why->code)
		return err_set(err, ENOENT, "%s", why->text);
	return err_set(
		err, ENOENT, "%s: no such event; known are %s", name,
		!root  ? "perf's names and those of this CPU's event table"
		: core ? "perf's names, those under /sys/bus/event_source/devices, "
			 "tracepoints and libpfm4's names"
		       : "perf's names and tracepoints, as this machine shows no PMU of "
			 "its CPUs");
}
