/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/pcpus.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/str.h"
#include "diagnose/reads.h"

#define SPARE_TAKEN 0.3 /* of what is free, where it is not known who may use it */
#define ALL_BUSY 0.97	/* of a node's cores: then whoever runs there may want more */
#define WAITS 0.05	/* of a core */
#define HARDLY 0.05	/* of a pCPU: who uses no more leaves room for another */
#define BUSY 0.2	/* of a core */

/* Cores that the vCPU of a flow waited for, of those that it could have used; NaN. */
static double waited(const struct diag_window *w, const struct flow *f)
{
	const struct quantity *q = &w->vms[f->vm].vcpus[f->vcpu].role[ROLE_WAITED];

	return quantity_has(q) ? q->value * 1e-9 / w->seconds : NAN;
}

/* Of its vCPU, on all nodes. */
static double vcpu_active(const struct host *h, const struct flow *f)
{
	double sum = 0;

	for (size_t i = 0; i < h->nflows; i++)
		if (h->flow[i].vm == f->vm && h->flow[i].vcpu == f->vcpu)
			sum += h->flow[i].active;
	return sum;
}

/* Who works, sleeps and waits by turns does the first two in the time that it does not
 * wait, and would in all of it. */
void pcpus_demand(const struct host *h, double *demand)
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
		double wait = waited(h->window, f);

		if (isnan(wait))
			wait = vcpus[f->node] > cores && busy[f->node] > ALL_BUSY * cores
				       ? 1
				       : 0;
		demand[i] = f->active / fmax(1 - wait, vcpu_active(h, f));
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
		if (p->moves[k])
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
void pcpus_share(struct predictor *p, unsigned node)
{
	const struct flow *was = p->host.flow;
	struct host *t = &p->trial;
	double left = t->window->machine.cores, come = 0, freed = 0, waits = 0;

	for (size_t i = 0; i < t->nflows; i++) {
		bool here = t->flow[i].node == node, stays = !p->moves[i];

		p->want[i] = stays ? was[i].active : p->demand[i];
		left -= here && stays ? was[i].active : 0;
		come += here && !stays ? p->demand[i] : 0;
		freed += was[i].node == node && !stays ? was[i].active : 0;
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
		if (!p->moves[i] && spare > 0)
			f->active += relief(p, i, spare, waits);
	}
}

bool vcpu_there(const struct predictor *p, size_t vm, size_t vcpu, int node)
{
	const struct host *h = &p->host;
	double lacks = 0;

	for (size_t i = 0; i < h->nflows; i++) {
		if (h->flow[i].vm != vm || h->flow[i].vcpu != vcpu)
			continue;
		if (h->flow[i].node != (unsigned)node)
			return false;
		lacks += p->demand[i] - h->flow[i].active;
	}
	return lacks < WAITS || !h->window->vms[vm].vcpus[vcpu].choices;
}

static bool known(const struct host *h)
{
	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];
		const struct diag_vcpu *v = &h->window->vms[f->vm].vcpus[f->vcpu];

		if (!v->choices || v->cpu < 0 || v->cpu >= CPULIST_MAX)
			return false;
	}
	return true;
}

static int cpu_of(const struct host *h, const struct flow *f)
{
	return h->window->vms[f->vm].vcpus[f->vcpu].cpu;
}

bool pcpus_count(struct predictor *p)
{
	const struct host *h = &p->host;

	if (!known(h))
		return false;
	memset(p->used, 0, CPULIST_MAX * sizeof(*p->used));
	for (size_t i = 0; i < h->nflows; i++)
		if (!p->moves[i])
			p->used[cpu_of(h, &h->flow[i])] += h->flow[i].active;
	return true;
}

static bool pcpu_free(const struct predictor *p, int cpu)
{
	return p->used[cpu] < HARDLY;
}

/* Each that moves finds a pCPU that is free. */
static bool all_find_one(struct predictor *p)
{
	const struct host *h = &p->host;
	unsigned wanted[DIAG_NODES] = { 0 }, taken[DIAG_NODES] = { 0 };

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];

		if (p->moves[i]) {
			wanted[p->trial.flow[i].node]++;
		} else if (!pcpu_free(p, cpu_of(h, f))) {
			taken[f->node]++;
			p->used[cpu_of(h, f)] = 0; /* counts once */
		}
	}
	for (unsigned n = 0; n < h->nodes; n++)
		if (wanted[n] && wanted[n] + taken[n] > h->window->machine.cores)
			return false;
	return true;
}

/* Where that is not known: as many busy vCPUs as cores, or no more than before. Even if
 * they sleep at times, they meet, and who is pinned does not get out of the way. */
static bool few_are_busy(const struct predictor *p)
{
	unsigned before[DIAG_NODES] = { 0 }, after[DIAG_NODES] = { 0 };

	for (size_t i = 0; i < p->host.nflows; i++)
		if (p->demand[i] > BUSY) {
			before[p->host.flow[i].node]++;
			after[p->trial.flow[i].node]++;
		}
	for (unsigned n = 0; n < p->host.nodes; n++)
		if (after[n] > p->host.window->machine.cores && after[n] > before[n])
			return false;
	return true;
}

bool pcpus_suffice(struct predictor *p)
{
	return pcpus_count(p) ? all_find_one(p) : few_are_busy(p);
}

int pcpus_take(struct predictor *p, const char *node_cpus, char *list, size_t size)
{
	int *cpus = NULL, best = -1;
	size_t n = 0;
	int rc = known(&p->host) ? cpulist_parse(node_cpus, &cpus, &n) : 0;

	for (size_t i = 0; !rc && i < n && best < 0; i++)
		if (pcpu_free(p, cpus[i]))
			best = cpus[i];
	free(cpus);
	str_copy(list, size, node_cpus);
	if (best >= 0) {
		p->used[best] = 1;
		snprintf(list, size, "%d", best);
	}
	return rc == -ENOMEM ? rc : 0;
}
