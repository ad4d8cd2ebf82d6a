/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/reads.h"

#include <math.h>

/*
 * Victims of inclusion. A core does not ask the LLC for what its own L2 has, so that such
 * a line grows old in the LLC, however often it is used; when an inclusive LLC puts it out,
 * one characteristic time after it came, the L2 loses it, too, and it comes from memory
 * again (Jaleel, Borch, Bhandaru, Steely, Emer, MICRO 2010).
 */

#define FIRST_LINES 512 /* of an L1: who has no more asks his L2 for nothing */

/*
 * Lines that an LLC swept in @reuse takes from one that has @lines in its L2, which gives
 * it @uses lines/s: each is lost @reuse after it came, and comes when it is used again.
 * How many lines an L2 has no counter tells: between @least and @most, each size is as
 * likely as its double, and this is the mean, 1/s.
 */
static double taken(double uses, double least, double most, double reuse)
{
	double kept = uses * reuse; /* uses in that time */

	if (isinf(reuse))
		return 0;
	if (most <= 1.001 * least)
		return uses * most / (kept + most);
	return uses * log((kept + most) / (kept + least)) / log(most / least);
}

/* … beside those that the L2 would have put out itself by then. */
static double victims(const struct host *h, const struct flow *f, double least, double most,
		      double rate, double reuse)
{
	double uses = rate * f->kept, stay = h->private / (rate * f->plain);

	if (!(reuse < stay))
		return 0;
	return taken(uses, least, most, reuse) - taken(uses, least, most, stay);
}

/*
 * An L2 has what fits into it, or as little as makes an L1 ask for it; not more than makes
 * for what is missed now, if the LLC was swept in the window at all.
 */
void inclusion_fit(struct host *h)
{
	for (size_t i = 0; i < h->nflows; i++) {
		struct flow *f = &h->flow[i];
		double reuse = h->reuse[f->node], most = h->private;
		double misses = f->plain * (1 - f->hit);

		f->inner_most = f->inner_least = 0;
		f->victims = 0;
		if (!h->window->machine.inclusive || !(f->kept > 0))
			continue;
		if (reuse < h->window->seconds &&
		    victims(h, f, most, most, f->rate, reuse) > f->rate * misses)
			most = f->rate * misses * reuse * (1 + misses / f->kept);
		f->inner_most = most;
		f->inner_least = h->most_inner ? most : fmin(FIRST_LINES, most / 2);
		f->victims = victims(h, f, f->inner_least, most, f->rate, reuse) / f->rate;
	}
}

double inclusion_lost(const struct host *h, const struct flow *f, double time, double reuse)
{
	double rate = f->active / time;

	if (!(f->inner_most > 0))
		return 0;
	return fmax(victims(h, f, f->inner_least, f->inner_most, rate, reuse) / rate -
			    f->victims,
		    0);
}
