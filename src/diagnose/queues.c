/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits in the host's queues, fitted to what was measured of them. */
#include "diagnose/host.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "diagnose/reads.h"

/* A queue that was as good as full carries what it was seen to carry. */
#define FULL_USE 0.985
#define LEAST_USE 0.02	 /* below it a measured wait says nothing of the queue's kind */
#define TELLING_USE 0.25 /* from which on waits tell how they grow */
#define MOST_K 1e3
#define USUAL_K 2.5	   /* of memory, where nobody measured */
#define USUAL_LINK_K 0.5   /* of links */
#define USUAL_ERROR 0.6	   /* of its wait, and … */
#define USUAL_LEAST 2e-9   /* … s */
#define LATENCY_ERROR 0.05 /* of what is known of a request's latency */
#define LINK_STEPS 3
#define BURST 0.4 /* of the time that an entry is held */

/* The wait that is its queue's on the real host, or, with none measured, what a queue of
 * its kind would have; @load is what the flows put on it, as a share of it. */
static void fit_queue(int kind, struct queue *q, double load, double held, bool measured)
{
	q->use = load;
	if (q->use > FULL_USE) {
		if (kind != QUEUE_TRACKER)
			q->service *= FULL_USE / q->use;
		q->use = FULL_USE;
	}
	if (measured && q->use > LEAST_USE) {
		double unit;

		q->k = 1;
		unit = queue_wait(kind, q, q->use, held);
		q->k = unit > 0 ? fmin(q->wait / unit, MOST_K) : 1;
	}
	q->wait = queue_wait(kind, q, q->use, held);
}

void queues_empty(struct host *h)
{
	const struct diag_machine *m = &h->window->machine;

	for (unsigned n = 0; n < h->nodes; n++) {
		h->mem[n] = (struct queue) { .k = USUAL_K };
		if (m->mem_rate > 0)
			h->mem[n].service = DIAG_LINE / m->mem_rate;
		h->tracker[n] = (struct queue) { .k = 1 };
		if (m->trackers)
			h->tracker[n].service = 1.0 / m->trackers;
		for (unsigned o = 0; o < h->nodes; o++) {
			h->link[n][o] = (struct queue) { .k = USUAL_LINK_K };
			if (m->link_rate > 0 && o != n)
				h->link[n][o].service = DIAG_LINE / m->link_rate;
		}
	}
}

/*
 * What was measured, and what such a queue would have, each as good as its error lets it
 * be: the wait is a small difference of large numbers, which counters by turns hardly
 * tell.
 */
static double mem_wait(const struct queue *q, double use, const struct node_reads *r)
{
	double usual = queue_wait(QUEUE_MEM, q, fmin(use, FULL_USE), 0);
	double doubt = USUAL_ERROR * usual + USUAL_LEAST, error = r->mem_wait_error;

	if (!(error > 0))
		return r->mem_wait;
	return (r->mem_wait / (error * error) + usual / (doubt * doubt)) /
	       (1 / (error * error) + 1 / (doubt * doubt));
}

static void fit_queues(struct host *h, const struct solution *s, struct nudge nudge)
{
	const struct diag_window *w = h->window;
	struct node_reads r[DIAG_NODES];
	struct load load;

	for (unsigned n = 0; n < h->nodes; n++)
		node_reads(w, n, nudge, &r[n]);
	host_load(h, 0, s, &load);
	for (unsigned n = 0; n < h->nodes; n++) {
		struct queue *q = &h->mem[n];

		if (r[n].has_reads && q->service > 0)
			q->background = fmax(r[n].reads - load.mem[n] / q->service, 0) *
					(1 + r[n].writes);
	}
	for (size_t i = 0; i < h->nflows; i++)
		for (unsigned n = 0; n < h->nodes; n++)
			h->flow[i].writes += h->flow[i].home[n] * r[n].writes;
	host_load(h, 0, s, &load);
	for (unsigned n = 0; n < h->nodes; n++) {
		h->mem[n].wait = mem_wait(&h->mem[n], load.mem[n], &r[n]);
		fit_queue(QUEUE_MEM, &h->mem[n], load.mem[n], 0, r[n].has_mem_wait);
		for (unsigned o = 0; o < h->nodes; o++)
			fit_queue(QUEUE_LINK, &h->link[n][o], load.link[n][o], 0, false);
	}
}

/* What requests of a node's cores wait for an entry, on average: in flight they are from
 * the core's asking on, in the tracker from its answer on. False: not all was counted. */
static bool measured_wait(const struct host *h, unsigned node, struct nudge nudge,
			  const struct node_reads *n, double *wait)
{
	double in_flight = 0, requests = 0;

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];
		struct reads r;

		if (f->node != node)
			continue;
		vcpu_reads(&h->window->vms[f->vm].vcpus[f->vcpu], nudge, h->dirty, &r);
		if (r.in_flight < 0 || !(r.refs > 0))
			return false;
		in_flight += f->rate * r.in_flight / r.instructions;
		requests += f->rate * r.refs / r.instructions;
	}
	in_flight /= h->window->machine.core_hz;
	*wait = requests > 0 ? fmax(in_flight - n->occupancy, 0) / requests : 0;
	return n->has_occupancy && requests > 0;
}

/* Share of a node's requests that the LLC answers. */
static double answered(const struct host *h, unsigned node)
{
	double hits = 0, requests = 0;

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];

		if (f->node != node)
			continue;
		hits += f->rate * f->plain * f->hit;
		requests += f->rate * (f->plain + f->handed + f->hitm + f->rclean +
				       f->rhanded + f->rhitm);
	}
	return requests > 0 ? hits / requests : 0;
}

