/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <xen/lib.h>
#include <xen/time.h>

#include <asm/sysregs.h>
#include <asm/system.h>

#include "core/pmu/armv8_regs.h"
#include "glue.h"

/*
 * A system register's name is part of the instruction, so each needs a case of its own.
 * Only registers that are there in every PMUv3, or that the core knows to be, are
 * touched: anything else would be undefined, in Xen.
 */

#define ROW(X, op1, crn, crm)                                                              \
	X(3, op1, crn, crm, 0)                                                             \
	X(3, op1, crn, crm, 1)                                                             \
	X(3, op1, crn, crm, 2)                                                             \
	X(3, op1, crn, crm, 3)                                                             \
	X(3, op1, crn, crm, 4)                                                             \
	X(3, op1, crn, crm, 5)                                                             \
	X(3, op1, crn, crm, 6)

#define ROW8(X, op1, crn, crm)                                                             \
	ROW(X, op1, crn, crm)                                                              \
	X(3, op1, crn, crm, 7)

/* PMEVCNTR0 to 30; PMEVTYPER0 to 30 and PMCCFILTR */
#define COUNTERS(X)                                                                        \
	ROW8(X, 3, 14, 8)                                                                  \
	ROW8(X, 3, 14, 9)                                                                  \
	ROW8(X, 3, 14, 10)                                                                 \
	ROW(X, 3, 14, 11)                                                                  \
	ROW8(X, 3, 14, 12)                                                                 \
	ROW8(X, 3, 14, 13)                                                                 \
	ROW8(X, 3, 14, 14)                                                                 \
	ROW8(X, 3, 14, 15)

#define READ_WRITE(X)                                                                      \
	X(3, 0, 9, 14, 1) /* PMINTENSET_EL1 */                                             \
	X(3, 0, 9, 14, 2) /* PMINTENCLR_EL1 */                                             \
	X(3, 3, 9, 12, 0) /* PMCR_EL0 */                                                   \
	X(3, 3, 9, 12, 1) /* PMCNTENSET_EL0 */                                             \
	X(3, 3, 9, 12, 2) /* PMCNTENCLR_EL0 */                                             \
	X(3, 3, 9, 12, 3) /* PMOVSCLR_EL0 */                                               \
	X(3, 3, 9, 12, 5) /* PMSELR_EL0 */                                                 \
	X(3, 3, 9, 13, 0) /* PMCCNTR_EL0 */                                                \
	X(3, 3, 9, 13, 1) /* PMXEVTYPER_EL0 */                                             \
	X(3, 3, 9, 13, 2) /* PMXEVCNTR_EL0 */                                              \
	X(3, 3, 9, 14, 0) /* PMUSERENR_EL0 */                                              \
	X(3, 3, 9, 14, 3) /* PMOVSSET_EL0 */                                               \
	X(3, 4, 1, 1, 1)  /* MDCR_EL2 */                                                   \
	COUNTERS(X)

#define READ_ONLY(X)                                                                       \
	X(3, 0, 0, 5, 0)  /* ID_AA64DFR0_EL1 */                                            \
	X(3, 0, 9, 14, 6) /* PMMIR_EL1 */                                                  \
	X(3, 3, 9, 12, 6) /* PMCEID0_EL0 */                                                \
	X(3, 3, 9, 12, 7) /* PMCEID1_EL0 */

#define WRITE_ONLY(X) X(3, 3, 9, 12, 4) /* PMSWINC_EL0 */

#define CASE_READ(op0, op1, crn, crm, op2)                                                 \
	case ARMV8_REG(op0, op1, crn, crm, op2):                                           \
		return READ_SYSREG64(S##op0##_##op1##_C##crn##_C##crm##_##op2);

#define CASE_WRITE(op0, op1, crn, crm, op2)                                                \
	case ARMV8_REG(op0, op1, crn, crm, op2):                                           \
		WRITE_SYSREG64(value, S##op0##_##op1##_C##crn##_C##crm##_##op2);           \
		break;

static uint64_t hw_read(void *ctx, uint32_t reg)
{
	switch (reg) {
		READ_WRITE(CASE_READ)
		READ_ONLY(CASE_READ)
	default: BUG();
	}
}

static void hw_write(void *ctx, uint32_t reg, uint64_t value)
{
	switch (reg) {
		READ_WRITE(CASE_WRITE)
		WRITE_ONLY(CASE_WRITE)
	default: BUG();
	}
}

static void hw_sync(void *ctx)
{
	isb();
}

static uint64_t hw_now(void *ctx)
{
	return NOW();
}

static const struct vpmu_hw_ops hw_ops = {
	.read = hw_read,
	.write = hw_write,
	.sync = hw_sync,
	.now = hw_now,
};

const struct vpmu_hw vpmu_hw = { .ops = &hw_ops };

register_t vpmu_mdcr(void)
{
	return READ_SYSREG(MDCR_EL2) & ARMV8_MDCR_OURS;
}
