/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_PLACEMENT_VIEW_H
#define CLI_PLACEMENT_VIEW_H

/*
 * Where VMs run and where their memory is: what no counter is needed for, and what is
 * left to say where none tells what it costs.
 */

#include "base/str.h"
#include "cli/out.h"
#include "model/topology.h"
#include "session/residence.h"

/*
 * Share of @vm's memory that is on other nodes than its vCPUs, on average over them; NaN:
 * its memory or its vCPUs' nodes are not known. Taken with TOPOLOGY_THREADS and
 * TOPOLOGY_MEMORY.
 */
double memory_away(const struct vm *vm, const struct cpu_nodes *nodes);
/* "2 on node 0, 1 on node 1"; and of memory "98 % on node 1, 2 % on node 0". */
void vcpus_in_words(const struct vm *vm, const struct machine *machine,
		    const struct cpu_nodes *nodes, struct strbuf *out);
void memory_in_words(const struct vm *vm, const struct machine *machine,
		     struct strbuf *out);
/* A row for each of the VMs with these ids; for people only where @say[i] and something
 * is away. */
void placement_show(struct out *out, const struct topology *topo, const char *const *ids,
		    const bool *say, size_t n);

#endif
