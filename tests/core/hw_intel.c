/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel SDM, vol. 3, chapter 20 (architectural performance monitoring), vol. 2, CPUID
 * leaf 0xa, vol. 4 for the MSRs' numbers.
 */
#include "tests/core/hw_intel.h"

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
	A_PMC = 0x4c1,
};
#define FIXED 32

struct hw_intel {
	struct hw_x86 x86;
	struct hw_intel_config config;
};

static unsigned width(const struct hw_x86 *x, unsigned counter)
{
	const struct hw_intel_config *c = &((const struct hw_intel *)x)->config;

	return counter >= FIXED ? c->fixed_width : c->gp_width;
}

static bool counts(const struct hw_x86 *x, unsigned i, enum vpmu_mode mode, uint64_t event)
{
	static const uint16_t fixed[] = { 0xc0, 0x3c, 0x300, 0x1a4 };
	bool user = mode == VPMU_MODE_USER;
	uint64_t s = x->select[i];

	if (mode == VPMU_MODE_HYP)
		return false;
	if (i >= FIXED)
		return i - FIXED < 4 && fixed[i - FIXED] == event &&
		       s >> (user ? 1 : 0) & 1;
	/* edge, inversion and mask make another event of it */
	return s >> 22 & 1 && s >> (user ? 16 : 17) & 1 && (s & 0xff84ffff) == event;
}

static bool interrupts(const struct hw_x86 *x, unsigned i)
{
	return x->select[i] >> (i >= FIXED ? 3 : 20) & 1;
}

/* Index of @reg in a row of @n registers from @base, or -1. */
static int row(uint32_t reg, uint32_t base, unsigned n)
{
	return reg >= base && reg - base < n ? (int)(reg - base) : -1;
}

static bool has_fixed(const struct hw_x86 *x, int i)
{
	return i >= 0 && x->counters >> (FIXED + i) & 1;
}

static uint64_t fixed_ctrl(const struct hw_x86 *x)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 16; i++)
		if (has_fixed(x, i))
			value |= x->select[FIXED + i] << 4 * i;
	return value;
}

static uint64_t cpuid(const struct hw_intel *m, uint32_t reg)
{
	const struct hw_intel_config *c = &m->config;

	switch (reg) {
	case X86_CPUID(0, X86_EAX): return 0x16;
	case X86_CPUID(0, X86_EBX): return 0x756e6547; /* "Genu" */
	case X86_CPUID(1, X86_ECX): return (uint64_t)c->full_width << 15;
	case X86_CPUID(0xa, X86_EAX):
		return c->version | c->gp << 8 | c->gp_width << 16 | 8u << 24;
	case X86_CPUID(0xa, X86_EBX): return c->absent;
	case X86_CPUID(0xa, X86_ECX): return c->version >= 5 ? c->fixed_map : 0;
	case X86_CPUID(0xa, X86_EDX):
		return c->version >= 2 ? c->fixed | c->fixed_width << 5 : 0;
	default: return 0;
	}
}

static uint64_t read(void *ctx, uint32_t reg)
{
	struct hw_intel *m = ctx;
	const struct hw_intel_config *c = &m->config;
	int i;

	m->x86.hw.reads++;
	if (reg >> 28 == 0xe)
		return cpuid(m, reg);
	if ((i = row(reg, PMC, c->gp)) >= 0 ||
	    (c->full_width && (i = row(reg, A_PMC, c->gp)) >= 0))
		return m->x86.value[i];
	if ((i = row(reg, EVTSEL, c->gp)) >= 0)
		return m->x86.select[i];
	if (has_fixed(&m->x86, i = row(reg, FIXED_CTR, 16)))
		return m->x86.value[FIXED + i];
	if (reg == PERF_CAPABILITIES && c->full_width)
		return 1 << 13;
	if (c->version >= 2 && reg == FIXED_CTR_CTRL)
		return fixed_ctrl(&m->x86);
	if (c->version >= 2 && reg == GLOBAL_STATUS)
		return m->x86.status;
	if (c->version >= 2 && reg == GLOBAL_CTRL)
		return m->x86.global;
	if (c->version >= 2 && reg == GLOBAL_OVF_CTRL)
		return 0;
	hw_x86_fault("rdmsr", reg, 0);
}

