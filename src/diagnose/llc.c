/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/reads.h"

#include <math.h>

/*
 * Who holds how much of a shared cache, by Che's approximation: a line stays for one
 * characteristic time after its last use. A flow with @r references/s, spread evenly over
 * a footprint of F lines, hits with 1 - exp(-r T / F); what all hold together is the
 * cache, and that gives T. Read backwards, measured hits give T and the footprints.
 */

#define FITS 0.999	/* hits of a flow whose footprint is there all the time */
#define FOLLOWS 0.95	/* of its hits: another core had them just before … */
#define FOLLOWS_HIT 0.4 /* … and with two in step that is every second request */
#define HARDLY 0.05
#define FIRST_LINES 512	     /* of an L1: what fits there asks the L2 for nothing either */
#define LEAST_OF_MEMORY 0.25 /* a footprint, where nothing else tells of it */
#define STREAM 1e-4	     /* hits of what is used once */
#define STREAMED 0.7	     /* of what a random footprint would keep, a stream's does */
#define LARGE 8		     /* LLCs: a footprint of more is as good as without end */
#define STEPS 30
#define LEAST_SEEN 0.05 /* of the time that lines stay */
#define ALIKE 0.4
#define LEAST_TELLING 0.01
#define LEAST_SEEN_TELLING 0.1

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
	double least = h->private;

	return most > 1.001 * least ? (most - least) / log(most / least) : most;
}

/* How long a line stays in a node's LLC; INFINITY: nothing is put out. */
static double fit_reuse(const struct host *h, unsigned node)
{
	double sweeps = 0, reuse, held; /* lines put in by flows that miss, 1/s */
	double lines = h->lines;	/* besides those that private caches have, too */

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *f = &h->flow[i];
		double each = f->hit > 0 ? f->hit / revisits(f->hit) : 1;

		if (f->node != node || !(f->plain > 0) || fits(f))
			continue;
		sweeps += references(f) * each;
		if (f->even)
			lines -= h->private * (1 - each);
	}
	if (!(sweeps > 0) || !(h->lines > 0))
		return INFINITY;
	lines = fmax(lines, h->private);
	reuse = lines / sweeps;
	for (int step = 0; step < STEPS; step++) {
		held = 0;
		for (size_t i = 0; i < h->nflows; i++)
			if (h->flow[i].node == node && fits(&h->flow[i]))
				held += fitting(h, &h->flow[i], reuse);
		reuse = 0.5 * (reuse + fmax(lines - held, h->private) / sweeps);
	}
	return reuse;
}

/*
 * While its private caches have a line, its core does not ask the LLC for it, so that it
 * grows old there: what is asked for again after that, and before @reuse, hits.
 */
static double seen_for(const struct host *h, const struct flow *f, double requests,
		       double reuse)
{
	double stay = f->even ? h->private / requests : 0;

	return isfinite(reuse) ? fmax(reuse - stay, LEAST_SEEN * reuse) : reuse;
}

/*
 * One of which no part hits more than the rest hits as a footprint would that is used
 * evenly, and its own L2 gives it as much as it would of that: k of all that it asks for,
 * where it has k of the footprint, so that it asks the LLC as often for each line as
 * 1 - k times it is used.
 */
static bool used_evenly(const struct host *h, const struct flow *f, double reuse)
{
	double seen, kept, like;

	if (!isfinite(reuse))
		return false;
	seen = seen_for(h, f, references(f), reuse);
	kept = f->kept / f->plain;
	like = h->private * revisits(f->hit) / (references(f) * seen);
	return seen >= LEAST_SEEN_TELLING * reuse && fabs(kept - like) < ALIKE * like;
}

/* How long lines stay depends on who uses his evenly: all that may, until one does not. */
static void find_even(struct host *h, unsigned node)
{
	bool less = true;

	for (size_t i = 0; i < h->nflows; i++) {
		struct flow *f = &h->flow[i];

		if (f->node == node)
			f->even = f->plain > 0 && f->kept > 0 && !fits(f) &&
				  f->hit >= LEAST_TELLING;
	}
	while (less) {
		less = false;
		h->reuse[node] = fit_reuse(h, node);
		for (size_t i = 0; i < h->nflows; i++) {
			struct flow *f = &h->flow[i];

			if (f->node != node || !f->even ||
			    used_evenly(h, f, h->reuse[node]))
				continue;
			f->even = false;
			less = true;
		}
	}
}

/* All that hits had been fetched by another core just before: a shared stream. */
static bool follows(const struct flow *f)
{
	return f->clean > FOLLOWS && f->hit > FOLLOWS_HIT;
}

