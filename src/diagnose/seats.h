/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DIAGNOSE_SEATS_H
#define DIAGNOSE_SEATS_H

/*
 * Which pCPUs vCPUs that move may run on. Each gets one of its own as long as there are
 * any: a hypervisor that does not balance would have two meet on one, and who shares a
 * pCPU is slowed in a way that nobody could predict. Else it may run on all of the node.
 */

#include "diagnose/host.h"

struct seats {
	const char *const *node_cpus;
	double *use; /* owned; by pCPU: of it, what those who stay there take */
	bool known;  /* it is all that is used */
};

/* @to: who stays; the others leave their pCPUs. 0, -ENOMEM; seats_free() it. */
int seats_new(struct seats *s, const struct host *h, const struct diag_placement *to,
	      const char *const *node_cpus);
/* The pCPUs for one that comes to @node: a list of @size bytes at most. 0, -ENOMEM. */
int seats_take(struct seats *s, unsigned node, char *list, size_t size);
void seats_free(struct seats *s);

#endif