static bool write_fixed_ctrl(struct hw_x86 *x, unsigned version, uint64_t value)
{
	for (unsigned i = 0; i < 16; i++) {
		uint64_t field = value >> 4 * i & 0xf;

		if (field && (!has_fixed(x, i) || (field & 4 && version < 3)))
			return false;
		if (has_fixed(x, i))
			x->select[FIXED + i] = field;
	}
	return true;
}

static bool write_global(struct hw_intel *m, uint32_t reg, uint64_t value)
{
	static const uint64_t others[] = {
		0, 0, 3ULL << 62, 7ULL << 61, 0x3fULL << 58, 0x3fULL << 58
	};
	unsigned version = m->config.version;
	struct hw_x86 *x = &m->x86;

	if (version < 2)
		return false;
	switch (reg) {
	case FIXED_CTR_CTRL: return write_fixed_ctrl(x, version, value);
	case GLOBAL_CTRL: x->global = value; return !(value & ~x->counters);
	case GLOBAL_OVF_CTRL:
		x->status &= ~value;
		return !(value & ~(x->counters | others[version]));
	case GLOBAL_STATUS_SET:
		x->status |= value;
		return version >= 4 && !(value & ~(x->counters | others[version]));
	default: return false;
	}
}

static bool write_any(struct hw_intel *m, uint32_t reg, uint64_t value)
{
	const struct hw_intel_config *c = &m->config;
	struct hw_x86 *x = &m->x86;
	int i;

	if ((i = row(reg, PMC, c->gp)) >= 0) {
		x->value[i] = (uint64_t)(int64_t)(int32_t)value & hw_x86_mask(c->gp_width);
		return true;
	}
	if (c->full_width && (i = row(reg, A_PMC, c->gp)) >= 0) {
		x->value[i] = value;
		return !(value & ~hw_x86_mask(c->gp_width));
	}
	if (has_fixed(x, i = row(reg, FIXED_CTR, 16))) {
		x->value[FIXED + i] = value;
		return !(value & ~hw_x86_mask(c->fixed_width));
	}
	if ((i = row(reg, EVTSEL, c->gp)) >= 0) {
		x->select[i] = value;
		return !(value >> 32) && (c->version >= 3 || !(value >> 21 & 1));
	}
	return write_global(m, reg, value);
}

static void write(void *ctx, uint32_t reg, uint64_t value)
{
	struct hw_intel *m = ctx;

	m->x86.hw.writes++;
	if (!write_any(m, reg, value))
		hw_x86_fault("wrmsr", reg, value);
}

static void reset(struct hw *hw)
{
	struct hw_intel *m = (struct hw_intel *)hw;
	struct hw_x86 *x = &m->x86;

	hw_x86_rubbish(x, 0x5300c0);
	for (unsigned i = FIXED; i < X86_COUNTERS; i++)
		x->select[i] = 0xb;
	x->global = m->config.version >= 2 ? hw_x86_mask(m->config.gp) : ~0ULL;
}

static const struct hw_model model = {
	.name = "intel",
	.reset = reset,
	.run = hw_x86_run,
	.next_overflow = hw_x86_next_overflow,
	.irq_line = hw_x86_irq_line,
	.ack = hw_x86_ack,
	.guest = hw_x86_guest,
};

struct hw *hw_intel_new(const struct hw_intel_config *config, const uint64_t *clock)
{
	static const struct vpmu_hw_ops ops = { read, write, hw_x86_sync, hw_x86_now };
	struct hw_intel *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	m->config = *config;
	m->x86.hw = (struct hw) { .hw = { &ops, m }, .model = &model, .clock = clock };
	m->x86.width = width;
	m->x86.counts = counts;
	m->x86.interrupts = interrupts;
	m->x86.counters = hw_x86_mask(config->gp);
	if (config->version >= 2)
		m->x86.counters |= hw_x86_mask(config->fixed) << FIXED;
	if (config->version >= 5)
		m->x86.counters |= (uint64_t)config->fixed_map << FIXED;
	reset(&m->x86.hw);
	return &m->x86.hw;
}
