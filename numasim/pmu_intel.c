/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel SDM, vol. 3, chapter 20 (architectural performance monitoring), vol. 2, CPUID
 * leaf 0xa, vol. 4 for the MSRs' numbers.
 */
#include <stddef.h>

#include "numasim/pmu_intel.h"

enum {
	PMC = 0xc1,
	EVTSEL = 0x186,
	FIXED_CTR = 0x309,
	PERF_CAPABILITIES = 0x345,
	FIXED_CTR_CTRL = 0x38d,
	GLOBAL_STATUS = 0x38e,
	GLOBAL_CTRL = 0x38f,
	GLOBAL_OVF_CTRL = 0x390,
	GLOBAL_STATUS_SET = 0x391,
	GLOBAL_INUSE = 0x392,
	VMX_EXIT_CTLS = 0x483,
	ROOT_GLOBAL_CTRL = 0xc1002c04, /* of the VMCS, as core/ numbers it */
	A_PMC = 0x4c1,
};
#define FIXED 32

static unsigned width(const struct pmu_x86 *x, unsigned counter)
{
	const struct pmu_intel_config *c = &((const struct pmu_intel *)x)->config;

	return counter >= FIXED ? c->fixed_width : c->gp_width;
}

static bool enabled(const struct pmu_x86 *x, unsigned i, enum vpmu_mode mode)
{
	bool user = mode == VPMU_MODE_USER;
	uint64_t s = x->select[i];

	if (mode == VPMU_MODE_HYP && !x->has_root)
		return false;
	if (i >= FIXED)
		return s >> (user ? 1 : 0) & 1;
	return s >> 22 & 1 && s >> (user ? 16 : 17) & 1;
}

/* edge, inversion and mask make another event of it */
static uint64_t event(const struct pmu_x86 *x, unsigned i)
{
	static const uint16_t fixed[] = { 0xc0, 0x3c, 0x300, 0x1a4 };

	if (i < FIXED)
		return x->select[i] & 0xff84ffff;
	return i - FIXED < 4 ? fixed[i - FIXED] : ~0ULL;
}

static bool interrupts(const struct pmu_x86 *x, unsigned i)
{
	return x->select[i] >> (i >= FIXED ? 3 : 20) & 1;
}

/* Index of @reg in a row of @n registers from @base, or -1. */
static int row(uint32_t reg, uint32_t base, unsigned n)
{
	return reg >= base && reg - base < n ? (int)(reg - base) : -1;
}

static bool has_fixed(const struct pmu_x86 *x, int i)
{
	return i >= 0 && x->counters >> (FIXED + i) & 1;
}

static uint64_t fixed_ctrl(const struct pmu_x86 *x)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 16; i++)
		if (has_fixed(x, i))
			value |= x->select[FIXED + i] << 4 * i;
	return value;
}

static uint64_t cpuid(const struct pmu_intel *m, uint32_t reg)
{
	const struct pmu_intel_config *c = &m->config;

	switch (reg) {
	case X86_CPUID(0, X86_EAX): return 0x16;
	case X86_CPUID(0, X86_EBX): return 0x756e6547; /* "Genu" */
	case X86_CPUID(1, X86_ECX):
		return (uint64_t)c->full_width << 15 | (uint64_t)c->vmx << 5;
	case X86_CPUID(0xa, X86_EAX):
		return c->version | c->gp << 8 | c->gp_width << 16 | 8u << 24;
	case X86_CPUID(0xa, X86_EBX): return c->absent;
	case X86_CPUID(0xa, X86_ECX): return c->version >= 5 ? c->fixed_map : 0;
	case X86_CPUID(0xa, X86_EDX):
		return c->version >= 2 ? c->fixed | c->fixed_width << 5 : 0;
	default: return 0;
	}
}

/* Which counter @reg is the count of, or -1. */
static int count_of(const struct pmu_intel *m, uint32_t reg)
{
	int i = row(reg, PMC, m->config.gp);

	if (i < 0 && m->config.full_width)
		i = row(reg, A_PMC, m->config.gp);
	if (i < 0 && has_fixed(&m->x86, row(reg, FIXED_CTR, 16)))
		i = FIXED + row(reg, FIXED_CTR, 16);
	return i;
}

static uint64_t in_use(const struct pmu_x86 *x)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < PMU_X86_COUNTERS; i++) {
		if (!(x->counters >> i & 1))
			continue;
		if (x->select[i] & (i >= FIXED ? 3 : 0xff))
			value |= 1ULL << i;
		if (interrupts(x, i))
			value |= 1ULL << 63;
	}
	return value;
}

