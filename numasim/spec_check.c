/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/spec_impl.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define NO_WAY 0xff

int spec_read_links(struct draft *d, const struct lines *l, struct err *err)
{
	d->link_line = l->line;
	if (l->n == 2 && !strcmp(l->word[1], "mesh"))
		return d->links = LINKS_MESH, 0;
	if (l->n == 2 && !strcmp(l->word[1], "ring"))
		return d->links = LINKS_RING, 0;
	d->links = LINKS_LISTED;
	if (l->n < 2)
		return lines_bad(l, err,
				 "expected \"links mesh\", \"links ring\" or "
				 "\"links 0-1 1-2 …\"");
	for (size_t i = 1; i < l->n; i++) {
		const char *w = l->word[i];
		unsigned a = (unsigned)(w[0] - '0'), b;

		if (strlen(w) != 3 || w[1] != '-' || a >= SPEC_NODES ||
		    (b = (unsigned)(w[2] - '0')) >= SPEC_NODES || a == b)
			return lines_bad(
				l, err,
				"\"%s\" is not a link (two nodes, as 0-1; or mesh, "
				"or ring)",
				w);
		d->linked[a][b] = d->linked[b][a] = 1;
	}
	return 0;
}

/* The least number of links from each node to each (Floyd and Warshall). */
static void count_hops(struct draft *d)
{
	const unsigned n = d->spec.nodes;
	uint8_t(*hops)[SPEC_NODES] = d->spec.hops;

	for (unsigned a = 0; a < n; a++)
		for (unsigned b = 0; b < n; b++) {
			bool near = (a + 1) % n == b || (b + 1) % n == a;
			bool linked = d->links == LINKS_MESH ||
				      (d->links == LINKS_RING && near) ||
				      (d->links == LINKS_LISTED && d->linked[a][b]);

			hops[a][b] = a == b ? 0 : linked ? 1 : NO_WAY;
		}
	for (unsigned via = 0; via < n; via++)
		for (unsigned a = 0; a < n; a++)
			for (unsigned b = 0; b < n; b++)
				if (hops[a][via] + hops[via][b] < hops[a][b])
					hops[a][b] = (uint8_t)(hops[a][via] + hops[via][b]);
}

static int check_links(const struct draft *d, const char *file, struct err *err)
{
	const unsigned n = d->spec.nodes;

	for (unsigned a = 0; a < SPEC_NODES; a++)
		for (unsigned b = n; b < SPEC_NODES; b++)
			if (d->links == LINKS_LISTED && d->linked[a][b])
				return err_set(
					err, EINVAL,
					"%s:%u: link %u-%u: there are nodes 0 to %u only",
					file, d->link_line, a, b, n - 1);
	for (unsigned a = 0; a < n; a++)
		for (unsigned b = 0; b < n; b++)
			if (d->spec.hops[a][b] == NO_WAY)
				return err_set(
					err, EINVAL,
					"%s:%u: no link leads from node %u to node %u",
					file, d->link_line, a, b);
	return 0;
}

static uint32_t picoseconds(const struct draft *d, enum spec_times which)
{
	const struct spec_time *t = &d->time[which];
	double ns = t->cycles ? t->value * 1e9 / (double)d->spec.core_hz : t->value;

	return (uint32_t)llround(ns * 1000);
}

static void set_times(struct draft *d)
{
	struct machine_spec *s = &d->spec;

	s->l1.latency = picoseconds(d, TIME_L1);
	s->l2.latency = picoseconds(d, TIME_L2);
	s->llc.latency = picoseconds(d, TIME_LLC);
	s->shared = picoseconds(d, TIME_SHARED);
	s->modified = picoseconds(d, TIME_MODIFIED);
	s->local = picoseconds(d, TIME_LOCAL);
	s->remote = picoseconds(d, TIME_REMOTE);
	s->remote_cache = picoseconds(d, TIME_REMOTE_CACHE);
	s->remote_modified = picoseconds(d, TIME_REMOTE_MODIFIED);
}

