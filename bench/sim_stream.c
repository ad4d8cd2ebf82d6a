/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One stream of memory accesses, for the simulated machine and for any other simulator:
 *
 *	sim_stream machine MACHINE ACCESSES   on all cores of the simulated machine
 *	sim_stream native ACCESSES            on this one's memory: what cachegrind watches
 *
 * Of a core's accesses 70 % go to 16 KiB, 15 % to 128 KiB, 10 % to 1 MiB and 5 % to
 * 64 MiB (L1, L2, LLC and memory), a quarter of them writes, a tenth of the last to the
 * next node. Prints accesses, seconds of CPU, and what hit where.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "numasim/machine.h"

#define SPAN (2u << 20) /* lines of a core */
#define NATIVE_CORES 8
#define WARM 200000 /* accesses of a core before it is timed: its caches are full */

struct step {
	uint32_t line; /* of the core's own */
	bool write, away;
};

static uint64_t random_state = 1;

static struct step next_step(void)
{
	static const struct {
		uint32_t upto, first, lines;
	} regions[] = {
		{ 70, 0, 256 },
		{ 85, 1024, 2048 },
		{ 95, 8192, 16384 },
		{ 100, 65536, 1 << 20 },
	};
	struct step s = { 0 };
	uint32_t r;
	int i = 0;

	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	r = (uint32_t)(random_state >> 56) * 100 >> 8;
	while (r >= regions[i].upto)
		i++;
	s.line = regions[i].first +
		 (uint32_t)((random_state >> 24 & 0xffffff) * regions[i].lines >> 24);
	s.write = (random_state >> 22 & 3) == 0;
	s.away = i == 3 && (random_state >> 12 & 0x3ff) < 102;
	return s;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* @n accesses of each core: all do the same, their clocks stay together. */
static void run_cores(struct machine *m, const struct machine_spec *s, uint64_t n)
{
	struct access a[SPEC_NODES * SPEC_CORES];
	const unsigned ncores = s->nodes * s->cores;

	for (unsigned c = 0; c < ncores; c++)
		a[c] = (struct access) {
			.vm = (uint16_t)c, .instructions = 3, .cycles = 2, .window = 8
		};
	for (uint64_t i = 0; i < n; i++) {
		for (unsigned c = 0; c < ncores; c++) {
			struct step step = next_step();
			unsigned node = c / s->cores;

			a[c].home = (uint8_t)(step.away ? (node + 1) % s->nodes : node);
			a[c].write = step.write;
			a[c].line = a[c].home * (s->node_bytes / SPEC_LINE) +
				    (uint64_t)(c % s->cores + step.away * s->cores) * SPAN +
				    step.line;
			machine_expect(m, c, c, a[c].line);
		}
		for (unsigned c = 0; c < ncores; c++)
			machine_access(m, c, &a[c]);
	}
}

static uint64_t sum(const struct machine *m, unsigned ncores, enum core_event event)
{
	uint64_t all = 0;

	for (unsigned c = 0; c < ncores; c++)
		all += machine_core_events(m, c)[event];
	return all;
}

static void run_machine(const char *name, uint64_t accesses)
{
	static const enum core_event events[] = { CORE_L1_HIT, CORE_L2_HIT, CORE_LLC_REF,
						  CORE_LLC_MISS };
	struct machine_spec s;
	struct machine *m;
	struct err err;
	uint64_t served[4], each;
	unsigned ncores;
	double seconds;

	if (machine_spec_load(name, &s, &err) || machine_new(&s, NULL, 1, &m, &err))
		errx(1, "%s", err.text);
	ncores = s.nodes * s.cores;
	each = accesses / ncores;
	run_cores(m, &s, WARM);
	for (int i = 0; i < 4; i++)
		served[i] = sum(m, ncores, events[i]);
	seconds = cpu_seconds();
	run_cores(m, &s, each);
	seconds = cpu_seconds() - seconds;
	for (int i = 0; i < 4; i++)
		served[i] = sum(m, ncores, events[i]) - served[i];
	served[2] -= served[3];
	printf("%llu %.6f", (unsigned long long)(each * ncores), seconds);
	for (int i = 0; i < 4; i++)
		printf(" %.4f", (double)served[i] / (double)(each * ncores));
	printf("\n");
	machine_free(m);
}

static void run_native(uint64_t accesses)
{
	const size_t span = (size_t)SPAN * SPEC_LINE;
	volatile char *memory = calloc(NATIVE_CORES, span);
	double seconds;

	if (!memory)
		err(1, "%zu bytes", NATIVE_CORES * span);
	seconds = cpu_seconds();
	for (uint64_t i = 0; i < accesses; i++) {
		struct step step = next_step();
		volatile char *at =
			memory + i % NATIVE_CORES * span + (size_t)step.line * SPEC_LINE;

		if (step.write)
			*at = 1;
		else
			(void)*at;
	}
	seconds = cpu_seconds() - seconds;
	printf("%llu %.6f\n", (unsigned long long)accesses, seconds);
	free((void *)memory);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "machine"))
		run_machine(argv[2], strtoull(argv[3], NULL, 10));
	else if (argc == 3 && !strcmp(argv[1], "native"))
		run_native(strtoull(argv[2], NULL, 10));
	else
		errx(2, "usage: sim_stream machine MACHINE ACCESSES | native ACCESSES");
	return 0;
}
