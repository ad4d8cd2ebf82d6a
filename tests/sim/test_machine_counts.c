/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/test.h"

#include <string.h>

#include "tests/sim/machines.h"

#define TIME 40000000ull /* ps */

/* Threads of every kind: private and shared, near and far, read and written. */
static struct machine *busy(const struct machine_spec *s, const struct machine_off *off)
{
	struct machine *m = machine_of(s, off);
	struct load loads[SPEC_NODES * SPEC_CORES] = { 0 };
	const unsigned n = s->nodes * s->cores;

	for (unsigned c = 0; c < n; c++) {
		loads[c] = (struct load) { .core = c,
					   .home = c % 3 ? c / s->cores : c % s->nodes,
					   .first = (1 + c) << 18,
					   .lines = c % 4 ? 300000 : 20000,
					   .window = 1 + c % 12,
					   .writes = 60,
					   .random = true,
					   .state = c };
		if (c % 2)
			loads[c].first = loads[c].lines = 3000; /* these share them */
	}
	run_loads(m, s, loads, n, TIME);
	/* Until all that was begun is over. */
	for (unsigned c = 0; c < n; c++)
		machine_drain(m, c);
	for (unsigned node = 0; node < s->nodes; node++)
		machine_settle(m, node, 2 * TIME);
	return m;
}

static void check_core(const uint64_t *e)
{
	const uint64_t served = e[CORE_L1_HIT] + e[CORE_LFB_HIT] + e[CORE_L2_HIT];

	/* A write may hit a line and still ask the uncore for the right to it. */
	assert_true(served + e[CORE_LLC_REF] >= e[CORE_LOADS] + e[CORE_STORES]);
	assert_true(served + e[CORE_LLC_REF] <= e[CORE_LOADS] + 2 * e[CORE_STORES]);
	assert_int_equal(e[CORE_LLC_REF],
			 e[CORE_LLC_UNSHARED_HIT] + e[CORE_OTHER_CORE_HIT] +
				 e[CORE_OTHER_CORE_HITM] + e[CORE_LLC_MISS]);
	assert_int_equal(e[CORE_LLC_MISS], e[CORE_LOCAL_DRAM] + e[CORE_REMOTE_DRAM] +
						   e[CORE_REMOTE_CACHE] +
						   e[CORE_REMOTE_HITM]);
	assert_true(e[CORE_OUTSTANDING_CYCLES] <= e[CORE_OUTSTANDING]);
	assert_true(e[CORE_LFB_FULL] <= e[CORE_STALL] && e[CORE_STALL] < e[CORE_CYCLES]);
	assert_int_equal(e[CORE_CYCLES], e[CORE_REF_CYCLES]);
}

static void every_access_is_counted_where_it_was_served(void **state)
{
	static const char *const presets[] = { "nehalem-ep", "four-node", "eight-node" };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct machine_spec s = machine_named(presets[i]);
		struct machine *m = busy(&s, NULL);

		for (unsigned c = 0; c < s.nodes * s.cores; c++)
			check_core(machine_core_events(m, c));
		assert_true(cores_sum(m, &s, CORE_OTHER_CORE_HITM) > 100);
		assert_true(cores_sum(m, &s, CORE_REMOTE_HITM) > 100);
		assert_true(cores_sum(m, &s, CORE_REMOTE_CACHE) > 100);
		machine_free(m);
	}
}

static void what_cores_count_is_what_nodes_count(void **state)
{
	static const char *const presets[] = { "nehalem-ep", "four-node", "eight-node" };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct machine_spec s = machine_named(presets[i]);
		struct machine *m = busy(&s, NULL);
		uint64_t reads = 0, writes = 0, misses = cores_sum(m, &s, CORE_LLC_MISS);

		for (unsigned n = 0; n < s.nodes; n++) {
			reads += channels_sum(m, n, NODE_CHANNEL_READS);
			writes += channels_sum(m, n, NODE_CHANNEL_WRITES);
		}
		assert_int_equal(reads, cores_sum(m, &s, CORE_LOCAL_DRAM) +
						cores_sum(m, &s, CORE_REMOTE_DRAM));
		assert_int_equal(writes, nodes_sum(m, &s, NODE_HOME_LOCAL_WRITES) +
						 nodes_sum(m, &s, NODE_HOME_REMOTE_WRITES));
		assert_int_equal(misses, nodes_sum(m, &s, NODE_LLC_READ_MISS) +
						 nodes_sum(m, &s, NODE_LLC_WRITE_MISS));
		assert_int_equal(misses, nodes_sum(m, &s, NODE_HOME_LOCAL_READS) +
						 nodes_sum(m, &s, NODE_HOME_REMOTE_READS));
		assert_int_equal(cores_sum(m, &s, CORE_LLC_REF),
				 nodes_sum(m, &s, NODE_RT_ALLOC));
		assert_int_equal(cores_sum(m, &s, CORE_LOCAL_DRAM),
				 nodes_sum(m, &s, NODE_DATA_FROM_MEMORY));
		machine_free(m);
	}
}

