/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/test.h"

#include "tests/sim/machines.h"

#define TIME 60000000ull /* ps */

/* Bytes per second of so many threads' misses, from cores of @node to @home. */
static double bandwidth(const struct machine_spec *s, unsigned node, unsigned home,
			unsigned threads)
{
	struct machine *m = machine_of(s, NULL);
	struct load loads[SPEC_NODES * SPEC_CORES] = { 0 };
	uint64_t done = 0;

	for (unsigned i = 0; i < threads; i++)
		loads[i] = (struct load) {
			.core = node * s->cores + i,
			.home = home,
			.first = i << 18,
			.lines = 1 << 18,
			.window = 32,
		};
	run_loads(m, s, loads, threads, TIME);
	for (unsigned i = 0; i < threads; i++)
		done += loads[i].done;
	machine_free(m);
	return (double)done * SPEC_LINE * 1e12 / TIME;
}

/* All cores of a machine read @home's memory, or, SPEC_NODES, each its own node's. */
static double all_cores(const struct machine_spec *s, unsigned home)
{
	struct machine *m = machine_of(s, NULL);
	struct load loads[SPEC_NODES * SPEC_CORES] = { 0 };
	const unsigned n = s->nodes * s->cores;
	uint64_t done = 0;

	for (unsigned c = 0; c < n; c++)
		loads[c] = (struct load) { .core = c,
					   .home = home < SPEC_NODES ? home : c / s->cores,
					   .first = c << 18,
					   .lines = 1 << 18,
					   .window = 32 };
	run_loads(m, s, loads, n, TIME);
	for (unsigned c = 0; c < n; c++)
		done += loads[c].done;
	machine_free(m);
	return (double)done * SPEC_LINE * 1e12 / TIME;
}

/* 3 x DDR3-1333, as published for the Xeon 5500 and 5600; Intel MLC on two Silver 4110. */
static void a_sockets_memory_gives_what_is_published(void **state)
{
	struct machine_spec nehalem = machine_named("nehalem-ep");
	struct machine_spec westmere = machine_named("westmere-ep");
	struct machine_spec skylake = machine_named("skylake-sp-4110");

	(void)state;
	assert_about(all_cores(&nehalem, 0), 32e9, 0.1);
	assert_about(all_cores(&westmere, 0), 32e9, 0.1);
	assert_about(all_cores(&skylake, SPEC_NODES), 135.7e9, 0.1);
	assert_true(all_cores(&nehalem, 0) < 32e9);
}

static void a_link_gives_its_rate(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");

	(void)state;
	assert_about(bandwidth(&s, 0, 1, 4), 12.8e9, 0.1);
	assert_true(bandwidth(&s, 0, 1, 4) < 12.9e9);
}

static void more_threads_bring_less_and_less_more(void **state)
{
	struct machine_spec s = machine_named("skylake-sp-4110");
	double last = 0, gain = 1e18;

	(void)state;
	for (unsigned threads = 1; threads <= s.cores; threads++) {
		double now = bandwidth(&s, 0, 0, threads);

		assert_true(now > last * 0.99);
		assert_true(now - last < gain * 1.05);
		gain = now - last;
		last = now;
	}
}

static void written_lines_go_back_to_memory_and_take_its_time(void **state)
{
	struct machine_spec s = machine_named("nehalem-ep");
	struct machine *m = machine_of(&s, NULL);
	struct load l[4] = { 0 };
	double reads, writes;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		l[i] = (struct load) { .core = i,
				       .first = i << 18,
				       .lines = 1 << 18,
				       .window = 32,
				       .writes = 256 };
	run_loads(m, &s, l, 4, 10 * TIME); /* until the LLC is full of them */
	reads = (double)channels_sum(m, 0, NODE_CHANNEL_READS);
	writes = (double)channels_sum(m, 0, NODE_CHANNEL_WRITES);
	run_loads(m, &s, l, 4, TIME);
	reads = (double)channels_sum(m, 0, NODE_CHANNEL_READS) - reads;
	writes = (double)channels_sum(m, 0, NODE_CHANNEL_WRITES) - writes;
	assert_about(writes, reads, 0.02);
	assert_true((reads + writes) * SPEC_LINE * 1e12 / TIME < 31e9);
	assert_true((reads + writes) * SPEC_LINE * 1e12 / TIME > 22e9);
	machine_free(m);
}

