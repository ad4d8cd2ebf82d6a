/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sim_curves MACHINE: its curves as rows "CURVE X Y": latency against load (GB/s, ns), of
 * local and of remote memory, and bandwidth against threads (GB/s);
 * a node's at most, from all cores.
 */
#include <err.h>
#include <stdio.h>

#include "tests/sim/loads.h"

#define TIME 100000000ull /* ps */

static struct machine *new_machine(const struct machine_spec *s)
{
	struct machine *m;
	struct err error;

	if (machine_new(s, NULL, 1, &m, &error))
		errx(1, "%s", error.text);
	return m;
}

/* A chase of core 0 on node @home beside streams of all others: those of its node to that
 * home too, those of other nodes to their own. */
static void latency(const struct machine_spec *s, const char *curve, unsigned home)
{
	static const unsigned gaps[] = { 4500, 1000, 400, 220, 150, 110, 80, 60, 47, 38,
					 29,   24,   20,  17,  14,  11,	 8,  4,	 0 };
	const unsigned n = s->nodes * s->cores;

	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
		struct machine *m = new_machine(s);
		struct load loads[SPEC_NODES * SPEC_CORES] = { 0 };
		uint64_t lines = 0;

		for (unsigned c = 0; c < n; c++) {
			unsigned node = c / s->cores;

			loads[c] = (struct load) { .core = c,
						   .home = node ? node : home,
						   .first = (uint64_t)c << 18,
						   .lines = 1 << 18,
						   .window = c ? 32 : 1,
						   .cycles = c ? gaps[i] : 0,
						   .dependent = !c };
		}
		run_loads(m, s, loads, n, TIME);
		for (unsigned c = 0; c < n; c++)
			lines += loads[c].done;
		printf("%s %.3f %.3f\n", curve, (double)lines * SPEC_LINE * 1e3 / TIME,
		       TIME / 1e3 / (double)loads[0].done);
		machine_free(m);
	}
}

static void bandwidth(const struct machine_spec *s, const char *curve, unsigned home)
{
	for (unsigned threads = 1; threads <= s->cores; threads++) {
		struct machine *m = new_machine(s);
		struct load loads[SPEC_CORES] = { 0 };
		uint64_t lines = 0;

		for (unsigned c = 0; c < threads; c++)
			loads[c] = (struct load) { .core = c,
						   .home = home,
						   .first = (uint64_t)c << 18,
						   .lines = 1 << 18,
						   .window = 32 };
		run_loads(m, s, loads, threads, TIME);
		for (unsigned c = 0; c < threads; c++)
			lines += loads[c].done;
		printf("%s %u %.3f\n", curve, threads,
		       (double)lines * SPEC_LINE * 1e3 / TIME);
		machine_free(m);
	}
}

/* All cores of the machine read node 0's memory. */
static void peak(const struct machine_spec *s, const char *curve)
{
	struct machine *m = new_machine(s);
	struct load loads[SPEC_NODES * SPEC_CORES] = { 0 };
	const unsigned n = s->nodes * s->cores;
	uint64_t lines = 0;

	for (unsigned c = 0; c < n; c++)
		loads[c] = (struct load) { .core = c,
					   .first = (uint64_t)c << 18,
					   .lines = 1 << 18,
					   .window = 32 };
	run_loads(m, s, loads, n, TIME);
	for (unsigned c = 0; c < n; c++)
		lines += loads[c].done;
	printf("%s %u %.3f\n", curve, n, (double)lines * SPEC_LINE * 1e3 / TIME);
	machine_free(m);
}

int main(int argc, char **argv)
{
	struct machine_spec s;
	struct err error;

	if (argc != 2)
		errx(2, "usage: sim_curves MACHINE");
	if (machine_spec_load(argv[1], &s, &error))
		errx(1, "%s", error.text);
	latency(&s, "latency-local", 0);
	latency(&s, "latency-remote", 1 % s.nodes);
	bandwidth(&s, "bandwidth-local", 0);
	bandwidth(&s, "bandwidth-remote", 1 % s.nodes);
	peak(&s, "peak-local");
	return 0;
}
