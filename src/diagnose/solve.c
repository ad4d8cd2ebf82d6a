/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/host.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_USE 0.9995
#define STEPS 120
#define HURRIED_STEPS 15
#define MUCH_SHARED 0.05 /* of the requests: latency beyond the model's is from that */
#define USUAL_PARALLEL 2 /* requests in flight of a flow that had none so far */
#define CLOSE_ENOUGH 1e-4

/* With c servers the chance to wait rises like use^(sqrt(2 (c + 1)) - 1) (Sakasegawa,
 * Annals of the Institute of Statistical Mathematics 29, 1977). */
static double steepness(int kind, const struct queue *q)
{
	return kind == QUEUE_TRACKER ? sqrt(2 * (1 / q->service + 1)) - 1 : 1;
}

double queue_wait(int kind, const struct queue *q, double use, double held)
{
	if (q->service <= 0)
		return 0;
	use = fmin(use, MOST_USE);
	return q->k * q->service * (kind == QUEUE_TRACKER ? held : 1) *
	       pow(use, steepness(kind, q)) / (1 - use);
}

static double ns(double v)
{
	return v * 1e-9;
}

bool flow_shares(const struct flow *f)
{
	double shared = f->handed + f->hitm + f->rclean + f->rhanded + f->rhitm +
			f->plain * f->hit * f->clean;

	return shared > MUCH_SHARED * (f->plain + shared);
}

double latency_mean(const struct latency *l)
{
	return l->sum[NEAR] + l->sum[HERE] + l->sum[FAR];
}

void latency_weigh(struct latency *l, double window)
{
	double each[REACHES], all = 0, below = 0, was = 0;
	int order[REACHES] = { NEAR, HERE, FAR };

	l->felt = 0;
	for (int i = 0; i < REACHES; i++) {
		each[i] = l->requests[i] > 0 ? l->sum[i] / l->requests[i] : 0;
		all += l->requests[i];
		for (int k = i; k > 0 && each[order[k]] < each[order[k - 1]]; k--) {
			int swap = order[k];

			order[k] = order[k - 1];
			order[k - 1] = swap;
		}
	}
	for (int i = 0; i < REACHES; i++) {
		int k = order[i];
		double upto;

		l->weight[k] = 1;
		if (!(l->requests[k] > 0))
			continue;
		below += l->requests[k];
		upto = window > 1 ? pow(below / all, window) : below / all;
		l->weight[k] = (upto - was) * all / l->requests[k];
		l->felt += l->weight[k] * l->sum[k];
		was = upto;
	}
}

/* Lines that other cores have. All but those that both only read go away if writes leave
 * the others' copies alone. */
static void add_shared(const struct host *h, const struct flow *f, double hop, double link,
		       struct latency *l)
{
	const struct diag_machine *m = &h->window->machine;

	l->requests[NEAR] += f->handed + f->hitm;
	l->sum[NEAR] += f->handed * ns(m->shared_ns) + f->hitm * ns(m->modified_ns);
	l->requests[FAR] += f->rclean + f->rhanded + f->rhitm;
	l->sum[FAR] += (f->rclean + f->rhanded) * (ns(m->remote_cache_ns) - hop + link) +
		       f->rhitm * (ns(m->remote_modified_ns) - hop + link);
}

static void add_memory(const struct host *h, const struct flow *f, unsigned off,
		       const struct solution *s, double miss, struct latency *l)
{
	unsigned n = f->node;

	for (unsigned o = 0; o < h->nodes; o++) {
		int reach = o == n ? HERE : FAR;
		unsigned as = off & OFF(FACTOR_LOCALITY) ? n : o;
		double lines = miss * f->home[o];

		l->requests[reach] += lines;
		l->sum[reach] += lines * (h->idle[n][as] + s->mem_wait[o] * f->swell +
					  s->link_wait[o][n]);
		l->held -= lines * s->mem_wait[o] * (f->swell - 1);
	}
}

static double misses(const struct flow *f, const struct solution *s, size_t i)
{
	return f->plain * (1 - s->hit[i]) + s->lost[i];
}

void flow_latency(const struct host *h, size_t i, unsigned off, const struct solution *s,
		  struct latency *out)
{
	const struct flow *f = &h->flow[i];
	const struct diag_machine *m = &h->window->machine;
	bool alike = off & OFF(FACTOR_SHARING);
	double hop = off & OFF(FACTOR_LOCALITY) ? ns(m->remote_ns - m->local_ns) : 0;
	double hit = ns(m->llc_ns), link = 0, all;

