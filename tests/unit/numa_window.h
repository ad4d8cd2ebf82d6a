/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMA_WINDOW_H
#define NUMA_WINDOW_H

/*
 * Windows of readings as a host would give them that behaves by the book: each request
 * takes what its kind takes on an idle machine and the waits that a test asks for, and
 * the counters follow by Little's law. Independent of the model that reads them.
 */

#include "diagnose/diagnose.h"

struct made_vcpu {
	const char *vm; /* a new name begins a new VM */
	unsigned node, memory;
	double base;		   /* cycles per instruction that compute */
	double refs, misses, hitm; /* per 1000 instructions */
	double parallel;	   /* requests in flight while it waits */
	double active;		   /* share of a core; 0: all of one */
};

struct made_host {
	unsigned nodes;
	double mem_wait[DIAG_NODES];	 /* ns */
	double tracker_wait[DIAG_NODES]; /* ns */
	double tracker_full[DIAG_NODES]; /* share of the time */
	const struct made_vcpu *vcpus;
	size_t nvcpus;
};

/* A two-socket data sheet of round numbers, with @nodes sockets. */
struct diag_machine made_machine(unsigned nodes);
/* One second of @host. diag_window_free() it. */
struct diag_window made_window(const struct made_host *host);
/* diagnose() of it, which has to work. diagnosis_free() it. */
struct diagnosis made_diagnosis(const struct diag_window *w);
/* 64 VMs of four vCPUs on 8 nodes; every ninth has its memory elsewhere. */
struct diag_window made_crowd(void);
/* All have errors of @share of their value, as multiplexed counters do. */
void made_uncertain(struct diag_window *w, double share);
void made_missing(struct diag_window *w, enum role role, enum reading_state state,
		  const char *reason);
/* What the CPU of event table @name has no event for is missing. */
void made_as_told_by(struct diag_window *w, const char *name);

#endif