/* Lines that a flow fetches into its private caches while they stay there: until they are
 * full, or an inclusive LLC has put them out. */
static double turnover(const struct host *h, const struct flow *f, double reuse)
{
	return fmin(references(f) * reuse, h->private);
}

/*
 * One that hardly hits, and fetches much less in the time that lines stay than its private
 * caches could keep. What it asks for again meanwhile it still has, so that the LLC gives
 * nothing, whatever its footprint.
 */
static bool put_out(const struct host *h, const struct flow *f, double reuse)
{
	return f->hit < HARDLY && references(f) * reuse < h->private / 2;
}

/* The least footprint of one that is put out: of the lines that it touches in their stay
 * its private caches give again a share that is the smaller the more lines there are. */
static double least_lines(const struct host *h, const struct flow *f, double reuse)
{
	double lines = turnover(h, f, reuse);

	if (lines < FIRST_LINES || f->kept < 0)
		return lines;
	return f->kept > 0 ? lines * (1 + f->plain / f->kept) : INFINITY;
}

/* Hits in the LLC of a footprint that is somewhere between @least and @most lines, each
 * size as likely as its double: their mean. */
static double mean_hit(const struct host *h, double least, double most)
{
	double sum = 0;

	if (h->least_footprints)
		return fmin(1, h->lines / least);
	if (least < h->lines)
		sum += log(fmin(h->lines, most) / least);
	if (most > h->lines)
		sum += h->lines / fmax(least, h->lines) - h->lines / most;
	return sum / log(most / least);
}

/* All that its footprint can be: the VM's memory. */
static double memory_lines(const struct host *h, const struct flow *f)
{
	const struct diag_vm *vm = &h->window->vms[f->vm];
	double memory = 0;

	for (unsigned n = 0; n < h->nodes; n++)
		memory += vm->mem_node[n] / DIAG_LINE;
	return memory > 0 ? memory : LARGE * h->lines;
}

static double most_lines(const struct host *h, const struct flow *f)
{
	return fmin(LARGE * h->lines, memory_lines(h, f));
}

/* Of a VM's flows on a node that are put out: they share an LLC that they have alone. */
static double floor_of_put_out(const struct host *h, const struct flow *f)
{
	double least = 0, most = most_lines(h, f);

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *o = &h->flow[i];

		if (o->vm == f->vm && o->node == f->node && o->spot > 0)
			least += least_lines(h, o, h->reuse[o->node]);
	}
	if (f->kept < 0)
		least = fmax(least, LEAST_OF_MEMORY * most);
	if (least < 0.99 * most)
		return mean_hit(h, least, most);
	return fmin(1, h->lines / fmin(least, memory_lines(h, f)));
}

/*
 * Hits that are few may be those of a small part that is always there, while the rest is
 * larger than they make it: up to all of the VM's memory. And what hits even less than
 * all of that would is a stream, of that at most.
 */
static void believe(const struct host *h, struct flow *f)
{
	double lines = 0, most = most_lines(h, f), all;

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *o = &h->flow[i];

		if (o->vm == f->vm && o->node == f->node && o->spot > 0)
			lines += references(o) / o->spot;
	}
	all = fmin(1, h->lines / lines);
	if (lines < 0.99 * most)
		f->trust = fmin(mean_hit(h, lines, most) / all, 1);
	else
		f->floor = STREAMED * fmin(1, h->lines / memory_lines(h, f));
}

static void fit_hits(struct host *h, unsigned node);

void llc_fit(struct host *h)
{
	for (unsigned n = 0; n < h->nodes; n++)
		find_even(h, n);
	for (size_t i = 0; i < h->nflows; i++) {
		struct flow *f = &h->flow[i];
		double reuse = h->reuse[f->node];

		f->spot = 0;
		f->trust = 1;
		f->floor = 0;
		if (!(f->plain > 0) || !(h->lines > 0))
			continue;
		if (fits(f))
			f->spot = references(f) / fmax(fitting(h, f, reuse), 1);
		else if (f->even)
			f->spot = revisits(f->hit) / seen_for(h, f, references(f), reuse);
		else if (isfinite(reuse))
			f->spot = revisits(fmax(f->hit, STREAM)) / reuse;
	}
	for (size_t i = 0; i < h->nflows; i++) {
		struct flow *f = &h->flow[i];

		if (f->spot > 0 && follows(f))
			f->trust = 0;
		else if (f->spot > 0 && put_out(h, f, h->reuse[f->node])) {
			f->floor = floor_of_put_out(h, f);
			f->trust = f->kept < 0;
		} else if (f->spot > 0 && !fits(f) && !f->even)
			believe(h, f);
	}
	for (unsigned n = 0; n < h->nodes; n++)
		fit_hits(h, n);
}

