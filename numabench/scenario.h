/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMABENCH_SCENARIO_H
#define NUMABENCH_SCENARIO_H

/* Benchmarks played by guests of the built-in host. */

#include <stdint.h>

#include "base/str.h"
#include "numabench/plan.h"

struct scenario_host {
	const char *machine; /* a preset's name */
	unsigned cores;	     /* per node */
	uint64_t llc_bytes;
	unsigned misses;   /* in flight per core */
	unsigned trackers; /* per node */
};

/*
 * The scenario (vmmprof-scenarios(5)) of @b: a VM "victim" and, where others get in its
 * way, a VM "others", all vCPUs pinned; @provoked false: the calm one, the victim alone.
 */
void benchmark_scenario(const struct benchmark *b, bool provoked,
			const struct scenario_host *host, struct strbuf *out);

#endif
