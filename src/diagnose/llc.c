/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/host.h"

#include <math.h>

/*
 * Who holds how much of a shared cache, by Che's approximation: a line stays for one
 * characteristic time after its last use. A flow with @r references/s, spread evenly over
 * a footprint of F lines, hits with 1 - exp(-r T / F); what all hold together is the
 * cache, and that gives T. Read backwards, measured hits give T and the footprints.
 */

#define MOST_HIT (1 - 1e-6)

static double misses_avoided(double hit)
{
	return -log1p(-fmin(hit, MOST_HIT));
}

void llc_fit(struct host *h)
{
	for (unsigned n = 0; n < h->nodes; n++) {
		double use = 0; /* lines per second of the characteristic time */

		for (size_t i = 0; i < h->nflows; i++) {
			const struct flow *f = &h->flow[i];

			if (f->node == n && f->plain > 0)
				use += f->rate * f->plain *
				       (f->hit > 0 ? f->hit / misses_avoided(f->hit) : 1);
		}
		h->reuse[n] = use > 0 && h->lines > 0 ? h->lines / use : INFINITY;
	}
	for (size_t i = 0; i < h->nflows; i++) {
		struct flow *f = &h->flow[i];

		f->spot = isfinite(h->reuse[f->node])
				  ? misses_avoided(f->hit) / h->reuse[f->node]
				  : 0;
	}
}

/* One flow's part of a cache that lines stay in for @reuse: lines, and per second more. */
static void held(const struct flow *f, double time, double reuse, double *lines,
		 double *slope)
{
	double rate = f->active * f->plain / time;

	if (f->spot <= 0 || f->rate <= 0) { /* no line is used again */
		*lines = rate * reuse;
		*slope = rate;
		return;
	}
	double spot = f->spot * rate / (f->rate * f->plain);
	double gone = exp(-spot * reuse);

	*lines = rate / spot * (1 - gone);
	*slope = rate * gone;
}

static bool shares(const struct flow *f, unsigned node, int vm)
{
	return f->node == node && f->plain > 0 && (vm < 0 || f->vm == (size_t)vm);
}

/* The characteristic time. Newton's steps from the left never pass the root: what is held
 * grows ever slower with it. */
static double solve_reuse(const struct host *h, unsigned node, int vm, const double *time,
			  double reuse)
{
	if (!(reuse > 0) || !isfinite(reuse))
		reuse = h->lines * 1e-9;
	for (int step = 0; step < 60; step++) {
		double lines = 0, slope = 0, next;

		for (size_t i = 0; i < h->nflows; i++)
			if (shares(&h->flow[i], node, vm)) {
				double l, s;

				held(&h->flow[i], time[i], reuse, &l, &s);
				lines += l;
				slope += s;
			}
		if (slope * reuse < 1e-4 * h->lines && lines < h->lines)
			return INFINITY; /* all of them fit */
		next = slope > 0 ? reuse + (h->lines - lines) / slope : reuse / 4;
		next = fmin(fmax(next, reuse / 4), reuse * 1e3);
		if (fabs(next - reuse) < 1e-5 * reuse)
			return next;
		reuse = next;
	}
	return reuse;
}

void llc_share(const struct host *h, unsigned node, int vm, const double *time, double *hit,
	       double *reuse)
{
	double t = solve_reuse(h, node, vm, time, *reuse);

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];

		if (!shares(f, node, vm))
			continue;
		if (f->spot <= 0)
			hit[i] = 0;
		else
			hit[i] = -expm1(-f->spot * f->active / (time[i] * f->rate) * t);
	}
	*reuse = t;
}
