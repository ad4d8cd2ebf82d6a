/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/test.h"

#include "tests/sim/machines.h"

#define TIME 40000000ull /* ps */

static const struct machine_off switches[] = {
	{ .remote = true }, { .contention = true }, { .sharing = true },
	{ .memory = true }, { .trackers = true },
};

/* One thread on its own node, in caches and in memory, reading and writing. */
static struct machine *undisturbed(const struct machine_spec *s,
				   const struct machine_off *off)
{
	struct machine *m = machine_of(s, off);
	struct load l = { .core = 1,
			  .lines = 200000,
			  .window = 1,
			  .dependent = true,
			  .random = true,
			  .writes = 80 };
	struct load near = { .core = 1,
			     .first = 1 << 20,
			     .lines = 9000,
			     .window = 1,
			     .dependent = true,
			     .random = true };

	run_loads(m, s, &l, 1, TIME);
	run_loads(m, s, &near, 1, TIME);
	machine_drain(m, 1);
	for (unsigned n = 0; n < s->nodes; n++)
		machine_settle(m, n, 3 * TIME);
	return m;
}

static void a_switch_changes_nothing_where_its_cause_is_not(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *as_it_is = undisturbed(&s, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++) {
		struct machine *m = undisturbed(&s, &switches[i]);

		assert_int_equal(machine_now(m, 1), machine_now(as_it_is, 1));
		assert_memory_equal(machine_core_events(m, 1),
				    machine_core_events(as_it_is, 1),
				    CORE_EVENTS * sizeof(uint64_t));
		for (unsigned n = 0; n < s.nodes; n++)
			assert_memory_equal(machine_node_events(m, n),
					    machine_node_events(as_it_is, n),
					    NODE_EVENTS * sizeof(uint64_t));
		machine_free(m);
	}
	machine_free(as_it_is);
}

static void without_remote_all_memory_is_near(void **state)
{
	struct machine_spec s = machine_named("four-node");
	const struct machine_off off = { .remote = true };

	(void)state;
	for (unsigned home = 0; home < s.nodes; home++) {
		struct machine *m = machine_of(&s, &off);
		struct load crowd[SPEC_CORES] = { 0 };

		assert_about(chase(m, &s, 0, home, 5000, true), s.local, 0.01);
		/* And no link is a bottleneck; the home's channels are. */
		for (unsigned c = 0; c < s.cores; c++) {
			crowd[c] = (struct load) { .core = c,
						   .home = home,
						   .first = (1 + c) << 18,
						   .lines = 1 << 18,
						   .window = 32 };
			machine_idle(m, c, machine_now(m, 0));
		}
		run_loads(m, &s, crowd, s.cores, TIME);
		assert_int_equal(nodes_sum(m, &s, NODE_LINK_STALLED), 0);
		assert_true((double)crowd[0].done * s.cores * SPEC_LINE * 1e12 / TIME >
			    1.5 * (double)s.link_rate);
		machine_free(m);
	}
}

/* LLC misses of a VM whose data fit, beside another that streams. */
static double misses_beside_a_stream(const struct machine_spec *s,
				     const struct machine_off *off)
{
	struct machine *m = machine_of(s, off);
	struct load fast = { .lines = 10000, .window = 10, .random = true };
	struct load l[4] = {
		{ .lines = 10000, .window = 1, .dependent = true, .random = true }
	};
	const uint64_t *e = machine_core_events(m, 0);
	uint64_t misses, refs;

	for (unsigned c = 1; c < 4; c++)
		l[c] = (struct load) {
			.core = c, .first = c << 20, .lines = 1 << 20, .window = 10
		};
	run_loads(m, s, &fast, 1, 10 * TIME);
	for (unsigned c = 1; c < 4; c++)
		machine_idle(m, c, machine_now(m, 0));
	run_loads(m, s, l, 4, 15 * TIME);
	misses = e[CORE_LLC_MISS];
	refs = e[CORE_LLC_REF];
	run_loads(m, s, l, 4, 5 * TIME);
	misses = e[CORE_LLC_MISS] - misses;
	refs = e[CORE_LLC_REF] - refs;
	machine_free(m);
	return (double)misses / (double)refs;
}

