/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel architectural perfmon as a guest sees it: MSRs, RDPMC, CPUID. It sees the
 * counters that are its own, by their number in CPUID; registers beyond them, and
 * features that would reach beyond its vCPU (AnyThread, PEBS, off-core), are #GP.
 */
#include "core/offset.h"
#include "core/pmu/intel.h"
#include "core/pmu/x86_guest.h"
#include "core/pmu/intel_regs.h"
#include "core/vpmu.h"

#define GP_MASK ((1ULL << INTEL_GP_MAX) - 1)
#define FIXED_MODE (INTEL_FIXED_OS | INTEL_FIXED_USR)
/* PC is kept as written, but stays out of the hardware: the pins are the host's. */
#define SEL_GUEST                                                                          \
	((uint64_t)X86_SEL_CONFIG | X86_SEL_USR | X86_SEL_OS | X86_SEL_PC | X86_SEL_INT |  \
	 X86_SEL_EN)

enum what { OTHER, ABSENT, COUNT, FULL_COUNT, EVTSEL, RDPMC, FIXED_CTR_CTRL, GLOBAL };

struct reg {
	enum what what;
	unsigned counter;
};

/* Registers of this PMU that no guest has: off-core and load latency, PEBS, metrics. */
static bool is_withheld(uint32_t reg)
{
	static const uint32_t withheld[] = { 0x1a6, 0x1a7, 0x329, 0x3f1, 0x3f6, 0x3f7 };

	for (unsigned i = 0; i < sizeof(withheld) / sizeof(*withheld); i++)
		if (reg == withheld[i])
			return true;
	return false;
}

static struct reg rdpmc(uint32_t reg)
{
	uint32_t n = reg & 0xffff;

	if (reg & X86_RDPMC_FIXED >> 6 && n < INTEL_FIXED_MAX)
		return (struct reg) { RDPMC, INTEL_FIXED + n };
	if (reg == (X86_RDPMC | n) && n < INTEL_GP_MAX)
		return (struct reg) { RDPMC, n };
	return (struct reg) { ABSENT, 0 };
}

static struct reg by_number(uint32_t reg)
{
	if (x86_in(reg, INTEL_PMC(0), INTEL_GP_MAX))
		return (struct reg) { COUNT, reg - INTEL_PMC(0) };
	if (x86_in(reg, INTEL_A_PMC(0), INTEL_GP_MAX))
		return (struct reg) { FULL_COUNT, reg - INTEL_A_PMC(0) };
	if (x86_in(reg, INTEL_EVTSEL(0), INTEL_GP_MAX))
		return (struct reg) { EVTSEL, reg - INTEL_EVTSEL(0) };
	if (x86_in(reg, INTEL_FIXED_CTR(0), INTEL_FIXED_MAX))
		return (struct reg) { FULL_COUNT, INTEL_FIXED + reg - INTEL_FIXED_CTR(0) };
	if (reg == INTEL_FIXED_CTR_CTRL)
		return (struct reg) { FIXED_CTR_CTRL, 0 };
	if (reg == INTEL_PERF_CAPABILITIES || x86_in(reg, INTEL_GLOBAL_STATUS, 5))
		return (struct reg) { GLOBAL, 0 };
	if (x86_in(reg, X86_RDPMC, 0x10000000))
		return rdpmc(reg);
	return (struct reg) { is_withheld(reg) ? ABSENT : OTHER, 0 };
}

/* Which register @reg is to a guest with @caps: ABSENT where it has no such one. */
static struct reg find(const struct vpmu_caps *caps, uint32_t reg)
{
	struct reg r = by_number(reg);
	bool there = true;

	switch (r.what) {
	case FULL_COUNT:
		there = r.counter >= INTEL_FIXED || caps->features & INTEL_HAS_FULL_WIDTH;
		/* fall through */
	case COUNT:
	case EVTSEL:
	case RDPMC: there = there && caps->guest >> r.counter & 1; break;
	case FIXED_CTR_CTRL: there = caps->version >= 2; break;
	case GLOBAL:
		if (reg == INTEL_PERF_CAPABILITIES)
			there = caps->features & INTEL_HAS_CAPABILITIES;
		else
			there = caps->version >= (reg >= INTEL_GLOBAL_STATUS_SET ? 4 : 2);
		break;
	default: break;
	}
	if (!there)
		r.what = ABSENT;
	return r;
}

/* At power-up every general-purpose counter is on in GLOBAL_CTRL (SDM vol. 3, 10.1.1). */
void intel_guest_reset(const struct vpmu_caps *caps, struct vpmu_bank *bank)
{
	*bank = (struct vpmu_bank) { .enable = 0 };
	if (caps->version >= 2)
		bank->enable = caps->guest & GP_MASK;
}

