/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SESSION_NODES_H
#define SESSION_NODES_H

/*
 * A set of events of EVENT_UNCORE counted on every node of the machine. They belong to a
 * socket and know no VM; deltas, estimates and provenance are those of vCPUs (unit.h).
 */

#include "model/machine.h"
#include "session/unit.h"

struct nodes;

/*
 * Opens and starts @events, which must outlive it, on all of @machine's nodes; an event
 * that cannot be opened is read with its state and the reason, all of them where the
 * source has no counters of sockets. 0; -ENOMEM, -EMFILE and the like with words.
 */
int nodes_open(const struct source_ops *ops, struct source *src,
	       const struct machine *machine, const struct event_set *events,
	       struct nodes **out, struct err *err);
/*
 * They begin to count now, all at once: to open one node's events may take long, and they
 * are open before the next one's are. Errors of nodes_read().
 */
int nodes_begin(struct nodes *n);
size_t nodes_count(const struct nodes *n);
int nodes_id(const struct nodes *n, size_t node); /* machine.nodes[node].id */
/*
 * Reads all events of all nodes; each time is a tick of their estimates. 0, or the last
 * error (an event of that node is suspect then, and its reading says why).
 */
int nodes_read(struct nodes *n);
/* Had an event to share a counter so far? Then ticks make its bounds. */
bool nodes_multiplexed(const struct nodes *n);
/* True if no event of any node was ever opened. */
bool nodes_idle(const struct nodes *n);
/* Event @i over the interval that ends with the last read; begins the next one. */
struct reading nodes_interval(struct nodes *n, size_t node, size_t i);
/* Event @i since the start; its value is the sum of the intervals' values. */
struct reading nodes_total(const struct nodes *n, size_t node, size_t i);
void nodes_free(struct nodes *n);

#endif
