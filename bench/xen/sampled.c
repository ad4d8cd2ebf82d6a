/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domain that does nothing but look at the clock, and knows by it when it did not run:
 * each gap is one visit to Xen, here for a sample that dom0 takes of it. One that is much
 * longer is a switch to dom0; the median is none of those.
 */
#include "measure.h"

#define GAPS 1000
#define GAP_TICKS 8

static uint64_t gap[GAPS];

/* To the first @n gaps. Gives the looks at the clock in between, and what they took. */
static uint64_t look(unsigned n, uint64_t *looks)
{
	uint64_t last = sysreg_read(cntvct_el0), between = 0;

	for (unsigned i = 0; i < n; ++*looks) {
		uint64_t now = sysreg_read(cntvct_el0), passed = now - last;

		last = now;
		if (passed < GAP_TICKS)
			between += passed;
		else
			gap[i++] = passed;
	}
	return between;
}

/* The mean of the gaps that are as long as the median one, but for a tick or two. */
static uint64_t typical_ns(void)
{
	uint64_t middle, sum = 0, n = 0;

	sort(gap, GAPS);
	middle = gap[GAPS / 2];
	for (unsigned i = 0; i < GAPS; i++) {
		if (gap[i] + 2 < middle || gap[i] > middle + 2)
			continue;
		sum += gap[i];
		n++;
	}
	result("typical", n);
	return sum * TICK_NS / n;
}

int bare_main(void)
{
	uint64_t looks = 0, between;

	until_go();
	between = look(GAPS, &looks);
	result("sample", typical_ns() - between * TICK_NS / looks);
	return 0;
}
