/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest that reaches PMUv3 itself. It sees the first HPMN counters only: the hardware
 * keeps EL1 and EL0 from the rest (Arm ARM, MDCR_EL2.HPMN), from EL2's events by HPMD
 * and HCCD, and from other threads' by MTPME. An emulator that does not (QEMU 7.2) lets
 * the guest reach the host's counters, and stop them by PMCR.E: there, guests have to
 * trap. So they have to where HPMD is missing; where only HCCD is (before FEAT_PMUv3p5),
 * a guest that asks for it counts the cycles of its own exits.
 */
#include "core/pmu/armv8.h"

#define PMCR_KEPT                                                                          \
	(ARMV8_PMCR_E | ARMV8_PMCR_D | ARMV8_PMCR_X | ARMV8_PMCR_DP | ARMV8_PMCR_LC |      \
	 ARMV8_PMCR_LP)

void armv8_direct_load(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
		       const struct vpmu_bank *bank)
{
	uint64_t left = caps->guest;

	vpmu_hw_write(hw, ARMV8_PMCNTENCLR, caps->guest);
	vpmu_hw_write(hw, ARMV8_PMINTENCLR, caps->guest);
	vpmu_hw_write(hw, ARMV8_PMOVSCLR, caps->guest);
	/* Before the status: QEMU takes its interrupt's level anew at these only. */
	vpmu_hw_write(hw, ARMV8_PMCR, bank->ctl[ARMV8_CTL_PMCR]);
	for (; left; left &= left - 1) {
		unsigned c = (unsigned)__builtin_ctzll(left);

		armv8_select(hw, c, bank->select[c]);
		armv8_write(hw, caps, c, bank->count[c]);
	}
	vpmu_hw_write(hw, ARMV8_PMSELR, bank->ctl[ARMV8_CTL_PMSELR]);
	vpmu_hw_write(hw, ARMV8_PMOVSSET, bank->overflow);
	vpmu_hw_write(hw, ARMV8_PMINTENSET, bank->irq);
	armv8_direct_start(hw, caps, bank);
}

/* EL0's accesses of who runs next are to come to EL2 again. */
void armv8_direct_stop(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
		       struct vpmu_bank *bank)
{
	bank->enable = vpmu_hw_read(hw, ARMV8_PMCNTENSET) & caps->guest;
	bank->ctl[ARMV8_CTL_PMUSERENR] =
		vpmu_hw_read(hw, ARMV8_PMUSERENR) & ARMV8_PMUSERENR_ALL;
	vpmu_hw_write(hw, ARMV8_PMCNTENCLR, caps->guest);
	vpmu_hw_write(hw, ARMV8_PMUSERENR, ARMV8_PMUSERENR_TRAPPED);
}

void armv8_direct_start(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			const struct vpmu_bank *bank)
{
	(void)caps;
	vpmu_hw_write(hw, ARMV8_PMUSERENR, bank->ctl[ARMV8_CTL_PMUSERENR]);
	vpmu_hw_write(hw, ARMV8_PMCNTENSET, bank->enable);
}

void armv8_direct_save(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
		       struct vpmu_bank *bank)
{
	uint64_t left = caps->guest;

	vpmu_hw_sync(hw);
	bank->ctl[ARMV8_CTL_PMCR] = vpmu_hw_read(hw, ARMV8_PMCR) & PMCR_KEPT;
	bank->ctl[ARMV8_CTL_PMSELR] = vpmu_hw_read(hw, ARMV8_PMSELR) & ARMV8_PMSELR_SEL;
	bank->irq = vpmu_hw_read(hw, ARMV8_PMINTENSET) & caps->guest;
	bank->overflow = vpmu_hw_read(hw, ARMV8_PMOVSSET) & caps->guest;
	for (; left; left &= left - 1) {
		unsigned c = (unsigned)__builtin_ctzll(left);

		bank->select[c] = vpmu_hw_read(hw, ARMV8_PMEVTYPER(c));
		bank->count[c] = armv8_read(hw, c);
	}
	vpmu_hw_write(hw, ARMV8_PMINTENCLR, caps->guest);
	vpmu_hw_write(hw, ARMV8_PMOVSCLR, caps->guest);
	vpmu_hw_write(hw, ARMV8_PMCR, ARMV8_PMCR_TRAPPED);
}

uint64_t armv8_direct_overflowed(const struct vpmu_hw *hw, const struct vpmu_caps *caps)
{
	uint64_t overflow = vpmu_hw_read(hw, ARMV8_PMOVSSET) & caps->guest;

	if (!overflow || !(vpmu_hw_read(hw, ARMV8_PMCR) & ARMV8_PMCR_E))
		return 0;
	return overflow & vpmu_hw_read(hw, ARMV8_PMINTENSET);
}

bool armv8_direct_status(uint32_t reg)
{
	return reg == ARMV8_PMOVSCLR;
}
