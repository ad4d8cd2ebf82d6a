/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMABENCH_NATIVE_H
#define NUMABENCH_NATIVE_H

/* Benchmarks played by threads of this process on this machine. */

#include "base/err.h"
#include "numabench/plan.h"

#define NATIVE_NODES 64

struct native_node {
	int id;
	int *cpus; /* that this process may use; owned */
	size_t ncpus;
};

struct native_machine {
	struct native_node node[NATIVE_NODES]; /* those with CPUs */
	size_t nnodes;
	size_t llc_bytes;
};

/* @llc_bytes: 0: as sysfs tells. 0 or -errno with words. */
int native_machine_read(size_t llc_bytes, struct native_machine *out, struct err *err);
void native_machine_free(struct native_machine *m);

struct native_result {
	double calm_ns,
		provoked_ns; /* per access of a victim's thread; NaN: not measured */
	double slower;	     /* provoked / calm */
	unsigned others;     /* threads that got in its way */
	bool held;	     /* what the benchmark claims did happen */
};

/*
 * Runs @b calm and provoked, @seconds each. 0; -EOPNOTSUPP with words: this machine cannot
 * (one node, too few CPUs); -ENOMEM; -errno.
 */
int native_run(const struct native_machine *m, const struct benchmark *b, double seconds,
	       struct native_result *out, struct err *err);

#endif
