/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SESSION_PROVENANCE_H
#define SESSION_PROVENANCE_H

/*
 * What a counter's reading is worth. Pure functions: no clock, no source.
 *
 * Scaling. An event that shares counters by turns was on one for running of
 * enabled ns, read at n moments ("ticks"); tick i saw raw_i events in
 * running_i ns. Its value is the ratio estimate (Cochran, Sampling Techniques,
 * 3rd ed., 6.2)
 *
 *   R = sum raw / sum running,   value = R * enabled
 *
 * and the bound on its error is, at 99 %,
 *
 *   t(n-1) * sqrt((enabled/running)^2 * n * s^2 * (1 - running/enabled))
 *     + turn * top + gap * (top - R)
 *
 * where s^2 is the variance of the residuals raw_i - R * running_i (6.4, with
 * the finite population correction), top the highest rate of any tick, turn
 * the longest time the source leaves events on the counters before it rotates
 * them (Linux: 10 ms at HZ=100), gap the time between two turns of one event. The
 * last two terms allow for what happened at the edges, and for a phase as
 * busy as any that was seen and that fell between two turns. No bound can
 * allow for a burst unlike all that was seen, nor for a VM that keeps step with
 * the rotation. With fewer than three ticks the bound is unknown, not made up.
 */

#include <stddef.h>

#include "model/reading.h"

/* An event that misses less than this was on its counter all the time: the
 * kernel's own clock steps between enabling an event and starting it. */
#define MISSED_NOTHING_NS 10000

struct estimate {
	uint64_t n;
	double raw, running, raw2, running2, cross; /* sums, of squares, of products */
	double top;				    /* highest rate, events per ns */
	double turn_ns;				    /* the longest turn; 0: of Linux */
};

/* A tick in which the event was on a counter for @running_ns and counted @raw. */
void estimate_add(struct estimate *e, uint64_t raw, uint64_t running_ns);
/*
 * Half width of the 99 % bound on the scaled value, in events; NaN if unknown.
 * @turns  how many events and groups share the counters
 */
double estimate_error(const struct estimate *e, const struct reading *r, unsigned turns);

/*
 * Fills value, error, state and reason of a reading that the source calls
 * READ_COUNTED, from its raw, enabled_ns and running_ns; others stay as they are. A
 * hundredth of a turn, if it is less than a tenth of the time too, is as none.
 */
void provenance_judge(struct reading *r, const struct estimate *e, unsigned turns);
/*
 * The total of a run whose every interval had a value: provenance_judge() of the
 * whole, but with the value @sum, the sum of the intervals' values as they were
 * shown; the difference goes into the bound.
 */
void provenance_judge_total(struct reading *r, const struct estimate *e, unsigned turns,
			    uint64_t sum);
/*
 * Is @raw too little for an event that cannot stand still while its vCPU ran
 * for @ran_ns? Below 20 ms nothing can be told; one event in 100 us is less
 * than the idle loop of a sleeping guest makes.
 */
bool provenance_stands_still(uint64_t raw, uint64_t ran_ns);

/*
 * A sum over vCPUs: the worst state wins, with two exceptions. A vCPU whose
 * turn never came leaves the sum a value if others had theirs: what it missed
 * is allowed for in the bound, at the highest rate seen, if any was. Bounds add up: vCPUs
 * of one VM change phase together.
 */
struct reading_sum {
	struct reading r;
	size_t parts, missed; /* parts without a turn */
	uint64_t missed_ns;   /* time they would have counted */
	double top;	      /* highest rate of any part */
};

/* Adds a judged reading, and the highest rate its estimate saw (may be NULL). */
void reading_sum_add(struct reading_sum *s, const struct reading *r,
		     const struct estimate *e);
struct reading reading_sum_result(const struct reading_sum *s);

#endif
