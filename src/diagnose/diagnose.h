/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DIAGNOSE_DIAGNOSE_H
#define DIAGNOSE_DIAGNOSE_H

/*
 * From readings to causes. Pure: no I/O, no clock, no knowledge of a source. What comes
 * in are the readings of one window, by role, and the machine's data sheet; what goes
 * out is, for each VM and node, where its memory stall cycles go.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/move.h"
#include "model/window.h"

enum factor {
	FACTOR_LOCALITY, /* remote data */
	FACTOR_LLC,	 /* others take the shared cache */
	FACTOR_SHARING,	 /* lines that other cores write */
	FACTOR_MEMORY,	 /* queueing for the memory's channels */
	FACTOR_TRACKERS, /* waiting for request trackers */
	FACTORS
};

const char *factor_name(enum factor factor);  /* "locality", "llc", "sharing", … */
const char *factor_title(enum factor factor); /* "remote data" */

/* One factor's part, of a VM on one node or of all of it. */
struct diag_part {
	double cycles, error; /* of stall cycles; half width */
	double loss; /* share of its speed that it costs, 0 … 1: how much less time
		      * the same work would take on the host without it; 0 as well if it
		      * would take more, as others get faster */
	double loss_error;
	bool measured; /* false: could not be, @why says why */
	char why[160];
	/* Which counters and which formula, with numbers; of what was not measured, what
	 * comes nearest to it, or "". */
	char evidence[200];
};

#define DIAG_CAUSES 4
struct diag_cause {
	size_t vm;    /* index in the window: who shares the resource */
	double share; /* of the resource's use by others than the VM itself, 0 … 1 */
};

struct diag_vm_node {
	double cycles, stall; /* unhalted; of those, memory stalls */
	double stall_error;
	struct diag_part part[FACTORS];
	double rest, rest_error; /* stall not explained by the parts: latency of the own
				  * misses, or unknown; may be negative within its error */
};

struct diag_result {
	size_t vm;
	struct diag_vm_node node[DIAG_NODES];
	struct diag_vm_node all;
	struct diag_cause cause[FACTORS][DIAG_CAUSES];
	unsigned ncauses[FACTORS];
	/* The factor that costs most, if it stands out of the noise; -1: nothing wrong. */
	int top;
	int top_node; /* where it costs most; -1 */
	/* The factor that would cost more than @top, but does not stand out; -1: none. */
	int doubt;
	bool unknown;	    /* too little could be measured to say that nothing is wrong */
	bool misplaced;	    /* of those: but most of its memory is not where it runs; top
			     * is locality then, without a loss */
	char sentence[400]; /* the answer, for the operator at 3 a.m. */
};

/* Socket totals, and what of them belongs to whom. */
struct diag_socket {
	struct quantity mem_lines;	 /* reads of the node's memory */
	double attributed, unattributed; /* to VMs by what was read of them; the rest */
	/* Of what is attributed, not by counters but by the bytes that VMs moved from and
	 * to memory (resctrl): reads as they are of the node, or, where its writes are not
	 * known, all of it. */
	double by_bytes;
	bool with_writes;	  /* … all of it */
	double mem_use, link_use; /* of what they can carry, 0 … 1; NaN: not known */
	double mem_ns;		  /* a read's time in the memory's queue and channel */
	double tracker_full;	  /* share of the time; NaN */
};

struct diagnosis {
	struct diag_result *vms; /* owned; one per VM of the window */
	size_t nvms;
	struct diag_socket node[DIAG_NODES];
	unsigned long evaluations; /* of a vCPU's time by the model: what it took */
};

/* 0 or -ENOMEM. @out is zero-initialised; diagnosis_free() it. */
int diagnose(const struct diag_window *window, struct diagnosis *out);
void diagnosis_free(struct diagnosis *d);
/* Several windows into one: sums, with errors added. 0, -ENOMEM,
 * -EINVAL: none, or not all of the same VMs. diag_window_free() @out. */
int diag_window_merge(const struct diag_window *const *windows, size_t n,
		      struct diag_window *out);

/*
 * ---- prediction: the same readings on another placement. A vCPU's placement is the
 * node that it runs on, a VM's memory is where @mem says.
 */
struct diag_placement {
	/* Per VM of the window: vCPU i runs on node vcpu[i]; -1: where it is. */
	int **vcpu;
	int *mem; /* node, or -1: where it is */
};

struct prediction {
	double *speed; /* owned; per VM: time of the same work before / after; 1: same,
			* 0: it did not run */
	double *error; /* half width */
	double host;   /* geometric mean of speed over VMs that ran */
	double host_error;
	/* Owned; per VM: by how much more time each factor costs it then, as a share of
	 * the time that the same work takes it before. */
	double (*cost)[FACTORS];
};

/* 0, -ENOMEM, -EINVAL: a node that there is not. prediction_free() @out. */
int predict(const struct diag_window *window, const struct diag_placement *to,
	    struct prediction *out);
void prediction_free(struct prediction *p);

/* ---- advice */
struct advice {
	struct move *moves; /* owned; in order */
	size_t nmoves;
	struct prediction prediction; /* of all of them together */
	enum factor falls; /* that costs who gains most less time; FACTORS: none does */
	enum factor rises; /* that costs the VMs more, on average; FACTORS: none does */
	char sentence[320];
	/* What gains more, but is known too badly: only the bold are advised; "": nothing.
	 */
	char bolder[320];
};

struct advise_config {
	double least; /* gain below which nothing is advised: 0.05 */
	bool bold;    /* what gains is advised, even if its gain is not known well */
	unsigned most_moves;
	bool move_memory, move_vcpus;
};

/*
 * The best move that beats max(@least, twice its error) in each of @n windows (the same
 * VMs, oldest first) and whose gain is known well enough to be held against what comes of
 * it; ties by fewest moves. nmoves 0: none does, the sentence says why.
 * @node_cpus[i]: the pCPUs of node i as a list, for the moves.
 */
int advise(const struct diag_window *const *windows, size_t n,
	   const struct advise_config *config, const char *const *node_cpus,
	   struct advice *out);
void advice_free(struct advice *a);

#endif
