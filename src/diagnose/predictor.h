/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DIAGNOSE_PREDICTOR_H
#define DIAGNOSE_PREDICTOR_H

/* A fitted host on which placements are tried, many of them, cheaply. */

#include "diagnose/host.h"

#define COMMON 0.5 /* see there; as long as nothing tells */

struct predictor {
	struct host host;  /* as it is */
	struct host trial; /* as it would be; shares nothing with host */
	struct solution base, s;
	double *demand; /* cores that each flow would take if it never waited for one */
	double *want;	/* of those, what it asks for where the trial has it */
	bool *moves;	/* it goes to another pCPU */
	double *used;	/* of each pCPU, by who does not */
	/* Of the lines that vCPUs of a VM have in the LLC, what share is the same. No
	 * counter tells: it may be anything from 0 to 1. */
	double common;
};

/* 0, -ENOMEM; predictor_free() it. @window must outlive it. */
int predictor_new(struct predictor *p, const struct diag_window *window,
		  struct nudge nudge);
void predictor_free(struct predictor *p);
/* The trial becomes that of another placement; it is not solved. */
void predictor_place(struct predictor *p, const struct diag_placement *to);
/* Speeds of all VMs (1: as now; 0: did not run) on another placement; returns their
 * geometric mean. p->trial and p->s are then of that placement. */
double predictor_try(struct predictor *p, const struct diag_placement *to, double *speed);
/* How far the speeds of the last try may be off by the model alone, and their mean: who
 * gets how much of a pCPU is no matter of the model. */
double predictor_doubt(const struct predictor *p, double *doubt);

/* Nothing moves. 0, -ENOMEM. */
int placement_new(const struct diag_window *window, struct diag_placement *out);
void placement_copy(const struct diag_window *window, const struct diag_placement *from,
		    struct diag_placement *to);
void placement_free(const struct diag_window *window, struct diag_placement *p);

#endif
