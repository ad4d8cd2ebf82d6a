/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <math.h>
#include <stdbool.h>

#include "base/vec.h"
#include "session/provenance.h"

#define MS 1000000u

/* xorshift64*: the same trials every time. */
static uint64_t seed;

static double random_01(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (double)((seed * 0x2545f4914f6cdd1dull) >> 11) / (double)(UINT64_C(1) << 53);
}

static double between(double lo, double hi)
{
	return lo + (hi - lo) * random_01();
}

/* What a VM does: events per ms, ms by ms. */
enum { STEADY, PHASES, WANDERING, BURSTS, WORKLOADS };

struct workload {
	int kind;
	double period, shift, high, rate;
	int left;
};

static struct workload new_workload(int kind)
{
	return (struct workload) { .kind = kind,
				   .period = between(30, 2000),
				   .shift = between(0, 2000),
				   .high = between(1, 20),
				   .rate = 1 };
}

static double events_in_ms(struct workload *w, int t)
{
	switch (w->kind) {
	case PHASES:
		return fmod(t + w->shift, w->period) < w->period / 2 ? 1000 * w->high
								     : 1000;
	case WANDERING:
		w->rate *= exp(between(-0.15, 0.15));
		w->rate = fmin(fmax(w->rate, 0.05), 20);
		return 1000 * w->rate;
	case BURSTS:
		if (w->left-- <= 0) {
			w->left = (int)between(1, 20);
			w->rate = random_01() < 0.2 ? between(2, 10) : 1;
		}
		return 1000 * w->rate;
	}
	return between(990, 1010);
}

/* One second or so of event 0 of @events on @counters, rotated every @turn ms. */
static bool trial_inside(int kind, int events, int counters, int turn, int length, int tick)
{
	struct workload w = new_workload(kind);
	int first = (int)between(0, events), offset = (int)between(0, turn);
	struct estimate e = { 0 };
	struct reading r = { 0 };
	double truth = 0, raw = 0;
	uint64_t running = 0;

	for (int t = 0; t < length; t++) {
		double n = events_in_ms(&w, t);

		truth += n;
		if (((t + offset) / turn + first) % events < counters) {
			raw += n;
			running += MS;
		}
		if ((t + 1) % tick)
			continue;
		estimate_add(&e, (uint64_t)raw, running);
		r.raw += (uint64_t)raw;
		r.running_ns += running;
		raw = running = 0;
	}
	r.enabled_ns = (uint64_t)length * MS;
	provenance_judge(&r, &e, events);
	assert_int_equal(r.state, READ_SCALED);
	return fabs((double)r.value - truth) <= r.error;
}

static void assert_inside(int kind, int events, int counters, int turn)
{
	int inside = 0, trials = 1000;

	seed = 20240607;
	for (int i = 0; i < trials; i++)
		inside += trial_inside(kind, events, counters, turn, 2000, 50);
	if (inside < trials * 98 / 100)
		print_error("workload %d, %d events on %d counters: %d of %d inside\n",
			    kind, events, counters, inside, trials);
	assert_true(inside >= trials * 98 / 100);
}

static void the_truth_is_inside_the_bound_for_twelve_events_on_seven_counters(void **state)
{
	(void)state;
	for (int kind = 0; kind < WORKLOADS; kind++) {
		assert_inside(kind, 12, 7, 1);
		assert_inside(kind, 12, 7, 4);
	}
}

static void the_truth_is_inside_the_bound_for_a_few_counters(void **state)
{
	(void)state;
	for (int kind = 0; kind < WORKLOADS; kind++)
		assert_inside(kind, 8, 4, 4);
}

static void a_steady_event_has_a_narrow_bound(void **state)
{
	struct estimate e = { 0 };
	struct reading r = { .enabled_ns = 2000u * MS,
			     .running_ns = 1000u * MS,
			     .raw = 1000000 };

	(void)state;
	for (int i = 0; i < 20; i++)
		estimate_add(&e, 50000, 50 * MS);
	provenance_judge(&r, &e, 12);
	assert_int_equal(r.state, READ_SCALED);
	assert_int_equal(r.value, 2000000);
	assert_true(r.error > 0 && r.error < 0.01 * 2000000);
}

/* The same, a hundred times faster: by a source whose turns are that much shorter. */
static void a_bound_is_as_narrow_in_a_short_time_of_short_turns(void **state)
{
	struct estimate e = { .turn_ns = MS / 10 };
	struct reading r = { .enabled_ns = 20u * MS,
			     .running_ns = 10u * MS,
			     .raw = 1000000 };

	(void)state;
	for (int i = 0; i < 20; i++)
		estimate_add(&e, 50000, MS / 2);
	provenance_judge(&r, &e, 12);
	assert_int_equal(r.value, 2000000);
	assert_true(r.error > 0 && r.error < 0.01 * 2000000);
}

static void too_few_ticks_make_the_bound_unknown(void **state)
{
	struct estimate e = { 0 };
	struct reading r = { .enabled_ns = 100 * MS, .running_ns = 50 * MS, .raw = 100 };

	(void)state;
	estimate_add(&e, 50, 25 * MS);
	estimate_add(&e, 50, 25 * MS);
	provenance_judge(&r, &e, 12);
	assert_int_equal(r.value, 200);
	assert_true(isnan(r.error));
}

