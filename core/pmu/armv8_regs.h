/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_PMU_ARMV8_REGS_H
#define CORE_PMU_ARMV8_REGS_H

/*
 * Registers and bits of PMUv3: Arm Architecture Reference Manual for A-profile, DDI 0487
 * (I.a), D17.5 "Performance Monitors registers" and, for MDCR_EL2, D17.3. A register's
 * number is its encoding in MRS and MSR (C5.1.3); AArch32 forms are told by the same.
 */

#include <stdint.h>

#define ARMV8_REG(op0, op1, crn, crm, op2)                                                 \
	((uint32_t)(op0) << 14 | (uint32_t)(op1) << 11 | (uint32_t)(crn) << 7 |            \
	 (uint32_t)(crm) << 3 | (uint32_t)(op2))

#define ARMV8_PMINTENSET ARMV8_REG(3, 0, 9, 14, 1)
#define ARMV8_PMINTENCLR ARMV8_REG(3, 0, 9, 14, 2)
#define ARMV8_PMMIR ARMV8_REG(3, 0, 9, 14, 6) /* FEAT_PMUv3p4 */
#define ARMV8_PMCR ARMV8_REG(3, 3, 9, 12, 0)
#define ARMV8_PMCNTENSET ARMV8_REG(3, 3, 9, 12, 1)
#define ARMV8_PMCNTENCLR ARMV8_REG(3, 3, 9, 12, 2)
#define ARMV8_PMOVSCLR ARMV8_REG(3, 3, 9, 12, 3)
#define ARMV8_PMSWINC ARMV8_REG(3, 3, 9, 12, 4)
#define ARMV8_PMSELR ARMV8_REG(3, 3, 9, 12, 5)
#define ARMV8_PMCEID0 ARMV8_REG(3, 3, 9, 12, 6)
#define ARMV8_PMCEID1 ARMV8_REG(3, 3, 9, 12, 7)
#define ARMV8_PMCCNTR ARMV8_REG(3, 3, 9, 13, 0)
#define ARMV8_PMXEVTYPER ARMV8_REG(3, 3, 9, 13, 1)
#define ARMV8_PMXEVCNTR ARMV8_REG(3, 3, 9, 13, 2)
#define ARMV8_PMUSERENR ARMV8_REG(3, 3, 9, 14, 0)
#define ARMV8_PMOVSSET ARMV8_REG(3, 3, 9, 14, 3)
#define ARMV8_PMEVCNTR(n) ARMV8_REG(3, 3, 14, 8 + (n) / 8, (n) % 8)   /* n: 0 to 30 */
#define ARMV8_PMEVTYPER(n) ARMV8_REG(3, 3, 14, 12 + (n) / 8, (n) % 8) /* n: 0 to 30 */
#define ARMV8_PMCCFILTR ARMV8_PMEVTYPER(31)
#define ARMV8_MDCR_EL2 ARMV8_REG(3, 4, 1, 1, 1)
#define ARMV8_ID_AA64DFR0 ARMV8_REG(3, 0, 0, 5, 0)

/* The cycle counter's bit in PMCNTEN, PMINTEN, PMOVS, and its number with us. */
#define ARMV8_CYCLES 31
#define ARMV8_EVENT_COUNTERS 31 /* most that there can be */

/* PMCR_EL0 */
#define ARMV8_PMCR_E (1ULL << 0)
#define ARMV8_PMCR_P (1ULL << 1) /* write-only: event counters to zero */
#define ARMV8_PMCR_C (1ULL << 2) /* write-only: cycle counter to zero */
#define ARMV8_PMCR_D (1ULL << 3) /* cycle counter by 64, where LC is 0 */
#define ARMV8_PMCR_X (1ULL << 4) /* export of events */
#define ARMV8_PMCR_DP (1ULL << 5)
#define ARMV8_PMCR_LC (1ULL << 6) /* cycle counter overflows at 64 bits, not 32 */
#define ARMV8_PMCR_LP (1ULL << 7) /* event counters too; FEAT_PMUv3p5 */
#define ARMV8_PMCR_N_SHIFT 11
#define ARMV8_PMCR_N 0x1fULL
#define ARMV8_PMCR_ID 0xffff0000ULL /* IMP, IDCODE */

