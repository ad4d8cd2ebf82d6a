/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/test.h"

#include <math.h>

#include "tests/sim/machines.h"

static void about(double value, double expected, double within)
{
	if (fabs(value - expected) > within * expected)
		fail_msg("%g instead of %g", value, expected);
}

static void an_idle_machine_takes_the_times_of_its_data_sheet(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *m = machine_of(&s, NULL);

	(void)state;
	about(chase(m, &s, 0, 0, 200), s.l1.latency, 0.01);
	about(chase(m, &s, 0, 0, 2000), s.l2.latency, 0.01);
	about(chase(m, &s, 0, 0, 50000), s.llc.latency, 0.01);
	about(chase(m, &s, 0, 0, 500000), s.local, 0.01);
	about(chase(m, &s, 1, 1, 500000), s.remote, 0.01);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_machine_takes_the_times_of_its_data_sheet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