	for (unsigned o = 0; o < h->nodes; o++)
		link += f->peer[o] * s->link_wait[o][f->node];
	if (!alike)
		hit += f->clean * ns(m->shared_ns - m->llc_ns);
	*out = (struct latency) { .requests[NEAR] = f->plain * s->hit[i],
				  .sum[NEAR] = f->plain * s->hit[i] * hit };
	add_memory(h, f, off, s, misses(f, s, i) + (alike ? f->rclean : 0), out);
	if (!alike)
		add_shared(h, f, hop, link, out);
	all = out->requests[NEAR] + out->requests[HERE] + out->requests[FAR];
	for (int k = 0; k < REACHES && all > 0; k++) {
		if (!alike || !flow_shares(f))
			out->sum[k] += f->residue * out->requests[k] / all;
		out->held += out->sum[k];
		out->sum[k] += out->requests[k] * s->tracker_wait[f->node];
	}
	latency_weigh(out, f->window);
}

void host_load(const struct host *h, unsigned off, const struct solution *s,
	       struct load *out)
{
	bool alike = !(off & OFF(FACTOR_SHARING));

	*out = (struct load) { 0 };
	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];
		double rate = f->active / s->time[i];
		double lines = rate * (misses(f, s, i) + (alike ? 0 : f->rclean));
		double given = alike ? rate * (f->rclean + f->rhanded + f->rhitm) : 0;
		double near = alike ? rate * (f->handed + f->hitm) : 0;
		unsigned n = f->node;

		out->tracker[n] += rate * s->held[i];
		out->requests[n] += rate * (f->plain + s->lost[i]) + given + near +
				    (alike ? 0 : rate * f->rclean);
		for (unsigned o = 0; o < h->nodes; o++) {
			double from = lines * f->home[o];

			out->mem[o] += from * (1 + f->writes);
			if (o == n)
				continue;
			out->link[o][n] += from + given * f->peer[o];
			out->link[n][o] += from * f->writes;
		}
	}
	for (unsigned n = 0; n < h->nodes; n++) {
		const struct queue *q = &h->mem[n];

		out->mem[n] = (out->mem[n] + q->background) * q->service;
		if (out->requests[n] > 0)
			out->held[n] = out->tracker[n] / out->requests[n];
		q = &h->tracker[n];
		out->tracker[n] = (out->tracker[n] + q->background) * q->service;
		for (unsigned o = 0; o < h->nodes; o++) {
			q = &h->link[n][o];
			out->link[n][o] = (out->link[n][o] + q->background) * q->service;
		}
	}
}

int host_solution(const struct host *h, struct solution *s)
{
	*s = (struct solution) { 0 };
	s->time = calloc(h->nflows + 1, sizeof(*s->time));
	s->hit = calloc(h->nflows + 1, sizeof(*s->hit));
	s->lost = calloc(h->nflows + 1, sizeof(*s->lost));
	s->held = calloc(h->nflows + 1, sizeof(*s->held));
	if (!s->time || !s->hit || !s->lost || !s->held) {
		solution_free(s);
		return -ENOMEM;
	}
	solution_reset(h, s);
	return 0;
}

void solution_reset(const struct host *h, struct solution *s)
{
	for (size_t i = 0; i < h->nflows; i++) {
		s->time[i] = h->flow[i].time;
		s->hit[i] = h->flow[i].hit;
		s->lost[i] = 0;
	}
	for (unsigned n = 0; n < h->nodes; n++) {
		s->reuse[n] = h->reuse[n];
		s->mem[n] = h->mem[n].use;
		s->mem_wait[n] = h->mem[n].wait;
		s->tracker[n] = h->tracker[n].use;
		s->tracker_wait[n] = h->tracker[n].wait;
		for (unsigned o = 0; o < h->nodes; o++) {
			s->link[n][o] = h->link[n][o].use;
			s->link_wait[n][o] = h->link[n][o].wait;
		}
	}
	for (size_t i = 0; i < h->nflows; i++) {
		struct latency l;

		flow_latency(h, i, 0, s, &l);
		s->held[i] = l.held;
	}
}

