/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DIAGNOSE_SEARCH_H
#define DIAGNOSE_SEARCH_H

#include "diagnose/predictor.h"

#define MOST_LOSS 0.02 /* that a move may cost another VM */

/*
 * Improves @to, step by step, by the best of: a VM's vCPUs to a node, with or without its
 * memory; its memory alone; one vCPU; two VMs change places. Steps are taken while each
 * is worth its moves; no VM may lose more than MOST_LOSS of its speed. The number of
 * placements tried is bounded. 0, -ENOMEM.
 */
int search(struct predictor *p, const struct advise_config *config,
	   struct diag_placement *to);
/* Moves that lead from where all is to @to. */
size_t placement_moves(const struct predictor *p, const struct diag_placement *to);

#endif
