/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/host.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "diagnose/home.h"
#include "diagnose/reads.h"

#define MOST_WINDOW 1.5 /* beyond it slow requests come in bursts, not one by one */
#define SWELL 0.12
#define USUAL_CORES 32	   /* L2s that an LLC is as large as, where nobody tells theirs */
#define GUESSED_STALL 0.95 /* of the cycles, at most, if nobody counted stalls */

static double latency_of(const struct diag_machine *m, unsigned hops)
{
	return (hops ? m->local_ns + (m->remote_ns - m->local_ns) * hops : m->local_ns) *
	       1e-9;
}

/*
 * Lines that other cores had, by what they tell. One that was dirty there had been
 * written. One that was clean had to be given up, if the core wanted to write it, and
 * comes back dirty: as many as were found dirty. The others were only read by both, and
 * are hits like any, if a little slower.
 */
static void fit_requests(struct flow *f, const struct reads *r)
{
	double each = 1 / r->instructions, hits;
	double dram = (r->local + r->remote + r->unanswered) * each;

	f->hitm = r->hitm * each;
	f->rhitm = r->rhitm * each;
	f->handed = fmin(r->clean, r->hitm) * each;
	f->rhanded = fmin(r->rclean, r->rhitm) * each;
	f->rclean = r->rclean * each - f->rhanded;
	f->plain = fmax(r->refs * each - f->handed - f->hitm - f->rclean - f->rhanded -
				f->rhitm,
			dram);
	hits = f->plain - dram;
	if (r->hits >= 0) {
		hits = fmax(r->hits * r->refs * each - f->handed - f->hitm, 0);
		f->plain = hits + dram;
	}
	f->hit = f->plain > 0 ? hits / f->plain : 0;
	f->cold = f->plain > 0 ? fmin(r->cold * each / f->plain, 1 - f->hit) : 0;
	f->kept = r->kept < 0 ? -1 : r->kept * each;
	f->clean = hits > 0 ? fmin((r->clean * each - f->handed) / hits, 1) : 0;
}

static void fit_flow(struct flow *f, const struct diag_window *w, const struct reads *r,
		     double share)
{
	double hz = w->machine.core_hz;

	f->instructions = r->instructions * share;
	f->cycles = r->cycles * share;
	f->active = fmin(f->cycles / hz / w->seconds, 1);
	f->time = r->cycles / r->instructions / hz;
	f->rate = f->active / f->time;
	f->stall = r->stall * share;
	f->swell = f->window = 1;
	fit_requests(f, r);
}

/*
 * How the time of an instruction goes by. Requests in flight may be covered by
 * computation, so that only a part of that time is stall; where nobody counted them, the
 * stall is taken for all of it, unless the requests take less one at a time (then it
 * waited for the private caches, too) or more with all buffers in use.
 */
static void fit_time(struct flow *f, const struct diag_machine *m, const struct reads *r,
		     double latency)
{
	double hz = m->core_hz, n = r->instructions, stall = r->stall / n / hz;
	double least = m->lfb ? latency / m->lfb : 0;

	if (r->waiting >= 0) {
		f->waiting = r->waiting / n / hz;
		if (!r->has_stall)
			stall = f->waiting;
	} else if (r->has_stall) {
		f->waiting = fmin(fmax(fmin(stall, latency), least), f->time);
	} else {
		f->waiting = stall = fmin(latency, GUESSED_STALL * f->time);
	}
	stall = fmin(stall, f->time);
	if (!r->has_stall)
		f->stall = f->cycles * stall / f->time;
	f->uncore = f->cycles * fmin(stall, f->waiting) / f->time;
	f->bare = f->time - f->waiting;
	f->covered = f->waiting - fmin(stall, f->waiting);
	f->parallel = f->waiting > 0 ? latency / f->waiting : 0;
}

static int add_flows(struct host *h, struct nudge nudge)
{
	const struct diag_window *w = h->window;
	size_t room = 0;

	for (size_t i = 0; i < w->nvms; i++)
		room += w->vms[i].nvcpus * h->nodes;
	h->flow = calloc(room + 1, sizeof(*h->flow));
	if (!h->flow)
		return -ENOMEM;
	for (size_t i = 0; i < w->nvms; i++)
		for (size_t c = 0; c < w->vms[i].nvcpus; c++) {
			const struct diag_vcpu *vcpu = &w->vms[i].vcpus[c];
			double share[DIAG_NODES];
			unsigned places = vcpu_shares(vcpu, h->nodes, share);
			struct reads r;

			if (!places || !vcpu_reads(vcpu, nudge, h->dirty, &r))
				continue;
			for (unsigned n = 0; n < h->nodes; n++) {
				if (share[n] <= 0)
					continue;
				struct flow *f = &h->flow[h->nflows++];

				f->vm = i;
				f->vcpu = (unsigned)c;
				f->node = n;
				fit_flow(f, w, &r, share[n]);
				flow_home(f, &w->vms[i], h->nodes, &r, places > 1);
			}
		}
	return 0;
}

