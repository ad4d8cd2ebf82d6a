/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "diagnose/misplaced.h"
#include "diagnose/reads.h"

static const struct {
	const char *name, *title;
} factors[FACTORS] = {
	[FACTOR_LOCALITY] = { "locality", "remote data" },
	[FACTOR_LLC] = { "llc", "LLC contention" },
	[FACTOR_SHARING] = { "sharing", "lines that other cores write" },
	[FACTOR_MEMORY] = { "memory", "queueing for memory" },
	[FACTOR_TRACKERS] = { "trackers", "waiting for request trackers" },
};

const char *factor_name(enum factor factor)
{
	return factors[factor].name;
}

const char *factor_title(enum factor factor)
{
	return factors[factor].title;
}

/* All rows of a factor must be met, each by either of two roles. */
static const struct need {
	enum factor factor;
	enum role role, instead;
} needs[] = {
	{ FACTOR_LOCALITY, ROLE_DRAM_REMOTE, ROLE_LLC_MISSES },
	{ FACTOR_LLC, ROLE_LLC_REFS, ROLE_LLC_REFS },
	{ FACTOR_LLC, ROLE_LLC_MISSES, ROLE_DRAM_LOCAL },
	{ FACTOR_SHARING, ROLE_SHARED_HITM, ROLE_REMOTE_HITM },
	{ FACTOR_MEMORY, ROLE_MEM_READS, ROLE_MEM_READ_OCCUPANCY },
	{ FACTOR_TRACKERS, ROLE_TRACKER_FULL, ROLE_TRACKER_OCCUPANCY },
};

static bool lacks(const struct quantity *q, enum role role, int node, char *why,
		  size_t size)
{
	char where[24] = "";

	if (node >= 0)
		snprintf(where, sizeof(where), " of node %d", node);
	snprintf(why, size, "%s%s has no value: %s%s%s", role_name(role), where,
		 quantity_has(q) ? "there is none" : reading_state_name(q->state),
		 q->reason ? ": " : "", q->reason ? q->reason : "");
	return false;
}

static bool data_sheet_has(const struct host *h, size_t vm, enum factor factor, char *why,
			   size_t size)
{
	const struct diag_machine *m = &h->window->machine;
	const char *what = NULL;
	double memory = 0;

	for (unsigned n = 0; n < h->nodes; n++)
		memory += h->window->vms[vm].mem_node[n];
	if (factor == FACTOR_LLC && !(m->llc_bytes > 0))
		what = "the size of its LLC";
	if (factor == FACTOR_MEMORY && !(m->mem_rate > 0))
		what = "the rate of its memory";
	if (factor == FACTOR_TRACKERS && !m->trackers)
		what = "how many request trackers it has";
	if (what)
		snprintf(why, size, "the machine's data sheet does not say %s", what);
	if (factor == FACTOR_LOCALITY && !(memory > 0)) {
		const struct diag_vm *v = &h->window->vms[vm];

		for (size_t i = 0; i < v->nvcpus && !what; i++)
			if (!quantity_has(&v->vcpus[i].role[ROLE_DRAM_REMOTE])) {
				what = "where";
				snprintf(why, size,
					 "neither dram.remote nor the nodes of "
					 "its memory are known");
			}
	}
	return !what;
}

/* The nodes whose uncore a factor is read from: where its memory is, or where it runs. */
static bool uses_node(const struct flow *f, unsigned node, enum factor factor)
{
	if (factor == FACTOR_MEMORY)
		return f->home[node] > 0.02 && f->plain * (1 - f->hit) > 0;
	return f->node == node;
}

/* Of a VM of which nothing was counted nothing is known; but who did not run lost nothing.
 */
static bool was_counted(const struct host *h, size_t vm, char *why, size_t size)
{
	static const enum role least[] = { ROLE_CYCLES, ROLE_INSTRUCTIONS };
	const struct diag_vm *v = &h->window->vms[vm];

	for (size_t i = 0; i < h->nflows; i++)
		if (h->flow[i].vm == vm)
			return true;
	for (size_t i = 0; i < v->nvcpus; i++)
		for (int k = 0; k < 2; k++)
			if (!quantity_has(&v->vcpus[i].role[least[k]]))
				return lacks(&v->vcpus[i].role[least[k]], least[k], -1, why,
					     size);
	return true;
}

