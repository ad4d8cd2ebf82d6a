/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/diagnose.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "diagnose/home.h"
#include "diagnose/misplaced.h"
#include "diagnose/reads.h"
#include "diagnose/rows.h"
#include "diagnose/words.h"

#define LEAST_LOSS 0.03 /* below that nothing is wrong */
#define DOUBT 0.5	/* of its error: a loss that is more is likelier there than not */
#define LEAST_BOUND 0.005
#define LEAST_CAUSE 0.02 /* of a resource's use: who has less is not named */

/* Without a factor others would be faster too, and may then be in the way more: who would
 * be slower loses nothing to it, as far as the bound reaches above nothing. */
static void set_loss(struct diag_part *p, double loss, double error)
{
	p->loss = fmax(loss, 0);
	p->loss_error = loss < 0 ? fmax(loss + error, fmin(error, LEAST_BOUND)) : error;
}

static void fill_node(const struct host *h, const struct rows *rows, size_t vm, int node,
		      struct diag_vm_node *out)
{
	size_t at = vm * ROWS_OF_VM + (node < 0 ? ROW_ALL : (size_t)node);
	const struct row *row = &rows->row[at], *error = &rows->error[at];

	*out = (struct diag_vm_node) { .cycles = row->cycles,
				       .stall = row->stall,
				       .stall_error = error->stall,
				       .rest = row->rest,
				       .rest_error = error->rest };
	for (int i = 0; i < FACTORS; i++) {
		struct diag_part *p = &out->part[i];
		enum factor factor = (enum factor)i;

		p->measured = factor_measured(h, vm, node, factor, p->why, sizeof(p->why));
		if (!p->measured) {
			out->rest += row->part[i];
			factor_proxy(h, vm, node, factor, p->evidence, sizeof(p->evidence));
			continue;
		}
		p->cycles = row->part[i];
		p->error = error->part[i];
		set_loss(p, row->loss[i], error->loss[i]);
		factor_evidence(h, vm, node, factor, p->evidence, sizeof(p->evidence));
	}
}

/* The one of those that stand out of their noise, or do not, that costs most; -1: none. */
static int worst_of(const struct diag_vm_node *all, bool stands_out)
{
	int worst = -1;

	for (int i = 0; i < FACTORS; i++) {
		const struct diag_part *p = &all->part[i];

		if (p->measured && p->loss > LEAST_LOSS &&
		    (p->loss > DOUBT * p->loss_error) == stands_out &&
		    (worst < 0 || p->loss > all->part[worst].loss))
			worst = i;
	}
	return worst;
}

static void find_top(const struct host *h, struct diag_result *r)
{
	const struct diag_part *part = r->all.part;
	int measured = 0;
	double worst = 0;

	for (int i = 0; i < FACTORS; i++)
		measured += part[i].measured;
	r->top_node = -1;
	r->top = worst_of(&r->all, true);
	r->doubt = worst_of(&r->all, false);
	if (r->top >= 0 && r->doubt >= 0 && part[r->doubt].loss <= part[r->top].loss)
		r->doubt = -1;
	r->unknown = r->top < 0 && (!(r->all.cycles > 0) || !measured);
	for (unsigned n = 0; n < h->nodes && r->top >= 0; n++) {
		const struct diag_vm_node *node = &r->node[n];

		if (node->part[r->top].loss * node->cycles > worst) {
			worst = node->part[r->top].loss * node->cycles;
			r->top_node = (int)n;
		}
	}
}

/* Where no counter tells what remote memory costs, the placement still tells that it is. */
static void look_at_placement(const struct diag_window *w, struct diag_result *r)
{
	struct diag_part *p = &r->all.part[FACTOR_LOCALITY];
	struct misplaced m;

	if (r->top >= 0 || vm_reads_counted(&w->vms[r->vm]) || !vm_misplaced(w, r->vm, &m))
		return;
	r->misplaced = r->unknown = true;
	r->top = FACTOR_LOCALITY;
	r->top_node = (int)m.runs;
	*p = (struct diag_part) { .cycles = 0 };
	snprintf(p->why, sizeof(p->why),
		 "no counter here tells how often it reads memory: only that %.0f %% of it "
		 "is not on node %u, where it runs",
		 100 * m.away, m.runs);
}

/* How much of the resource behind @factor a flow uses, as far as it is the one that
 * @victim uses too. */
static double use_of(const struct host *h, const struct flow *f, const struct flow *victim,
		     enum factor factor)
{
	double lines = f->rate * f->plain * (1 - f->hit), sum = 0;

	switch (factor) {
	case FACTOR_LLC: return f->node == victim->node ? lines : 0;
	case FACTOR_MEMORY:
		for (unsigned n = 0; n < h->nodes; n++)
			sum += lines * f->home[n] * victim->home[n] * h->mem[n].wait;
		return sum;
	case FACTOR_TRACKERS: return f->node == victim->node ? f->active * f->parallel : 0;
	case FACTOR_LOCALITY:
		for (unsigned n = 0; n < h->nodes; n++)
			if (n != f->node && f->node == victim->node)
				sum += lines * f->home[n] * victim->home[n] *
				       h->link[n][f->node].wait;
		return sum;
	default: return 0; /* a VM shares its lines with itself */
	}
}