/* One flow's part of a cache that lines stay in for @reuse: lines, and per second more.
 * Those that its private caches have are there, too. */
static void held(const struct host *h, const struct flow *f, double time, double reuse,
		 double *lines, double *slope)
{
	double rate = f->active * f->plain / time;

	if (f->spot <= 0 || f->rate <= 0) { /* no line is used again */
		*lines = rate * reuse;
		*slope = rate;
		return;
	}
	double spot = f->spot * rate / references(f);
	double seen = seen_for(h, f, rate, reuse), gone = exp(-spot * seen);

	*lines = rate * (reuse - seen + (1 - gone) / spot);
	*slope = rate * gone;
}

static bool shares(const struct flow *f, unsigned node, int vm)
{
	return f->node == node && f->plain > 0 && (vm < 0 || f->vm == (size_t)vm);
}

/* The characteristic time; @time NULL: of the real host. Newton's steps from the left never
 * pass the root: what is held grows ever slower with it. */
static double solve_reuse(const struct host *h, unsigned node, int vm, const double *time,
			  double reuse)
{
	if (!(reuse > 0) || !isfinite(reuse))
		reuse = h->lines * 1e-9;
	for (int step = 0; step < 60; step++) {
		double lines = 0, slope = 0, next;

		for (size_t i = 0; i < h->nflows; i++) {
			const struct flow *f = &h->flow[i];

			if (shares(f, node, vm)) {
				double l, s;

				held(h, f, time ? time[i] : f->time, reuse, &l, &s);
				lines += l;
				slope += s;
			}
		}
		if (slope * reuse < 1e-4 * h->lines && lines < h->lines)
			return INFINITY; /* all of them fit */
		next = slope > 0 ? reuse + (h->lines - lines) / slope : reuse / 4;
		next = fmin(fmax(next, reuse / 4), reuse * 1e3);
		if (fabs(next - reuse) < 1e-4 * reuse)
			return next;
		reuse = next;
	}
	return reuse;
}

/* Hits of one that takes @time for an instruction where lines stay for @reuse. */
static double hits(const struct host *h, const struct flow *f, double time, double reuse)
{
	double rate = f->active / time;

	return -expm1(-f->spot * rate / f->rate * seen_for(h, f, rate * f->plain, reuse));
}

/* What the model says of the real host, from which all else differs. */
static void fit_hits(struct host *h, unsigned node)
{
	double reuse = solve_reuse(h, node, -1, NULL, h->reuse[node]);

	for (size_t i = 0; i < h->nflows; i++) {
		struct flow *f = &h->flow[i];

		if (f->node == node)
			f->modelled = f->spot > 0 ? hits(h, f, f->time, reuse) : 0;
	}
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
		double gain = hits(h, f, time[i], t) - f->modelled;

		hit[i] = fmax(f->hit + gain * (gain > 0 ? f->trust : 1), 0);
	}
	*reuse = t;
}

/* What others hold there they do not hold if it is alone; as far as its own VM fills the
 * LLC already, nothing changes. */
static double held_by_others(const struct host *h, const struct flow *f)
{
	double own = 0;

	for (size_t i = 0; i < h->nflows; i++) {
		const struct flow *o = &h->flow[i];
		double lines, slope;

		if (o->vm != f->vm || o->node != f->node || !(o->plain > 0))
			continue;
		held(h, o, o->time, h->reuse[o->node], &lines, &slope);
		own += lines;
	}
	return fmax(1 - own / h->lines, 0);
}

/* Somebody else asks this LLC for lines. */
static bool crowded(const struct host *h, const struct flow *f)
{
	for (size_t i = 0; i < h->nflows; i++)
		if (shares(&h->flow[i], f->node, -1) && h->flow[i].vm != f->vm)
			return true;
	return false;
}

void llc_alone(struct host *h, struct solution *s)
{
	for (unsigned n = 0; n < h->nodes; n++)
		for (size_t i = 0; i < h->window->nvms && h->lines > 0; i++)
			llc_share(h, n, (int)i, s->time, s->hit, &s->reuse[n]);
	for (size_t i = 0; i < h->nflows; i++) {
		struct flow *f = &h->flow[i];

		f->alone = f->hit;
		if (!crowded(h, f))
			continue;
		f->alone = fmax(s->hit[i], f->hit);
		if (f->floor > f->alone && isfinite(h->reuse[f->node]))
			f->alone += (f->floor - f->alone) * held_by_others(h, f);
		f->alone = fmax(fmin(f->alone, 1 - f->cold), f->hit);
	}
}
