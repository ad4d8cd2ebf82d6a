/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MODEL_WINDOW_H
#define MODEL_WINDOW_H

/*
 * What a diagnosis looks at: the readings of one span of time, by role, and the
 * machine's data sheet. src/session/windows.h gathers it, src/diagnose judges it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/reading.h"
#include "model/role.h"

#define DIAG_NODES 8

/* What is known of the hardware beforehand: times in ns, of an idle machine. */
struct diag_machine {
	unsigned nodes, cores; /* cores per node */
	double core_hz, uncore_hz;
	double llc_bytes; /* per node */
	double l2_bytes;  /* of a core's own cache; 0: not known */
	bool inclusive;	  /* the LLC has what the cores' own caches have, or they lose it */
	double llc_ns, local_ns, remote_ns;
	double shared_ns, modified_ns, remote_cache_ns, remote_modified_ns;
	double mem_rate;    /* bytes/s of a node's memory that reads can reach */
	double mem_idle_ns; /* of local_ns, in the memory's queue and channel, as
			     * mem.read.occupancy / mem.reads of an idle machine gives it;
			     * 0: not known */
	double link_rate;   /* bytes/s per direction and link; 0: not known */
	unsigned lfb;	    /* misses in flight per core */
	unsigned trackers;  /* read trackers per node; 0: not known */
	uint8_t hops[DIAG_NODES][DIAG_NODES];
	char origin[80]; /* where all this is from: "data sheet of nehalem-ep" */
};

/* A number with its bound. state says whether there is one at all. */
struct quantity {
	double value;
	double error; /* half width; as wide as the value where no bound is known */
	enum reading_state state;
	const char *reason; /* static; NULL: none */
};

struct diag_vcpu {
	int index;
	double on_node[DIAG_NODES]; /* share of the window that it ran on each; sum <= 1 */
	unsigned choices;	    /* pCPUs that it may run on; 0: not known, nor is … */
	int cpu;		    /* … the one that it was seen on last */
	struct quantity role[ROLE_OF_NODE];
	double cold; /* of several windows: LLC misses that no longer came in the last one,
		      * lines that were touched for the first time; of one: 0 */
};

struct diag_vm {
	char id[32], name[80];
	struct diag_vcpu *vcpus; /* the caller's */
	size_t nvcpus;
	double mem_node[DIAG_NODES]; /* bytes; all 0: not known */
};

struct diag_node {
	struct quantity role[ROLES - ROLE_OF_NODE];
};

/* Node i of it is the i-th of the source's machine.nodes. */
struct diag_window {
	struct diag_machine machine;
	double seconds;
	struct diag_vm *vms;
	size_t nvms;
	struct diag_node node[DIAG_NODES];
};

/* Of a merged or gathered one: frees what it owns and empties it. */
void diag_window_free(struct diag_window *w);

#endif
