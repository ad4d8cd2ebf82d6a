/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COUNTING_WORLD_H
#define COUNTING_WORLD_H

/* A session that counts what a fake source's VMs do, and what it said of them. */

#include "base/str.h"
#include "fake_source.h"
#include "session/counting.h"

#define MS 1000000u

struct seen {
	char vm[40], event[40], reason[256];
	int vcpu, node;
	enum event_side side;
	uint64_t interval_ns;
	struct reading r;
};

struct world {
	struct source src;
	struct counting *c;
	struct seen seen[64];
	size_t nseen;
	struct strbuf notes;
	enum event_side side;
	bool per_vcpu;
	const struct event_set *node_events;
};

extern struct event world_events[2];   /* cycles, misses */
extern const struct target everything; /* both, of every VM */

/* What counting_start() returns. */
int world_start(struct world *w, const struct target *targets, size_t n, struct err *err);
/* Fill w->seen anew. */
void world_interval(struct world *w);
void world_totals(struct world *w);
/* Fails the test if it was not seen. */
const struct seen *world_find(const struct world *w, const char *vm, int vcpu,
			      const char *event);
/* Those since the last call are @text, and nothing else. */
void world_notes(struct world *w, const char *text);
void world_end(struct world *w);

#endif