static void insert_cause(struct diag_result *r, int factor, struct diag_cause cause)
{
	struct diag_cause *list = r->cause[factor];
	unsigned n = r->ncauses[factor], at = n;

	while (at > 0 && list[at - 1].share < cause.share)
		at--;
	if (n < DIAG_CAUSES)
		r->ncauses[factor] = ++n;
	for (unsigned i = n - 1; i > at; i--)
		list[i] = list[i - 1];
	if (at < n)
		list[at] = cause;
}

static int find_causes(const struct host *h, struct diag_result *r)
{
	size_t nvms = h->window->nvms;
	double *use = calloc(nvms + 1, sizeof(*use));

	if (!use)
		return -ENOMEM;
	for (int factor = 0; factor < FACTORS; factor++) {
		double all = 0;

		for (size_t i = 0; i < nvms; i++)
			use[i] = 0;
		for (size_t i = 0; i < h->nflows; i++)
			for (size_t k = 0; k < h->nflows && h->flow[i].vm == r->vm; k++)
				if (h->flow[k].vm != r->vm)
					use[h->flow[k].vm] +=
						use_of(h, &h->flow[k], &h->flow[i], factor);
		for (size_t i = 0; i < nvms; i++)
			all += use[i];
		for (size_t i = 0; i < nvms && all > 0; i++)
			if (use[i] / all > LEAST_CAUSE)
				insert_cause(r, factor,
					     (struct diag_cause) { i, use[i] / all });
	}
	free(use);
	return 0;
}

/* Reads of the node's memory to who made them. */
static void attribute(const struct host *h, unsigned node, struct diag_socket *out)
{
	const struct diag_window *w = h->window;
	struct node_reads r;

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];

		if (!vcpu_by_bytes(&w->vms[f->vm].vcpus[f->vcpu]))
			out->attributed +=
				f->instructions * f->plain * (1 - f->hit) * f->home[node];
	}
	for (size_t i = 0; i < w->nvms; i++)
		for (size_t c = 0; c < w->vms[i].nvcpus; c++) {
			const struct diag_vcpu *vcpu = &w->vms[i].vcpus[c];

			if (vcpu_by_bytes(vcpu))
				out->by_bytes +=
					vcpu_moved(&w->vms[i], vcpu, h->nodes, node);
		}
	node_reads(w, node, (struct nudge) { -1 }, &r);
	out->by_bytes /= 1 + r.writes;
	out->with_writes =
		out->by_bytes > 0 &&
		!quantity_has(&w->node[node].role[ROLE_MEM_WRITES - ROLE_OF_NODE]);
	out->attributed += out->by_bytes;
}

static void fill_socket(const struct host *h, unsigned node, struct diag_socket *out)
{
	const struct diag_window *w = h->window;
	const struct diag_machine *m = &w->machine;
	double full = node_full(w, node);

	*out = (struct diag_socket) {
		.mem_lines = w->node[node].role[ROLE_MEM_READS - ROLE_OF_NODE],
		.mem_use = NAN,
		.link_use = NAN,
		.tracker_full = full,
		.mem_ns = NAN
	};
	attribute(h, node, out);
	if (quantity_has(&out->mem_lines))
		out->unattributed = out->mem_lines.value - out->attributed;
	if (m->mem_rate > 0 && h->mem[node].service > 0) {
		out->mem_use = h->mem[node].use;
		out->mem_ns = 1e9 * h->mem[node].wait + m->mem_idle_ns;
	}
	for (unsigned o = 0; o < h->nodes && m->link_rate > 0 && h->nodes > 1; o++)
		if (o != node)
			out->link_use = fmax(isnan(out->link_use) ? 0 : out->link_use,
					     h->link[node][o].use);
}

static int fill(const struct host *h, const struct rows *rows, struct diagnosis *out)
{
	for (size_t i = 0; i < h->window->nvms; i++) {
		struct diag_result *r = &out->vms[i];
		int rc;

		r->vm = i;
		for (unsigned n = 0; n < h->nodes; n++)
			fill_node(h, rows, i, (int)n, &r->node[n]);
		fill_node(h, rows, i, -1, &r->all);
		find_top(h, r);
		look_at_placement(h->window, r);
		rc = find_causes(h, r);
		if (rc)
			return rc;
		result_sentence(h, r, r->sentence, sizeof(r->sentence));
	}
	for (unsigned n = 0; n < h->nodes; n++)
		fill_socket(h, n, &out->node[n]);
	return 0;
}

int diagnose(const struct diag_window *w, struct diagnosis *out)
{
	struct rows rows = { 0 };
	struct host h = { 0 };
	int rc;

	*out = (struct diagnosis) { .vms = calloc(w->nvms + 1, sizeof(*out->vms)),
				    .nvms = w->nvms };
	rc = out->vms ? host_fit(&h, w, (struct nudge) { -1 }) : -ENOMEM;
	if (!rc)
		rc = rows_fill(&rows, &h, w);
	if (!rc)
		rc = fill(&h, &rows, out);
	out->evaluations = rows.evaluations;
	rows_free(&rows);
	host_free(&h);
	if (rc)
		diagnosis_free(out);
	return rc;
}

void diagnosis_free(struct diagnosis *d)
{
	free(d->vms);
	*d = (struct diagnosis) { 0 };
}
