/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/reads.h"

#include <math.h>

#define LIGHT_USE 0.3 /* up to which a channel's reads hardly wait */
#define FEW_READS 1000
#define OCCUPANCY (ROLE_MEM_READ_OCCUPANCY - ROLE_OF_NODE)
#define BRIEF_STAY 0.02 /* a node that a vCPU ran on for less is not one of its nodes */

bool quantity_has(const struct quantity *q)
{
	return reading_has_value(q->state) && isfinite(q->value) && q->value >= 0;
}

static double get(const struct quantity *q, int role, struct nudge nudge)
{
	if (!quantity_has(q))
		return 0;
	if (nudge.role == role && isfinite(q->error))
		return q->value + q->error;
	return q->value;
}

unsigned vcpu_shares(const struct diag_vcpu *vcpu, unsigned nodes, double *share)
{
	double sum = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < nodes; i++)
		sum += vcpu->on_node[i];
	if (nodes == 1)
		sum = share[0] = 1;
	for (unsigned i = 0; i < nodes && nodes > 1; i++) {
		share[i] = sum > 0 ? vcpu->on_node[i] / sum : 0;
		if (share[i] < BRIEF_STAY) {
			sum -= vcpu->on_node[i];
			share[i] = 0;
		}
	}
	for (unsigned i = 0; i < nodes; i++) {
		if (share[i] > 0 && nodes > 1)
			share[i] = vcpu->on_node[i] / sum;
		n += share[i] > 0;
	}
	return sum > 0 ? n : 0;
}

/* Misses of a vCPU that no counter says who answered, where that can only be sockets that
 * had the line dirty; as far as they stand out of the noise. */
static double unanswered(const struct diag_vcpu *vcpu, struct nudge nudge)
{
	static const enum role answers[] = { ROLE_DRAM_LOCAL, ROLE_DRAM_REMOTE,
					     ROLE_REMOTE_CACHE };
	const struct quantity *q = vcpu->role;
	double rest = get(&q[ROLE_LLC_MISSES], ROLE_LLC_MISSES, nudge);
	double noise = q[ROLE_LLC_MISSES].error;

	if (quantity_has(&q[ROLE_REMOTE_HITM]) || !quantity_has(&q[ROLE_LLC_MISSES]))
		return 0;
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		if (!quantity_has(&q[answers[i]]))
			return 0;
		rest -= get(&q[answers[i]], (int)answers[i], nudge);
		noise += q[answers[i]].error;
	}
	return rest > noise ? rest : 0;
}

double dirty_share(const struct diag_window *w, struct nudge nudge)
{
	double asked = 0, given = 0;

	for (unsigned n = 0; n < w->machine.nodes && n < DIAG_NODES; n++) {
		const struct quantity *q = &w->node[n].role[ROLE_SNOOP_HITM - ROLE_OF_NODE];

		if (!quantity_has(q))
			return 0;
		given += get(q, ROLE_SNOOP_HITM, nudge);
	}
	for (size_t i = 0; i < w->nvms; i++)
		for (size_t c = 0; c < w->vms[i].nvcpus; c++)
			asked += unanswered(&w->vms[i].vcpus[c], nudge);
	return asked > 0 ? fmin(given / asked, 1) : 0;
}

bool vcpu_reads(const struct diag_vcpu *vcpu, struct nudge nudge, double dirty,
		struct reads *out)
{
	const struct quantity *q = vcpu->role;
#define GET(r) get(&q[r], r, nudge)
#define HAS(r) quantity_has(&q[r])
	double misses = GET(ROLE_LLC_MISSES), from_memory, rest = unanswered(vcpu, nudge);

