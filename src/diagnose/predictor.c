/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/predictor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/reads.h"

/* As measured on hosts where the moves were made. */
#define DOUBT_SHARE 0.15
#define DOUBT_LEAST 0.01
#define SPARE_TAKEN 0.3
#define COMMON 0.5    /* as long as nothing tells */
#define ALL_BUSY 0.97 /* of a node's cores: then whoever runs there may want more */

/* Cores that the vCPU of a flow waited for, of those that it could have used; NaN. */
static double waited(const struct diag_window *w, const struct flow *f)
{
	const struct quantity *q = &w->vms[f->vm].vcpus[f->vcpu].role[ROLE_WAITED];

	return quantity_has(q) ? q->value * 1e-9 / w->seconds : NAN;
}

/* What of its vCPU's time a flow has. */
static double part_of_vcpu(const struct host *h, const struct flow *f)
{
	double all = 0;

	for (size_t i = 0; i < h->nflows; i++)
		if (h->flow[i].vm == f->vm && h->flow[i].vcpu == f->vcpu)
			all += h->flow[i].active;
	return f->active / all;
}

static void find_demand(const struct host *h, double *demand)
{
	double busy[DIAG_NODES] = { 0 };
	unsigned vcpus[DIAG_NODES] = { 0 };

	for (size_t i = 0; i < h->nflows; i++) {
		busy[h->flow[i].node] += h->flow[i].active;
		vcpus[h->flow[i].node]++;
	}
	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];
		unsigned cores = h->window->machine.cores;
		double more = waited(h->window, f), part = part_of_vcpu(h, f);

		if (isnan(more))
			more = vcpus[f->node] > cores && busy[f->node] > ALL_BUSY * cores;
		demand[i] = fmin(f->active + more * part, part);
	}
}

/* What each gets of @cores if those who want little get it and the rest share alike: the
 * level up to which wants are met. It only rises, and settles when nobody else is
 * below it. */
static double fair_level(const struct host *h, unsigned node, const double *want)
{
	double cores = h->window->machine.cores, level = 0;

	for (size_t step = 0; step < h->nflows; step++) {
		double left = cores, was = level;
		size_t above = 0;

		for (size_t i = 0; i < h->nflows; i++)
			if (h->flow[i].node != node)
				continue;
			else if (want[i] > level)
				above++;
			else
				left -= want[i];
		level = above ? left / (double)above : 1;
		if (level <= was)
			break;
	}
	return level;
}

/* Is @o's pCPU the only one that @f's vCPU may run on? */
static bool bound_together(const struct diag_window *w, const struct flow *f,
			   const struct flow *o)
{
	const struct diag_vcpu *a = &w->vms[f->vm].vcpus[f->vcpu];
	const struct diag_vcpu *b = &w->vms[o->vm].vcpus[o->vcpu];

	return a->choices == 1 && b->choices && a->cpu == b->cpu;
}

/* What vCPUs that leave have of the only pCPU that flow @i may run on, and what of it all
 * who wait for it lack. */
static double left_there(const struct predictor *p, size_t i, double *lacked)
{
	const struct flow *was = p->host.flow;
	double left = 0;

	*lacked = 0;
	for (size_t k = 0; k < p->host.nflows; k++) {
		if (was[k].node != was[i].node ||
		    !bound_together(p->host.window, &was[i], &was[k]))
			continue;
		if (p->trial.flow[k].node != was[k].node)
			left += was[k].active;
		else
			*lacked += p->demand[k] - was[k].active;
	}
	return left;
}

/* What flow @i, which stays on its node and waits there, gets of what others leave: of
 * its pCPU if it is bound to one, else of @spare, which all who float share. */
static double relief(const struct predictor *p, size_t i, double spare, double waits)
{
	const struct flow *f = &p->host.flow[i];
	unsigned choices = p->host.window->vms[f->vm].vcpus[f->vcpu].choices;
	double lack = p->demand[i] - f->active, taken = choices ? 1 : SPARE_TAKEN;

	if (!(lack > 0))
		return 0;
	if (choices == 1)
		spare = left_there(p, i, &waits);
	return lack * fmin(taken * spare / waits, 1);
}

