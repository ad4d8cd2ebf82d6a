/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/test.h"

#include <string.h>

#include "tests/sim/machines.h"

static const char *const presets[] = { "nehalem-ep", "westmere-ep", "skylake-sp-4110",
				       "four-node", "eight-node" };

static void an_idle_machine_takes_the_times_of_its_data_sheet(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(presets) / sizeof(*presets); i++) {
		struct machine_spec s = machine_named(presets[i]);
		struct machine *m = machine_of(&s, NULL);
		uint64_t l2 = s.l2.bytes / SPEC_LINE;

		assert_string_equal(s.name, presets[i]);
		assert_about(chase(m, &s, 0, 0, 200, false), s.l1.latency, 0.01);
		assert_about(chase(m, &s, 0, 0, l2 / 2, false), s.l2.latency, 0.01);
		assert_about(chase(m, &s, 0, 0, 3 * l2, false), s.llc.latency, 0.01);
		machine_free(m);
		for (unsigned home = 0; home < s.nodes; home++) {
			m = machine_of(&s, NULL);
			assert_about(chase(m, &s, s.cores, home, 5000, true),
				     s.local + s.hops[home][1] * (s.remote - s.local),
				     0.01);
			machine_free(m);
		}
	}
}

/* Time that @reader waits for a line that @writer has, written or read. */
static double passed_on(const struct machine_spec *s, unsigned writer, bool written,
			unsigned reader)
{
	struct machine *m = machine_of(s, NULL);
	struct access a = { .write = written,
			    .dependent = true,
			    .window = 1,
			    .instructions = 1,
			    .cycles = 1 };
	const unsigned n = 100;
	uint64_t begin;

	for (unsigned i = 0; i < n; i++) {
		a.line = i;
		machine_access(m, writer, &a);
	}
	machine_drain(m, writer);
	machine_idle(m, reader, machine_now(m, writer));
	begin = machine_now(m, reader);
	a.write = false;
	for (unsigned i = 0; i < n; i++) {
		a.line = i;
		machine_access(m, reader, &a);
	}
	machine_drain(m, reader);
	begin = machine_now(m, reader) - begin;
	machine_free(m);
	return (double)begin / n;
}

static void another_cores_line_takes_longer_if_it_was_written(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");

	(void)state;
	assert_about(passed_on(&s, 0, false, 1), s.shared, 0.02);
	assert_about(passed_on(&s, 0, true, 1), s.modified, 0.02);
	assert_about(passed_on(&s, 0, false, 4), s.remote_cache, 0.02);
	assert_about(passed_on(&s, 0, true, 4), s.remote_modified, 0.02);
	assert_about(passed_on(&s, 4, true, 0), s.remote_modified, 0.02);
}

/* The published figures, in ns: Levinthal's guide at 2.93 GHz, and MLC's idle latency. */
static void presets_are_within_a_tenth_of_the_published_times(void **state)
{
	static const double cycle = 1 / 2.93;
	struct machine_spec nehalem = machine_named("nehalem-ep");
	struct machine_spec westmere = machine_named("westmere-ep");
	struct machine_spec skylake = machine_named("skylake-sp-4110");

	(void)state;
	assert_about(nehalem.l1.latency / 1e3, 4 * cycle, 0.1);
	assert_about(nehalem.l2.latency / 1e3, 10 * cycle, 0.1);
	assert_about(nehalem.llc.latency / 1e3, 40 * cycle, 0.1);
	assert_about(nehalem.shared / 1e3, 65 * cycle, 0.1);
	assert_about(nehalem.modified / 1e3, 75 * cycle, 0.1);
	assert_about(nehalem.local / 1e3, 60, 0.1);
	assert_about(nehalem.remote / 1e3, 100, 0.1);
	assert_about(westmere.llc.latency / 1e3, 56 * cycle, 0.1);
	assert_about(westmere.local / 1e3, 87, 0.1);
	assert_about(skylake.local / 1e3, 82, 0.1);
}

static void a_window_lets_so_many_misses_overlap(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");

	(void)state;
	for (unsigned window = 1; window <= 16; window *= 2) {
		struct machine *m = machine_of(&s, NULL);
		struct load l = { .lines = 1 << 20, .window = window };
		unsigned overlap = window < s.lfb ? window : s.lfb;

		run_loads(m, &s, &l, 1, 100000000);
		assert_about(100000000.0 / (double)l.done, (double)s.local / overlap, 0.06);
		machine_free(m);
	}
}

