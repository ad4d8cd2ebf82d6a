/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SESSION_COUNTED_NODES_H
#define SESSION_COUNTED_NODES_H

/* The nodes' part of counting.c: its config's node_events, on their way to its view. */

#include "session/counting.h"
#include "session/nodes.h"

struct counted_nodes;

/* Errors of nodes_open(). @config must outlive it. */
int counted_nodes_open(const struct counting_config *config, const struct machine *machine,
		       struct counted_nodes **out, struct err *err);
/* When all else is open, too: from now on they count. A failure is told. */
void counted_nodes_begin(struct counted_nodes *n);
/* Reads all; the first failure is told. 0 or -errno. */
int counted_nodes_read(struct counted_nodes *n);
bool counted_nodes_multiplexed(const struct counted_nodes *n);
bool counted_nodes_measured(const struct counted_nodes *n);
/*
 * Emits the interval that ends at @now, or the totals; times as those of the run, which
 * began at @start. True if an event had no value.
 */
bool counted_nodes_emit(struct counted_nodes *n, bool totals, uint64_t start, uint64_t from,
			uint64_t now);
void counted_nodes_free(struct counted_nodes *n);

#endif