bool factor_measured(const struct host *h, size_t vm, int node, enum factor factor,
		     char *why, size_t size)
{
	const struct diag_window *w = h->window;

	*why = 0;
	if (!was_counted(h, vm, why, size))
		return false;
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
		const struct need *need = &needs[i];

		for (size_t k = 0; k < h->nflows && need->factor == factor; k++) {
			const struct flow *f = &h->flow[k];
			const struct quantity *q = w->vms[vm].vcpus[f->vcpu].role;

			if (f->vm != vm || (node >= 0 && f->node != (unsigned)node))
				continue;
			if (need->role < ROLE_OF_NODE) {
				if (!quantity_has(&q[need->role]) &&
				    !quantity_has(&q[need->instead]))
					return lacks(&q[need->role], need->role, -1, why,
						     size);
				continue;
			}
			for (unsigned n = 0; n < h->nodes; n++) {
				q = w->node[n].role;
				if (uses_node(f, n, factor) &&
				    !quantity_has(&q[need->role - ROLE_OF_NODE]) &&
				    !quantity_has(&q[need->instead - ROLE_OF_NODE]))
					return lacks(&q[need->role - ROLE_OF_NODE],
						     need->role, (int)n, why, size);
			}
		}
	}
	return data_sheet_has(h, vm, factor, why, size);
}

/* Sums over a VM's flows, for evidence. */
struct seen {
	double refs, misses, remote, excess, hitm, clean, latency, instructions;
	double from[DIAG_NODES]; /* lines from each node's memory */
	double on[DIAG_NODES];	 /* requests made on each node */
};

static void look(const struct host *h, size_t vm, int node, struct seen *out)
{
	*out = (struct seen) { 0 };
	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];
		double w = f->instructions, miss = w * f->plain * (1 - f->hit);
		double shared = f->handed + f->hitm + f->rclean + f->rhanded + f->rhitm;

		if (f->vm != vm || (node >= 0 && f->node != (unsigned)node))
			continue;
		out->instructions += w;
		out->refs += w * (f->plain + shared);
		out->misses += miss;
		out->excess += w * f->plain * (f->alone - f->hit);
		out->hitm += w * (f->hitm + f->rhitm);
		out->clean += w * (f->plain * f->hit * f->clean + f->handed + f->rclean +
				   f->rhanded);
		out->on[f->node] += w * (f->plain + shared);
		for (unsigned n = 0; n < h->nodes; n++) {
			out->from[n] += miss * f->home[n];
			if (n != f->node)
				out->remote += miss * f->home[n];
		}
	}
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static unsigned most(const double *of, unsigned n)
{
	unsigned best = 0;

	for (unsigned i = 1; i < n; i++)
		if (of[i] > of[best])
			best = i;
	return best;
}

/* Adds, after @comma, how much of the LLCs the VM's vCPUs that ran on @node hold, if all
 * have a monitor. */
static void held_words(const struct host *h, size_t vm, int node, const char *comma,
		       char *out, size_t size)
{
	const struct diag_vm *v = &h->window->vms[vm];
	size_t at = strlen(out), ran = 0;
	double held = 0;

	for (size_t i = 0; i < v->nvcpus; i++) {
		const struct quantity *q = &v->vcpus[i].role[ROLE_LLC_OCCUPANCY];

		if (node >= 0 && !(v->vcpus[i].on_node[node] > 0))
			continue;
		if (!quantity_has(q))
			return;
		held += q->value;
		ran++;
	}
	if (ran)
		snprintf(out + at, size - at, "%sllc.occupancy = %.1f MB", comma,
			 held / (1 << 20));
}

