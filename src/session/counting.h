/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SESSION_COUNTING_H
#define SESSION_COUNTING_H

/* Event sets counted on many VMs and on all nodes: deltas, sums, provenance. */

#include "session/watch.h"

/* One number of one interval, on its way to a view or a recording. */
struct count {
	uint64_t time_ns;     /* end of the interval, since the start of the run */
	uint64_t interval_ns; /* measured: of the interval, or of what of it was counted */
	const char *vm_id, *vm_name; /* NULL: it is of a node */
	int node;		     /* its id; -1: it is of a VM */
	int vcpu;		     /* index, or -1: all vCPUs of the VM together */
	pid_t tid;		     /* 0 for the VM's sum, and where there is none */
	const struct event *event;
	size_t index;		/* of it among its VM's or its node's events */
	unsigned cpus;		/* vCPUs that it is of: 1, or how many are summed */
	enum event_side side;	/* what was really counted */
	struct reading reading; /* its reason is valid during the call */
};

struct counting_ops {
	void (*count)(void *ctx, const struct count *count);
	void (*note)(void *ctx, const struct note *note);
};

struct counting_config {
	const struct source_ops *ops;
	struct source *src;
	const struct target *targets;
	size_t ntargets;		     /* 0: nothing is counted of VMs */
	const struct event_set *node_events; /* of EVENT_UNCORE; NULL: none */
	enum event_side side; /* for events that do not say; SIDE_BOTH: side by side */
	bool per_vcpu;	      /* also one count per vCPU */
	uint64_t interval_ns; /* between calls of counting_interval(); 0: at the end */
	const struct counting_ops *cb;
	void *ctx;
};

struct counting;

/*
 * Finds the VMs, opens and starts everything. -ENOENT with words if none matches
 * (unless nodes are counted),
 * -EMFILE with numbers and remedy if the descriptors do not suffice.
 * A plain process and the hypervisor have no sides: events that do not say count on
 * the host's.
 */
int counting_start(const struct counting_config *config, struct counting **out,
		   struct err *err);
/*
 * Looks for VMs that came or went, where that is due, and reads the counters
 * of events that share them by turns: what the error bound is computed from.
 * To be called at counting_due_ns(), and when counting_fd() polls readable.
 * 0, or -errno of a failing source.
 */
int counting_tick(struct counting *c, struct err *err);
/* When counting_tick() has something to do (clock_now_ns()). */
uint64_t counting_due_ns(const struct counting *c);
/* Polls readable when a VM has ended; -1 if there is none. */
int counting_fd(const struct counting *c);
/*
 * Ends an interval: counting_tick(), then reads all counters and emits the
 * deltas. Same errors.
 */
int counting_interval(struct counting *c, struct err *err);
/*
 * Emits the totals from the start to the end of the last interval: sums of the
 * intervals' values, to the count.
 */
void counting_totals(struct counting *c);
/*
 * True if an event of some VM had no value in counting_totals(), a vCPU is not
 * counted since its thread is not known, or a target's pattern never matched a
 * VM: exit status 3.
 */
bool counting_partial(const struct counting *c);
/* False if no event of any vCPU was ever asked of the kernel: exit status 1. */
bool counting_measured(const struct counting *c);
/* VMs that still run. */
size_t counting_alive(const struct counting *c);
/* No VM is left, and no node is counted: nothing more can come. */
bool counting_over(const struct counting *c);
void counting_free(struct counting *c);

#endif
