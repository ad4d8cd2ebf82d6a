/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/diagnose.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "diagnose/predictor.h"
#include "diagnose/rows.h"

/* Of the hits that a VM would gain, what comes if its footprint is another than its few
 * hits say: no counter tells it. */
#define FOOTPRINTS 0.75

/* How much faster each VM's work is at @fast than at @base, both of one host. @work: each
 * one's instructions. */
static void paces(const struct host *h, const struct solution *base,
		  const struct solution *fast, double *work, double *pace)
{
	for (size_t v = 0; v < h->window->nvms; v++)
		work[v] = pace[v] = 0;
	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];

		work[f->vm] += f->instructions;
		pace[f->vm] += f->instructions * base->time[i] / fast->time[i];
	}
	for (size_t v = 0; v < h->window->nvms; v++)
		pace[v] = pace[v] > 0 ? pace[v] / work[v] : 1;
}

/* Adds, times @sign, what each factor costs each VM at @s, as a share of the time that its
 * work takes at @before. Who would be slower without a factor loses nothing to it. */
static int add_costs(struct host *h, const struct solution *before,
		     const struct solution *s, double sign, double (*cost)[FACTORS])
{
	size_t nvms = h->window->nvms;
	double *work = calloc(3 * nvms + 1, sizeof(*work));
	double *pace = work + nvms, *without = pace + nvms;
	struct solution off = { 0 };
	int rc = work ? host_solution(h, &off) : -ENOMEM;

	if (!rc)
		paces(h, before, s, work, pace);
	for (int factor = 0; factor < FACTORS && !rc; factor++) {
		solution_copy(h, s, &off);
		host_solve(h, OFF(factor), &off);
		paces(h, s, &off, work, without);
		for (size_t v = 0; v < nvms; v++)
			cost[v][factor] += sign * fmax(1 - 1 / without[v], 0) / pace[v];
	}
	solution_free(&off);
	free(work);
	return rc;
}

static int predict_costs(struct predictor *p, double (*cost)[FACTORS])
{
	struct solution now = { 0 };
	int rc = add_costs(&p->host, &p->base, &p->base, -1, cost);

	if (!rc)
		rc = host_solution(&p->trial, &now);
	if (!rc) {
		solution_copy(&p->trial, &p->s, &now);
		rc = add_costs(&p->trial, &p->base, &now, 1, cost);
	}
	solution_free(&now);
	return rc;
}

/* Adds, squared, how far a try is from the prediction. */
static int add_error(struct predictor *p, const struct diag_placement *to,
		     struct prediction *out)
{
	size_t nvms = p->host.window->nvms;
	double *speed = calloc(nvms + 1, sizeof(*speed)), host;

	if (!speed)
		return -ENOMEM;
	host = predictor_try(p, to, speed);
	out->host_error += (host - out->host) * (host - out->host);
	for (size_t v = 0; v < nvms; v++)
		out->error[v] += (speed[v] - out->speed[v]) * (speed[v] - out->speed[v]);
	free(speed);
	return 0;
}

/* What one role's error does to the prediction. */
static int nudge_role(const struct diag_window *w, const struct diag_placement *to,
		      int role, struct prediction *out)
{
	struct predictor p = { 0 };
	int rc = predictor_new(&p, w, (struct nudge) { role });

	if (!rc)
		rc = add_error(&p, to, out);
	predictor_free(&p);
	return rc;
}

static bool placement_valid(const struct diag_window *w, const struct diag_placement *to)
{
	int nodes = (int)w->machine.nodes;

	for (size_t v = 0; v < w->nvms; v++) {
		if (to->mem[v] >= nodes)
			return false;
		for (size_t c = 0; c < w->vms[v].nvcpus; c++)
			if (to->vcpu[v][c] >= nodes)
				return false;
	}
	return true;
}

/* What the readings say at face value, and, squared, how far that may be off by what no
 * counter tells. */
static int predict_so(struct predictor *p, const struct diag_placement *to,
		      struct prediction *out, double *doubt, double *host_doubt)
{
	int rc;

	out->host = predictor_try(p, to, out->speed);
	*host_doubt = predictor_doubt(p, doubt);
	rc = predict_costs(p, out->cost);
	p->common = 1;
	if (!rc)
		rc = add_error(p, to, out);
	p->common = COMMON;
	for (size_t i = 0; i < p->host.nflows; i++)
		p->host.flow[i].trust *= p->host.flow[i].even ? 1 : FOOTPRINTS;
	return rc ? rc : add_error(p, to, out);
}

int predict(const struct diag_window *w, const struct diag_placement *to,
	    struct prediction *out)
{
	double *doubt = calloc(w->nvms + 1, sizeof(*doubt)), host_doubt = 0;
	struct predictor p = { 0 };
	int rc;

	*out = (struct prediction) { .speed = calloc(w->nvms + 1, sizeof(*out->speed)),
				     .error = calloc(w->nvms + 1, sizeof(*out->error)),
				     .cost = calloc(w->nvms + 1, sizeof(*out->cost)) };
	rc = !placement_valid(w, to)			      ? -EINVAL
	     : out->speed && out->error && out->cost && doubt ? 0
							      : -ENOMEM;
	if (!rc)
		rc = predictor_new(&p, w, (struct nudge) { -1 });
	if (!rc)
		rc = predict_so(&p, to, out, doubt, &host_doubt);
	predictor_free(&p);
	for (int role = 0; role < ROLES && !rc; role++)
		if (window_uncertain(w, role))
			rc = nudge_role(w, to, role, out);
	if (!rc && w->machine.inclusive)
		rc = nudge_role(w, to, NUDGE_INNER, out);
	out->host_error = sqrt(out->host_error) + host_doubt;
	for (size_t v = 0; v < w->nvms && !rc; v++)
		out->error[v] = sqrt(out->error[v]) + doubt[v];
	free(doubt);
	if (rc)
		prediction_free(out);
	return rc;
}

void prediction_free(struct prediction *p)
{
	free(p->speed);
	free(p->error);
	free(p->cost);
	*p = (struct prediction) { 0 };
}
