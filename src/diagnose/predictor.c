/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/predictor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "diagnose/pcpus.h"

/* As measured on hosts where the moves were made. */
#define DOUBT_SHARE 0.1
#define DOUBT_LEAST 0.01
#define SAME_COMPANY 0.02
#define LEAST_COMPANY 0.02

static void place_vm(struct predictor *p, size_t vm, const struct diag_placement *to)
{
	struct host *t = &p->trial;

	for (size_t i = 0; i < t->nflows; i++) {
		struct flow *f = &t->flow[i];
		int node;

		if (f->vm != vm)
			continue;
		node = to->vcpu[vm][f->vcpu];
		p->moves[i] = node >= 0 && !vcpu_there(p, vm, f->vcpu, node);
		if (node >= 0)
			f->node = (unsigned)node;
		for (unsigned n = 0; to->mem[vm] >= 0 && n < t->nodes; n++)
			f->home[n] = n == (unsigned)to->mem[vm];
	}
}

/* @lines that another socket had and does not, this one's LLC has; < 0: the reverse. */
static void share_reads(struct flow *f, double lines)
{
	double hits = f->plain * f->hit + lines;

	f->rclean -= lines;
	f->plain += lines;
	f->hit = f->plain > 0 ? fmax(hits, 0) / f->plain : 0;
}

/* Lines that vCPUs of a VM hand each other do so across sockets as often as the others
 * are there; what was counted tells how often in the placement that it was counted in. */
static void split_shared(const struct flow *was, struct flow *f)
{
	double scale = was->apart > 0 ? f->apart / was->apart : -1;
	const double near[] = { was->hitm, was->handed },
		     far[] = { was->rhitm, was->rhanded };
	double *to_near[] = { &f->hitm, &f->handed },
	       *to_far[] = { &f->rhitm, &f->rhanded };

	if (f->apart == was->apart)
		return;
	for (int i = 0; i < 2; i++) {
		double all = near[i] + far[i];

		*to_far[i] = fmin(all, scale >= 0 ? far[i] * scale : all * f->apart);
		*to_near[i] = all - *to_far[i];
	}
	if (was->rhanded + was->rhitm > 0) /* most of what lines that move wait for */
		f->residue *= (f->rhanded + f->rhitm) / (was->rhanded + was->rhitm);
	share_reads(f, f->apart > was->apart
			       ? -was->plain * was->hit * was->clean *
					 (f->apart - was->apart) / (1 - was->apart)
			       : was->rclean * (1 - f->apart / was->apart));
}

/* References to the LLC by a flow's VM, on its node, 1/s. */
static double references(const struct host *h, const struct flow *f)
{
	double sum = 0;

	for (size_t i = 0; i < h->nflows; i++)
		if (h->flow[i].vm == f->vm && h->flow[i].node == f->node)
			sum += h->flow[i].rate * h->flow[i].plain;
	return sum;
}

/* Lines that others on its node fetch, too, a flow finds less often in the LLC where they
 * do not. What share of its lines that is no counter tells. */
static void part_company(const struct predictor *p, size_t i)
{
	const struct flow *was = &p->host.flow[i];
	struct flow *f = &p->trial.flow[i];
	double before;

	if (f->apart == was->apart || !(was->spot > 0))
		return;
	before = references(&p->host, was);
	if (before > 0)
		f->spot *= 1 - p->common + p->common * references(&p->trial, f) / before;
}

/* The share of its time in which one of a flow's peers runs, too. */
static double company(const struct host *h, const struct flow *f)
{
	double alone = 1;

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *o = &h->flow[i];

		if (o->vm == f->vm && o->vcpu != f->vcpu)
			alone *= 1 - fmin(o->active, 1);
	}
	return 1 - alone;
}

/*
 * vCPUs hand lines to each other only while they run at the same time, and are slow only
 * then: of its instructions those that it runs in company have what was counted. Where
 * they ran in turns and would run side by side, that is more of them.
 */
static void meet(struct predictor *p, size_t i)
{
	const struct host *h = &p->host;
	const struct flow *was = &h->flow[i];
	struct flow *f = &p->trial.flow[i];
	double before, after, alone, slow, share, scale;
	struct latency off;

	if (!flow_shares(was) || !(was->felt > 0))
		return;
	before = company(h, was);
	after = company(&p->trial, f);
	if (!(before > 0) || fabs(after - before) < SAME_COMPANY)
		return;
	flow_latency(h, i, OFF(FACTOR_SHARING), &p->base, &off);
	slow = was->waiting * fmax(1 - off.felt / was->felt, 0);
	alone = was->time - slow; /* an instruction's time in peace */
	share = fmin(fmax((before * was->time - slow) / alone, LEAST_COMPANY), 1);
	slow /= share;
	scale = after * alone / (alone + slow * (1 - after)) / share;
	f->hitm *= scale;
	f->handed *= scale;
	f->rhitm *= scale;
	f->rhanded *= scale;
	f->residue *= scale;
}

void predictor_place(struct predictor *p, const struct diag_placement *to)
{
	const struct host *h = &p->host;
	struct host *t = &p->trial;

	memcpy(t->flow, h->flow, h->nflows * sizeof(*h->flow));
	for (size_t i = 0; i < h->window->nvms; i++)
		place_vm(p, i, to);
	host_peers(t);
	for (unsigned n = 0; n < h->nodes; n++)
		pcpus_share(p, n);
	for (size_t i = 0; i < h->nflows; i++)
		split_shared(&h->flow[i], &t->flow[i]);
	for (size_t i = 0; i < h->nflows; i++)
		part_company(p, i);
	for (size_t i = 0; i < h->nflows; i++)
		meet(p, i);
}

