/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Diagnoses and advises a host of 64 VMs on 8 nodes whose readings all have errors, and
 * prints the CPU seconds that each took.
 */
#include <stdio.h>
#include <time.h>

#include "numa_window.h"

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
	static const char *const cpus[DIAG_NODES] = { "0-3",   "4-7",	"8-11",	 "12-15",
						      "16-19", "20-23", "24-27", "28-31" };
	const struct advise_config config = {
		.least = 0.05, .most_moves = 8, .move_memory = true, .move_vcpus = true
	};
	struct diag_window w = made_crowd();
	const struct diag_window *windows[] = { &w };
	struct diagnosis d;
	struct advice a;
	double begin, middle, end;

	made_uncertain(&w, 0.03);
	begin = cpu_seconds();
	if (diagnose(&w, &d))
		return 1;
	middle = cpu_seconds();
	if (advise(windows, 1, &config, cpus, &a))
		return 1;
	end = cpu_seconds();
	printf("%f %f\n", middle - begin, end - middle);
	diagnosis_free(&d);
	advice_free(&a);
	diag_window_free(&w);
	return 0;
}
