/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AMD core performance counters as a guest sees them: MSRs, RDPMC, CPUID. Reserved bits
 * read as zero and ignore writes, as the hardware has it; registers of counters that
 * the guest has not, or of a later PMU, are #GP.
 */
#include "core/offset.h"
#include "core/pmu/amd.h"
#include "core/pmu/x86_guest.h"
#include "core/pmu/amd_regs.h"
#include "core/vpmu.h"

enum what { OTHER, ABSENT, CTL, CTR, RDPMC, GLOBAL };

struct reg {
	enum what what;
	unsigned counter;
};

/* Before PerfMonV2 the extension means six counters; a guest with fewer has none of it. */
static bool has_extension(const struct vpmu_caps *caps)
{
	return caps->version == AMD_V2 ||
	       (caps->version == AMD_EXT && caps->guest == caps->counters);
}

/* Which register @reg is to a guest with @caps: ABSENT where it has no such one. */
static struct reg find(const struct vpmu_caps *caps, uint32_t reg)
{
	struct reg r = { OTHER, 0 };
	bool there = true;

	if (x86_in(reg, AMD_LEGACY_CTL(0), AMD_LEGACY)) {
		r = (struct reg) { CTL, reg - AMD_LEGACY_CTL(0) };
	} else if (x86_in(reg, AMD_LEGACY_CTR(0), AMD_LEGACY)) {
		r = (struct reg) { CTR, reg - AMD_LEGACY_CTR(0) };
	} else if (x86_in(reg, AMD_CTL(0), 2 * AMD_MAX)) {
		r = (struct reg) { reg & 1 ? CTR : CTL, (reg - AMD_CTL(0)) / 2 };
		there = has_extension(caps);
	} else if (x86_in(reg, X86_RDPMC, 0x10000000)) {
		r = (struct reg) { RDPMC, reg - X86_RDPMC };
		there = r.counter < AMD_MAX;
	} else if (x86_in(reg, AMD_GLOBAL_STATUS, 4)) {
		r.what = GLOBAL;
		there = caps->version == AMD_V2;
	}
	if (!there || (r.what >= CTL && r.what <= RDPMC && !(caps->guest >> r.counter & 1)))
		r.what = ABSENT;
	return r;
}

/* GlobalCtl has every counter on at reset, for software that knows nothing of it. */
void amd_guest_reset(const struct vpmu_caps *caps, struct vpmu_bank *bank)
{
	*bank = (struct vpmu_bank) { .enable = 0 };
	if (caps->version == AMD_V2)
		bank->enable = caps->guest;
}

uint64_t amd_guest_active(const struct vpmu_caps *caps, const struct vpmu_bank *bank)
{
	uint64_t may = caps->guest & (caps->version == AMD_V2 ? bank->enable : ~0ULL);
	uint64_t active = 0;

	for (uint64_t rest = may; rest; rest &= rest - 1)
		if (bank->select[__builtin_ctzll(rest)] & X86_SEL_EN)
			active |= rest & -rest;
	return active;
}

uint64_t amd_guest_select(const struct vpmu_caps *caps, const struct vpmu_bank *bank,
			  unsigned counter)
{
	uint64_t value =
		bank->select[counter] & (AMD_SEL_CONFIG | X86_SEL_USR | X86_SEL_OS);

	value |= AMD_SEL_GUEST_ONLY;
	return caps->version == AMD_V2 ? value | X86_SEL_EN : value;
}

static void set_count(struct vpmu_vcpu *v, unsigned counter, uint64_t value)
{
	vpmu_bank_set_count(v, counter, value & vpmu_width_mask(AMD_WIDTH));
	if (v->vm->m->caps.topbit) /* no register tells what had overflowed */
		x86_clear_status(v, 1ULL << counter);
}

static void set_select(struct vpmu_vcpu *v, unsigned counter, uint64_t value)
{
	uint64_t bit = 1ULL << counter;
	bool irq = value & X86_SEL_INT;

	if (v->vm->m->caps.topbit)
		x86_clear_status(v, bit);
	else if (irq && !(v->bank.irq & bit))
		v->bank.quiet |= vpmu_bank_overflow(v) & bit;
	v->bank.irq = irq ? v->bank.irq | bit : v->bank.irq & ~bit;
	vpmu_bank_set_select(v, counter, value & AMD_SEL_GUEST);
	vpmu_bank_apply(v);
	vpmu_bank_line(v);
}

enum vpmu_access amd_guest_read(struct vpmu_vcpu *v, uint32_t reg, bool user,
				uint64_t *value)
{
	struct reg r = find(&v->vm->m->caps, reg);

	if (r.what == OTHER)
		return VPMU_FOREIGN;
	if (r.what == ABSENT || (user && r.what != RDPMC))
		return VPMU_UNDEFINED;
	if (r.what == CTL)
		*value = v->bank.select[r.counter];
	else if (r.what != GLOBAL)
		*value = vpmu_bank_count(v, r.counter);
	else if (reg == AMD_GLOBAL_CTL)
		*value = v->bank.enable;
	else /* the clearing and setting registers read as zero */
		*value = reg == AMD_GLOBAL_STATUS ? vpmu_bank_overflow(v) : 0;
	return VPMU_DONE;
}

static void write_global(struct vpmu_vcpu *v, uint32_t reg, uint64_t value)
{
	switch (reg) {
	case AMD_GLOBAL_CTL:
		v->bank.enable = value;
		vpmu_bank_apply(v);
		break;
	case AMD_GLOBAL_STATUS_CLR: x86_clear_status(v, value); break;
	case AMD_GLOBAL_STATUS_SET:
		value &= ~vpmu_bank_overflow(v);
		v->bank.quiet |= value;
		vpmu_bank_overflow_change(v, value, 0);
		break;
	}
}

enum vpmu_access amd_guest_write(struct vpmu_vcpu *v, uint32_t reg, bool user,
				 uint64_t value)
{
	const struct vpmu_caps *caps = &v->vm->m->caps;
	struct reg r = find(caps, reg);

	if (r.what == OTHER)
		return VPMU_FOREIGN;
	if (user || r.what == ABSENT || r.what == RDPMC)
		return VPMU_UNDEFINED;
	if (r.what == CTL)
		set_select(v, r.counter, value);
	else if (r.what == CTR)
		set_count(v, r.counter, value);
	else
		write_global(v, reg, value & caps->guest);
	return VPMU_DONE;
}

void amd_guest_cpuid(const struct vpmu_caps *caps, uint32_t leaf, uint32_t r[4])
{
	if (leaf == 0x80000001) {
		r[X86_ECX] &= ~(AMD_CPUID_EXT_CORE | AMD_CPUID_EXT_NB | AMD_CPUID_EXT_LLC);
		if (has_extension(caps))
			r[X86_ECX] |= AMD_CPUID_EXT_CORE;
	} else if (leaf == 0x80000022) {
		r[X86_EAX] = caps->version == AMD_V2 ? AMD_CPUID_V2 : 0;
		r[X86_EBX] = caps->version == AMD_V2 ? x86_bits(caps->guest) : 0;
		r[X86_ECX] = r[X86_EDX] = 0;
	}
}
