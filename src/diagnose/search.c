/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/pcpus.h"

#define MOST_TRIES 3000	  /* placements */
#define MOST_WORK 2000000 /* evaluations of a vCPU's time */
#define SUSPECTS 12	  /* VMs that moves are tried for: those that wait most */
#define MOVE_PRICE 0.004  /* what a move must bring, of the VMs' summed speed */
#define MOST_STEPS 8
#define PARTED 0.1  /* of what it reads is no longer near */
#define LITTLE 0.01 /* of its time, at most, that its requests take */

struct searcher {
	struct predictor *p;
	const struct advise_config *config;
	const struct diag_window *window;
	struct diag_placement here, best; /* where the search is; the best step from it */
	double *speed;
	double here_score, best_score;
	unsigned tries;
};

/* Where most of a VM's work is done; -1: it did not run. */
static int vm_node(const struct host *h, size_t vm)
{
	double on[DIAG_NODES] = { 0 };
	int best = -1;

	for (size_t i = 0; i < h->nflows; i++)
		if (h->flow[i].vm == vm)
			on[h->flow[i].node] += h->flow[i].active;
	for (unsigned n = 0; n < h->nodes; n++)
		if (on[n] > (best < 0 ? 0 : on[best]))
			best = (int)n;
	return best;
}

/* Where most of its memory is that it reads; -1: it reads none. */
static int vm_memory(const struct host *h, size_t vm)
{
	double at[DIAG_NODES] = { 0 };
	int best = -1;

	for (size_t i = 0; i < h->nflows; i++)
		for (unsigned n = 0; n < h->nodes && h->flow[i].vm == vm; n++)
			at[n] += h->flow[i].rate * h->flow[i].plain * h->flow[i].home[n];
	for (unsigned n = 0; n < h->nodes; n++)
		if (at[n] > (best < 0 ? 0 : at[best]))
			best = (int)n;
	return best;
}

static bool memory_there(const struct host *h, size_t vm, int node)
{
	for (size_t i = 0; i < h->nflows; i++)
		if (h->flow[i].vm == vm && h->flow[i].home[node] < 1)
			return false;
	return true;
}

size_t placement_moves(const struct predictor *p, const struct diag_placement *to)
{
	const struct host *h = &p->host;
	const struct diag_window *w = h->window;
	size_t moves = 0;

	for (size_t v = 0; v < w->nvms; v++) {
		moves += to->mem[v] >= 0 && !memory_there(h, v, to->mem[v]);
		for (size_t c = 0; c < w->vms[v].nvcpus; c++)
			moves +=
				to->vcpu[v][c] >= 0 && !vcpu_there(p, v, c, to->vcpu[v][c]);
	}
	return moves;
}

/* The least that matters: of a vCPU that asks the uncore for less, all of it could come
 * from afar. */
static bool reads_little(const struct host *h, const struct flow *f)
{
	return f->plain * h->window->machine.remote_ns * 1e-9 < LITTLE * f->time;
}

/* How much of what a VM's vCPUs read is near them. */
static double nearness(const struct host *h, size_t vm)
{
	double near = 0, all = 0;

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];

		if (f->vm != vm)
			continue;
		near += f->active * (reads_little(h, f) ? 1 : f->home[f->node]);
		all += f->active;
	}
	return all > 0 ? near / all : 0;
}

/* It is moved away from its memory for others' sake. While its new LLC fills, and whatever
 * that cannot hold, it would pay for that. */
static bool parted_for_nothing(const struct searcher *s, size_t vm)
{
	return s->speed[vm] < 1 + s->config->least &&
	       nearness(&s->p->trial, vm) < nearness(&s->p->host, vm) - PARTED;
}

/* What a placement is worth: the speed that all VMs gain together, less a price for each
 * move; -INFINITY if one loses too much or it takes too many moves. */
static double score(struct searcher *s, const struct diag_placement *to)
{
	size_t moves = placement_moves(s->p, to);
	double sum = 0;

	if (moves > s->config->most_moves)
		return -INFINITY;
	s->tries++;
	predictor_try(s->p, to, s->speed);
	if (!pcpus_suffice(s->p))
		return -INFINITY;
	for (size_t v = 0; v < s->window->nvms; v++) {
		if (s->speed[v] <= 0)
			continue;
		if (s->speed[v] < 1 - MOST_LOSS || parted_for_nothing(s, v))
			return -INFINITY;
		sum += s->speed[v] - 1;
	}
	return sum - MOVE_PRICE * (double)moves;
}

