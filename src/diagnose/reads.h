/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DIAGNOSE_READS_H
#define DIAGNOSE_READS_H

/* What the model takes from a window's readings: by role, with the next best in the
 * place of what is missing. */

#include "diagnose/host.h"

#define DIAG_LINE 64.0 /* bytes */

struct reads { /* of a vCPU; counts in the window */
	double instructions, cycles, stall;
	double waiting;	  /* cycles with a request to the uncore in flight; -1: not known */
	double in_flight; /* sum over cycles of those; -1: not known */
	double refs, clean, hitm, rclean, rhitm;
	double kept;	      /* lines that its own L2 gave; -1: not known */
	double hits;	      /* share of refs that the LLC did not miss; -1: not known */
	double local, remote; /* lines from memory */
	double cold;	      /* of those, touched for the first time */
	double unanswered;    /* misses that nothing tells the answer of */
	bool by_home;	      /* those two were counted apart */
	bool has_stall;
};

struct node_reads {			 /* of a node; per second */
	double reads;			 /* lines */
	double writes;			 /* lines written per line read */
	double mem_wait, mem_wait_error; /* s */
	double full;			 /* share of the time */
	double occupancy;		 /* entries, on average */
	bool has_reads, has_mem_wait, has_full, has_occupancy;
};

/*
 * Where no counter of a core tells of lines that other sockets had dirty (Nehalem-EP has
 * none but by an offcore response): the share of the misses that nothing else answers
 * that these are, by what the sockets say they gave; 0: that is not known.
 */
double dirty_share(const struct diag_window *w, struct nudge nudge);
/* False: instructions or cycles are missing, or it did not run. @dirty: dirty_share(). */
bool vcpu_reads(const struct diag_vcpu *vcpu, struct nudge nudge, double dirty,
		struct reads *out);
void node_reads(const struct diag_window *w, unsigned node, struct nudge nudge,
		struct node_reads *out);
/* Share of the time with the node's read tracker full; NaN: not known. */
double node_full(const struct diag_window *w, unsigned node);
/* Where it ran, as shares of its time; returns on how many nodes. */
unsigned vcpu_shares(const struct diag_vcpu *vcpu, unsigned nodes, double *share);
bool quantity_has(const struct quantity *q);

#endif