/* What a pointer chase waits while others load the same memory at a rate; their rate. */
static double loaded(const struct machine_spec *s, unsigned home, unsigned gap,
		     double *rate)
{
	struct machine *m = machine_of(s, NULL);
	struct load loads[2 * SPEC_CORES] = { 0 };
	const unsigned n = 2 * s->cores;
	uint64_t lines = 0, warm = loads[0].done;
	double latency;

	for (unsigned c = 1; c < n; c++)
		loads[c] = (struct load) { .core = c,
					   .first = c << 18,
					   .lines = 1 << 18,
					   .window = 32,
					   .cycles = gap };
	loads[0] = (struct load) {
		.core = 0, .home = home, .lines = 1 << 18, .window = 1, .dependent = true
	};
	for (unsigned c = 1; c < n; c++)
		loads[c].home = home;
	run_loads(m, s, loads, n, TIME / 4);
	for (unsigned c = 0; c < n; c++)
		lines -= loads[c].done;
	warm = loads[0].done;
	run_loads(m, s, loads, n, TIME);
	for (unsigned c = 0; c < n; c++)
		lines += loads[c].done;
	latency = (double)TIME / (double)(loads[0].done - warm);
	*rate = (double)lines * SPEC_LINE * 1e12 / TIME;
	machine_free(m);
	return latency;
}

static void latency_is_flat_to_half_of_the_peak_and_steep_near_it(void **state)
{
	static const unsigned gaps[] = {
		20000, 2000, 700, 400, 300, 200, 150, 120, 100, 0
	};
	struct machine_spec s = machine_named("nehalem-ep");
	const double peak = all_cores(&s, 0);
	double last = 0, full = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
		double rate, ns = loaded(&s, 0, gaps[i], &rate) / 1000;

		print_message("# %g GB/s %g ns\n", rate / 1e9, ns);
		assert_true(ns > last);
		if (rate < peak / 2)
			assert_true(ns < 1.2 * s.local / 1000);
		last = ns;
		full = rate;
	}
	assert_about(full, peak, 0.05);
	assert_true(last > 1.4 * s.local / 1000);
}

static void remote_memory_is_slower_at_every_load(void **state)
{
	static const unsigned gaps[] = { 20000, 400, 100, 60, 50, 0 };
	struct machine_spec s = machine_named("nehalem-ep");

	(void)state;
	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
		double rate;

		assert_true(loaded(&s, 1, gaps[i], &rate) > loaded(&s, 0, gaps[i], &rate));
	}
}

/* Intel MLC on two Xeon Silver 4110, each on its own memory (post 1126268 in Intel's
 * community): GB/s of both, ns. */
static void a_modern_sockets_loaded_latency_is_as_measured(void **state)
{
	static const struct {
		double rate, ns;
	} measured[] = {
		{ 1.2, 82 }, { 9.7, 87.8 }, { 42.7, 94.6 }, { 68.4, 98.9 }, { 131.3, 123.7 }
	};
	static const unsigned gaps[] = { 4500, 220, 47, 29, 11 };
	struct machine_spec s = machine_named("skylake-sp-4110");

	(void)state;
	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
		struct machine *m = machine_of(&s, NULL);
		struct load loads[2 * SPEC_CORES] = { 0 };
		uint64_t lines = 0;
		double ns, rate;

		for (unsigned c = 0; c < 2 * s.cores; c++)
			loads[c] = (struct load) { .core = c,
						   .home = c / s.cores,
						   .first = c << 18,
						   .lines = 1 << 18,
						   .window = 32,
						   .cycles = gaps[i] };
		loads[0].window = 1;
		loads[0].dependent = true;
		loads[0].cycles = 0;
		run_loads(m, &s, loads, 2 * s.cores, TIME);
		for (unsigned c = 0; c < 2 * s.cores; c++)
			lines += loads[c].done;
		ns = TIME / 1e3 / (double)loads[0].done;
		rate = (double)lines * SPEC_LINE * 1e3 / TIME;
		print_message("# %.1f GB/s %.1f ns, measured %.1f GB/s %.1f ns\n", rate, ns,
			      measured[i].rate, measured[i].ns);
		assert_about(ns, measured[i].ns, 0.1);
		assert_about(rate, measured[i].rate, 0.1);
		machine_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sockets_memory_gives_what_is_published),
		cmocka_unit_test(a_link_gives_its_rate),
		cmocka_unit_test(more_threads_bring_less_and_less_more),
		cmocka_unit_test(written_lines_go_back_to_memory_and_take_its_time),
		cmocka_unit_test(latency_is_flat_to_half_of_the_peak_and_steep_near_it),
		cmocka_unit_test(remote_memory_is_slower_at_every_load),
		cmocka_unit_test(a_modern_sockets_loaded_latency_is_as_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