/*
 * Entries are held for as long as their requests take, so this follows the other queues.
 * Where the wait is not measured it follows from how long the tracker was full. Who comes
 * then waits for the next entry: of many held for different times one is free soon; those
 * of LLC hits are held alike, and come and go in bursts.
 */
static void fit_trackers(struct host *h, const struct solution *s, struct nudge nudge)
{
	struct load load;

	host_load(h, 0, s, &load);
	for (unsigned n = 0; n < h->nodes; n++) {
		struct queue *q = &h->tracker[n];
		struct node_reads r;

		node_reads(h->window, n, nudge, &r);
		if (!r.has_full && !r.has_occupancy) {
			q->service = 0;
			continue;
		}
		if (q->service <= 0)
			continue;
		bool known = measured_wait(h, n, nudge, &r, &q->wait);

		if (!known)
			q->wait = r.full * load.held[n] *
				  (BURST * pow(answered(h, n), 2) + q->service);
		fit_queue(QUEUE_TRACKER, q, fmin(load.tracker[n], FULL_USE), load.held[n],
			  known || r.has_full);
	}
}

/* Time that a flow's requests are in flight, s per instruction, or @most if all that is
 * known is that it is no more: a core has only so many buffers. */
static double in_flight(const struct host *h, const struct flow *f, struct nudge nudge,
			double most)
{
	const struct diag_machine *m = &h->window->machine;
	struct reads r;

	vcpu_reads(&h->window->vms[f->vm].vcpus[f->vcpu], nudge, h->dirty, &r);
	if (r.in_flight >= 0)
		return r.in_flight / r.instructions / m->core_hz;
	return m->lfb ? fmin(f->time * m->lfb, most) : most;
}

/*
 * No counter tells what lines wait for a link, but the requests of a core that are in
 * flight do: what the other latencies leave of theirs. Returns how many times as long as
 * usual the waits for the links to @node are, as well as that is known beside the usual.
 */
static double link_waits(const struct host *h, unsigned node, const struct solution *usual,
			 const struct solution *at_once, struct nudge nudge)
{
	double expected = 0, seen = 0, all = 0;

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];
		struct latency l;
		double requests, mean, rest, doubt, weight;

		if (f->node != node)
			continue;
		flow_latency(h, i, 0, usual, &l);
		requests = l.requests[NEAR] + l.requests[HERE] + l.requests[FAR];
		if (!(requests > 0))
			continue;
		mean = latency_mean(&l);
		flow_latency(h, i, 0, at_once, &l);
		rest = latency_mean(&l);
		doubt = LATENCY_ERROR * rest + USUAL_LEAST * requests;
		weight = f->rate * requests / (doubt * doubt);
		expected += weight * (mean - rest) * (mean - rest);
		seen += weight * (mean - rest) *
			fmax(in_flight(h, f, nudge, mean) - rest, 0);
		all += f->rate * requests;
	}
	if (!(all > 0))
		return 1;
	return (1 / (USUAL_ERROR * USUAL_ERROR) + seen / all) /
	       (1 / (USUAL_ERROR * USUAL_ERROR) + expected / all);
}

static int fit_links(struct host *h, struct solution *s, struct nudge nudge)
{
	struct solution at_once;

	for (unsigned n = 0; n < h->nodes; n++)
		for (unsigned o = 0; o < h->nodes; o++) {
			h->link[o][n].k = USUAL_LINK_K;
			h->link[o][n].wait = queue_wait(QUEUE_LINK, &h->link[o][n],
							h->link[o][n].use, 0);
		}
	solution_reset(h, s);
	if (host_solution(h, &at_once))
		return -ENOMEM;
	memset(at_once.link_wait, 0, sizeof(at_once.link_wait));
	for (unsigned n = 0; n < h->nodes; n++) {
		double times = link_waits(h, n, s, &at_once, nudge);

		for (unsigned o = 0; o < h->nodes; o++) {
			h->link[o][n].k *= times;
			h->link[o][n].wait *= times;
		}
	}
	solution_free(&at_once);
	solution_reset(h, s);
	return 0;
}

/* Nodes are alike: one that is hardly used is, when it fills, like the busiest. */
static void fit_idle(struct queue *(*of)(struct host *h, unsigned node), struct host *h)
{
	struct queue *busiest = of(h, 0);

	for (unsigned n = 1; n < h->nodes; n++)
		if (of(h, n)->use > busiest->use)
			busiest = of(h, n);
	for (unsigned n = 0; n < h->nodes; n++)
		if (of(h, n)->use < TELLING_USE && busiest->use > LEAST_USE)
			of(h, n)->k = busiest->k;
}

static struct queue *mem_of(struct host *h, unsigned node)
{
	return &h->mem[node];
}

static struct queue *tracker_of(struct host *h, unsigned node)
{
	return &h->tracker[node];
}

int queues_fit(struct host *h, struct solution *s, struct nudge nudge)
{
	fit_queues(h, s, nudge);
	solution_reset(h, s);
	/* Entries are held while their lines wait for a link. */
	for (int i = 0; i < LINK_STEPS; i++) {
		fit_trackers(h, s, nudge);
		if (fit_links(h, s, nudge))
			return -ENOMEM;
	}
	fit_trackers(h, s, nudge);
	fit_idle(mem_of, h);
	fit_idle(tracker_of, h);
	solution_reset(h, s);
	return 0;
}
