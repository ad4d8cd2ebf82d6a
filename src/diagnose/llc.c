/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/host.h"

#include <math.h>

/*
 * Who holds how much of a shared cache, by Che's approximation: a line stays for one
 * characteristic time after its last use. A flow with @r references/s, spread evenly over
 * a footprint of F lines, hits with 1 - exp(-r T / F); what all hold together is the
 * cache, and that gives T. Read backwards, measured hits give T and the footprints.
 */

#define FITS 0.999 /* hits of a flow whose footprint is there all the time */
#define LEAST_SHARE                                                                        \
	(1 / 32.0)   /* of the LLC: what fits into private caches asks for none            \
		      */
#define FOLLOWS 0.95 /* of its hits */
#define HARDLY 0.05
#define STRETCH 1.5
#define STEPS 30

/* References to a line of the footprint in a characteristic time. */
static double revisits(double hit)
{
	return -log1p(-fmin(hit, FITS));
}

static double references(const struct flow *f)
{
	return f->rate * f->plain;
}

static bool fits(const struct flow *f)
{
	return f->hit >= FITS;
}

/* A flow's part of the LLC if all who fit into it share it by what they ask for. */
static double fair_lines(const struct host *h, const struct flow *f)
{
	double all = 0;

	for (size_t i = 0; i < h->nflows; i++)
		if (h->flow[i].node == f->node && fits(&h->flow[i]))
			all += references(&h->flow[i]);
	return h->lines * references(f) / all;
}

/*
 * Lines of a flow that never misses: not more than it visits often enough in @reuse, and
 * more than its private cache has. That is all that can be known; the mean, if between
 * those each size is as likely as its double.
 */
static double fitting(const struct host *h, const struct flow *f, double reuse)
{
	double most = fmin(references(f) * reuse / revisits(1), fair_lines(h, f));
	double least = h->lines * LEAST_SHARE;

	return most > 1.001 * least ? (most - least) / log(most / least) : most;
}

/* How long a line stays in a node's LLC; INFINITY: nothing is put out. */
static double fit_reuse(const struct host *h, unsigned node)
{
	double sweeps = 0, reuse, held; /* lines put in by flows that miss, 1/s */

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];

		if (f->node == node && f->plain > 0 && !fits(f))
			sweeps += references(f) *
				  (f->hit > 0 ? f->hit / revisits(f->hit) : 1);
	}
	if (!(sweeps > 0) || !(h->lines > 0))
		return INFINITY;
	reuse = h->lines / sweeps;
	for (int step = 0; step < STEPS; step++) {
		held = 0;
		for (size_t i = 0; i < h->nflows; i++)
			if (h->flow[i].node == node && fits(&h->flow[i]))
				held += fitting(h, &h->flow[i], reuse);
		reuse = 0.5 *
			(reuse + fmax(h->lines - held, h->lines * LEAST_SHARE) / sweeps);
	}
	return reuse;
}

/* Nearly all that hits had been fetched by another core just before: a shared stream. */
static bool follows(const struct flow *f)
{
	return f->clean > FOLLOWS;
}

/*
 * One that hardly hits, and fetches less in the time that lines stay than its private
 * caches could keep: it had them there, until an inclusive LLC put them out.
 */
static bool put_out(const struct host *h, const struct flow *f, double reuse)
{
	return f->hit < HARDLY && references(f) * reuse < h->lines * LEAST_SHARE / 2;
}

/* Hits that are few and yet make for a footprint that is larger than the LLC may be those
 * of a small part that is always there: the more they are stretched, the less is
 * believed. */
static double believed(const struct host *h, const struct flow *f)
{
	double lines = 0, gain; /* of its VM there */

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *o = &h->flow[i];

		if (o->vm == f->vm && o->node == f->node && o->spot > 0)
			lines += references(o) / o->spot;
	}
	gain = h->lines / lines - f->hit;
	return lines > h->lines && gain > STRETCH * f->hit ? STRETCH * f->hit / gain : 1;
}

void llc_fit(struct host *h)
{
	for (unsigned n = 0; n < h->nodes; n++)
		h->reuse[n] = fit_reuse(h, n);
	for (size_t i = 0; i < h->nflows; i++) {
		struct flow *f = &h->flow[i];
		double reuse = h->reuse[f->node];

		f->spot = 0;
		f->trust = 1;
		if (!(f->plain > 0) || !(h->lines > 0))
			continue;
		if (fits(f))
			f->spot = references(f) / fmax(fitting(h, f, reuse), 1);
		else if (isfinite(reuse) && put_out(h, f, reuse))
			f->spot = 1 / reuse;
		else if (isfinite(reuse) && f->hit > 0) {
			f->spot = revisits(f->hit) / reuse;
			f->trust = !follows(f);
		}
	}
	for (size_t i = 0; i < h->nflows; i++)
		if (h->flow[i].spot > 0 && h->flow[i].hit > HARDLY)
			h->flow[i].trust *= believed(h, &h->flow[i]);
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
	double spot = f->spot * rate / references(f);
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
		if (f->spot <= 0) {
			hit[i] = 0;
			continue;
		}
		hit[i] = -expm1(-f->spot * f->active / (time[i] * f->rate) * t);
		if (hit[i] > f->hit)
			hit[i] = f->hit + f->trust * (hit[i] - f->hit);
	}
	*reuse = t;
}