double predictor_try(struct predictor *p, const struct diag_placement *to, double *speed)
{
	const struct host *h = &p->host;
	double product = 0;
	size_t nvms = h->window->nvms, ran = 0;

	predictor_place(p, to);
	solution_copy(h, &p->base, &p->s);
	host_solve(&p->trial, 0, &p->s);
	for (size_t v = 0; v < nvms; v++)
		speed[v] = 0;
	for (size_t i = 0; i < h->nflows; i++)
		speed[h->flow[i].vm] += h->flow[i].instructions * p->trial.flow[i].active /
					h->flow[i].active * p->base.time[i] / p->s.time[i];
	for (size_t v = 0; v < nvms; v++) {
		double work = 0;

		for (size_t i = 0; i < h->nflows; i++)
			work += h->flow[i].vm == v ? h->flow[i].instructions : 0;
		if (!(work > 0))
			continue;
		speed[v] /= work;
		product += log(speed[v]);
		ran++;
	}
	return ran ? exp(product / (double)ran) : 1;
}

double predictor_doubt(const struct predictor *p, double *doubt)
{
	const struct host *h = &p->host;
	double pace = 0, time = 0;
	size_t nvms = h->window->nvms, ran = 0;

	for (size_t v = 0; v < nvms; v++) {
		double work = 0, timed = 0, paced = 0;

		for (size_t i = 0; i < h->nflows; i++) {
			const struct flow *f = &h->flow[i];
			double gets = f->instructions * p->trial.flow[i].active / f->active;

			if (f->vm != v)
				continue;
			work += f->instructions;
			timed += gets;
			paced += gets * p->base.time[i] / p->s.time[i];
		}
		doubt[v] = DOUBT_LEAST;
		if (!(timed > 0))
			continue;
		doubt[v] += DOUBT_SHARE * fabs(paced - timed) / work;
		pace += log(paced / timed);
		time += log(timed / work);
		ran++;
	}
	if (!ran)
		return DOUBT_LEAST;
	return DOUBT_LEAST +
	       DOUBT_SHARE * fabs(exp(pace / (double)ran) - 1) * exp(time / (double)ran);
}

int predictor_new(struct predictor *p, const struct diag_window *window, struct nudge nudge)
{
	struct host *h = &p->host;
	int rc;

	*p = (struct predictor) { 0 };
	rc = host_fit(h, window, nudge);
	if (rc)
		return rc;
	p->trial = *h;
	p->trial.flow = calloc(h->nflows + 1, sizeof(*h->flow));
	p->demand = calloc(h->nflows + 1, sizeof(*p->demand));
	p->want = calloc(h->nflows + 1, sizeof(*p->want));
	p->moves = calloc(h->nflows + 1, sizeof(*p->moves));
	p->used = calloc(CPULIST_MAX, sizeof(*p->used));
	rc = p->trial.flow && p->demand && p->want && p->moves && p->used
		     ? host_solution(h, &p->base)
		     : -ENOMEM;
	if (!rc)
		rc = host_solution(h, &p->s);
	if (rc) {
		predictor_free(p);
		return rc;
	}
	p->common = COMMON;
	pcpus_demand(h, p->demand);
	host_solve(h, 0, &p->base);
	return 0;
}

void predictor_free(struct predictor *p)
{
	host_free(&p->host);
	free(p->trial.flow);
	free(p->demand);
	free(p->want);
	free(p->moves);
	free(p->used);
	solution_free(&p->base);
	solution_free(&p->s);
	*p = (struct predictor) { 0 };
}

int placement_new(const struct diag_window *w, struct diag_placement *out)
{
	*out = (struct diag_placement) { .vcpu = calloc(w->nvms + 1, sizeof(*out->vcpu)),
					 .mem = calloc(w->nvms + 1, sizeof(*out->mem)) };
	if (!out->vcpu || !out->mem)
		goto no_memory;
	for (size_t i = 0; i < w->nvms; i++) {
		out->mem[i] = -1;
		out->vcpu[i] = calloc(w->vms[i].nvcpus + 1, sizeof(**out->vcpu));
		if (!out->vcpu[i])
			goto no_memory;
		for (size_t c = 0; c < w->vms[i].nvcpus; c++)
			out->vcpu[i][c] = -1;
	}
	return 0;
no_memory:
	placement_free(w, out);
	return -ENOMEM;
}

void placement_copy(const struct diag_window *w, const struct diag_placement *from,
		    struct diag_placement *to)
{
	for (size_t v = 0; v < w->nvms; v++) {
		to->mem[v] = from->mem[v];
		memcpy(to->vcpu[v], from->vcpu[v], w->vms[v].nvcpus * sizeof(int));
	}
}

void placement_free(const struct diag_window *w, struct diag_placement *p)
{
	for (size_t i = 0; i < w->nvms && p->vcpu; i++)
		free(p->vcpu[i]);
	free(p->vcpu);
	free(p->mem);
	*p = (struct diag_placement) { 0 };
}
