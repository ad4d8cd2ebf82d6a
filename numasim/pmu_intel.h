/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_PMU_INTEL_H
#define NUMASIM_PMU_INTEL_H

#include "numasim/pmu_x86.h"

/* What CPUID leaf 0xa and PERF_CAPABILITIES tell. */
struct pmu_intel_config {
	unsigned version;
	unsigned gp, gp_width;
	unsigned fixed, fixed_width; /* v2 on */
	uint32_t fixed_map;	     /* v5 on: beyond the first @fixed */
	bool full_width;	     /* writes */
	uint32_t absent;	     /* architectural events that are not there */
	bool vmx;		     /* that loads GLOBAL_CTRL; v2 on */
};

/*
 * Fixed counters count 0xc0, 0x3c, 0x300, 0x1a4 (Linux's numbers for them), in this
 * order. As its host set up the VMCS, a VM exit stops all counters by GLOBAL_CTRL and
 * an entry brings them back: nothing is counted in the hypervisor, but, with @vmx, by the
 * counters of a GLOBAL_CTRL that exits load.
 */
struct pmu_intel {
	struct pmu_x86 x86;
	struct pmu_intel_config config;
};

void pmu_intel_init(struct pmu_intel *m, const struct pmu_intel_config *config);
/* As after power-on. */
void pmu_intel_reset(struct pmu_intel *m);

#endif
