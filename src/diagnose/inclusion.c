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

/* Lines that a flow's L2 loses to the LLC that is swept in @reuse, 1/s, beside those that
 * it puts out itself, if it has @lines of them and gives one @uses times a second. */
static double victims(const struct host *h, const struct flow *f, double lines, double rate,
		      double reuse)
{
	double unused = lines / (rate * f->kept); /* until the next wants it again */
	double stay = h->private / (rate * f->plain);

	if (!(reuse < stay))
		return 0;
	return lines / (reuse + unused) - lines / (stay + unused);
}

/*
 * How many lines a flow has in its L2 no counter tells: as many as that has, or as few as
 * make its L1 ask for them; each size is as likely as its double, and that gives the mean.
 * Not more than what it misses now can be the victims of.
 */
void inclusion_fit(struct host *h)
{
	for (size_t i = 0; i < h->nflows; i++) {
		struct flow *f = &h->flow[i];
		double reuse = h->reuse[f->node], most = h->private, least;
		double misses = f->plain * (1 - f->hit);

		f->inner = 0;
		f->victims = 0;
		if (!h->window->machine.inclusive || !(f->kept > 0))
			continue;
		if (victims(h, f, most, f->rate, reuse) > f->rate * misses)
			most = f->rate * misses * reuse * (1 + misses / f->kept);
		least = fmin(FIRST_LINES, most / 2);
		f->inner = h->most_inner ? most : (most - least) / log(most / least);
		f->victims = victims(h, f, f->inner, f->rate, reuse) / f->rate;
	}
}

double inclusion_lost(const struct host *h, const struct flow *f, double time, double reuse)
{
	double rate = f->active / time;

	if (!(f->inner > 0))
		return 0;
	return fmax(victims(h, f, f->inner, rate, reuse) / rate - f->victims, 0);
}
