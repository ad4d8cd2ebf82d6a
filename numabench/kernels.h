/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMABENCH_KERNELS_H
#define NUMABENCH_KERNELS_H

/* The access patterns themselves, as loops over memory. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numabench/plan.h"

#define KERNEL_LINE 64
#define KERNEL_SHARED_LINES 4 /* a power of two */

struct kernel {
	enum pattern pattern;
	bool few;     /* random: two accesses in flight, not as many as there can be */
	char *shared; /* counters: the lines that all add to */
	char *memory; /* counters: besides, each reads a line of its own; NULL: none */
	size_t lines;
	uint64_t at, random, sum; /* where it stands */
};

/* Links the lines of a chase into one random cycle. */
void kernel_prepare(struct kernel *k);
/* @n accesses more. */
void kernel_run(struct kernel *k, size_t n);

#endif
