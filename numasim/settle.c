/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/machine_impl.h"

/* The counts that grow with time are kept as times of what began; here they are cut at
 * a moment and told in cycles. None ever runs backwards. */

static void set(uint64_t *event, uint64_t value)
{
	if (value > *event)
		*event = value;
}

static void settle_core(struct machine *m, struct core *c, uint64_t at)
{
	uint64_t later = 0;

	for (unsigned i = 0; i < c->lfbs; i++) {
		uint64_t done = c->lfb_done[i] / TICKS;

		later += done > at ? done - at : 0;
	}
	if (later < c->outstanding)
		set(&c->events[CORE_OUTSTANDING],
		    scale(c->outstanding - later, m->core_mult));
	set(&c->events[CORE_OUTSTANDING_CYCLES],
	    scale(union_upto(&c->outstanding_any, at), m->core_mult));
	if (c->marked)
		core_alarm(m, c);
}

/* Sockets that cannot have a line answer so without being looked into. */
static void settle_snoops(struct machine *m, struct node *n)
{
	uint64_t local = 0, remote = 0;

	for (unsigned from = 0; from < m->spec.nodes; from++)
		for (unsigned home = 0; home < m->spec.nodes; home++) {
			uint64_t missed = m->nodes[from].missed[home];

			if (from == n->index)
				continue;
			if (home == n->index)
				local += missed;
			else
				remote += missed;
		}
	n->events[NODE_PPT_ALLOC] = local + remote;
	n->events[NODE_LLC_PROBE_MISS] = local + remote - n->events[NODE_LLC_PROBE_HIT];
	n->events[NODE_SNOOP_LOCAL_I] = local - n->answered[1];
	n->events[NODE_SNOOP_REMOTE_I] = remote - n->answered[0];
}

static void settle_channel(struct machine *m, struct node *n, unsigned i, uint64_t at)
{
	struct channel *ch = &n->channel[i];
	uint64_t work = ch->server.work, later = ch->server.at + ch->server.backlog;

	later = later > at ? later - at : 0;
	set(&n->events[NODE_CHANNEL_READ_OCCUPANCY + i],
	    scale(ch->occupancy, m->uncore_mult));
	set(&n->events[NODE_CHANNEL_READ_FULL + i],
	    scale(union_upto(&ch->full, at), m->uncore_mult));
	set(&n->events[NODE_CHANNEL_BUSY + i],
	    scale(work > later ? work - later : 0, m->uncore_mult));
}

void machine_settle(struct machine *m, unsigned node, uint64_t at)
{
	struct node *n = &m->nodes[node];
	const struct {
		enum node_event event;
		uint64_t time;
	} times[] = {
		{ NODE_CLOCK, at },
		{ NODE_RT_FULL, union_upto(&n->rt.full, at) },
		{ NODE_WT_FULL, union_upto(&n->wt.full, at) },
		{ NODE_PPT_FULL, union_upto(&n->ppt.full, at) },
		{ NODE_RT_NOT_EMPTY, union_upto(&n->rt.not_empty, at) },
		{ NODE_WT_NOT_EMPTY, union_upto(&n->wt.not_empty, at) },
		{ NODE_PPT_NOT_EMPTY, union_upto(&n->ppt.not_empty, at) },
		{ NODE_RT_OCCUPANCY, tracker_occupancy(&n->rt, at) },
		{ NODE_HOME_LOCAL_FULL, union_upto(&n->home_local.full, at) },
		{ NODE_HOME_REMOTE_FULL, union_upto(&n->home_remote.full, at) },
		{ NODE_HOME_LOCAL_OCCUPANCY, tracker_occupancy(&n->home_local, at) },
		{ NODE_HOME_REMOTE_OCCUPANCY, tracker_occupancy(&n->home_remote, at) },
		{ NODE_HOME_CONFLICT_CYCLES, union_upto(&n->conflict, at) },
		{ NODE_LINK_STALLED, union_upto(&n->link_stalled, at) },
	};

	for (unsigned i = 0; i < sizeof(times) / sizeof(*times); i++)
		set(&n->events[times[i].event], scale(times[i].time, m->uncore_mult));
	for (unsigned i = 0; i < m->spec.channels; i++)
		settle_channel(m, n, i, at);
	settle_snoops(m, n);
	n->events[NODE_RT_ALLOC] = n->rt.alloc;
	n->events[NODE_RT_TO_LLC_RESP] = n->rt.alloc;
	n->events[NODE_RT_TO_RTID] = n->events[NODE_RT_LLC_MISS];
	n->events[NODE_WT_ALLOC] = n->wt.alloc;
	for (unsigned i = 0; i < m->spec.cores; i++)
		settle_core(m, &n->cores[i], at);
}

const uint64_t *machine_core_events(const struct machine *m, unsigned core)
{
	return m->cores[core].events;
}

const uint64_t *machine_node_events(const struct machine *m, unsigned node)
{
	return m->nodes[node].events;
}

void machine_alarm(struct machine *m, void (*alarm)(void *ctx, unsigned core), void *ctx)
{
	m->alarm = alarm;
	m->alarm_ctx = ctx;
}

void machine_mark(struct machine *m, unsigned core, enum core_event event, uint64_t at)
{
	struct core *c = &m->cores[core];

	c->mark[event] = at;
	if (at == UINT64_MAX)
		c->marked &= ~(1u << event);
	else
		c->marked |= 1u << event;
}

void core_alarm(struct machine *m, struct core *c)
{
	uint32_t reached = 0;

	for (uint32_t left = c->marked; left; left &= left - 1) {
		unsigned event = (unsigned)__builtin_ctz(left);

		if (c->events[event] >= c->mark[event])
			reached |= 1u << event;
	}
	if (!reached)
		return;
	c->marked &= ~reached;
	if (m->alarm)
		m->alarm(m->alarm_ctx, c->number);
}