static void what_counted_all_the_time_is_exact_and_what_never_did_has_no_value(void **state)
{
	struct estimate e = { 0 };
	struct reading all = { .enabled_ns = 50 * MS, .running_ns = 50 * MS, .raw = 7 };
	struct reading idle = { 0 };
	struct reading never = { .enabled_ns = 50 * MS };
	struct reading hardly = { .enabled_ns = 4 * MS, .running_ns = MS / 20 };
	struct reading denied = { .state = READ_DENIED, .reason = "no" };

	(void)state;
	provenance_judge(&all, &e, 1);
	assert_int_equal(all.state, READ_COUNTED);
	assert_int_equal(all.value, 7);
	assert_true(all.error == 0);
	provenance_judge(&idle, &e, 1);
	assert_int_equal(idle.state, READ_COUNTED);
	provenance_judge(&never, &e, 1);
	assert_int_equal(never.state, READ_NOT_SCHEDULED);
	assert_non_null(never.reason);
	provenance_judge(&hardly, &e, 1);
	assert_int_equal(hardly.state, READ_NOT_SCHEDULED);
	provenance_judge(&denied, &e, 1);
	assert_int_equal(denied.state, READ_DENIED);
	assert_string_equal(denied.reason, "no");
}

static void a_total_keeps_the_sum_of_its_intervals_and_pays_in_its_bound(void **state)
{
	struct estimate e = { 0 };
	struct reading r = { .enabled_ns = 2000u * MS,
			     .running_ns = 1000u * MS,
			     .raw = 1000000 };

	(void)state;
	for (int i = 0; i < 20; i++)
		estimate_add(&e, 50000, 50 * MS);
	provenance_judge_total(&r, &e, 12, 2500000);
	assert_int_equal(r.value, 2500000);
	assert_true(r.error > 500000);
}

static void standing_still_is_told_only_where_there_was_time_to_move(void **state)
{
	(void)state;
	assert_false(provenance_stands_still(0, 19 * MS));
	assert_true(provenance_stands_still(0, 20 * MS));
	assert_true(provenance_stands_still(312, 1200u * MS));
	assert_false(provenance_stands_still(1000000, 1000u * MS));
}

static void a_sum_is_no_better_than_its_worst_part(void **state)
{
	struct reading_sum sum = { 0 };
	struct reading good = { .value = 5, .raw = 5, .enabled_ns = MS, .running_ns = MS };
	struct reading bad = { .state = READ_TAKEN, .reason = "held" };
	struct reading r;

	(void)state;
	reading_sum_add(&sum, &good, NULL);
	r = reading_sum_result(&sum);
	assert_int_equal(r.state, READ_COUNTED);
	assert_int_equal(r.value, 5);
	reading_sum_add(&sum, &bad, NULL);
	r = reading_sum_result(&sum);
	assert_int_equal(r.state, READ_TAKEN);
	assert_string_equal(r.reason, "held");
	assert_int_equal(r.value, 0);
}

static void a_vcpu_whose_turn_never_came_widens_the_bound_of_the_sum(void **state)
{
	struct reading_sum sum = { 0 };
	struct reading good = {
		.value = 4000, .raw = 4000, .enabled_ns = 4 * MS, .running_ns = 4 * MS
	};
	struct reading missed = { .state = READ_NOT_SCHEDULED,
				  .reason = "no turn",
				  .enabled_ns = MS };
	struct reading r;

	(void)state;
	reading_sum_add(&sum, &missed, NULL);
	r = reading_sum_result(&sum);
	assert_int_equal(r.state, READ_NOT_SCHEDULED);
	assert_string_equal(r.reason, "no turn");
	reading_sum_add(&sum, &good, NULL);
	r = reading_sum_result(&sum);
	assert_int_equal(r.state, READ_SCALED);
	assert_int_equal(r.value, 4000);
	assert_true(fabs(r.error - 1000) < 1);
}

static void a_missed_turn_beside_vcpus_that_counted_nothing_is_no_zero(void **state)
{
	struct reading_sum sum = { 0 };
	struct reading idle = { 0 };
	struct reading missed = { .state = READ_NOT_SCHEDULED,
				  .reason = "no turn",
				  .enabled_ns = 1000u * MS };

	(void)state;
	reading_sum_add(&sum, &idle, NULL);
	reading_sum_add(&sum, &missed, NULL);
	assert_int_equal(reading_sum_result(&sum).state, READ_NOT_SCHEDULED);
	assert_string_equal(reading_sum_result(&sum).reason, "no turn");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_truth_is_inside_the_bound_for_twelve_events_on_seven_counters),
		cmocka_unit_test(the_truth_is_inside_the_bound_for_a_few_counters),
		cmocka_unit_test(a_steady_event_has_a_narrow_bound),
		cmocka_unit_test(a_bound_is_as_narrow_in_a_short_time_of_short_turns),
		cmocka_unit_test(too_few_ticks_make_the_bound_unknown),
		cmocka_unit_test(
			what_counted_all_the_time_is_exact_and_what_never_did_has_no_value),
		cmocka_unit_test(
			a_total_keeps_the_sum_of_its_intervals_and_pays_in_its_bound),
		cmocka_unit_test(standing_still_is_told_only_where_there_was_time_to_move),
		cmocka_unit_test(a_sum_is_no_better_than_its_worst_part),
		cmocka_unit_test(
			a_missed_turn_beside_vcpus_that_counted_nothing_is_no_zero),
		cmocka_unit_test(a_vcpu_whose_turn_never_came_widens_the_bound_of_the_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
