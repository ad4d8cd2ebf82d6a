/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_SIM_LOADS_H
#define TESTS_SIM_LOADS_H

/* Programs that run on a machine's cores without any hypervisor. */

#include "numasim/machine.h"

/* A line of a node's memory. */
uint64_t line_on(const struct machine_spec *spec, unsigned node, uint64_t n);

/* A thread of accesses, all to memory of one node. */
struct load {
	unsigned core, home;
	uint64_t first, lines; /* from this line of the node on */
	unsigned window;
	unsigned cycles; /* between two accesses, on average */
	unsigned writes; /* of 256 accesses */
	bool dependent, random;
	uint64_t done; /* accesses it did */
	bool computes;
	uint64_t state; /* of its random numbers */
};

/* Runs them, the latest core first, for @ps of simulated time, and settles all. */
void run_loads(struct machine *m, const struct machine_spec *spec, struct load *loads,
	       unsigned n, uint64_t ps);

#endif
