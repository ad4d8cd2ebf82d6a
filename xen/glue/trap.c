/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <xen/sched.h>

#include <asm/cpregs.h>
#include <asm/cpufeature.h>
#include <asm/hsr.h>
#include <asm/regs.h>
#include <asm/traps.h>

#include "core/pmu/armv8_regs.h"
#include "glue.h"

#define LOW_HALF 0xffffffffULL

static enum vpmu_access access(struct vpmu_vcpu *g, const struct cpu_user_regs *regs,
			       uint32_t reg, bool write, uint64_t *value)
{
	enum vpmu_access how;
	unsigned long flags;

	local_irq_save(flags);
	how = vpmu_guest_access(&this_cpu(vpmu_pcpu), g, reg, write,
				regs_mode_is_user(regs), value);
	local_irq_restore(flags);
	return how;
}

/*
 * Ends a trapped instruction as the access did. False: none of ours. A kernel that does
 * not let its EL0 use the PMU takes the trap itself: with the syndrome that Xen got,
 * whose classes for such instructions are those of EL1 too (DDI 0487, D17.2.37 ESR_EL1);
 * in AArch32 it takes an undefined instruction (G1.17).
 */
static bool finish(struct cpu_user_regs *regs, union hsr hsr, enum vpmu_access how)
{
	switch (how) {
	case VPMU_DONE: advance_pc(regs, hsr); return true;
	case VPMU_UNDEFINED: inject_undef_exception(regs, hsr); return true;
	case VPMU_TRAPPED:
		inject_undef_exception(regs, hsr);
		if (is_64bit_domain(current->domain))
			WRITE_SYSREG(hsr.bits, ESR_EL1);
		return true;
	default: return false;
	}
}

/* ID_AA64DFR0_EL1 and ID_DFR0_EL1: PMUVer and PerfMon for those who have a PMU only. */
static uint64_t id_dfr0(const struct vpmu_vcpu *g, bool aarch32)
{
	unsigned int shift = aarch32 ? 24 : ARMV8_DFR0_PMUVER_SHIFT;
	uint64_t id = aarch32 ? system_cpuinfo.dbg32.bits[0] : system_cpuinfo.dbg64.bits[0];
	uint64_t version = vpmu_machine.caps.version;

	if (!g->vm->guest_pmu)
		version = 0;
	else if (aarch32 && version == ARMV8_PMUVER_V3)
		version = 3; /* PMUv3 in AArch32's numbering; the later ones agree */
	return (id & ~(ARMV8_DFR0_PMUVER << shift)) | version << shift;
}

bool vpmu_sysreg(struct vpmu_vcpu *g, struct cpu_user_regs *regs, register_t bits)
{
	const union hsr hsr = { .bits = bits };
	const struct hsr_sysreg *s = &hsr.sysreg;
	uint32_t reg = ARMV8_REG(s->op0, s->op1, s->crn, s->crm, s->op2);
	enum vpmu_access how = VPMU_DONE;
	uint64_t value = 0;

	if (!s->read)
		value = get_user_reg(regs, s->reg);
	if (s->read && !regs_mode_is_user(regs) && reg == ARMV8_ID_AA64DFR0)
		value = id_dfr0(g, false);
	else if (s->read && !regs_mode_is_user(regs) && reg == ARMV8_REG(3, 0, 0, 1, 2))
		value = id_dfr0(g, true);
	else
		how = access(g, regs, reg, !s->read, &value);
	if (how == VPMU_DONE && s->read)
		set_user_reg(regs, s->reg, value);
	return finish(regs, hsr, how);
}

/*
 * The AArch64 register that an AArch32 one is, and which half of it; 0: none. The
 * encodings agree but for op0 and op1 (DDI 0487, G8.4).
 */
static uint32_t reg_of_cp15(const struct hsr_cp32 *c, bool *high)
{
	bool el1_only = c->op2 == 1 || c->op2 == 2 || c->op2 == 6;

	*high = false;
	if (c->op1)
		return 0;
	if (c->crn == 14 && c->crm >= 8)
		return ARMV8_REG(3, 3, 14, c->crm, c->op2);
	if (c->crn != 9 || c->crm < 12 || c->crm > 14)
		return 0;
	if (c->crm == 14 && (c->op2 == 4 || c->op2 == 5)) {
		*high = true; /* PMCEID2, PMCEID3 */
		return c->op2 == 4 ? ARMV8_PMCEID0 : ARMV8_PMCEID1;
	}
	return ARMV8_REG(3, c->crm == 14 && el1_only ? 0 : 3, 9, c->crm, c->op2);
}

static bool is_counter(uint32_t reg)
{
	return reg == ARMV8_PMCCNTR || reg == ARMV8_PMXEVCNTR ||
	       (reg >= ARMV8_PMEVCNTR(0) && reg <= ARMV8_PMEVCNTR(30));
}

/* A 32-bit access to a 64-bit counter leaves the upper half as it is (G8.4). */
static enum vpmu_access access_32(struct vpmu_vcpu *g, const struct cpu_user_regs *regs,
				  uint32_t reg, bool write, uint64_t *value)
{
	uint64_t old = 0;

	if (write && is_counter(reg)) {
		enum vpmu_access how = access(g, regs, reg, false, &old);

		if (how != VPMU_DONE)
			return how;
		*value = (old & ~LOW_HALF) | (*value & LOW_HALF);
	}
	return access(g, regs, reg, write, value);
}

bool vpmu_cp15_32(struct vpmu_vcpu *g, struct cpu_user_regs *regs, register_t bits)
{
	const union hsr hsr = { .bits = bits };
	const struct hsr_cp32 *c = &hsr.cp32;
	enum vpmu_access how = VPMU_DONE;
	uint64_t value = 0;
	uint32_t reg;
	bool high;

	if (!c->read)
		value = (uint32_t)get_user_reg(regs, c->reg);
	if (c->read && !regs_mode_is_user(regs) && c->op1 == 0 && c->crn == 0 &&
	    c->crm == 1 && c->op2 == 2)
		value = id_dfr0(g, true);
	else {
		reg = reg_of_cp15(c, &high);
		how = reg ? access_32(g, regs, reg, !c->read, &value) : VPMU_FOREIGN;
		value = high ? value >> 32 : value & LOW_HALF;
	}
	if (how == VPMU_DONE && c->read)
		set_user_reg(regs, c->reg, value);
	return finish(regs, hsr, how);
}

/* MRRC and MCRR: PMCCNTR alone has such a form. */
bool vpmu_cp15_64(struct vpmu_vcpu *g, struct cpu_user_regs *regs, register_t bits)
{
	const union hsr hsr = { .bits = bits };
	const struct hsr_cp64 *c = &hsr.cp64;
	enum vpmu_access how = VPMU_FOREIGN;
	uint64_t value = 0;

	if (!c->read)
		value = (uint32_t)get_user_reg(regs, c->reg1) |
			(uint64_t)get_user_reg(regs, c->reg2) << 32;
	if (c->op1 == 0 && c->crm == 9)
		how = access(g, regs, ARMV8_PMCCNTR, !c->read, &value);
	if (how == VPMU_DONE && c->read) {
		set_user_reg(regs, c->reg1, value & LOW_HALF);
		set_user_reg(regs, c->reg2, value >> 32);
	}
	return finish(regs, hsr, how);
}