/* PMSELR_EL0 */
#define ARMV8_PMSELR_SEL 0x1fULL

/* PMUSERENR_EL0: what EL0 may do */
#define ARMV8_PMUSERENR_EN (1ULL << 0) /* all that is PM…_EL0 */
#define ARMV8_PMUSERENR_SW (1ULL << 1) /* write PMSWINC */
#define ARMV8_PMUSERENR_CR (1ULL << 2) /* read PMCCNTR */
#define ARMV8_PMUSERENR_ER (1ULL << 3) /* read PMEVCNTR<n>, PMXEVCNTR; PMSELR */
#define ARMV8_PMUSERENR_ALL 0xfULL

/* PMEVTYPER<n>_EL0; PMCCFILTR_EL0 has the same filters */
#define ARMV8_TYPE_EVENT 0xffffULL
#define ARMV8_TYPE_EVENT_V3 0x3ffULL /* before FEAT_PMUv3p1 */
#define ARMV8_TYPE_SH (1ULL << 24)   /* Secure EL2 as NSH, or not */
#define ARMV8_TYPE_MT (1ULL << 25)   /* other threads of the core too */
#define ARMV8_TYPE_M (1ULL << 26)    /* EL3 is counted where M equals P */
#define ARMV8_TYPE_NSH (1ULL << 27)  /* EL2 is counted */
#define ARMV8_TYPE_NSU (1ULL << 28)  /* Non-secure EL0 is counted where it equals U */
#define ARMV8_TYPE_NSK (1ULL << 29)  /* Non-secure EL1 is counted where it equals P */
#define ARMV8_TYPE_U (1ULL << 30)    /* EL0 is not counted */
#define ARMV8_TYPE_P (1ULL << 31)    /* EL1 is not counted */

/* MDCR_EL2 */
#define ARMV8_MDCR_HPMN 0x1fULL	      /* counters of EL1 and EL0; the rest is EL2's */
#define ARMV8_MDCR_TPMCR (1ULL << 5)  /* traps of PMCR_EL0 */
#define ARMV8_MDCR_TPM (1ULL << 6)    /* traps of all of the PMU */
#define ARMV8_MDCR_HPME (1ULL << 7)   /* EL2's counters are enabled */
#define ARMV8_MDCR_HPMD (1ULL << 17)  /* EL1's do not count in EL2; FEAT_PMUv3p1 */
#define ARMV8_MDCR_HCCD (1ULL << 23)  /* nor does the cycle counter; FEAT_PMUv3p5 */
#define ARMV8_MDCR_HLP (1ULL << 26)   /* EL2's overflow at 64 bits; FEAT_PMUv3p5 */
#define ARMV8_MDCR_MTPME (1ULL << 28) /* PMEVTYPER.MT is obeyed; FEAT_MTPMU */
/* The fields that the core writes. TPM and TPMCR are its host's, by trap(). */
#define ARMV8_MDCR_OURS                                                                    \
	(ARMV8_MDCR_HPMN | ARMV8_MDCR_HPME | ARMV8_MDCR_HPMD | ARMV8_MDCR_HCCD |           \
	 ARMV8_MDCR_HLP | ARMV8_MDCR_MTPME)

/* ID_AA64DFR0_EL1 */
#define ARMV8_DFR0_PMUVER_SHIFT 8
#define ARMV8_DFR0_PMUVER 0xfULL
#define ARMV8_PMUVER_V3 1
#define ARMV8_PMUVER_V3P1 4
#define ARMV8_PMUVER_V3P4 5
#define ARMV8_PMUVER_V3P5 6
#define ARMV8_PMUVER_OTHER 0xf	  /* not PMUv3 */
#define ARMV8_DFR0_HPMN0_SHIFT 60 /* FEAT_HPMN0: HPMN may be 0 */

/* PMMIR_EL1, as FEAT_PMUv3p5 has it: SLOTS, BUS_SLOTS, BUS_WIDTH */
#define ARMV8_PMMIR_V3P5 0xfffffULL

/* Events (D11.10) */
#define ARMV8_EVENT_SW_INCR 0x00
#define ARMV8_EVENT_INST_RETIRED 0x08
#define ARMV8_EVENT_CPU_CYCLES 0x11
#define ARMV8_EVENT_CHAIN 0x1e

#endif