void solution_copy(const struct host *h, const struct solution *from, struct solution *to)
{
	double *time = to->time, *hit = to->hit, *lost = to->lost, *held = to->held;

	*to = *from;
	to->time = memcpy(time, from->time, h->nflows * sizeof(*time));
	to->hit = memcpy(hit, from->hit, h->nflows * sizeof(*hit));
	to->lost = memcpy(lost, from->lost, h->nflows * sizeof(*lost));
	to->held = memcpy(held, from->held, h->nflows * sizeof(*held));
}

void solution_free(struct solution *s)
{
	free(s->time);
	free(s->hit);
	free(s->lost);
	free(s->held);
	*s = (struct solution) { 0 };
}

/*
 * One queue's step: its use goes towards the load that it was offered. Near saturation a
 * little use is a long wait, and a longer wait is less load, so the step shrinks with the
 * wait's slope there; full steps would swing. Returns how far it still was.
 */
static double step(int kind, const struct queue *q, bool off, double offered, double held,
		   double *use, double *wait)
{
	double was = fmin(fmax(*use, 1e-6), MOST_USE), far;

	if (off || q->service <= 0) {
		*wait = 0;
		return 0;
	}
	far = log(fmax(offered, 1e-6) / was);
	*use = fmin(was * exp(fmin(far, 2) / (1 + steepness(kind, q) + was / (1 - was))),
		    MOST_USE);
	*wait = queue_wait(kind, q, *use, held);
	return fabs(far) * fmin(1, offered);
}

static double step_queues(const struct host *h, unsigned off, struct solution *s)
{
	struct load load;
	double far = 0;

	host_load(h, off, s, &load);
	for (unsigned n = 0; n < h->nodes; n++) {
		far = fmax(far, step(QUEUE_MEM, &h->mem[n], off & OFF(FACTOR_MEMORY),
				     load.mem[n], 0, &s->mem[n], &s->mem_wait[n]));
		far = fmax(far, step(QUEUE_TRACKER, &h->tracker[n],
				     off & OFF(FACTOR_TRACKERS), load.tracker[n],
				     load.held[n], &s->tracker[n], &s->tracker_wait[n]));
		for (unsigned o = 0; o < h->nodes; o++)
			far = fmax(far, step(QUEUE_LINK, &h->link[n][o],
					     off & OFF(FACTOR_LOCALITY), load.link[n][o], 0,
					     &s->link[n][o], &s->link_wait[n][o]));
	}
	return far;
}

/* Computation that requests in flight covered is the least that they can take. */
static double step_times(struct host *h, unsigned off, struct solution *s)
{
	double far = 0;

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];
		double waiting = 0, was = s->time[i];
		struct latency l;

		s->held[i] = 0;
		if (f->felt > 0 || s->lost[i] > 0) {
			flow_latency(h, i, off, s, &l);
			s->held[i] = l.held;
			waiting = f->felt > 0
					  ? f->waiting * l.felt / f->felt
					  : l.felt / (h->most_inner ? 1 : USUAL_PARALLEL);
		}
		s->time[i] = f->bare + fmax(waiting, f->covered);
		far = fmax(far, fabs(s->time[i] / was - 1));
	}
	h->evaluations += h->nflows;
	return far;
}

static void step_caches(const struct host *h, struct solution *s)
{
	for (unsigned n = 0; n < h->nodes; n++)
		llc_share(h, n, -1, s->time, s->hit, &s->reuse[n]);
	for (size_t i = 0; i < h->nflows; i++)
		s->lost[i] = inclusion_lost(h, &h->flow[i], s->time[i],
					    s->reuse[h->flow[i].node]);
}

void host_solve(struct host *h, unsigned off, struct solution *s)
{
	if (off & OFF(FACTOR_LLC))
		for (size_t i = 0; i < h->nflows; i++) {
			s->hit[i] = h->flow[i].alone;
			s->lost[i] = 0;
		}
	for (unsigned i = 0; i < (h->hurried ? HURRIED_STEPS : STEPS); i++) {
		double far = step_queues(h, off, s);

		if (!(off & OFF(FACTOR_LLC)) && h->lines > 0)
			step_caches(h, s);
		far = fmax(far, step_times(h, off, s));
		if (far < CLOSE_ENOUGH)
			break;
	}
}