static void without_contention_each_vm_has_the_whole_llc(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	const struct machine_off off = { .contention = true };

	(void)state;
	assert_true(misses_beside_a_stream(&s, NULL) > 0.2);
	assert_true(misses_beside_a_stream(&s, &off) < 0.01);
}

/* ps of a write to a line that another core, of node 0 or 1, writes in turn. */
static double ping_pong(const struct machine_spec *s, unsigned other,
			const struct machine_off *off, uint64_t *hitm)
{
	struct machine *m = machine_of(s, off);
	struct load l[2] = {
		{ .core = 0, .lines = 1, .window = 1, .dependent = true, .writes = 256 }
	};

	l[1] = l[0];
	l[1].core = other;
	run_loads(m, s, l, 2, TIME);
	*hitm = cores_sum(m, s, CORE_OTHER_CORE_HITM) + cores_sum(m, s, CORE_REMOTE_HITM);
	machine_free(m);
	return 2.0 * TIME / (double)(l[0].done + l[1].done);
}

static void without_sharing_writers_of_a_line_do_not_feel_each_other(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	const struct machine_off off = { .sharing = true };
	uint64_t hitm;

	(void)state;
	assert_true(ping_pong(&s, 1, NULL, &hitm) > 0.9 * s.modified);
	assert_true(hitm > 100);
	assert_true(ping_pong(&s, 4, NULL, &hitm) > 0.9 * s.remote_modified);
	assert_true(hitm > 100);
	assert_true(ping_pong(&s, 1, &off, &hitm) < 1.1 * s.l1.latency);
	assert_int_equal(hitm, 0);
	assert_true(ping_pong(&s, 4, &off, &hitm) < 1.1 * s.l1.latency);
	assert_int_equal(hitm, 0);
}

/* ps of a chase beside @n streams on the same node. */
static double beside(const struct machine_spec *s, unsigned n,
		     const struct machine_off *off, uint64_t *full)
{
	struct machine *m = machine_of(s, off);
	struct load l[4] = {
		{ .core = 0, .lines = 1 << 18, .window = 1, .dependent = true }
	};

	for (unsigned c = 1; c <= n; c++)
		l[c] = (struct load) {
			.core = c, .first = c << 18, .lines = 1 << 18, .window = 32
		};
	run_loads(m, s, l, n + 1, TIME);
	*full = machine_node_events(m, 0)[NODE_RT_FULL];
	machine_free(m);
	return (double)TIME / (double)l[0].done;
}

static void without_memory_no_channel_makes_wait(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	const struct machine_off off = { .memory = true };
	uint64_t full;

	(void)state;
	assert_true(beside(&s, 3, NULL, &full) > 1.2 * s.local);
	assert_about(beside(&s, 3, &off, &full), s.local, 0.02);
}

static void without_trackers_none_is_ever_full(void **state)
{
	struct machine_spec s =
		machine_named("trackers 16/16/12, 3 channels DDR3-1333, memory 12G");
	const struct machine_off off = { .trackers = true, .memory = true };
	const struct machine_off only_memory = { .memory = true };
	uint64_t full;

	(void)state;
	assert_true(beside(&s, 3, &only_memory, &full) > 1.2 * s.local);
	assert_true(full > 0);
	assert_about(beside(&s, 3, &off, &full), s.local, 0.01);
	assert_int_equal(full, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_changes_nothing_where_its_cause_is_not),
		cmocka_unit_test(without_remote_all_memory_is_near),
		cmocka_unit_test(without_contention_each_vm_has_the_whole_llc),
		cmocka_unit_test(without_sharing_writers_of_a_line_do_not_feel_each_other),
		cmocka_unit_test(without_memory_no_channel_makes_wait),
		cmocka_unit_test(without_trackers_none_is_ever_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