/* Every request that leaves a socket, or looks whether others have the line, asks all of
 * them, and each answers once. */
static void every_snoop_is_answered(void **state)
{
	struct machine_spec s = machine_named("four-node");
	struct machine *m = busy(&s, NULL);
	uint64_t answers = 0;

	(void)state;
	for (unsigned e = NODE_SNOOP_LOCAL_I; e <= NODE_SNOOP_LOCAL_WB; e++)
		answers += nodes_sum(m, &s, e);
	for (unsigned e = NODE_SNOOP_REMOTE_I; e <= NODE_SNOOP_REMOTE_WB; e++)
		answers += nodes_sum(m, &s, e);
	assert_int_equal(answers, nodes_sum(m, &s, NODE_PPT_ALLOC));
	assert_int_equal(answers, nodes_sum(m, &s, NODE_LLC_PROBE_HIT) +
					  nodes_sum(m, &s, NODE_LLC_PROBE_MISS));
	assert_true(answers >= 3 * cores_sum(m, &s, CORE_LLC_MISS));
	machine_free(m);
}

static void an_llc_holds_no_more_than_came_and_did_not_go(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *m = busy(&s, NULL);

	(void)state;
	for (unsigned n = 0; n < s.nodes; n++) {
		const uint64_t *e = machine_node_events(m, n);
		uint64_t in = 0, out = 0;

		for (unsigned i = NODE_LINES_IN_M; i <= NODE_LINES_IN_F; i++)
			in += e[i];
		for (unsigned i = NODE_LINES_OUT_M; i <= NODE_LINES_OUT_F; i++)
			out += e[i];
		assert_true(in > out && in - out <= s.llc.bytes / SPEC_LINE);
	}
	machine_free(m);
}

/* Little's law, from what an observer outside sees: threads' own times. */
static void occupancy_is_rate_times_latency(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *m = machine_of(&s, NULL);
	struct load loads[4] = { 0 };
	const uint64_t *e = machine_node_events(m, 0);
	uint64_t done = 0;

	(void)state;
	/* Chases: each has one request in flight, always. */
	for (unsigned c = 0; c < 4; c++)
		loads[c] = (struct load) { .core = c,
					   .first = c << 18,
					   .lines = 1 << 18,
					   .window = 1,
					   .dependent = true };
	run_loads(m, &s, loads, 4, TIME);
	for (unsigned c = 0; c < 4; c++)
		done += loads[c].done;
	assert_about((double)e[NODE_RT_OCCUPANCY], 4.0 * (double)e[NODE_CLOCK], 0.01);
	assert_about((double)e[NODE_RT_OCCUPANCY] / (double)e[NODE_RT_ALLOC],
		     4.0 * TIME / (double)done * (double)s.uncore_hz / 1e12, 0.01);
	assert_about((double)e[NODE_RT_NOT_EMPTY], (double)e[NODE_CLOCK], 0.01);
	for (unsigned c = 0; c < 4; c++) {
		const uint64_t *core = machine_core_events(m, c);

		assert_about((double)core[CORE_OUTSTANDING], (double)core[CORE_CYCLES],
			     0.01);
		assert_about((double)core[CORE_OUTSTANDING_CYCLES],
			     (double)core[CORE_CYCLES], 0.01);
	}
	machine_free(m);
}