/*
 * The time that vCPUs get on @node. Those that stay keep theirs; those that come take
 * what is free, and if that is not enough, all share. What those that leave had goes to
 * those that waited for it, as far as that is known.
 */
static void share_node(struct predictor *p, unsigned node)
{
	const struct flow *was = p->host.flow;
	struct host *t = &p->trial;
	double left = t->window->machine.cores, come = 0, freed = 0, waits = 0;

	for (size_t i = 0; i < t->nflows; i++) {
		bool here = t->flow[i].node == node, stays = was[i].node == node;

		p->want[i] = stays ? was[i].active : p->demand[i];
		left -= here && stays ? was[i].active : 0;
		come += here && !stays ? p->demand[i] : 0;
		freed += !here && stays ? was[i].active : 0;
		waits += here && stays ? p->demand[i] - was[i].active : 0;
	}
	bool crowded = left > -1e-9 && come > left && t->window->machine.cores;
	double level = crowded ? fair_level(t, node, p->want) : 1;
	double spare = crowded ? 0 : fmax(fmin(left - come, freed), 0);

	for (size_t i = 0; i < t->nflows; i++) {
		struct flow *f = &t->flow[i];

		if (f->node != node)
			continue;
		f->active = fmin(p->want[i], level);
		if (was[i].node == node && spare > 0)
			f->active += relief(p, i, spare, waits);
	}
}

static void place_vm(struct predictor *p, size_t vm, const struct diag_placement *to)
{
	struct host *t = &p->trial;

	for (size_t i = 0; i < t->nflows; i++) {
		struct flow *f = &t->flow[i];
		int node = f->vm == vm ? to->vcpu[vm][f->vcpu] : -1;

		if (node >= 0)
			f->node = (unsigned)node;
		for (unsigned n = 0; f->vm == vm && to->mem[vm] >= 0 && n < t->nodes; n++)
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

static void place(struct predictor *p, const struct diag_placement *to)
{
	const struct host *h = &p->host;
	struct host *t = &p->trial;

	memcpy(t->flow, h->flow, h->nflows * sizeof(*h->flow));
	for (size_t i = 0; i < h->window->nvms; i++)
		place_vm(p, i, to);
	host_peers(t);
	for (unsigned n = 0; n < h->nodes; n++)
		share_node(p, n);
	for (size_t i = 0; i < h->nflows; i++)
		split_shared(&h->flow[i], &t->flow[i]);
	for (size_t i = 0; i < h->nflows; i++)
		part_company(p, i);
}

double predictor_try(struct predictor *p, const struct diag_placement *to, double *speed)
{
	const struct host *h = &p->host;
	double product = 0;
	size_t nvms = h->window->nvms, ran = 0;

	place(p, to);
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

double predictor_doubt(double speed)
{
	return DOUBT_SHARE * fabs(speed - 1) + DOUBT_LEAST;
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
	rc = p->trial.flow && p->demand && p->want ? host_solution(h, &p->base) : -ENOMEM;
	if (!rc)
		rc = host_solution(h, &p->s);
	if (rc) {
		predictor_free(p);
		return rc;
	}
	p->common = COMMON;
	find_demand(h, p->demand);
	host_solve(h, 0, &p->base);
	return 0;
}

void predictor_free(struct predictor *p)
{
	host_free(&p->host);
	free(p->trial.flow);
	free(p->demand);
	free(p->want);
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

void placement_free(const struct diag_window *w, struct diag_placement *p)
{
	for (size_t i = 0; i < w->nvms && p->vcpu; i++)
		free(p->vcpu[i]);
	free(p->vcpu);
	free(p->mem);
	*p = (struct diag_placement) { 0 };
}
