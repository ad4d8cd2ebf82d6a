/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../unit/test.h"

#include "generate.h"
#include "measure.h"
#include "numasim/scenario.h"

#define WARM_NS 500000
#define WINDOW_NS 700000

/* The scenarios that are named after a factor: theirs costs much, the others little. */
static void each_factor_can_be_shown_alone(void **state)
{
	static const char *const names[FACTORS] = { "remote", "llc", "sharing", "memory",
						    "trackers" };
	static struct truth truth;
	struct err err = { 0 };

	(void)state;
	for (int i = 0; i < FACTORS; i++) {
		const struct true_vm *victim = &truth.vm[0];

		if (measure_truth(names[i], WARM_NS, WINDOW_NS, &truth, &err))
			fail_msg("%s", err.text);
		for (int f = 0; f < FACTORS; f++) {
			if (f == i ? victim->loss[f] > 0.15
				   : victim->loss[f] < victim->loss[i] / 2)
				continue;
			fail_msg("%s: factor %d costs %.3f", names[i], f, victim->loss[f]);
		}
	}
}

static void a_host_that_wants_for_nothing_loses_nothing(void **state)
{
	static struct truth truth;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(measure_truth("quiet", WARM_NS, WINDOW_NS, &truth, &err), 0);
	for (unsigned i = 0; i < truth.nvms; i++)
		for (int f = 0; f < FACTORS; f++)
			assert_true(truth.vm[i].loss[f] < 0.02);
}

static void a_seed_is_one_scenario_and_a_good_one(void **state)
{
	struct strbuf a = { 0 }, b = { 0 };

	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct scenario sc;
		struct err err = { 0 };

		assert_int_equal(generate_scenario(seed, &a), 0);
		assert_int_equal(generate_scenario(seed, &b), 0);
		assert_string_equal(a.data, b.data);
		if (scenario_load(a.data, &sc, &err))
			fail_msg("%s\n%s", err.text, a.data);
		assert_true(sc.nvms >= 1 && sc.nvms <= 8);
		scenario_free(&sc);
	}
	strbuf_free(&a);
	strbuf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_factor_can_be_shown_alone),
		cmocka_unit_test(a_host_that_wants_for_nothing_loses_nothing),
		cmocka_unit_test(a_seed_is_one_scenario_and_a_good_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
