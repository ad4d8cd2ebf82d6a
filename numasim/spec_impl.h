/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_SPEC_IMPL_H
#define NUMASIM_SPEC_IMPL_H

#include "numasim/spec.h"

#define SPEC_ENTRIES 1024u /* of a tracker */
#define SPEC_LFB 32u
#define SPEC_WAYS 32u
/* All nodes together: a line's number + 1 and one bit more are 32 bits. */
#define SPEC_MEMORY ((128ull << 30) - 4096)

enum spec_times {
	TIME_L1,
	TIME_L2,
	TIME_LLC,
	TIME_SHARED,
	TIME_MODIFIED,
	TIME_LOCAL,
	TIME_REMOTE,
	TIME_REMOTE_CACHE,
	TIME_REMOTE_MODIFIED,
	TIMES
};

struct spec_time {
	double value;
	bool cycles;   /* of the core's clock; else ns */
	unsigned line; /* where it is said; 0: nowhere */
};

/* A machine while it is read: times wait for the clock, links for the nodes. */
struct draft {
	struct machine_spec spec;
	struct spec_time time[TIMES];
	enum { LINKS_MESH, LINKS_RING, LINKS_LISTED } links;
	unsigned link_line, size_line; /* where they, and the last size, are said */
	uint8_t linked[SPEC_NODES][SPEC_NODES];
};

/* "links mesh", "links ring", "links 0-1 1-2 …" */
int spec_read_links(struct draft *d, const struct lines *l, struct err *err);
/* Times and hops; refuses what cannot be. */
int spec_finish(struct draft *d, const struct lines *l, struct err *err);

#endif
