/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_SCENARIO_H
#define NUMASIM_SCENARIO_H

/*
 * What runs on the built-in host, as a file says it (vmmprof-scenarios(5)): the machine,
 * the hypervisor's policy, programs and VMs. Plain data; times are ps, sizes bytes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "numasim/spec.h"

#define SCENARIO_PCPUS (SPEC_NODES * SPEC_CORES)
#define SCENARIO_SETS ((SCENARIO_PCPUS + 63) / 64) /* words of a set of pCPUs */

enum scenario_policy {
	POLICY_PINNED, /* a vCPU stays where it was put first */
	POLICY_CREDIT, /* idle pCPUs take vCPUs, of their own node first */
	POLICY_XEN,    /* the same, and each VM has a node that it prefers */
	POLICY_LINUX,  /* balanced by load alone, over all pCPUs */
};

enum pattern {
	PATTERN_CHASE,	  /* each address comes from the access before */
	PATTERN_STREAM,	  /* line by line */
	PATTERN_RANDOM,	  /* any line, independent of the access before */
	PATTERN_COUNTERS, /* any line, updated in place: the next waits for it */
	PATTERN_HANDOVER, /* line by line; the even threads write what the odd ones read */
	PATTERN_COMPUTE,  /* no accesses */
};

struct scenario_function {
	char name[48];
	enum pattern pattern;
	uint64_t bytes; /* its footprint */
	bool shared;	/* one for all threads of the VM; else one for each */
	bool kernel;
	double write, hot;     /* shares of the accesses: that write; to a few lines of
				* the thread's own that stay in its L1 */
	unsigned window;       /* accesses in flight */
	unsigned instructions; /* per access or step */
	unsigned cycles;       /* that those take with all data at hand */
	uint64_t for_ps;       /* then the program's next function follows; both 0: */
	uint64_t for_steps;    /* never */
};

struct scenario_program {
	char name[48];
	size_t first, n; /* of scenario.functions */
};

struct scenario_threads {
	unsigned n;
	size_t program;
	double sleep;	   /* share of its time that each sleeps */
	uint64_t every_ps; /* once in so long, on average */
};

struct scenario_vm {
	char name[64];
	unsigned nvcpus;
	uint64_t bytes;
	double share[SPEC_NODES];	/* of its memory, on each node; sum 1 */
	uint64_t (*pin)[SCENARIO_SETS]; /* per vCPU: the pCPUs it may run on */
	uint64_t slice_ps;		/* of the guest's scheduler */
	struct scenario_threads *threads;
	size_t nthreads, cap_threads;
};

struct scenario {
	char name[64];
	struct machine_spec machine;
	enum scenario_policy policy;
	uint64_t seed;
	uint64_t slice_ps; /* of the hypervisor's scheduler */
	struct scenario_function *functions;
	size_t nfunctions, cap_functions;
	struct scenario_program *programs;
	size_t nprograms, cap_programs;
	struct scenario_vm *vms;
	size_t nvms, cap_vms;
};

/* 0; -ENOMEM; -EINVAL with file, line and what was expected. scenario_free() it. */
int scenario_parse(const char *name, const char *file, const char *text, size_t size,
		   struct scenario *out, struct err *err);
/* @what: a name, a path, or the text itself (it has a newline). */
int scenario_load(const char *what, struct scenario *out, struct err *err);
void scenario_free(struct scenario *sc);

/* Bytes that a VM's programs use, with what each thread has of its own; whole pages. */
uint64_t scenario_footprint(const struct scenario *sc, const struct scenario_vm *vm);

#endif