/* What takes longer than another thing in every machine of this kind. */
static const struct {
	enum spec_times time, than;
	const char *name, *than_name;
} longer[] = {
	{ TIME_L2, TIME_L1, "L2", "L1" },
	{ TIME_LLC, TIME_L2, "LLC", "L2" },
	{ TIME_SHARED, TIME_LLC, "shared", "LLC" },
	{ TIME_MODIFIED, TIME_LLC, "modified", "LLC" },
	{ TIME_LOCAL, TIME_LLC, "local", "LLC" },
	{ TIME_REMOTE, TIME_LOCAL, "remote", "local" },
	{ TIME_REMOTE_CACHE, TIME_SHARED, "remote-cache", "shared" },
	{ TIME_REMOTE_MODIFIED, TIME_MODIFIED, "remote-modified", "modified" },
};

/* Without the ways between nodes, another socket's cache is an LLC still. */
static int check_far_caches(const struct draft *d, const char *file, struct err *err)
{
	static const enum spec_times far[] = { TIME_REMOTE_CACHE, TIME_REMOTE_MODIFIED };
	const uint32_t least = picoseconds(d, TIME_REMOTE) - picoseconds(d, TIME_LOCAL) +
			       picoseconds(d, TIME_LLC);

	for (size_t i = 0; i < sizeof(far) / sizeof(*far); i++)
		if (picoseconds(d, far[i]) < least)
			return err_set(
				err, EINVAL,
				"%s:%u: remote caches take %g ns: expected what LLC takes "
				"and what remote is longer than local, %g ns, at least",
				file, d->time[far[i]].line, picoseconds(d, far[i]) / 1e3,
				least / 1e3);
	return 0;
}

static int check_times(const struct draft *d, const char *file, struct err *err)
{
	for (size_t i = 0; i < sizeof(longer) / sizeof(*longer); i++) {
		const struct spec_time *t = &d->time[longer[i].time];
		const struct spec_time *than = &d->time[longer[i].than];
		uint32_t ps = picoseconds(d, longer[i].time);
		uint32_t least = picoseconds(d, longer[i].than);

		if (ps < least)
			return err_set(
				err, EINVAL,
				"%s:%u: %s takes %g ns, and %s %g ns: expected it to "
				"take no less",
				file, t->line > than->line ? t->line : than->line,
				longer[i].name, ps / 1e3, longer[i].than_name, least / 1e3);
	}
	return check_far_caches(d, file, err);
}

static bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static int check_sizes(const struct draft *d, const char *file, struct err *err)
{
	const struct machine_spec *s = &d->spec;

	if (!power_of_two(s->l1.bytes / s->l1.ways) ||
	    !power_of_two(s->l2.bytes / s->l2.ways))
		return err_set(
			err, EINVAL,
			"%s:%u: L1 and L2: expected a power of two of lines in a way", file,
			d->size_line);
	if (s->l2.bytes < s->l1.bytes || s->llc.bytes < s->l2.bytes)
		return err_set(err, EINVAL,
			       "%s:%u: expected L1, L2 and LLC from small to large", file,
			       d->size_line);
	if (s->node_bytes > SPEC_MEMORY / s->nodes || s->node_bytes % 4096)
		return err_set(
			err, EINVAL,
			"%s:%u: %u nodes with %llu bytes of memory each: expected whole "
			"pages, less than 128 GiB in all",
			file, d->size_line, s->nodes, (unsigned long long)s->node_bytes);
	return 0;
}

int spec_finish(struct draft *d, const struct lines *l, struct err *err)
{
	int ret;

	set_times(d);
	count_hops(d);
	ret = check_links(d, l->file, err);
	if (!ret)
		ret = check_times(d, l->file, err);
	return ret ? ret : check_sizes(d, l->file, err);
}
