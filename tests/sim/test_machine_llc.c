/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/test.h"

#include <math.h>

#include "tests/sim/machines.h"

#define TIME 6000000000ull /* ps */

/* The time for which a line of an LRU cache of @size lines stays in it untouched: Che, Tung
 * and Wang, Hierarchical Web caching systems, 2002. @rate: accesses to a line per ps. */
static double characteristic_time(const double lines[2], const double rate[2], double size)
{
	double low = 0, high = 1e12;

	for (int i = 0; i < 100; i++) {
		double t = (low + high) / 2, held = 0;

		for (int k = 0; k < 2; k++)
			held += lines[k] * (1 - exp(-rate[k] * t));
		if (held < size)
			low = t;
		else
			high = t;
	}
	return low;
}

static void two_vms_share_the_llc_as_che_says(void **state)
{
	static const struct {
		double lines[2];
		unsigned window;
	} cases[] = { { { 100000, 100000 }, 1 }, { { 60000, 200000 }, 4 } };
	struct machine_spec s = machine_named("nehalem-ep");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct machine *m = machine_of(&s, NULL);
		struct load l[2] = { 0 };
		double refs[2], misses[2], rate[2], t;

		for (unsigned c = 0; c < 2; c++)
			l[c] = (struct load) { .core = c,
					       .first = c << 20,
					       .lines = (uint64_t)cases[i].lines[c],
					       .window = c ? cases[i].window : 1,
					       .random = true,
					       .state = c };
		run_loads(m, &s, l, 2, 2 * TIME);
		for (unsigned c = 0; c < 2; c++) {
			refs[c] = (double)machine_core_events(m, c)[CORE_LLC_REF];
			misses[c] = (double)machine_core_events(m, c)[CORE_LLC_MISS];
		}
		run_loads(m, &s, l, 2, TIME);
		for (unsigned c = 0; c < 2; c++) {
			const uint64_t *e = machine_core_events(m, c);

			refs[c] = (double)e[CORE_LLC_REF] - refs[c];
			misses[c] = (double)e[CORE_LLC_MISS] - misses[c];
			rate[c] = refs[c] / cases[i].lines[c] / TIME;
		}
		t = characteristic_time(cases[i].lines, rate,
					(double)s.llc.bytes / SPEC_LINE);
		for (unsigned c = 0; c < 2; c++)
			assert_about(1 - misses[c] / refs[c], 1 - exp(-rate[c] * t), 0.06);
		machine_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_vms_share_the_llc_as_che_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
