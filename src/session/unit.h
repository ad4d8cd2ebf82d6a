/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SESSION_UNIT_H
#define SESSION_UNIT_H

/* One vCPU, or node, that is counted: its counters and what they said so far. */

#include "session/provenance.h"
#include "source/source.h"

/* A counter's three figures at one moment, cumulative. */
struct moment {
	uint64_t raw, enabled_ns, running_ns;
};

struct cell {
	struct moment now, tick, mark; /* at the last read, tick, interval */
	struct moment first;	       /* when it began */
	enum reading_state state;      /* as the source says */
	const char *reason;
	struct estimate interval, total;
	uint64_t sum;	     /* of the intervals' values */
	bool missed;	     /* an interval had none, its turn did not come */
	struct moment still; /* when the vCPU's time was asked for last */
	uint64_t still_guest_ns;
	char *suspect;	    /* why; NULL: never was */
	bool suspect_now;   /* in the interval that ended last */
	const char *faulty; /* static: why not all it counted is in it; NULL: all is */
};

struct unit {
	int index; /* the vCPU's; or the node's id */
	int key;   /* vcpu_key(); 0: it is a node */
	pid_t tid;
	const struct source_ops *ops;
	struct source *src;
	const struct event_set *set; /* of its VM, or of all nodes */
	unsigned turns;		     /* hardware events and groups that share counters */
	struct counters *counters;   /* NULL: not open yet, or closed */
	struct opened *opened;
	struct cell *cells; /* one per event */
	uint64_t opened_ns; /* clock_now_ns(); 0: not yet */
	bool multiplexed;   /* an event had to share so far */
	bool gone;	    /* the thread has ended; its last interval is due */
	bool done;	    /* that was shown, too */
	bool complained;    /* it was said that a read failed */
};

/* 0 or -ENOMEM. @set must outlive it. */
int unit_create(const struct source_ops *ops, struct source *src, const struct vcpu *vcpu,
		const struct event_set *set, struct unit **out);
/* One for the node with id @node. */
int unit_create_node(const struct source_ops *ops, struct source *src, int node,
		     const struct event_set *set, struct unit **out);
/* Opens and starts its events; errors of counters_open(). */
int unit_open(struct unit *u, const struct vm *vm, const struct vcpu *vcpu,
	      struct err *err);
/* The same for a node's; errors of node_open(). */
int unit_open_node(struct unit *u, struct err *err);
/*
 * Reads all events; each read is a tick of their estimates. @scratch has room
 * for set->n. Allocates nothing. 0, -errno, or -ERANGE if a counter went back
 * (its old value stays).
 */
int unit_read(struct unit *u, struct reading *scratch);
/* What it counted until the last read is no part of it: it begins now. */
void unit_begin(struct unit *u);
/* Closes the counters, keeps what they said. */
void unit_close(struct unit *u);
/* Event @i over the interval that ends with the last read; begins the next one. */
struct reading unit_interval(struct unit *u, size_t i);
/*
 * Event @i since the start; its value is the sum of the intervals' values, if its turn came
 * in each, or else what it is by all that was counted.
 */
struct reading unit_total(const struct unit *u, size_t i);
void unit_free(struct unit *u);

#endif