/* The bus of a channel is busy for as long as its lines take. */
static void channels_are_busy_for_as_long_as_their_lines_take(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *m = machine_of(&s, NULL);
	struct load l = { .lines = 1 << 20, .window = 32 };
	double lines, busy_ps;

	(void)state;
	run_loads(m, &s, &l, 1, TIME);
	lines = (double)channels_sum(m, 0, NODE_CHANNEL_READS);
	busy_ps =
		(double)channels_sum(m, 0, NODE_CHANNEL_BUSY) * 1e12 / (double)s.uncore_hz;
	assert_about(busy_ps / lines,
		     SPEC_LINE * 1e12 / ((double)s.channel_rate * s.efficiency), 0.03);
	machine_free(m);
}

static void a_full_tracker_is_seen_and_never_over_full(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *m = machine_of(&s, NULL);
	struct load loads[4] = { 0 };
	const uint64_t *e = machine_node_events(m, 0);

	(void)state;
	for (unsigned c = 0; c < 4; c++)
		loads[c] = (struct load) {
			.core = c, .first = c << 18, .lines = 1 << 18, .window = 32
		};
	run_loads(m, &s, loads, 3, TIME); /* 30 misses in flight, of 32 */
	assert_int_equal(e[NODE_RT_FULL], 0);
	run_loads(m, &s, loads, 4, TIME);
	assert_true(e[NODE_RT_FULL] > e[NODE_CLOCK] / 3);
	assert_true(e[NODE_RT_FULL] <= e[NODE_RT_NOT_EMPTY]);
	assert_true(e[NODE_RT_OCCUPANCY] <= s.rt * e[NODE_CLOCK]);
	machine_free(m);
}

static void no_count_runs_backwards(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *m = machine_of(&s, NULL);
	struct load loads[8] = { 0 };
	uint64_t last[NODE_EVENTS] = { 0 };

	(void)state;
	for (unsigned c = 0; c < 8; c++)
		loads[c] = (struct load) { .core = c,
					   .home = c % 2,
					   .lines = 200000,
					   .window = 1 + c,
					   .writes = 100,
					   .cycles = 50,
					   .random = true };
	for (unsigned i = 0; i < 200; i++) {
		const uint64_t *e = machine_node_events(m, 1);

		run_loads(m, &s, loads, 8, 37000);
		for (unsigned k = 0; k < NODE_EVENTS; k++)
			assert_true(e[k] >= last[k]);
		memcpy(last, e, sizeof(last));
	}
	machine_free(m);
}

static void two_sockets_that_want_a_line_at_once_are_a_conflict(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *m = machine_of(&s, NULL);
	struct access a = {
		.line = 5, .window = 1, .write = true, .instructions = 1, .cycles = 1
	};

	(void)state;
	machine_access(m, 0, &a);
	machine_access(m, 4, &a);
	machine_drain(m, 4);
	assert_int_equal(machine_node_events(m, 0)[NODE_HOME_CONFLICTS], 1);
	assert_true(machine_now(m, 4) > s.local + s.remote_modified / 2);
	machine_free(m);
}

static void the_same_calls_give_the_same_counts(void **state)
{
	struct machine_spec s = machine_named("four-node");
	struct machine *a = busy(&s, NULL), *b = busy(&s, NULL);

	(void)state;
	for (unsigned c = 0; c < s.nodes * s.cores; c++) {
		assert_int_equal(machine_now(a, c), machine_now(b, c));
		assert_memory_equal(machine_core_events(a, c), machine_core_events(b, c),
				    CORE_EVENTS * sizeof(uint64_t));
	}
	for (unsigned n = 0; n < s.nodes; n++)
		assert_memory_equal(machine_node_events(a, n), machine_node_events(b, n),
				    NODE_EVENTS * sizeof(uint64_t));
	machine_free(a);
	machine_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_access_is_counted_where_it_was_served),
		cmocka_unit_test(what_cores_count_is_what_nodes_count),
		cmocka_unit_test(every_snoop_is_answered),
		cmocka_unit_test(an_llc_holds_no_more_than_came_and_did_not_go),
		cmocka_unit_test(occupancy_is_rate_times_latency),
		cmocka_unit_test(channels_are_busy_for_as_long_as_their_lines_take),
		cmocka_unit_test(a_full_tracker_is_seen_and_never_over_full),
		cmocka_unit_test(no_count_runs_backwards),
		cmocka_unit_test(two_sockets_that_want_a_line_at_once_are_a_conflict),
		cmocka_unit_test(the_same_calls_give_the_same_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
