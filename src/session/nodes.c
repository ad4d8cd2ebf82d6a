/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/nodes.h"

#include <errno.h>
#include <stdlib.h>

struct nodes {
	const struct event_set *events;
	struct unit **units; /* owned; one per node */
	size_t n;
	struct reading *scratch;
};

static const char no_counters[] =
	"this source has no counters of sockets: vmmprof check says what it has";

/* Where the source has none: every event says so. */
static void refuse_all(struct unit *u)
{
	for (size_t i = 0; i < u->set->n; i++) {
		u->cells[i].state = READ_UNSUPPORTED;
		u->cells[i].reason = no_counters;
	}
}

int nodes_open(const struct source_ops *ops, struct source *src,
	       const struct machine *machine, const struct event_set *events,
	       struct nodes **out, struct err *err)
{
	struct nodes *n = calloc(1, sizeof(*n));
	int ret = 0;

	if (n) {
		n->units = calloc(machine->nnodes + 1, sizeof(struct unit *));
		n->scratch = calloc(events->n + 1, sizeof(*n->scratch));
	}
	if (!n || !n->units || !n->scratch)
		ret = err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; !ret && i < machine->nnodes; i++) {
		ret = unit_create_node(ops, src, machine->nodes[i].id, events,
				       &n->units[i]);
		if (ret) {
			err_set(err, ret, "out of memory");
			break;
		}
		n->n++;
		if (ops->node_open)
			ret = unit_open_node(n->units[i], err);
		else
			refuse_all(n->units[i]);
	}
	if (ret) {
		nodes_free(n);
		return ret;
	}
	n->events = events;
	*out = n;
	return 0;
}

size_t nodes_count(const struct nodes *n)
{
	return n->n;
}

int nodes_id(const struct nodes *n, size_t node)
{
	return n->units[node]->index;
}

int nodes_read(struct nodes *n)
{
	int ret = 0;

	for (size_t i = 0; i < n->n; i++) {
		int one = unit_read(n->units[i], n->scratch);

		ret = one ? one : ret;
	}
	return ret;
}

int nodes_begin(struct nodes *n)
{
	int ret = nodes_read(n);

	for (size_t i = 0; i < n->n; i++)
		unit_begin(n->units[i]);
	return ret;
}

bool nodes_multiplexed(const struct nodes *n)
{
	for (size_t i = 0; i < n->n; i++)
		if (n->units[i]->multiplexed)
			return true;
	return false;
}

bool nodes_idle(const struct nodes *n)
{
	for (size_t i = 0; i < n->n; i++)
		for (size_t k = 0; k < n->events->n; k++)
			if (n->units[i]->cells[k].state == READ_COUNTED)
				return false;
	return true;
}

struct reading nodes_interval(struct nodes *n, size_t node, size_t i)
{
	return unit_interval(n->units[node], i);
}

struct reading nodes_total(const struct nodes *n, size_t node, size_t i)
{
	return unit_total(n->units[node], i);
}

void nodes_free(struct nodes *n)
{
	if (!n)
		return;
	for (size_t i = 0; n->units && i < n->n; i++)
		unit_free(n->units[i]);
	free(n->units);
	free(n->scratch);
	free(n);
}