void factor_evidence(const struct host *h, size_t vm, int node, enum factor factor,
		     char *out, size_t size)
{
	const struct diag_machine *m = &h->window->machine;
	struct seen s;
	unsigned n;

	look(h, vm, node, &s);
	switch (factor) {
	case FACTOR_LOCALITY:
		n = most(s.from, h->nodes);
		snprintf(out, size,
			 "dram.remote / (dram.local + dram.remote) = %.0f %%, most from "
			 "node %u; a neighbour's takes %.0f ns instead of %.0f (%s)",
			 percent(s.remote, s.misses), n, m->remote_ns, m->local_ns,
			 m->origin);
		break;
	case FACTOR_LLC:
		snprintf(out, size,
			 "llc.misses / llc.refs = %.1f %%; with the LLC for itself %.1f %% "
			 "(Che's approximation)",
			 percent(s.misses, s.refs), percent(s.misses - s.excess, s.refs));
		held_words(h, vm, node, "; ", out, size);
		break;
	case FACTOR_SHARING:
		snprintf(out, size,
			 "(shared.hitm + remote.hitm) / llc.refs = %.1f %%, %.2f per 1000 "
			 "instructions; another core had %.1f %% clean",
			 percent(s.hitm, s.refs),
			 s.instructions > 0 ? 1000 * s.hitm / s.instructions : 0,
			 percent(s.clean, s.refs));
		break;
	case FACTOR_MEMORY:
		n = most(s.from, h->nodes);
		snprintf(out, size,
			 "mem.read.occupancy / mem.reads of node %u: %.0f ns of queueing, "
			 "with %.0f %% of its rate in use",
			 n, h->mem[n].wait * 1e9, 100 * h->mem[n].use);
		break;
	default:
		n = most(s.on, h->nodes);
		snprintf(out, size,
			 "tracker.full / node.clock of node %u = %.1f %%; a request waits "
			 "%.1f ns for an entry",
			 n, percent(node_full(h->window, n), 1), h->tracker[n].wait * 1e9);
	}
}

/*
 * A home node of Arm's CMN that has no entry for a request sends it back, and calls it
 * again when it has one. The share that this happens to is Linux's hnf_message_retry_rate
 * (tools/perf/pmu-events/arch/arm64/arm/cmn/sys/metric.json). How long they stay away
 * nothing counts: it is no time, nor a share of any.
 */
static void retry_words(const struct host *h, unsigned n, char *out, size_t size)
{
	const struct quantity *q = h->window->node[n].role;
	const struct quantity *asked = &q[ROLE_TRACKER_REQUESTS - ROLE_OF_NODE];
	const struct quantity *back = &q[ROLE_TRACKER_RETRIES - ROLE_OF_NODE];

	if (quantity_has(back) && quantity_has(asked) && asked->value > 0)
		snprintf(out, size,
			 "tracker.retries / tracker.requests of node %u = %.1f %%: so many "
			 "were sent back, as a home node had no entry; how long they wait "
			 "then is not counted",
			 n, percent(back->value, asked->value));
}

/*
 * AMD publishes no event of a full queue. What there is of requests under way: how long
 * fills take (l3_read_miss_latency of Zen 2 and 3 in Linux, tools/perf/pmu-events/arch/
 * x86/amdzen2/recommended.json), and how many misses a core has in flight at a time.
 */
static void fill_words(const struct host *h, size_t vm, int node, unsigned n, char *out,
		       size_t size)
{
	const struct quantity *q = h->window->node[n].role;
	const struct quantity *cycles = &q[ROLE_FILL_CYCLES - ROLE_OF_NODE];
	const struct quantity *fills = &q[ROLE_FILLS - ROLE_OF_NODE];
	double flying = 0, waiting = 0;
	size_t at = strlen(out);

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];

		if (f->vm != vm || (node >= 0 && f->node != (unsigned)node))
			continue;
		q = h->window->vms[vm].vcpus[f->vcpu].role;
		if (quantity_has(&q[ROLE_OUTSTANDING]) &&
		    quantity_has(&q[ROLE_OUTSTANDING_CYCLES])) {
			flying += q[ROLE_OUTSTANDING].value;
			waiting += q[ROLE_OUTSTANDING_CYCLES].value;
		}
	}
	if (quantity_has(cycles) && quantity_has(fills) && fills->value > 0)
		at += (size_t)snprintf(out + at, size - at,
				       "fill.cycles / fills of node %u = %.0f cycles that "
				       "a line takes",
				       n, cycles->value / fills->value);
	if (waiting > 0 && at < size)
		snprintf(out + at, size - at,
			 "%soutstanding / outstanding.cycles = %.1f misses in flight",
			 at ? "; " : "", flying / waiting);
}

void factor_proxy(const struct host *h, size_t vm, int node, enum factor factor, char *out,
		  size_t size)
{
	struct seen s;
	unsigned n;

	*out = 0;
	look(h, vm, node, &s);
	n = most(s.on, h->nodes);
	if (factor == FACTOR_LLC)
		held_words(h, vm, node, "", out, size);
	if (factor != FACTOR_TRACKERS || !(s.on[n] > 0))
		return;
	retry_words(h, n, out, size);
	if (!*out)
		fill_words(h, vm, node, n, out, size);
}

