/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sockets' counters, held against what happened. */
#include "tests/unit/test.h"

#include <errno.h>
#include <math.h>

#include "tests/sim/hosts.h"

#define N(array) (sizeof(array) / sizeof(*(array)))

#define CLOCK 0xff
#define RT_FULL 0x100
#define RT_NOT_EMPTY 0x101
#define RT_OCCUPANCY 0x102
#define RT_ALLOC 0x103
#define RT_LLC_MISS 0x203
#define LLC_LINES_IN 0xf0a
#define HOME_REMOTE_READS 0x420
#define NORMAL_FULL_CH0 0x127
#define READS 0x72c
#define WRITES 0x72f

static void eight_events_and_the_clock_are_exact(void **state)
{
	static const uint64_t eight[] = { RT_FULL,     RT_NOT_EMPTY, RT_OCCUPANCY, RT_ALLOC,
					  RT_LLC_MISS, 0x12a,	     0x12c,	   0x420 };
	static const enum node_event raw[] = {
		NODE_RT_FULL,	    NODE_RT_NOT_EMPTY,	   NODE_RT_OCCUPANCY,
		NODE_RT_ALLOC,	    NODE_RT_LLC_MISS,	   NODE_CHANNEL_READ_OCCUPANCY,
		NODE_CHANNEL_READS, NODE_HOME_REMOTE_READS
	};
	static const uint64_t clock = CLOCK;
	struct sim *s = host_shared();

	(void)state;
	sim_run(s, MS);
	for (unsigned node = 0; node < 2; node++) {
		uint64_t before[N(raw)], clock_before;
		uint32_t set, ticks;
		struct xenpmu_count c[VPMU_SET_EVENTS];

		for (unsigned i = 0; i < N(raw); i++)
			before[i] = node_truth(s, node, raw[i]);
		clock_before = node_truth(s, node, NODE_CLOCK);
		set = uncore_on(s, node, 8, eight);
		ticks = uncore_on(s, node, 1, &clock);
		sim_run(s, (3 + 2 * node) * MS);
		assert_int_equal(sim_uncore_read(s, set, c), 0);
		for (unsigned i = 0; i < N(raw); i++) {
			assert_int_equal(c[i].value,
					 node_truth(s, node, raw[i]) - before[i]);
			assert_int_equal(c[i].enabled_ns, c[i].running_ns);
		}
		assert_true(c[3].value);
		assert_int_equal(sim_uncore_read(s, ticks, c), 0);
		assert_int_equal(c[0].value,
				 node_truth(s, node, NODE_CLOCK) - clock_before);
	}
	sim_free(s);
}

/* What the VMs' cores asked for is what their sockets saw; the rest is told apart. */
static void sums_per_vm_and_the_rest_are_the_socket_s_total(void **state)
{
	static const uint64_t core[] = { 0x4f2e, 0x412e };
	static const uint64_t uncore[] = { RT_ALLOC, RT_LLC_MISS, 0x2003 };
	struct sim *s = host_apart();
	uint32_t vm[] = { set_on(s, 0, 2, core, 0), set_on(s, 1, 2, core, 0) };
	uint32_t node[] = { uncore_on(s, 0, 3, uncore), uncore_on(s, 1, 3, uncore) };

	(void)state;
	sim_run(s, 3 * MS);
	for (unsigned i = 0; i < 2; i++) {
		struct xenpmu_count c[VPMU_SET_EVENTS];
		uint64_t refs = set_sum(s, vm[i], 2, 0).value;
		uint64_t misses = set_sum(s, vm[i], 2, 1).value;

		assert_int_equal(sim_uncore_read(s, node[i], c), 0);
		assert_int_equal(refs, c[0].value);
		assert_int_equal(misses, c[1].value);
		assert_true(c[2].value); /* lines written back: nobody's */
	}
	sim_free(s);
}

