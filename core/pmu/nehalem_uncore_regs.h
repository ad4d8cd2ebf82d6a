/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_PMU_NEHALEM_UNCORE_REGS_H
#define CORE_PMU_NEHALEM_UNCORE_REGS_H

/*
 * The uncore PMU of Nehalem and Westmere, one per socket: SDM vol. 3, "Uncore Performance
 * Monitoring Management Facility" (20.3.1.2), and vol. 4 for the numbers. Counters are
 * numbered as in MSR_UNCORE_PERF_GLOBAL_CTRL: programmable ones 0 to 7, the clock 32.
 */

#include "core/pmu/x86_regs.h"

#define UNCORE_GP 8u
#define UNCORE_FIXED 32u
#define UNCORE_WIDTH 48
#define UNCORE_COUNTERS ((1ULL << UNCORE_GP) - 1 + (1ULL << UNCORE_FIXED))

#define UNCORE_GLOBAL_CTRL 0x391u
#define UNCORE_GLOBAL_STATUS 0x392u
#define UNCORE_GLOBAL_OVF_CTRL 0x393u
#define UNCORE_FIXED_CTR 0x394u
#define UNCORE_FIXED_CTR_CTRL 0x395u
#define UNCORE_PMC(n) (0x3b0u + (n))
#define UNCORE_EVTSEL(n) (0x3c0u + (n))

/* PERFEVTSEL: event, unit mask, edge, PMI, enable, inversion and mask are as a core's. */
#define UNCORE_SEL_OCC_RST (1u << 17) /* resets the queue's occupancy counter */
#define UNCORE_SEL_PMI X86_SEL_INT

/* FIXED_CTR_CTRL */
#define UNCORE_FIXED_EN 1u
#define UNCORE_FIXED_PMI 4u

/* The clock's event has a number, too; the fixed counter alone counts it. */
#define UNCORE_CLOCK 0xffu

#endif