static bool rdmsr(const struct pmu_x86 *x, uint32_t reg, uint64_t *value)
{
	const struct pmu_intel *m = (const struct pmu_intel *)x;
	unsigned version = m->config.version;
	int i;

	if (reg >> 28 == 0xe)
		*value = cpuid(m, reg);
	else if ((i = count_of(m, reg)) >= 0)
		*value = x->value[i];
	else if ((i = row(reg, EVTSEL, m->config.gp)) >= 0)
		*value = x->select[i];
	else if (reg == PERF_CAPABILITIES && m->config.full_width)
		*value = 1 << 13;
	else if (reg == VMX_EXIT_CTLS && m->config.vmx)
		*value = 1ULL << (32 + 12);
	else if (reg == ROOT_GLOBAL_CTRL && x->has_root)
		*value = x->root;
	else if (version >= 2 && reg == FIXED_CTR_CTRL)
		*value = fixed_ctrl(x);
	else if (version >= 2 && reg == GLOBAL_STATUS)
		*value = x->status;
	else if (version >= 2 && reg == GLOBAL_CTRL)
		*value = x->global;
	else if ((version >= 2 && reg == GLOBAL_OVF_CTRL) ||
		 (version >= 4 && reg == GLOBAL_STATUS_SET))
		*value = 0;
	else if (version >= 4 && reg == GLOBAL_INUSE)
		*value = in_use(x);
	else
		return false;
	return true;
}

static bool write_fixed_ctrl(struct pmu_x86 *x, unsigned version, uint64_t value)
{
	bool any_thread = version >= 3 && !x->bare; /* not as our guests' CPUID has it */

	for (unsigned i = 0; i < 16; i++) {
		uint64_t field = value >> 4 * i & 0xf;

		if (field && (!has_fixed(x, i) || (field & 4 && !any_thread)))
			return false;
	}
	for (unsigned i = 0; i < 16; i++)
		if (has_fixed(x, i)) {
			x->select[FIXED + i] = value >> 4 * i & 0xf;
			pmu_x86_written(x, FIXED + i, true);
		}
	return true;
}

static bool write_global(struct pmu_x86 *x, unsigned version, uint32_t reg, uint64_t value)
{
	static const uint64_t others[] = {
		0, 0, 3ULL << 62, 7ULL << 61, 0x3fULL << 58, 0x3fULL << 58
	};

	if (version < 2)
		return false;
	if (reg == FIXED_CTR_CTRL)
		return write_fixed_ctrl(x, version, value);
	if (reg == ROOT_GLOBAL_CTRL && x->has_root && !(value & ~x->counters)) {
		x->root = value;
		return true;
	}
	if (value & ~(x->counters | (reg == GLOBAL_CTRL ? 0 : others[version])))
		return false;
	if (reg == GLOBAL_CTRL) {
		x->global = value;
	} else if (reg == GLOBAL_OVF_CTRL) {
		x->status &= ~value;
		x->due &= ~value;
	} else if (reg == GLOBAL_STATUS_SET && version >= 4) {
		x->status |= value & x->counters;
	} else {
		return false;
	}
	return true;
}

static bool write_count(struct pmu_x86 *x, unsigned version, unsigned i, bool full,
			uint64_t value)
{
	uint64_t mask = pmu_x86_mask(width(x, i));

	if (!full)
		value = (uint64_t)(int64_t)(int32_t)value & mask;
	if (value & ~mask)
		return false;
	x->value[i] = value;
	pmu_x86_written(x, i, version >= 2);
	return true;
}

static bool wrmsr(struct pmu_x86 *x, uint32_t reg, uint64_t value)
{
	const struct pmu_intel *m = (const struct pmu_intel *)x;
	unsigned version = m->config.version;
	bool any_thread = version >= 3 && !x->bare;
	int i;

	if ((i = count_of(m, reg)) >= 0)
		return write_count(x, version, i, row(reg, PMC, m->config.gp) < 0, value);
	i = row(reg, EVTSEL, m->config.gp);
	if (i < 0)
		return write_global(x, version, reg, value);
	if (value >> 32 || (value >> 21 & 1 && !any_thread))
		return false;
	x->select[i] = value;
	pmu_x86_written(x, i, version >= 2);
	return true;
}

void pmu_intel_reset(struct pmu_intel *m)
{
	struct pmu_x86 *x = &m->x86;

	pmu_x86_rubbish(x, 0x5300c0);
	for (unsigned i = FIXED; i < PMU_X86_COUNTERS; i++)
		x->select[i] = 0xb;
	x->global = m->config.version >= 2 ? pmu_x86_mask(m->config.gp) : ~0ULL;
}

void pmu_intel_init(struct pmu_intel *m, const struct pmu_intel_config *config)
{
	*m = (struct pmu_intel) {
		.config = *config,
		.x86 = {
			.rdmsr = rdmsr,
			.wrmsr = wrmsr,
			.width = width,
			.enabled = enabled,
			.event = event,
			.interrupts = interrupts,
			.has_root = config->vmx,
			.counters = pmu_x86_mask(config->gp),
		},
	};
	if (config->version >= 2)
		m->x86.counters |= pmu_x86_mask(config->fixed) << FIXED;
	if (config->version >= 5)
		m->x86.counters |= (uint64_t)config->fixed_map << FIXED;
	pmu_intel_reset(m);
}