static bool is_on(const struct vpmu_bank *bank, unsigned counter)
{
	if (counter >= INTEL_FIXED)
		return bank->select[counter] & FIXED_MODE;
	return bank->select[counter] & X86_SEL_EN;
}

uint64_t intel_guest_active(const struct vpmu_caps *caps, const struct vpmu_bank *bank)
{
	uint64_t may = caps->guest & (caps->version >= 2 ? bank->enable : GP_MASK);
	uint64_t active = 0;

	for (uint64_t rest = may; rest; rest &= rest - 1) {
		unsigned i = __builtin_ctzll(rest);

		if (is_on(bank, i))
			active |= 1ULL << i;
	}
	return active;
}

uint64_t intel_guest_select(const struct vpmu_caps *caps, const struct vpmu_bank *bank,
			    unsigned counter)
{
	uint64_t value = bank->select[counter];

	if (counter >= INTEL_FIXED)
		return (value & INTEL_FIXED_OS ? X86_SEL_OS : 0) |
		       (value & INTEL_FIXED_USR ? X86_SEL_USR : 0);
	value &= X86_SEL_CONFIG | X86_SEL_USR | X86_SEL_OS;
	return caps->version >= 2 ? value | X86_SEL_EN : value;
}

static void set_count(struct vpmu_vcpu *v, unsigned counter, uint64_t value)
{
	vpmu_bank_set_count(v, counter, value);
	if (v->vm->m->caps.topbit) /* no register tells what had overflowed */
		x86_clear_status(v, 1ULL << counter);
}

static void set_select(struct vpmu_vcpu *v, unsigned counter, uint64_t value, bool irq)
{
	uint64_t bit = 1ULL << counter;

	if (v->vm->m->caps.topbit)
		x86_clear_status(v, bit);
	else if (irq && !(v->bank.irq & bit))
		v->bank.quiet |= vpmu_bank_overflow(v) & bit;
	v->bank.irq = irq ? v->bank.irq | bit : v->bank.irq & ~bit;
	vpmu_bank_set_select(v, counter, value);
	vpmu_bank_apply(v);
	vpmu_bank_line(v);
}

static bool set_fixed_ctrl(struct vpmu_vcpu *v, uint64_t value)
{
	uint64_t fixed = v->vm->m->caps.guest >> INTEL_FIXED, known = 0;

	for (unsigned i = 0; i < INTEL_FIXED_MAX; i++)
		if (fixed >> i & 1)
			known |= (uint64_t)(FIXED_MODE | INTEL_FIXED_PMI)
				 << INTEL_FIXED_SHIFT(i);
	if (value & ~known)
		return false;
	for (unsigned i = 0; i < INTEL_FIXED_MAX; i++) {
		uint64_t field = value >> INTEL_FIXED_SHIFT(i) & 0xf;

		if (fixed >> i & 1 && field != v->bank.select[INTEL_FIXED + i])
			set_select(v, INTEL_FIXED + i, field, field & INTEL_FIXED_PMI);
	}
	return true;
}

static uint64_t fixed_ctrl(const struct vpmu_bank *bank)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < INTEL_FIXED_MAX; i++)
		value |= bank->select[INTEL_FIXED + i] << INTEL_FIXED_SHIFT(i);
	return value;
}

/* GLOBAL_INUSE (20.2.4.3): what is in use by its controls' own bits. */
static uint64_t in_use(const struct vpmu_caps *caps, const struct vpmu_bank *bank)
{
	uint64_t value = bank->irq ? INTEL_INUSE_PMI : 0;

	for (uint64_t rest = caps->guest; rest; rest &= rest - 1) {
		unsigned i = __builtin_ctzll(rest);

		if (i >= INTEL_FIXED ? is_on(bank, i) : bank->select[i] & 0xff)
			value |= 1ULL << i;
	}
	return value;
}

static uint64_t read_global(struct vpmu_vcpu *v, uint32_t reg)
{
	const struct vpmu_caps *caps = &v->vm->m->caps;

	switch (reg) {
	case INTEL_PERF_CAPABILITIES:
		return caps->features & INTEL_HAS_FULL_WIDTH ? INTEL_CAP_FW_WRITE : 0;
	case INTEL_GLOBAL_STATUS: return vpmu_bank_overflow(v);
	case INTEL_GLOBAL_CTRL: return v->bank.enable;
	case INTEL_GLOBAL_INUSE: return in_use(caps, &v->bank);
	default: return 0; /* OVF_CTRL, STATUS_SET */
	}
}

