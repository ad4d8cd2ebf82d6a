/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DIAGNOSE_PCPUS_H
#define DIAGNOSE_PCPUS_H

/*
 * Who gets how much time of which pCPU. vCPUs that are moved get one of their own: a
 * hypervisor that does not balance would have two meet on one, and who shares a pCPU is
 * slowed in a way that nobody could predict.
 */

#include "diagnose/predictor.h"

/* Fills in the cores that each flow would take if it never waited for one. */
void pcpus_demand(const struct host *h, double *demand);
/* Fills in how much the flows on @node get in the trial. */
void pcpus_share(struct predictor *p, unsigned node);
/* Is there nothing to be done to have a vCPU on @node? Who is there but waits for a pCPU
 * that others use is not there yet: another pCPU may be free. */
bool vcpu_there(const struct predictor *p, size_t vm, size_t vcpu, int node);
/* Are there pCPUs for all that move in the trial? */
bool pcpus_suffice(struct predictor *p);
/* Counts what those who do not move in the trial use, for pcpus_take(). False: it is not
 * known where they are. */
bool pcpus_count(struct predictor *p);
/* The pCPUs for one that moves to the node of @node_cpus, a list: one that is free, or
 * all. 0, -ENOMEM. */
int pcpus_take(struct predictor *p, const char *node_cpus, char *list, size_t size);

#endif