static bool exhausted(const struct searcher *s)
{
	return s->tries >= MOST_TRIES || s->p->trial.evaluations >= MOST_WORK;
}

static void consider(struct searcher *s, const struct diag_placement *to)
{
	double value;

	if (exhausted(s))
		return;
	value = score(s, to);
	if (value > s->best_score + 1e-9) {
		s->best_score = value;
		placement_copy(s->window, to, &s->best);
	}
}

static void set_vcpus(const struct searcher *s, struct diag_placement *t, size_t vm,
		      int node)
{
	for (size_t c = 0; c < s->window->vms[vm].nvcpus; c++)
		t->vcpu[vm][c] = node;
}

/* Where the search has a VM now: the placement's word, else where it is. */
static int node_now(const struct searcher *s, size_t vm)
{
	int node = s->here.vcpu[vm][0];

	return node >= 0 ? node : vm_node(&s->p->host, vm);
}

/* All that one VM could do by itself. @t is a copy of s->here, and is one after. */
static void try_alone(struct searcher *s, size_t vm, struct diag_placement *t)
{
	size_t nvcpus = s->window->vms[vm].nvcpus;
	bool vcpus = s->config->move_vcpus, memory = s->config->move_memory;

	for (int n = 0; n < (int)s->p->host.nodes; n++) {
		if (memory) {
			t->mem[vm] = n;
			consider(s, t);
		}
		if (memory && vcpus) {
			set_vcpus(s, t, vm, n);
			consider(s, t);
		}
		placement_copy(s->window, &s->here, t);
		if (!vcpus)
			continue;
		set_vcpus(s, t, vm, n);
		consider(s, t);
		placement_copy(s->window, &s->here, t);
		for (size_t c = 0; c < nvcpus && nvcpus > 1; c++) {
			t->vcpu[vm][c] = n;
			consider(s, t);
			t->vcpu[vm][c] = s->here.vcpu[vm][c];
		}
	}
}

/* It changes places with another, as a whole, with or without their memory. */
static void try_swaps(struct searcher *s, size_t vm, struct diag_placement *t)
{
	int here = node_now(s, vm);

	for (size_t o = 0; o < s->window->nvms; o++) {
		int there = node_now(s, o);

		if (o == vm || there < 0 || there == here)
			continue;
		set_vcpus(s, t, vm, there);
		set_vcpus(s, t, o, here);
		consider(s, t);
		if (s->config->move_memory) {
			t->mem[vm] = there;
			consider(s, t);
			t->mem[o] = here;
			consider(s, t);
		}
		placement_copy(s->window, &s->here, t);
	}
}

/* Where the search has a vCPU now; -1: it did not run. */
static int vcpu_now(const struct searcher *s, size_t vm, size_t vcpu)
{
	const struct host *h = &s->p->host;
	int node = s->here.vcpu[vm][vcpu];
	double most = 0;

	for (size_t i = 0; i < h->nflows && s->here.vcpu[vm][vcpu] < 0; i++) {
		const struct flow *f = &h->flow[i];

		if (f->vm == vm && f->vcpu == vcpu && f->active > most) {
			most = f->active;
			node = (int)f->node;
		}
	}
	return node;
}

/* One of its vCPUs changes places with one of another VM's; of those on one node the first
 * stands for all. */
static void swap_vcpu(struct searcher *s, size_t vm, size_t c, size_t other,
		      struct diag_placement *t)
{
	int here = vcpu_now(s, vm, c);
	bool tried[DIAG_NODES] = { false };

	for (size_t d = 0; d < s->window->vms[other].nvcpus && here >= 0; d++) {
		int there = vcpu_now(s, other, d);

		if (there < 0 || there == here || tried[there])
			continue;
		tried[there] = true;
		t->vcpu[vm][c] = there;
		t->vcpu[other][d] = here;
		consider(s, t);
		t->vcpu[vm][c] = s->here.vcpu[vm][c];
		t->vcpu[other][d] = s->here.vcpu[other][d];
	}
}

/* VMs of one vCPU each change places as a whole. */
static void try_vcpu_swaps(struct searcher *s, size_t vm, struct diag_placement *t)
{
	size_t nvcpus = s->window->vms[vm].nvcpus;

	for (size_t o = 0; o < s->window->nvms; o++)
		for (size_t c = 0; c < nvcpus && o != vm; c++)
			if (nvcpus > 1 || s->window->vms[o].nvcpus > 1)
				swap_vcpu(s, vm, c, o, t);
}