static void full_line_fill_buffers_are_told_from_other_waiting(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *m = machine_of(&s, NULL);
	struct load narrow = { .lines = 1 << 20, .window = 4 };
	struct load wide = { .core = 1, .lines = 1 << 20, .window = 32 };
	const uint64_t *ev;

	(void)state;
	run_loads(m, &s, &narrow, 1, 10000000);
	ev = machine_core_events(m, 0);
	assert_int_equal(ev[CORE_LFB_FULL], 0);
	assert_true(ev[CORE_STALL] > ev[CORE_CYCLES] / 2);
	run_loads(m, &s, &wide, 1, 10000000);
	ev = machine_core_events(m, 1);
	assert_true(ev[CORE_LFB_FULL] > ev[CORE_STALL] / 2);
	assert_true(ev[CORE_LFB_FULL] <= ev[CORE_STALL]);
	machine_free(m);
}

static void a_line_on_its_way_is_asked_for_once(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *m = machine_of(&s, NULL);
	struct access a = { .line = 1, .window = 8, .instructions = 1, .cycles = 1 };
	const uint64_t *ev = machine_core_events(m, 0);

	(void)state;
	for (int i = 0; i < 5; i++)
		machine_access(m, 0, &a);
	assert_int_equal(ev[CORE_LLC_MISS], 1);
	assert_int_equal(ev[CORE_LFB_HIT], 4);
	machine_drain(m, 0);
	machine_access(m, 0, &a);
	assert_int_equal(ev[CORE_L1_HIT], 1);
	machine_free(m);
}

static void idle_time_is_no_cycles(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *m = machine_of(&s, NULL);

	(void)state;
	machine_compute(m, 0, 1000, 2930);
	assert_about((double)machine_now(m, 0), 1e6, 0.001);
	machine_idle(m, 0, 5000000);
	assert_int_equal(machine_now(m, 0), 5000000);
	machine_idle(m, 0, 4000000);
	assert_int_equal(machine_now(m, 0), 5000000);
	assert_int_equal(machine_core_events(m, 0)[CORE_CYCLES], 2930);
	assert_int_equal(machine_core_events(m, 0)[CORE_INSTRUCTIONS], 1000);
	machine_free(m);
}

static unsigned alarms;
static uint64_t alarmed_at;

static void on_alarm(void *ctx, unsigned core)
{
	struct machine *m = ctx;

	alarms++;
	alarmed_at = machine_core_events(m, core)[CORE_LLC_MISS];
}

static void an_alarm_comes_with_the_access_that_reaches_the_mark(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *m = machine_of(&s, NULL);
	struct load l = { .core = 2, .lines = 1 << 20, .window = 8 };

	(void)state;
	alarms = 0;
	machine_alarm(m, on_alarm, m);
	machine_mark(m, 2, CORE_LLC_MISS, 100);
	machine_mark(m, 2, CORE_L2_HIT, 1);
	machine_mark(m, 2, CORE_L2_HIT, UINT64_MAX);
	run_loads(m, &s, &l, 1, 10000000);
	assert_true(machine_core_events(m, 2)[CORE_LLC_MISS] > 200);
	assert_int_equal(alarms, 1);
	assert_int_equal(alarmed_at, 100);
	machine_free(m);
}

static void moved_memory_is_in_no_cache(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *m = machine_of(&s, NULL);
	struct access a = {
		.window = 1, .dependent = true, .instructions = 1, .cycles = 1
	};
	const uint64_t *ev = machine_core_events(m, 0);
	uint64_t writes;

	(void)state;
	for (a.write = true, a.line = 0; a.line < 200; a.line++)
		machine_access(m, 0, &a);
	machine_drain(m, 0);
	machine_forget(m, 100, 50);
	writes = channels_sum(m, 0, NODE_CHANNEL_WRITES);
	for (a.write = false, a.line = 0; a.line < 200; a.line++)
		machine_access(m, 0, &a);
	machine_drain(m, 0);
	assert_int_equal(ev[CORE_LLC_MISS], 250);
	assert_int_equal(writes, 0);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_machine_takes_the_times_of_its_data_sheet),
		cmocka_unit_test(another_cores_line_takes_longer_if_it_was_written),
		cmocka_unit_test(presets_are_within_a_tenth_of_the_published_times),
		cmocka_unit_test(a_window_lets_so_many_misses_overlap),
		cmocka_unit_test(full_line_fill_buffers_are_told_from_other_waiting),
		cmocka_unit_test(a_line_on_its_way_is_asked_for_once),
		cmocka_unit_test(idle_time_is_no_cycles),
		cmocka_unit_test(an_alarm_comes_with_the_access_that_reaches_the_mark),
		cmocka_unit_test(moved_memory_is_in_no_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
