/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/machine_impl.h"

/*
 * A home agent holds an entry for each request from its arrival until its answer leaves.
 * A channel does one line after the other. One in four takes five times as long as the
 * others (a row to be opened, the bus to be turned around): the queue grows with load
 * as Intel MLC's curves do, by a tenth at half of the peak and steeply near it.
 */

#define SLOW_SHARE (UINT64_MAX / 4)

/* Lines are spread over the channels without order, as address hashes do (the mixing is
 * MurmurHash3's, public domain). */
static unsigned channel_of(const struct machine *m, uint32_t line)
{
	line = (line ^ line >> 16) * 0x85ebca6bu;
	line = (line ^ line >> 13) * 0xc2b2ae35u;
	return (unsigned)((uint64_t)line * m->spec.channels >> 32);
}

static uint64_t channel_wait(struct machine *m, struct node *home, uint32_t line,
			     uint64_t at, bool write)
{
	unsigned which = channel_of(m, line);
	struct channel *ch = &home->channel[which];
	uint64_t service, wait;

	home->random = home->random * 6364136223846793005u + 1442695040888963407u;
	service = home->random < SLOW_SHARE ? m->service * 5 / 2 : m->service / 2;
	wait = server_wait(&ch->server, at, service);
	home->events[(write ? NODE_CHANNEL_WRITES : NODE_CHANNEL_READS) + which]++;
	if (m->off.memory)
		wait = 0;
	if (wait > m->channel_full)
		union_add(&ch->full, at, at + wait - m->channel_full);
	if (!write)
		ch->occupancy += wait + m->dram;
	return wait;
}

uint64_t link_send(struct machine *m, unsigned from, unsigned to, uint64_t at)
{
	uint64_t waited = 0;

	if (from == to)
		return 0;
	m->nodes[from].events[NODE_LINK_DATA]++;
	if (m->off.remote)
		return 0;
	while (from != to) {
		struct node *n = &m->nodes[from];
		unsigned next = m->next[from][to];
		uint64_t wait = server_wait(&n->link[next], at, m->link_service);

		if (wait)
			union_add(&n->link_stalled, at, at + wait);
		at += wait + m->remote_hop;
		waited += wait;
		from = next;
	}
	return waited;
}

/* Who asks for a line that is asked for already waits: two sockets want the same. */
static uint64_t conflict(struct node *home, uint32_t line, uint64_t at)
{
	struct busy *b = &home->asked[line_hash(line) % BUSY];

	if (b->line != line + 1 || b->until <= at)
		return at;
	home->events[NODE_HOME_CONFLICTS]++;
	union_add(&home->conflict, at, b->until);
	return b->until;
}

uint64_t memory_request(struct machine *m, const struct memory_request *r, uint64_t at)
{
	struct node *home = &m->nodes[r->home];
	bool local = r->from == r->home;
	struct tracker *t = local ? &home->home_local : &home->home_remote;
	uint64_t arrive, begin, wait, end;

	arrive = m->off.sharing ? at : conflict(home, r->line, at);
	begin = tracker_begin(t, arrive);
	wait = begin - at;
	home->events[local ? NODE_HOME_LOCAL_READS : NODE_HOME_REMOTE_READS]++;
	end = begin + r->held;
	if (r->source == NO_NODE) {
		uint64_t queued = channel_wait(m, home, r->line, begin, false);

		wait += queued;
		end += queued;
	}
	if (r->data) {
		uint64_t queued = link_send(m, r->source == NO_NODE ? r->home : r->source,
					    r->from, end);

		wait += queued;
		end += queued;
	}
	tracker_end(t, begin, end);
	home->asked[line_hash(r->line) % BUSY] = (struct busy) { end, r->line + 1 };
	return wait;
}

uint64_t memory_write(struct machine *m, unsigned from, unsigned to, uint32_t line,
		      uint64_t at)
{
	struct node *home = &m->nodes[to];
	bool local = from == to;
	struct tracker *t = local ? &home->home_local : &home->home_remote;
	uint64_t begin, end;

	at += link_send(m, from, to, at);
	begin = tracker_begin(t, at);
	home->events[local ? NODE_HOME_LOCAL_WRITES : NODE_HOME_REMOTE_WRITES]++;
	end = begin + m->service + channel_wait(m, home, line, begin, true);
	tracker_end(t, begin, end);
	return end;
}