static void cause_words(const struct host *h, const struct diag_result *r, char *out,
			size_t size)
{
	const struct seen *s = &(struct seen) { 0 };
	struct seen seen;
	unsigned from, n = r->top_node >= 0 ? (unsigned)r->top_node : 0;

	look(h, r->vm, -1, &seen);
	s = &seen;
	from = most(s->from, h->nodes);
	switch (r->top) {
	case FACTOR_LOCALITY:
		snprintf(out, size,
			 "%.0f %% of its memory reads are remote, most from node %u",
			 percent(s->remote, s->misses), from);
		break;
	case FACTOR_LLC:
		snprintf(out, size,
			 "%.0f %% of its requests miss node %u's LLC, alone %.0f %%",
			 percent(s->misses, s->refs), n,
			 percent(s->misses - s->excess, s->refs));
		break;
	case FACTOR_SHARING:
		snprintf(out, size,
			 s->hitm >= s->clean
				 ? "%.0f %% of its requests find their line written by "
				   "another core"
				 : "%.0f %% of its requests find that another core has "
				   "their line",
			 percent(fmax(s->hitm, s->clean), s->refs));
		break;
	case FACTOR_MEMORY:
		snprintf(out, size,
			 "node %u's memory is %.0f %% in use, a read queues %.0f ns", from,
			 100 * h->mem[from].use, 1e9 * h->mem[from].wait);
		break;
	default:
		snprintf(out, size,
			 "a request waits %.0f ns for one of node %u's %u trackers",
			 1e9 * h->tracker[n].wait, n, h->window->machine.trackers);
	}
}

static void missing_words(const struct diag_result *r, char *out, size_t size)
{
	size_t at = 0;

	*out = 0;
	for (int i = 0; i < FACTORS; i++)
		if (!r->all.part[i].measured && at < size)
			at += (size_t)snprintf(out + at, size - at, "%s%s",
					       at ? ", " : "; not measured here: ",
					       factor_title((enum factor)i));
}

/* What may cost more than what is named, but is not known well enough to be named. */
static void doubt_words(const struct diag_result *r, char *out, size_t size)
{
	const struct diag_part *p = r->doubt >= 0 ? &r->all.part[r->doubt] : NULL;

	*out = 0;
	if (p)
		snprintf(out, size,
			 "; it may lose %.0f %% (±%.0f) to %s: longer windows tell",
			 100 * p->loss, 100 * p->loss_error,
			 factor_title((enum factor)r->doubt));
}

void result_sentence(const struct host *h, const struct diag_result *r, char *out,
		     size_t size)
{
	const struct diag_vm *vm = &h->window->vms[r->vm];
	const struct diag_part *top = r->top >= 0 ? &r->all.part[r->top] : NULL;
	const char *name = vm->name[0] ? vm->name : vm->id;
	char more[160], missing[160], doubt[96];
	struct misplaced m;

	missing_words(r, missing, sizeof(missing));
	doubt_words(r, doubt, sizeof(doubt));
	if (r->misplaced && vm_misplaced(h->window, r->vm, &m)) {
		snprintf(out, size,
			 "%s: remote data: %.0f %% of its memory is not on node %u, where "
			 "it runs, but on node %u; no counter here tells what that costs",
			 name, 100 * m.away, m.runs, m.memory);
	} else if (top) {
		const char *who = "";

		cause_words(h, r, more, sizeof(more));
		if (r->ncauses[r->top])
			who = h->window->vms[r->cause[r->top][0].vm].name;
		snprintf(out, size, "%s loses %.0f %% (±%.0f) to %s: %s%s%s%s%s", name,
			 100 * top->loss, 100 * top->loss_error,
			 factor_title((enum factor)r->top), more,
			 *who ? "; it shares that most with " : "", who, doubt, missing);
	} else if (r->unknown) {
		snprintf(out, size,
			 "%s: too little could be measured to say what holds it back%s",
			 name, missing);
	} else {
		snprintf(out, size,
			 "%s: nothing holds it back that a placement could change%s%s",
			 name, doubt, missing);
	}
}
