/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_PMU_UNCORE_H
#define NUMASIM_PMU_UNCORE_H

#include "numasim/pmu_x86.h"

/*
 * The registers of a socket's uncore PMU, as Nehalem's and Westmere's (SDM vol. 3,
 * "Uncore Performance Monitoring Management Facility"): 8 counters for any event, and
 * one, number 32, for the clock. They count whoever runs.
 */
struct pmu_uncore {
	struct pmu_x86 x86;
	unsigned model; /* that CPUID shows, of family 6 */
};

/* As after power-on. */
void pmu_uncore_init(struct pmu_uncore *u, unsigned model);

#endif
