/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SESSION_RESIDENCE_H
#define SESSION_RESIDENCE_H

/*
 * On which node a vCPU runs: exact where its affinity leaves it one, else a matter of
 * looking often enough where it was last.
 */

#include "model/topology.h"
#include "model/window.h"

/* Which of machine.nodes each pCPU is of. */
struct cpu_nodes {
	int *node; /* owned; -1: of none */
	size_t n;
};

/* How often a vCPU was seen on each node. */
struct residence {
	unsigned seen[DIAG_NODES];
	unsigned looks;
	unsigned choices; /* pCPUs that it may run on; 0: not known, nor is … */
	int cpu;	  /* … where it was last */
};

/* Nodes beyond DIAG_NODES count as none. 0 or -ENOMEM. */
int cpu_nodes_make(const struct machine *machine, struct cpu_nodes *out);
void cpu_nodes_free(struct cpu_nodes *cn);
/* Of a pCPU; -1: not known. */
int cpu_node(const struct cpu_nodes *cn, int cpu);
/* The one node that a list of pCPUs is on; -1: several, or not known. */
int cpus_node(const struct cpu_nodes *cn, const char *list);

/* Looks once: @vcpu as topology() with TOPOLOGY_THREADS tells. */
void residence_look(struct residence *r, const struct cpu_nodes *cn,
		    const struct vcpu *vcpu);
/* Divides @ran, the share of the time that it ran, among the nodes. */
void residence_share(const struct residence *r, double ran, double out[static DIAG_NODES]);

#endif