/* VMs by how much of their time is stalled on what a placement could change. */
static size_t find_suspects(const struct searcher *s, size_t *list)
{
	const struct host *h = &s->p->host;
	double worst[SUSPECTS];
	size_t n = 0;

	for (size_t v = 0; v < s->window->nvms; v++) {
		double stall = 0, cycles = 0, hurt;
		size_t at;

		for (size_t i = 0; i < h->nflows; i++) {
			const struct flow *f = &h->flow[i];
			struct anatomy a;

			if (f->vm != v)
				continue;
			host_anatomy(h, i, &s->p->base, &a);
			cycles += f->cycles;
			if (f->felt > 0)
				stall += f->uncore * fmax(1 - a.own / f->felt, 0);
			stall += f->cycles * fmax(s->p->demand[i] - f->active, 0);
		}
		if (!(cycles > 0))
			continue;
		hurt = stall / cycles;
		for (at = n; at > 0 && worst[at - 1] < hurt; at--)
			if (at < SUSPECTS) {
				worst[at] = worst[at - 1];
				list[at] = list[at - 1];
			}
		if (at < SUSPECTS) {
			worst[at] = hurt;
			list[at] = v;
			n += n < SUSPECTS;
		}
	}
	return n;
}

/* The best placement seen since becomes the one to go on from, if it is worth a move. */
static bool accept(struct searcher *s, struct diag_placement *t)
{
	bool better = s->best_score > s->here_score + MOVE_PRICE / 2;

	if (better) {
		s->here_score = s->best_score;
		placement_copy(s->window, &s->best, &s->here);
	}
	s->best_score = s->here_score;
	placement_copy(s->window, &s->here, t);
	return better;
}

/* First what costs least to try: each VM and its memory come together. */
static void bring_home(struct searcher *s, struct diag_placement *t)
{
	const struct host *h = &s->p->host;

	for (size_t v = 0; v < s->window->nvms; v++) {
		int node = vm_node(h, v), memory = vm_memory(h, v);

		if (memory < 0 || node < 0 || (memory == node && memory_there(h, v, node)))
			continue;
		if (s->config->move_memory) {
			t->mem[v] = node;
			consider(s, t);
			t->mem[v] = -1;
		}
		if (s->config->move_vcpus && memory != node) {
			set_vcpus(s, t, v, memory);
			consider(s, t);
		}
		accept(s, t);
	}
}

static bool one_step(struct searcher *s, struct diag_placement *t)
{
	size_t suspect[SUSPECTS], n = find_suspects(s, suspect);

	for (size_t i = 0; i < n; i++)
		try_alone(s, suspect[i], t);
	for (size_t i = 0; i < n && s->config->move_vcpus; i++)
		try_swaps(s, suspect[i], t);
	for (size_t i = 0; i < n && s->config->move_vcpus; i++)
		try_vcpu_swaps(s, suspect[i], t);
	return accept(s, t);
}

/* Takes back what brings nothing: steps may have made earlier ones idle. */
static void prune(struct searcher *s, struct diag_placement *t)
{
	for (size_t v = 0; v < s->window->nvms; v++)
		for (size_t c = 0; c <= s->window->vms[v].nvcpus; c++) {
			int *to = c ? &t->vcpu[v][c - 1] : &t->mem[v], was = *to;

			if (was < 0)
				continue;
			*to = -1;
			double value = score(s, t);

			if (value >= s->here_score)
				s->here_score = value;
			else
				*to = was;
		}
	placement_copy(s->window, t, &s->here);
}

int search(struct predictor *p, const struct advise_config *config,
	   struct diag_placement *to)
{
	const struct diag_window *w = p->host.window;
	struct searcher s = { .p = p, .config = config, .window = w };
	struct diag_placement t = { 0 };
	int rc = -ENOMEM;

	s.speed = calloc(w->nvms + 1, sizeof(*s.speed));
	if (!s.speed || placement_new(w, &s.here) || placement_new(w, &s.best) ||
	    placement_new(w, &t))
		goto out;
	rc = 0;
	double common = p->common;

	p->common = 1; /* what is hoped for has to be so, not just possible */
	p->trial.hurried = true;
	bring_home(&s, &t);
	for (int i = 0; i < MOST_STEPS && !exhausted(&s); i++)
		if (!one_step(&s, &t))
			break;
	prune(&s, &t);
	placement_copy(w, &s.here, to);
	p->trial.hurried = false;
	p->common = common;
out:
	placement_free(w, &s.here);
	placement_free(w, &s.best);
	placement_free(w, &t);
	free(s.speed);
	return rc;
}
