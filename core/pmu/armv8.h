/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_PMU_ARMV8_H
#define CORE_PMU_ARMV8_H

/* What the files of the Armv8 family share. */

#include "core/family.h"
#include "core/pmu/armv8_regs.h"

/* vpmu_caps.version is PMUVer, at most FEAT_PMUv3p5: what guests should be told. */
/* vpmu_caps.features */
#define ARMV8_HPMN0 1u /* FEAT_HPMN0 */

/* vpmu_caps.id[] */
enum armv8_id { ARMV8_ID_EVENTS0, ARMV8_ID_EVENTS1, ARMV8_ID_PMCR, ARMV8_ID_PMMIR };

/* vpmu_bank.ctl[] */
enum armv8_ctl { ARMV8_CTL_PMCR, ARMV8_CTL_PMSELR, ARMV8_CTL_PMUSERENR };

/*
 * The hardware's PMCR while guests trap: E is always 1, so that a guest's E, which is
 * obeyed through PMCNTENSET, can never stop the host's counters (QEMU gates those by E
 * too, and lets an E that goes to 0 leave the interrupt up); DP keeps the cycle counter
 * still wherever counting is prohibited.
 */
#define ARMV8_PMCR_TRAPPED (ARMV8_PMCR_E | ARMV8_PMCR_DP)
/*
 * The hardware's PMUSERENR while guests trap: all of EL0's accesses get past EL1, to EL2,
 * which knows what its guest allows it. Nothing but EN: where SW, CR or ER allow an
 * access, QEMU forgets to ask MDCR_EL2.TPM, and EL0 reaches the register itself.
 */
#define ARMV8_PMUSERENR_TRAPPED ARMV8_PMUSERENR_EN
#define ARMV8_CYCLES_BIT (1ULL << ARMV8_CYCLES)

/*
 * A filter that counts nothing but EL1 and EL0 of the VM that runs: not EL2, not EL3
 * (M differs from P), not the other threads of the core.
 */
static inline uint64_t armv8_shut_in(uint64_t filter)
{
	filter &= ARMV8_TYPE_P | ARMV8_TYPE_U | ARMV8_TYPE_NSK | ARMV8_TYPE_NSU;
	return filter & ARMV8_TYPE_P ? filter : filter | ARMV8_TYPE_M;
}

static inline uint64_t armv8_type_event(const struct vpmu_caps *caps)
{
	return caps->version >= ARMV8_PMUVER_V3P1 ? ARMV8_TYPE_EVENT : ARMV8_TYPE_EVENT_V3;
}

/* The host's are the highest. */
static inline unsigned armv8_guest_counters(const struct vpmu_caps *caps)
{
	return caps->host ? (unsigned)__builtin_ctzll(caps->host) : caps->programmable;
}

/* core/pmu/armv8.c */
void armv8_write(const struct vpmu_hw *hw, const struct vpmu_caps *caps, unsigned counter,
		 uint64_t value);
uint64_t armv8_read(const struct vpmu_hw *hw, unsigned counter);
void armv8_select(const struct vpmu_hw *hw, unsigned counter, uint64_t select);

/* core/pmu/armv8_guest.c, for the descriptor */
void armv8_guest_reset(const struct vpmu_caps *caps, struct vpmu_bank *bank);
uint64_t armv8_guest_active(const struct vpmu_caps *caps, const struct vpmu_bank *bank);
uint64_t armv8_guest_select(const struct vpmu_caps *caps, const struct vpmu_bank *bank,
			    unsigned counter);
uint64_t armv8_guest_control(const struct vpmu_bank *bank);
bool armv8_guest_line(const struct vpmu_caps *caps, const struct vpmu_bank *bank);
enum vpmu_access armv8_guest_read(struct vpmu_vcpu *v, uint32_t reg, bool user,
				  uint64_t *value);
enum vpmu_access armv8_guest_write(struct vpmu_vcpu *v, uint32_t reg, bool user,
				   uint64_t value);

/* core/pmu/armv8_direct.c, for the descriptor */
void armv8_direct_load(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
		       const struct vpmu_bank *bank);
void armv8_direct_stop(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
		       struct vpmu_bank *bank);
void armv8_direct_start(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			const struct vpmu_bank *bank);
void armv8_direct_save(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
		       struct vpmu_bank *bank);
uint64_t armv8_direct_overflowed(const struct vpmu_hw *hw, const struct vpmu_caps *caps);
bool armv8_direct_status(uint32_t reg);

#endif
