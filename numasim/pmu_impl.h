/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_PMU_IMPL_H
#define NUMASIM_PMU_IMPL_H

/*
 * The inside of struct pmu: pmu_core.c has the cores' PMUs and pmu_socket.c the sockets',
 * each with the hypervisor's hands on them; pmu_sets.c opens and reads sets.
 */

#include "numasim/pmu.h"
#include "numasim/pmu_intel.h"
#include "numasim/pmu_uncore.h"
#include "numasim/pmu_wired.h"

struct core_pmu {
	struct pmu *u;
	unsigned core;
	struct pmu_intel regs;
	struct pmu_wired wired;
	uint64_t mark[CORE_EVENTS]; /* as told to the machine */
	bool changed;		    /* registers were written, or the mode is another */
	bool busy;		    /* being brought up to date: its alarms wait */
	struct vpmu_pcpu p;
	struct vpmu_vcpu *runs;
};

/* To core/, a pCPU on which one vCPU always runs: the socket. */
struct socket_pmu {
	struct pmu *u;
	unsigned node;
	struct pmu_uncore regs;
	struct pmu_wired wired;
	uint64_t now_ns;
	struct vpmu_pcpu p;
	struct vpmu_vm vm;
	struct vpmu_vcpu v;
};

struct pmu_vm {
	struct vpmu_vm vm;
	unsigned nvcpus;
	struct vpmu_vcpu vcpu[];
};

struct open_set; /* of pmu_sets.c */

struct pmu {
	struct machine *machine;
	const struct machine_spec *spec;
	pmu_where *where;
	void *ctx;
	unsigned ncores;
	struct core_pmu *cores;
	struct socket_pmu *sockets;
	struct vpmu m, uncore;
	unsigned nvms;
	struct pmu_vm *vms[SIM_VMS];
	struct open_set **sets; /* by handle - 1; NULL: free */
	size_t nsets;
};

/* Powers on. -ENODEV: core/ does not know it. */
int core_pmu_init(struct core_pmu *c, struct pmu *u, unsigned core);
/* Around whatever is done with @c: its counters are right from begin() on, and count on
 * from end(). */
void core_pmu_begin(struct core_pmu *c);
void core_pmu_end(struct core_pmu *c);
/* New plans are taken up. */
void core_pmu_refresh(struct core_pmu *c);
void core_pmu_alarm(void *pmu, unsigned core);

int socket_pmu_init(struct socket_pmu *s, struct pmu *u, unsigned node);
/* Its counters are right; they count on from end(). */
void socket_pmu_begin(struct socket_pmu *s);
void socket_pmu_end(struct socket_pmu *s);
void socket_pmu_refresh(struct socket_pmu *s);
void socket_pmu_turn(struct socket_pmu *s);

void pmu_sets_free(struct pmu *u);

#endif