static void more_events_than_counters_are_scaled_by_their_time(void **state)
{
	static const uint64_t config[3][8] = {
		{ RT_NOT_EMPTY, RT_ALLOC, RT_LLC_MISS, 0x303, 0x408, 0x108, 0x208, 0x109 },
		{ READS, 0x12c, 0x22c, 0x42c, WRITES, 0x12f, 0x129, 0x12a },
		{ LLC_LINES_IN, 0x10a, 0x20a, 0x1020, 0x2020, 0x420, 0x820, RT_OCCUPANCY },
	};
	static const enum node_event raw[] = { NODE_RT_NOT_EMPTY, NODE_CHANNEL_BUSY,
					       NODE_RT_OCCUPANCY };
	static const unsigned at[] = { 0, 6, 7 };
	struct sim *s = host_apart();
	uint32_t sets[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		sets[i] = uncore_on(s, 0, i ? 8 : 4, config[i]);
	sim_run(s, 16 * MS);
	for (unsigned i = 0; i < 3; i++) {
		struct xenpmu_count c[VPMU_SET_EVENTS], *e = &c[at[i]];
		double truth = (double)node_truth(s, 0, raw[i]), value;

		assert_int_equal(sim_uncore_read(s, sets[i], c), 0);
		value = (double)e->value * (double)e->enabled_ns / (double)e->running_ns;
		assert_in_range(e->enabled_ns, 16 * MS - US, 16 * MS + 10 * US);
		assert_in_range(e->running_ns, e->enabled_ns / 4, e->enabled_ns / 2);
		if (fabs(value - truth) > 0.1 * truth)
			fail_msg("set %u: %g instead of %g", i, value, truth);
	}
	sim_free(s);
}

static void a_set_that_closes_gives_its_counters_to_the_others(void **state)
{
	static const uint64_t eight[] = { RT_FULL,     RT_NOT_EMPTY, RT_OCCUPANCY, RT_ALLOC,
					  RT_LLC_MISS, 0x12a,	     0x12c,	   0x420 };
	struct sim *s = host_apart();
	uint32_t a = uncore_on(s, 0, 8, eight), b = uncore_on(s, 0, 8, eight);
	struct xenpmu_count before[VPMU_SET_EVENTS], after[VPMU_SET_EVENTS];

	(void)state;
	sim_run(s, 2 * MS);
	sim_uncore_close(s, a);
	assert_int_equal(sim_uncore_read(s, a, before), -ENOENT);
	assert_int_equal(sim_uncore_read(s, b, before), 0);
	assert_in_range(before[0].running_ns, before[0].enabled_ns / 3,
			before[0].enabled_ns * 2 / 3);
	sim_run(s, 4 * MS);
	assert_int_equal(sim_uncore_read(s, b, after), 0);
	assert_int_equal(after[0].running_ns - before[0].running_ns,
			 after[0].enabled_ns - before[0].enabled_ns);
	sim_free(s);
}

/* Each CPU has the events of its own tables, and not the other's. */
static void events_are_those_of_the_cpu_s_model(void **state)
{
	static const struct {
		uint64_t config;
		bool nehalem, westmere, core;
	} events[] = {
		{ RT_OCCUPANCY, false, true, false },
		{ NORMAL_FULL_CH0, true, false, false },
		{ RT_ALLOC, true, true, false },
		{ READS, true, true, false },
		{ 0xf2c, false, false, false }, /* older kernels' alias */
		{ 0xf2f, false, false, false }, /* adds partial writes */
		{ 0x140, false, false, false }, /* single flits */
		{ 0x741, true, true, false },
		{ RT_ALLOC | 1 << 24, false, false, false },
		{ 0x160, false, true, true },
		{ 0x200f, true, false, true }, /* local DRAM, or nothing */
		{ 0x100f, true, true, true },
		{ 0x40f, false, true, true },
	};
	struct sim *hosts[] = {
		host_of("machine nehalem-ep\nprogram p\n function f compute instructions "
			"100\nvm a\n memory 64M node 0\n threads 1 p\n"),
		host_apart()
	};

	(void)state;
	for (unsigned h = 0; h < 2; h++) {
		for (unsigned i = 0; i < N(events); i++) {
			struct vpmu_event e = { .config = events[i].config,
						.flags = VPMU_EVENT_USER };
			bool is_there = h ? events[i].westmere : events[i].nehalem;
			uint32_t set;
			unsigned bad;
			int ret = events[i].core
					  ? sim_set_open(hosts[h], 0, &e, 1, 0, &set, &bad)
					  : sim_uncore_open(hosts[h], 1, &e.config, 1, &set,
							    &bad);

			assert_int_equal(ret, is_there ? 0 : -EOPNOTSUPP);
			assert_int_equal(bad, is_there);
		}
		sim_free(hosts[h]);
	}
}

static void bad_sets_are_refused(void **state)
{
	static const uint64_t config[9] = { RT_ALLOC, 0x1ff };
	struct sim *s = host_apart();
	uint32_t set;
	unsigned bad;

	(void)state;
	assert_int_equal(sim_uncore_open(s, 2, config, 1, &set, &bad), -EINVAL);
	assert_int_equal(sim_uncore_open(s, 0, config, 0, &set, &bad), -EINVAL);
	assert_int_equal(sim_uncore_open(s, 0, config, 9, &set, &bad), -EINVAL);
	assert_int_equal(sim_uncore_open(s, 0, config, 2, &set, &bad), -EOPNOTSUPP);
	assert_int_equal(bad, 1);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eight_events_and_the_clock_are_exact),
		cmocka_unit_test(sums_per_vm_and_the_rest_are_the_socket_s_total),
		cmocka_unit_test(more_events_than_counters_are_scaled_by_their_time),
		cmocka_unit_test(a_set_that_closes_gives_its_counters_to_the_others),
		cmocka_unit_test(events_are_those_of_the_cpu_s_model),
		cmocka_unit_test(bad_sets_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
