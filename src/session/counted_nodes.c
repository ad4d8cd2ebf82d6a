/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/counted_nodes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

struct counted_nodes {
	const struct counting_config *config;
	struct nodes *nodes;
	uint64_t since_ns; /* they count */
	bool complained;   /* it was said that a read failed */
};

int counted_nodes_open(const struct counting_config *config, const struct machine *machine,
		       struct counted_nodes **out, struct err *err)
{
	struct counted_nodes *n = calloc(1, sizeof(*n));
	int ret;

	if (!n)
		return err_set(err, ENOMEM, "out of memory");
	n->config = config;
	ret = nodes_open(config->ops, config->src, machine, config->node_events, &n->nodes,
			 err);
	if (ret)
		free(n);
	else
		*out = n;
	return ret;
}

static void complain(struct counted_nodes *n, int ret)
{
	struct note note;

	if (!ret || n->complained)
		return;
	n->complained = true;
	note = ret == -ERANGE
		       ? note_make(NOTE_PROBLEM, "", 0,
				   "a node's counter went back; what it counted meanwhile "
				   "is left out")
		       : note_make(NOTE_PROBLEM, "", 0,
				   "the counters of a node cannot be read: %s",
				   err_name(ret));
	n->config->cb->note(n->config->ctx, &note);
}

void counted_nodes_begin(struct counted_nodes *n)
{
	complain(n, nodes_begin(n->nodes));
	n->since_ns = clock_now_ns();
}

int counted_nodes_read(struct counted_nodes *n)
{
	int ret = nodes_read(n->nodes);

	complain(n, ret);
	return ret;
}

bool counted_nodes_multiplexed(const struct counted_nodes *n)
{
	return nodes_multiplexed(n->nodes);
}

bool counted_nodes_measured(const struct counted_nodes *n)
{
	return !nodes_idle(n->nodes);
}

/* Nodes are read one after the other, which may take a while. */
static uint64_t counted_ns(const struct event *event, const struct reading *r,
			   uint64_t interval)
{
	return event->kind != EVENT_MONITOR && r->enabled_ns ? r->enabled_ns : interval;
}

bool counted_nodes_emit(struct counted_nodes *n, bool totals, uint64_t start, uint64_t from,
			uint64_t now)
{
	const struct event_set *events = n->config->node_events;
	uint64_t interval = now - (n->since_ns > from ? n->since_ns : from);
	struct count count = {
		.time_ns = now - start,
		.vcpu = -1,
		.side = SIDE_BOTH,
	};
	bool missing = false;

	for (size_t node = 0; node < nodes_count(n->nodes); node++)
		for (size_t i = 0; i < events->n; i++) {
			count.node = nodes_id(n->nodes, node);
			count.event = &events->ev[i];
			count.index = i;
			count.reading = totals ? nodes_total(n->nodes, node, i)
					       : nodes_interval(n->nodes, node, i);
			count.interval_ns =
				counted_ns(count.event, &count.reading, interval);
			missing = missing || !reading_has_value(count.reading.state);
			n->config->cb->count(n->config->ctx, &count);
		}
	return missing;
}

void counted_nodes_free(struct counted_nodes *n)
{
	if (n)
		nodes_free(n->nodes);
	free(n);
}