	*out = (struct reads) {
		.instructions = GET(ROLE_INSTRUCTIONS),
		.cycles = GET(ROLE_CYCLES),
		.clean = HAS(ROLE_SHARED_CLEAN) ? GET(ROLE_SHARED_CLEAN)
			 : HAS(ROLE_SHARED_ANY) && HAS(ROLE_SHARED_HITM)
				 ? fmax(GET(ROLE_SHARED_ANY) - GET(ROLE_SHARED_HITM), 0)
				 : 0,
		.hitm = GET(ROLE_SHARED_HITM),
		.rclean = GET(ROLE_REMOTE_CACHE),
		.rhitm = GET(ROLE_REMOTE_HITM) + dirty * rest,
		.unanswered = (1 - dirty) * rest,
		.local = GET(ROLE_DRAM_LOCAL),
		.remote = GET(ROLE_DRAM_REMOTE),
		.cold = vcpu->cold,
		.by_home = HAS(ROLE_DRAM_LOCAL) && HAS(ROLE_DRAM_REMOTE)
	};
	if (!(out->instructions > 0) || !(out->cycles > 0))
		return false;
	from_memory = fmax(misses - out->rclean - out->rhitm, 0);
	if (!out->by_home) {
		out->local = fmax(from_memory, out->local + out->remote);
		out->remote = 0;
	}
	out->refs = HAS(ROLE_LLC_REFS) ? GET(ROLE_LLC_REFS) : 0;
	out->hits = -1;
	/* Both are counted at the same time: what is wrong with one is with the other. */
	if (HAS(ROLE_LLC_REFS) && HAS(ROLE_LLC_MISSES) && q[ROLE_LLC_REFS].value > 0)
		out->hits = fmax(1 - q[ROLE_LLC_MISSES].value / q[ROLE_LLC_REFS].value, 0);
	out->has_stall = HAS(ROLE_STALL_MEMORY);
	out->stall = fmin(GET(ROLE_STALL_MEMORY), out->cycles);
	out->waiting = out->in_flight = -1;
	out->kept = HAS(ROLE_PRIVATE_HITS) ? GET(ROLE_PRIVATE_HITS) : -1;
	if (HAS(ROLE_OUTSTANDING_CYCLES))
		out->waiting = fmin(GET(ROLE_OUTSTANDING_CYCLES), out->cycles);
	if (HAS(ROLE_OUTSTANDING))
		out->in_flight = GET(ROLE_OUTSTANDING);
	return true;
#undef GET
#undef HAS
}

/* A read's time in the queue and channel of an idle machine, s: from the data sheet, or
 * what the least busy node shows if that is less; 0: not known. */
static double idle_read(const struct diag_window *w, double uncore_hz, struct nudge nudge)
{
	double least = w->machine.mem_idle_ns * 1e-9;

	for (unsigned n = 0; n < w->machine.nodes && n < DIAG_NODES; n++) {
		const struct quantity *q = w->node[n].role;
		double reads =
			get(&q[ROLE_MEM_READS - ROLE_OF_NODE], ROLE_MEM_READS, nudge);
		double each;

		if (reads < FEW_READS || !quantity_has(&q[OCCUPANCY]) ||
		    reads * DIAG_LINE > LIGHT_USE * w->machine.mem_rate * w->seconds)
			continue;
		each = q[OCCUPANCY].value / reads / uncore_hz;
		if (least == 0 || each < least)
			least = each;
	}
	return least;
}

/* The error of a quotient of independent readings, as a share of it. */
static double relative_error(const struct quantity *a, const struct quantity *b)
{
	double x = a->value > 0 ? a->error / a->value : 0;
	double y = b->value > 0 ? b->error / b->value : 0;

	return sqrt(x * x + y * y);
}

void node_reads(const struct diag_window *w, unsigned node, struct nudge nudge,
		struct node_reads *out)
{
	const struct quantity *q = w->node[node].role;
#define GET(r) get(&q[(r)-ROLE_OF_NODE], r, nudge)
#define HAS(r) quantity_has(&q[(r)-ROLE_OF_NODE])
	double clock = HAS(ROLE_NODE_CLOCK) ? GET(ROLE_NODE_CLOCK)
					    : w->machine.uncore_hz * w->seconds;
	double hz = clock / w->seconds, idle = idle_read(w, hz, nudge);

	*out = (struct node_reads) { .has_reads = HAS(ROLE_MEM_READS) };
	out->reads = GET(ROLE_MEM_READS) / w->seconds;
	if (out->reads > 0 && HAS(ROLE_MEM_WRITES))
		out->writes = GET(ROLE_MEM_WRITES) / GET(ROLE_MEM_READS);
	if (!(clock > 0))
		return;
	if (out->reads > 0 && HAS(ROLE_MEM_READ_OCCUPANCY) && idle > 0) {
		out->has_mem_wait = true;
		double each = GET(ROLE_MEM_READ_OCCUPANCY) / GET(ROLE_MEM_READS) / hz;

		out->mem_wait = fmax(each - idle, 0);
		out->mem_wait_error =
			each *
			relative_error(&q[OCCUPANCY], &q[ROLE_MEM_READS - ROLE_OF_NODE]);
	}
	out->has_full = HAS(ROLE_TRACKER_FULL);
	out->full = fmin(GET(ROLE_TRACKER_FULL) / clock, 1);
	out->has_occupancy = HAS(ROLE_TRACKER_OCCUPANCY);
	out->occupancy = GET(ROLE_TRACKER_OCCUPANCY) / clock;
#undef GET
#undef HAS
}

double node_full(const struct diag_window *w, unsigned node)
{
	struct node_reads r;

	node_reads(w, node, (struct nudge) { -1 }, &r);
	return r.has_full ? r.full : NAN;
}
