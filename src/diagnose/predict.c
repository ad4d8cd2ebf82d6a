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

/* The mean over VMs that ran of what each factor costs them, at @base and off from there.
 */
static int mean_losses(struct host *h, const struct solution *base, double *out)
{
	size_t nvms = h->window->nvms;
	double *work = calloc(2 * nvms + 1, sizeof(*work)), *faster = work + nvms;
	struct solution s = { 0 };
	int rc = work ? host_solution(h, &s) : -ENOMEM;

	for (int factor = 0; factor < FACTORS && !rc; factor++) {
		size_t ran = 0;

		solution_copy(h, base, &s);
		host_solve(h, OFF(factor), &s);
		for (size_t v = 0; v < nvms; v++)
			work[v] = faster[v] = 0;
		for (size_t i = 0; i < h->nflows; i++) {
			const struct flow *f = &h->flow[i];

			work[f->vm] += f->instructions;
			faster[f->vm] += f->instructions * base->time[i] / s.time[i];
		}
		out[factor] = 0;
		for (size_t v = 0; v < nvms; v++)
			if (faster[v] > 0) {
				out[factor] += 1 - work[v] / faster[v];
				ran++;
			}
		out[factor] /= ran ? (double)ran : 1;
	}
	solution_free(&s);
	free(work);
	return rc;
}

static int predict_parts(struct predictor *p, double *part)
{
	double before[FACTORS], after[FACTORS];
	struct solution now = { 0 };
	int rc = mean_losses(&p->host, &p->base, before);

	if (!rc)
		rc = host_solution(&p->trial, &now);
	if (!rc) {
		solution_copy(&p->trial, &p->s, &now);
		rc = mean_losses(&p->trial, &now, after);
	}
	for (int i = 0; i < FACTORS && !rc; i++)
		part[i] = after[i] - before[i];
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
	rc = predict_parts(p, out->part);
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
				     .error = calloc(w->nvms + 1, sizeof(*out->error)) };
	rc = !placement_valid(w, to)		 ? -EINVAL
	     : out->speed && out->error && doubt ? 0
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
	*p = (struct prediction) { 0 };
}
