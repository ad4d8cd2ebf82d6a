/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "diagnose/reads.h"

/* How far the model itself is off, as measured on hosts whose truth is known: a share of
 * what it says, and never less than a little. */
#define MODEL_SHARE 0.15
#define MODEL_LEAST 0.005

static void add_stack(const struct flow *f, const struct anatomy *a, struct row *row)
{
	double unit = f->felt > 0 ? f->uncore / f->felt : 0;

	row->cycles += f->cycles;
	row->stall += f->stall;
	row->rest += f->felt > 0 ? f->stall - f->uncore + unit * a->own : f->stall;
	for (int i = 0; i < FACTORS; i++)
		row->part[i] += unit * a->part[i];
}

/* The same work takes 1 - loss of its time without the factor. Work is instructions; VMs
 * of several vCPUs do as much as all of them do. */
static void add_losses(const struct host *h, const struct solution *s, int factor,
		       double *work, double *faster, struct row *rows)
{
	size_t nrows = h->window->nvms * ROWS_OF_VM;

	for (size_t i = 0; i < nrows; i++)
		work[i] = faster[i] = 0;
	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];
		const size_t at[] = { f->vm * ROWS_OF_VM + f->node,
				      f->vm * ROWS_OF_VM + ROW_ALL };

		for (int k = 0; k < 2; k++) {
			work[at[k]] += f->instructions;
			faster[at[k]] += f->instructions * f->time / s->time[i];
		}
	}
	for (size_t i = 0; i < nrows; i++)
		rows[i].loss[factor] = faster[i] > 0 ? 1 - work[i] / faster[i] : 0;
}

static int compute(struct host *h, struct row *rows)
{
	size_t nrows = h->window->nvms * ROWS_OF_VM;
	double *sums = calloc(2 * nrows + 1, sizeof(*sums));
	struct solution s = { 0 };
	int rc = sums ? host_solution(h, &s) : -ENOMEM;

	if (rc)
		goto out;
	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];
		struct anatomy a;

		host_anatomy(h, i, &s, &a);
		add_stack(f, &a, &rows[f->vm * ROWS_OF_VM + f->node]);
		add_stack(f, &a, &rows[f->vm * ROWS_OF_VM + ROW_ALL]);
	}
	for (int i = 0; i < FACTORS; i++) {
		solution_reset(h, &s);
		host_solve(h, OFF(i), &s);
		add_losses(h, &s, i, sums, sums + nrows, rows);
	}
out:
	solution_free(&s);
	free(sums);
	return rc;
}

bool window_uncertain(const struct diag_window *w, int role)
{
	for (unsigned n = 0; n < w->machine.nodes && n < DIAG_NODES; n++)
		if (role >= ROLE_OF_NODE && w->node[n].role[role - ROLE_OF_NODE].error > 0)
			return true;
	for (size_t i = 0; i < w->nvms && role < ROLE_OF_NODE; i++)
		for (size_t c = 0; c < w->vms[i].nvcpus; c++)
			if (w->vms[i].vcpus[c].role[role].error > 0)
				return true;
	return false;
}

/* Adds to @error, squared, how far the results are from @rows if one role of all is at
 * the edge of its error. */
static int nudge_role(const struct diag_window *w, int role, struct rows *rows)
{
	size_t n = w->nvms * ROWS_OF_VM;
	struct row *nudged = calloc(n + 1, sizeof(*nudged));
	struct host h = { 0 };
	int rc = nudged ? host_fit(&h, w, (struct nudge) { role }) : -ENOMEM;

	if (!rc)
		rc = compute(&h, nudged);
	if (!rc)
		for (size_t i = 0; i < n * ROW_NUMBERS; i++) {
			double off = ((double *)nudged)[i] - ((double *)rows->row)[i];

			((double *)rows->error)[i] += off * off;
		}
	rows->evaluations += h.evaluations;
	host_free(&h);
	free(nudged);
	return rc;
}

int rows_fill(struct rows *rows, struct host *h, const struct diag_window *w)
{
	size_t n = w->nvms * ROWS_OF_VM;
	int rc;

	*rows = (struct rows) { .row = calloc(n + 1, sizeof(*rows->row)),
				.error = calloc(n + 1, sizeof(*rows->error)) };
	rc = rows->row && rows->error ? compute(h, rows->row) : -ENOMEM;
	rows->evaluations = h->evaluations;
	for (int role = 0; role < ROLES && !rc; role++)
		if (window_uncertain(w, role))
			rc = nudge_role(w, role, rows);
	if (!rc)
		rc = nudge_role(w, NUDGE_FOOTPRINTS, rows);
	if (rc) {
		rows_free(rows);
		return rc;
	}
	for (size_t i = 0; i < n * ROW_NUMBERS; i++)
		((double *)rows->error)[i] = sqrt(((double *)rows->error)[i]);
	for (size_t i = 0; i < n; i++)
		for (int f = 0; f < FACTORS; f++) {
			struct row *row = &rows->row[i], *e = &rows->error[i];

			e->loss[f] += MODEL_SHARE * fabs(row->loss[f]) + MODEL_LEAST;
			e->part[f] += MODEL_SHARE * fabs(row->part[f]);
			e->rest += MODEL_SHARE * fabs(row->part[f]);
		}
	return 0;
}

void rows_free(struct rows *rows)
{
	free(rows->row);
	free(rows->error);
	*rows = (struct rows) { 0 };
}
