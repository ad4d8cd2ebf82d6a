/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/provenance.h"

#include <math.h>

#define LINUX_TURN_NS 10000000.0 /* a tick of HZ=100, the slowest rotation there is */
#define SHORTEST_RATE_NS 100000	 /* rates over less are noise */
#define RATES_PER_TURN (LINUX_TURN_NS / SHORTEST_RATE_NS)
#define HARDLY 0.1 /* of the time */
#define SHORTEST_VERDICT_NS 20000000
#define SLOWEST_NS_PER_EVENT 100000

static double shortest_ns(const struct estimate *e)
{
	return e->turn_ns > 0 ? e->turn_ns / RATES_PER_TURN : SHORTEST_RATE_NS;
}

void estimate_add(struct estimate *e, uint64_t raw, uint64_t running_ns)
{
	double y = raw, x = running_ns;

	if (!running_ns)
		return;
	e->n++;
	e->raw += y;
	e->running += x;
	e->raw2 += y * y;
	e->running2 += x * x;
	e->cross += x * y;
	if (x >= shortest_ns(e) && y / x > e->top)
		e->top = y / x;
}

/*
 * 99 % quantile of Student's t, two-sided: exact for few degrees of freedom,
 * then the expansion of Abramowitz & Stegun, 26.7.5.
 */
static double student_99(uint64_t dof)
{
	static const double few[] = { 63.657, 9.925, 5.841, 4.604, 4.032,
				      3.707,  3.499, 3.355, 3.250, 3.169 };

	if (dof <= sizeof(few) / sizeof(few[0]))
		return few[dof - 1];
	return 2.5758 + 4.9167 / dof + 8.8338 / ((double)dof * dof);
}

double estimate_error(const struct estimate *e, const struct reading *r, unsigned turns)
{
	double turn = e->turn_ns > 0 ? e->turn_ns : LINUX_TURN_NS;
	double rate, residuals, variance, unseen, coverage, gap, top, edge;

	if (e->n < 3 || !r->running_ns)
		return NAN;
	rate = e->raw / e->running;
	residuals = e->raw2 - 2 * rate * e->cross + rate * rate * e->running2;
	coverage = reading_coverage(r);
	/* n * s^2 of the residuals, scaled to the whole and corrected for its finiteness */
	variance = residuals > 0 ? residuals / (e->n - 1) * e->n : 0;
	variance *= (1 - coverage) / (coverage * coverage);
	unseen = (double)r->enabled_ns - r->running_ns;
	top = e->top > rate ? e->top : rate;
	gap = fmin(unseen, turn * turns * (1 - coverage));
	edge = fmin(unseen, turn) * top + gap * (top - rate);
	return student_99(e->n - 1) * sqrt(variance) + edge;
}

/*
 * A piece of a turn that began or ended here. For a guest's event it may be the host's
 * part, which counts nothing: no rate can be told from it.
 */
static bool hardly_on(const struct reading *r, const struct estimate *e)
{
	return r->running_ns < shortest_ns(e) && r->running_ns < HARDLY * r->enabled_ns;
}

void provenance_judge(struct reading *r, const struct estimate *e, unsigned turns)
{
	if (r->state != READ_COUNTED)
		return;
	r->value = r->raw;
	r->error = 0;
	if (r->enabled_ns <= r->running_ns + MISSED_NOTHING_NS)
		return;
	if (hardly_on(r, e)) {
		r->state = READ_NOT_SCHEDULED;
		r->value = 0;
		r->reason =
			"never on a counter, or too shortly to tell: others hold them, or "
			"too many events share them; ask for fewer events, or longer "
			"intervals";
		return;
	}
	r->state = READ_SCALED;
	r->value = llround((double)r->raw * r->enabled_ns / r->running_ns);
	r->error = estimate_error(e, r, turns);
}

void provenance_judge_total(struct reading *r, const struct estimate *e, unsigned turns,
			    uint64_t sum)
{
	provenance_judge(r, e, turns);
	if (!reading_has_value(r->state))
		return;
	if (r->value != sum)
		r->error += fabs((double)r->value - (double)sum);
	if (r->error > 0 && r->state == READ_COUNTED)
		r->state = READ_SCALED;
	r->value = sum;
}

bool provenance_stands_still(uint64_t raw, uint64_t ran_ns)
{
	return ran_ns >= SHORTEST_VERDICT_NS && raw < ran_ns / SLOWEST_NS_PER_EVENT;
}

static void add_state(struct reading *sum, const struct reading *r)
{
	if (r->state > sum->state || (r->state == sum->state && !sum->reason))
		sum->reason = r->reason;
	if (r->state > sum->state)
		sum->state = r->state;
}

void reading_sum_add(struct reading_sum *s, const struct reading *r,
		     const struct estimate *e)
{
	s->parts++;
	if (r->state == READ_NOT_SCHEDULED) {
		s->missed++;
		s->missed_ns += r->enabled_ns;
		if (!s->r.reason)
			s->r.reason = r->reason;
	} else {
		add_state(&s->r, r);
	}
	s->r.raw += r->raw;
	s->r.enabled_ns += r->enabled_ns;
	s->r.running_ns += r->running_ns;
	if (reading_has_value(r->state)) {
		s->r.value += r->value;
		s->r.error += r->error;
	}
	if (e && e->top > s->top)
		s->top = e->top;
	if (r->running_ns >= SHORTEST_RATE_NS && (double)r->raw / r->running_ns > s->top)
		s->top = (double)r->raw / r->running_ns;
}

struct reading reading_sum_result(const struct reading_sum *s)
{
	struct reading r = s->r;

	if (!s->parts) {
		r.state = READ_NOT_SCHEDULED;
		r.reason = "no thread of a vCPU is known: vmmprof list says why";
	} else if (s->missed && reading_has_value(r.state) && !(s->top > 0)) {
		r.state = READ_NOT_SCHEDULED; /* no rate to allow for what was missed */
	} else if (s->missed && reading_has_value(r.state)) {
		r.error += s->missed_ns * s->top;
		if (r.state == READ_COUNTED)
			r.state = READ_SCALED;
	}
	if (!reading_has_value(r.state))
		r.value = 0;
	return r;
}
