/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_HW_ARMV8_H
#define TESTS_CORE_HW_ARMV8_H

#include "core/pmu/armv8_regs.h"
#include "tests/core/hw.h"

struct hw_armv8_config {
	unsigned counters; /* event counters, 0 to 31 */
	unsigned version;  /* ID_AA64DFR0_EL1.PMUVer; 0: no PMU */
	bool hpmn0;	   /* FEAT_HPMN0 */
	/* As QEMU 7.2: EL1 reaches EL2's counters, and these obey PMCR.E, not HPME. */
	bool unprotected;
};

/* Implements SW_INCR, INST_RETIRED, CPU_CYCLES, CHAIN and any event from 0x40. */
struct hw *hw_armv8_new(const struct hw_armv8_config *config, const uint64_t *clock);

#endif