enum vpmu_access intel_guest_read(struct vpmu_vcpu *v, uint32_t reg, bool user,
				  uint64_t *value)
{
	struct reg r = find(&v->vm->m->caps, reg);

	if (r.what == OTHER)
		return VPMU_FOREIGN;
	if (r.what == ABSENT || (user && r.what != RDPMC))
		return VPMU_UNDEFINED;
	switch (r.what) {
	case EVTSEL: *value = v->bank.select[r.counter]; break;
	case FIXED_CTR_CTRL: *value = fixed_ctrl(&v->bank); break;
	case GLOBAL: *value = read_global(v, reg); break;
	default:
		/* narrower than the hardware's where that cannot be written in full */
		*value = vpmu_bank_count(v, r.counter) &
			 vpmu_width_mask(intel_width(&v->vm->m->caps, r.counter));
	}
	return VPMU_DONE;
}

/* What of GLOBAL_STATUS a guest may clear or set, though only counters' bits are kept. */
static uint64_t status_bits(const struct vpmu_caps *caps)
{
	static const uint64_t others[] = {
		0, 0, INTEL_STATUS_V2, INTEL_STATUS_V3, INTEL_STATUS_V4, INTEL_STATUS_V4
	};

	return caps->guest | others[caps->version];
}

static bool write_global(struct vpmu_vcpu *v, uint32_t reg, uint64_t value)
{
	const struct vpmu_caps *caps = &v->vm->m->caps;
	uint64_t set;

	switch (reg) {
	case INTEL_GLOBAL_CTRL:
		if (value & ~caps->guest)
			return false;
		v->bank.enable = value;
		vpmu_bank_apply(v);
		return true;
	case INTEL_GLOBAL_OVF_CTRL:
		if (value & ~status_bits(caps))
			return false;
		x86_clear_status(v, value & caps->guest);
		return true;
	case INTEL_GLOBAL_STATUS_SET:
		if (value & ~status_bits(caps))
			return false;
		set = value & caps->guest & ~vpmu_bank_overflow(v);
		v->bank.quiet |= set;
		vpmu_bank_overflow_change(v, set, 0);
		return true;
	default: return false; /* PERF_CAPABILITIES, STATUS, INUSE are read-only */
	}
}

enum vpmu_access intel_guest_write(struct vpmu_vcpu *v, uint32_t reg, bool user,
				   uint64_t value)
{
	const struct vpmu_caps *caps = &v->vm->m->caps;
	struct reg r = find(caps, reg);
	uint64_t mask;

	if (r.what == OTHER)
		return VPMU_FOREIGN;
	if (user)
		return VPMU_UNDEFINED;
	mask = vpmu_width_mask(intel_width(caps, r.counter));
	switch (r.what) {
	case COUNT: /* sign-extended from bit 31; the rest is ignored (20.2.6) */
		set_count(v, r.counter, (uint64_t)(int64_t)(int32_t)value & mask);
		return VPMU_DONE;
	case FULL_COUNT:
		if (value & ~mask)
			return VPMU_UNDEFINED;
		set_count(v, r.counter, value);
		return VPMU_DONE;
	case EVTSEL:
		if (value & ~SEL_GUEST)
			return VPMU_UNDEFINED;
		set_select(v, r.counter, value, value & X86_SEL_INT);
		return VPMU_DONE;
	case FIXED_CTR_CTRL: return set_fixed_ctrl(v, value) ? VPMU_DONE : VPMU_UNDEFINED;
	case GLOBAL: return write_global(v, reg, value) ? VPMU_DONE : VPMU_UNDEFINED;
	default: return VPMU_UNDEFINED;
	}
}

void intel_guest_cpuid(const struct vpmu_caps *caps, uint32_t leaf, uint32_t r[4])
{
	uint32_t gp = x86_bits(caps->guest & GP_MASK);
	uint64_t fixed = caps->guest >> INTEL_FIXED;
	/* EDX tells only the number of those that follow each other from 0 */
	uint32_t nfixed = __builtin_ctzll(~fixed);

	if (leaf == 1) {
		r[X86_ECX] &= ~INTEL_CPUID_PDCM;
		if (caps->features & INTEL_HAS_CAPABILITIES)
			r[X86_ECX] |= INTEL_CPUID_PDCM;
	}
	if (leaf != 0xa)
		return;
	r[X86_EAX] = caps->version | gp << 8 | intel_width(caps, 0) << 16 |
		     (caps->id[0] & 0xff000000);
	r[X86_EBX] = caps->id[0] >> 32;
	r[X86_ECX] = caps->version >= 5 ? fixed : 0;
	r[X86_EDX] = 0;
	if (caps->version >= 2) /* bit 15: no AnyThread */
		r[X86_EDX] = nfixed | (uint32_t)caps->fixed_width << 5 | 1u << 15;
}