void host_peers(struct host *h)
{
	for (size_t i = 0; i < h->nflows; i++) {
		struct flow *f = &h->flow[i];
		double sum = 0, away = 0;

		for (unsigned n = 0; n < h->nodes; n++)
			f->peer[n] = 0;
		for (size_t k = 0; k < h->nflows; k++) {
			const struct flow *p = &h->flow[k];

			if (p->vm != f->vm || p->vcpu == f->vcpu)
				continue;
			sum += p->active;
			if (p->node != f->node) {
				f->peer[p->node] += p->active;
				away += p->active;
			}
		}
		f->apart = sum > 0 ? away / sum : 0;
		for (unsigned n = 0; n < h->nodes; n++)
			f->peer[n] = away > 0 ? f->peer[n] / away : 0;
	}
}

/* With as many in flight the core would be seen to have f->parallel, on average. */
static double fit_window(const struct flow *f, struct latency *l)
{
	double low = 1, high = MOST_WINDOW, mean = latency_mean(l);

	if (!(f->parallel > 1))
		return 1;
	for (int step = 0; step < 30; step++) {
		double middle = (low + high) / 2;

		latency_weigh(l, middle);
		if (middle * mean < f->parallel * l->felt)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Waits at memory vary: of several the slowest costs more than their mean. */
static void fit_latency(struct host *h, size_t i, const struct solution *s,
			struct nudge nudge)
{
	const struct diag_machine *m = &h->window->machine;
	struct flow *f = &h->flow[i];
	struct latency l;
	struct reads r;
	double mean;

	vcpu_reads(&h->window->vms[f->vm].vcpus[f->vcpu], nudge, h->dirty, &r);
	flow_latency(h, i, 0, s, &l);
	mean = latency_mean(&l);
	if (r.in_flight >= 0)
		f->residue = fmax(r.in_flight / r.instructions / m->core_hz - mean, 0);
	else if (r.has_stall && flow_shares(f))
		f->residue = fmax(r.stall / r.instructions / m->core_hz - mean, 0);
	fit_time(f, m, &r, mean + f->residue);
	flow_latency(h, i, 0, s, &l);
	f->window = fit_window(f, &l);
	f->swell = 1 + SWELL * log(fmax(f->parallel, 1));
	flow_latency(h, i, 0, s, &l);
	f->felt = l.felt;
}

/* What a core has of its own: requests for what fits there do not come to the LLC. */
static double private_lines(const struct diag_machine *m)
{
	bool known = m->l2_bytes > 0 && m->l2_bytes < m->llc_bytes;

	return (known ? m->l2_bytes : m->llc_bytes / USUAL_CORES) / DIAG_LINE;
}

int host_fit(struct host *h, const struct diag_window *w, struct nudge nudge)
{
	const struct diag_machine *m = &w->machine;
	struct solution s;

	*h = (struct host) { .window = w,
			     .least_footprints = nudge.role == NUDGE_FOOTPRINTS,
			     .most_inner = nudge.role == NUDGE_INNER };
	h->nodes = m->nodes < DIAG_NODES ? m->nodes : DIAG_NODES;
	h->lines = m->llc_bytes / DIAG_LINE;
	h->private = private_lines(m);
	for (unsigned n = 0; n < h->nodes; n++)
		for (unsigned o = 0; o < h->nodes; o++)
			h->idle[n][o] = latency_of(m, n == o ? 0 : fmax(m->hops[n][o], 1));
	if (!(m->core_hz > 0) || !(w->seconds > 0))
		return 0;
	h->dirty = dirty_share(w, nudge);
	if (add_flows(h, nudge))
		return -ENOMEM;
	queues_empty(h);
	host_peers(h);
	llc_fit(h);
	inclusion_fit(h);
	if (host_solution(h, &s)) {
		host_free(h);
		return -ENOMEM;
	}
	llc_alone(h, &s);
	solution_reset(h, &s);
	if (queues_fit(h, &s, nudge)) {
		host_free(h);
		solution_free(&s);
		return -ENOMEM;
	}
	for (size_t i = 0; i < h->nflows; i++)
		fit_latency(h, i, &s, nudge);
	solution_free(&s);
	return 0;
}

void host_free(struct host *h)
{
	free(h->flow);
	*h = (struct host) { 0 };
}
