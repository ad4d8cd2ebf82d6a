/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SESSION_COUNTING_H
#define SESSION_COUNTING_H

/* Event sets counted on many VMs: deltas, sums, provenance. */

#include "session/watch.h"

/* One number of one interval, on its way to a view or a recording. */
struct count {
	uint64_t time_ns;      /* end of the interval, since the start of the run */
	uint64_t interval_ns;  /* measured length of the interval */
	const char *vm_id, *vm_name;
	int vcpu;              /* index, or -1: all vCPUs of the VM together */
	pid_t tid;             /* 0 for the VM's sum */
	const struct event *event;
	enum event_side side;  /* what was really counted */
	struct reading reading;
};

struct counting_ops {
	void (*count)(void *ctx, const struct count *count);
	void (*note)(void *ctx, const struct note *note);
};

struct counting_config {
	const struct source_ops *ops;
	struct source *src;
	const struct target *targets;
	size_t ntargets;
	enum event_side side;  /* for events that do not say: guest, host, or both side by side */
	bool per_vcpu;         /* also one count per vCPU */
	const struct counting_ops *cb;
	void *ctx;
};

struct counting;

/* Finds the VMs, opens and starts everything. -ENOENT with words if no VM matches. */
int counting_start(const struct counting_config *config, struct counting **out,
		   struct err *err);
/*
 * Reads all counters and, where events share counters by turns, keeps what the
 * error bound is computed from. Cheap; call it a few times per interval.
 */
int counting_tick(struct counting *c);
/* Ends an interval: scans for VMs that came or went, reads, emits the deltas. */
int counting_interval(struct counting *c);
/* Emits the totals since the start (sums of the intervals, to the count). */
int counting_totals(struct counting *c);
/* True if an event of some VM has no value: exit status 3. */
bool counting_partial(const struct counting *c);
/* VMs that still run; 0 ends a run. */
size_t counting_alive(const struct counting *c);
void counting_free(struct counting *c);

#endif
