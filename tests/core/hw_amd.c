/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AMD APM, vol. 2, 13.2 (performance counters, the core extension), vol. 3, appendix E
 * (CPUID), PPR for family 19h (PerfMonV2). Reserved bits of these registers are zero
 * and ignore writes.
 */
#include "tests/core/hw_amd.h"

enum {
	LEGACY_CTL = 0xc0010000,
	LEGACY_CTR = 0xc0010004,
	CTL = 0xc0010200,
	CTR = 0xc0010201,
	GLOBAL_STATUS = 0xc0000300,
	GLOBAL_CTL = 0xc0000301,
	GLOBAL_STATUS_CLR = 0xc0000302,
	GLOBAL_STATUS_SET = 0xc0000303,
};
#define WIDTH 48
#define EVENT 0xfff84ffffULL /* event, unit mask, edge, inversion, count mask */
#define GUEST_ONLY (1ULL << 40)
#define HOST_ONLY (1ULL << 41)
#define KNOWN (EVENT | 0x530000 | GUEST_ONLY | HOST_ONLY)

struct pmu_amd {
	struct pmu_x86 x86;
	struct hw_amd_config config;
};

struct hw_amd {
	struct hw_x86 hw;
	struct pmu_amd pmu;
};

static unsigned width(const struct pmu_x86 *x, unsigned counter)
{
	(void)x;
	(void)counter;
	return WIDTH;
}

static bool enabled(const struct pmu_x86 *x, unsigned i, enum vpmu_mode mode)
{
	uint64_t s = x->select[i], side = s & (GUEST_ONLY | HOST_ONLY);
	bool guest = mode != VPMU_MODE_HYP;

	if (side == (guest ? HOST_ONLY : GUEST_ONLY))
		return false;
	return s >> 22 & 1 && s >> (mode == VPMU_MODE_USER ? 16 : 17) & 1;
}

static uint64_t event(const struct pmu_x86 *x, unsigned i)
{
	return x->select[i] & EVENT;
}

static bool interrupts(const struct pmu_x86 *x, unsigned i)
{
	return x->select[i] >> 20 & 1;
}

static uint64_t cpuid(const struct pmu_amd *m, uint32_t reg)
{
	switch (reg) {
	case X86_CPUID(0, X86_EAX): return 0x10;
	case X86_CPUID(0, X86_EBX): return 0x68747541; /* "Auth" */
	case X86_CPUID(0x80000000, X86_EAX): return m->config.v2 ? 0x80000026 : 0x8000001e;
	case X86_CPUID(0x80000001, X86_ECX): return (uint64_t)m->config.extension << 23;
	case X86_CPUID(0x80000022, X86_EAX): return m->config.v2 ? 1 : 0;
	case X86_CPUID(0x80000022, X86_EBX): return m->config.v2;
	default: return 0;
	}
}

/* The counter whose select (@ctr: count) register @reg is, or -1. */
static int counter_of(const struct pmu_amd *m, uint32_t reg, bool ctr)
{
	uint32_t legacy = ctr ? LEGACY_CTR : LEGACY_CTL, base = ctr ? CTR : CTL;
	unsigned i = PMU_X86_COUNTERS;

	if (reg >= legacy && reg < legacy + 4)
		i = reg - legacy;
	else if (m->config.extension && reg >= base && !((reg - base) & 1))
		i = (reg - base) / 2;
	return i < PMU_X86_COUNTERS && m->x86.counters >> i & 1 ? (int)i : -1;
}

static bool rdmsr(const struct pmu_x86 *x, uint32_t reg, uint64_t *value)
{
	const struct pmu_amd *m = (const struct pmu_amd *)x;
	int i;

	if (reg >> 28 == 0xe)
		*value = cpuid(m, reg);
	else if ((i = counter_of(m, reg, false)) >= 0)
		*value = x->select[i];
	else if ((i = counter_of(m, reg, true)) >= 0)
		*value = x->value[i];
	else if (m->config.v2 && reg == GLOBAL_STATUS)
		*value = x->status;
	else if (m->config.v2 && reg == GLOBAL_CTL)
		*value = x->global;
	else if (m->config.v2 && (reg == GLOBAL_STATUS_CLR || reg == GLOBAL_STATUS_SET))
		*value = 0;
	else
		return false;
	return true;
}

static bool write_global(struct pmu_x86 *x, uint32_t reg, uint64_t value)
{
	switch (reg) {
	case GLOBAL_STATUS: return true; /* ignored */
	case GLOBAL_CTL: x->global = value & x->counters; return true;
	case GLOBAL_STATUS_CLR:
		x->status &= ~value;
		x->due &= ~value;
		return true;
	case GLOBAL_STATUS_SET: x->status |= value & x->counters; return true;
	default: return false;
	}
}

static bool wrmsr(struct pmu_x86 *x, uint32_t reg, uint64_t value)
{
	const struct pmu_amd *m = (const struct pmu_amd *)x;
	/* The two bits are not there for guests, who run without EFER.SVME. */
	uint64_t known = x->bare ? KNOWN & ~(GUEST_ONLY | HOST_ONLY) : KNOWN;
	int i = counter_of(m, reg, false);

	if (i >= 0) {
		x->select[i] = value & known;
	} else {
		i = counter_of(m, reg, true);
		if (i < 0)
			return m->config.v2 && write_global(x, reg, value);
		x->value[i] = value & pmu_x86_mask(WIDTH);
	}
	pmu_x86_written(x, i, m->config.v2);
	return true;
}

static void reset(struct hw *hw)
{
	struct pmu_amd *m = &((struct hw_amd *)hw)->pmu;

	pmu_x86_rubbish(&m->x86, 0x5300c0);
	m->x86.global = m->config.v2 ? m->x86.counters : ~0ULL;
}

static const struct hw_model model = {
	.name = "amd",
	.reset = reset,
	.run = hw_x86_run,
	.next_overflow = hw_x86_next_overflow,
	.irq_line = hw_x86_irq_line,
	.ack = hw_x86_ack,
	.guest = hw_x86_guest,
};

struct hw *hw_amd_new(const struct hw_amd_config *config, const uint64_t *clock)
{
	struct hw_amd *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	m->pmu.config = *config;
	m->pmu.config.extension |= config->v2 > 0;
	m->pmu.x86 = (struct pmu_x86) {
		.rdmsr = rdmsr,
		.wrmsr = wrmsr,
		.width = width,
		.enabled = enabled,
		.event = event,
		.interrupts = interrupts,
		.counters = pmu_x86_mask(config->v2	     ? config->v2
					 : config->extension ? 6
							     : 4),
	};
	hw_x86_init(&m->hw, &m->pmu.x86, &model, clock);
	reset(&m->hw.hw);
	return &m->hw.hw;
}
