/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PMUv3 of a core with EL2 and EL3, Non-secure state, AArch64: Arm ARM DDI 0487, D11
 * (behaviour; the pseudocode of AArch64.IncrementEventCounter, PMUOverflow and
 * CountEvents) and D17.5 (registers).
 */
#include <stdlib.h>

#include "tests/core/hw_armv8.h"

#define CYCLES 31
#define BIT(n) (1ULL << (n))

struct hw_armv8 {
	struct hw hw;
	struct hw_armv8_config config;
	uint64_t pmcr, selr, userenr, enable, irq, overflow, mdcr;
	uint64_t count[32]; /* [31]: PMCCNTR */
	uint64_t type[32];  /* [31]: PMCCFILTR */
	uint64_t ticks;	    /* of PMCR.D's divider */
};

static bool v3p1(const struct hw_armv8 *m)
{
	return m->config.version >= 4;
}

static bool v3p5(const struct hw_armv8 *m)
{
	return m->config.version >= 6;
}

/* Counters of EL1 and EL0: those below HPMN; more than there are means all. */
static unsigned hpmn(const struct hw_armv8 *m)
{
	unsigned n = m->mdcr & 0x1f;

	return n < m->config.counters ? n : m->config.counters;
}

static bool of_el2(const struct hw_armv8 *m, unsigned c)
{
	return c != CYCLES && c >= hpmn(m);
}

static uint64_t implemented(const struct hw_armv8 *m)
{
	return (BIT(m->config.counters) - 1) | BIT(CYCLES);
}

/* What an access from EL1 or EL0, or from EL2, reaches. */
static uint64_t reach(const struct hw_armv8 *m, bool el2)
{
	if (el2 || m->config.unprotected)
		return implemented(m);
	return (BIT(hpmn(m)) - 1) | BIT(CYCLES);
}

/* ---- counting */

static bool global_enable(const struct hw_armv8 *m, unsigned c)
{
	if (of_el2(m, c) && !m->config.unprotected)
		return m->mdcr & ARMV8_MDCR_HPME;
	return m->pmcr & ARMV8_PMCR_E;
}

static bool prohibited(const struct hw_armv8 *m, unsigned c, enum vpmu_mode mode)
{
	bool hpmd = v3p1(m) && m->mdcr & ARMV8_MDCR_HPMD;

	if (mode != VPMU_MODE_HYP || of_el2(m, c))
		return false;
	if (c != CYCLES)
		return hpmd;
	return (v3p5(m) && m->mdcr & ARMV8_MDCR_HCCD) || (hpmd && m->pmcr & ARMV8_PMCR_DP);
}

static bool filtered(uint64_t type, enum vpmu_mode mode)
{
	bool p = type >> 31 & 1, u = type >> 30 & 1, nsk = type >> 29 & 1;
	bool nsu = type >> 28 & 1, nsh = type >> 27 & 1;

	switch (mode) {
	case VPMU_MODE_USER: return u != nsu;
	case VPMU_MODE_KERNEL: return p != nsk;
	default: return !nsh;
	}
}

static uint64_t event_bits(const struct hw_armv8 *m)
{
	return v3p1(m) ? 0xffff : 0x3ff;
}

static bool counting(const struct hw_armv8 *m, unsigned c, enum vpmu_mode mode)
{
	return implemented(m) & m->enable & BIT(c) && global_enable(m, c) &&
	       !prohibited(m, c, mode) && !filtered(m->type[c], mode);
}

static bool counts(const struct hw_armv8 *m, unsigned c, enum vpmu_mode mode,
		   uint64_t event)
{
	uint64_t of = c == CYCLES ? ARMV8_EVENT_CPU_CYCLES : m->type[c] & event_bits(m);

	return of == event && counting(m, c, mode);
}

static bool long_overflow(const struct hw_armv8 *m, unsigned c)
{
	if (c == CYCLES)
		return m->pmcr & ARMV8_PMCR_LC;
	return v3p5(m) &&
	       (of_el2(m, c) ? m->mdcr & ARMV8_MDCR_HLP : m->pmcr & ARMV8_PMCR_LP);
}

static bool divided(const struct hw_armv8 *m, unsigned c)
{
	return c == CYCLES && m->pmcr & ARMV8_PMCR_D && !(m->pmcr & ARMV8_PMCR_LC);
}

static void add(struct hw_armv8 *m, unsigned c, uint64_t n, enum vpmu_mode mode)
{
	uint64_t old = m->count[c], wraps;

	if (divided(m, c)) {
		n += m->ticks;
		m->ticks = n % 64;
		n /= 64;
	}
	m->count[c] = old + n;
	if (c != CYCLES && !v3p5(m))
		m->count[c] &= 0xffffffff;
	wraps = long_overflow(m, c) ? m->count[c] < old : ((old & 0xffffffff) + n) >> 32;
	if (!wraps)
		return;
	m->overflow |= BIT(c);
	if (c % 2 == 0 && !long_overflow(m, c) &&
	    counts(m, c + 1, mode, ARMV8_EVENT_CHAIN) && c + 1 != CYCLES)
		add(m, c + 1, wraps, mode);
}

static void happen(struct hw_armv8 *m, enum vpmu_mode mode, const struct hw_event *e)
{
	/* These two are no events of the core's. */
	if (e->event == ARMV8_EVENT_SW_INCR || e->event == ARMV8_EVENT_CHAIN)
		return;
	for (unsigned c = 0; c < 32; c++)
		if (counts(m, c, mode, e->event))
			add(m, c, e->count, mode);
}

static void run(struct hw *hw, enum vpmu_mode mode, const struct hw_event *events,
		unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		happen((struct hw_armv8 *)hw, mode, &events[i]);
}

static uint64_t next_overflow(const struct hw *hw, enum vpmu_mode mode, uint64_t event)
{
	const struct hw_armv8 *m = (const struct hw_armv8 *)hw;
	uint64_t least = 0;

	for (unsigned c = 0; c < 32; c++) {
		uint64_t left = -m->count[c];

		if (!counts(m, c, mode, event))
			continue;
		if (!long_overflow(m, c))
			left = BIT(32) - (m->count[c] & 0xffffffff);
		if (divided(m, c))
			left = left * 64 - m->ticks;
		if (left && (!least || left < least))
			least = left;
	}
	return least;
}

static bool irq_line(const struct hw *hw)
{
	const struct hw_armv8 *m = (const struct hw_armv8 *)hw;

	for (unsigned c = 0; c < 32; c++)
		if (m->overflow & m->irq & BIT(c) && global_enable(m, c))
			return true;
	return false;
}

/* ---- registers */

enum { R = 1, W = 2, RW = R | W };

/* How a register may be accessed; @el0: bits of PMUSERENR that allow it, R and W. */
static const struct reg {
	uint32_t first, last;
	uint8_t access; /* at EL1 and EL2 */
	uint8_t el0[3]; /* [R], [W] */
} regs[] = {
	{ ARMV8_PMINTENSET, ARMV8_PMINTENCLR, RW, { 0 } },
	{ ARMV8_PMMIR, ARMV8_PMMIR, R, { 0 } },
	{ ARMV8_PMCR, ARMV8_PMOVSCLR, RW, { 0, 1, 1 } },
	{ ARMV8_PMSWINC, ARMV8_PMSWINC, W, { 0, 0, 1 | 2 } },
	{ ARMV8_PMSELR, ARMV8_PMSELR, RW, { 0, 1 | 8, 1 | 8 } },
	{ ARMV8_PMCEID0, ARMV8_PMCEID1, R, { 0, 1, 0 } },
	{ ARMV8_PMCCNTR, ARMV8_PMCCNTR, RW, { 0, 1 | 4, 1 } },
	{ ARMV8_PMXEVTYPER, ARMV8_PMXEVTYPER, RW, { 0, 1, 1 } },
	{ ARMV8_PMXEVCNTR, ARMV8_PMXEVCNTR, RW, { 0, 1 | 8, 1 } },
	{ ARMV8_PMUSERENR, ARMV8_PMUSERENR, RW, { 0, 16, 0 } },
	{ ARMV8_PMOVSSET, ARMV8_PMOVSSET, RW, { 0, 1, 1 } },
	{ ARMV8_PMEVCNTR(0), ARMV8_PMEVCNTR(30), RW, { 0, 1 | 8, 1 } },
	{ ARMV8_PMEVTYPER(0), ARMV8_PMCCFILTR, RW, { 0, 1, 1 } },
};
#define ALWAYS 16 /* PMUSERENR_EL0 itself can be read at EL0 */

static const struct reg *find(const struct hw_armv8 *m, uint32_t number)
{
	if (number == ARMV8_PMMIR && m->config.version < 5)
		return NULL;
	for (size_t i = 0; i < sizeof(regs) / sizeof(*regs); i++)
		if (number >= regs[i].first && number <= regs[i].last)
			return &regs[i];
	return NULL;
}

/* The counter that a register of one names; 32: none that is reached. */
static unsigned counter_of(const struct hw_armv8 *m, uint32_t reg, bool el2)
{
	unsigned c = reg == ARMV8_PMXEVTYPER || reg == ARMV8_PMXEVCNTR
			     ? (unsigned)m->selr
			     : (reg - ARMV8_PMEVCNTR(0)) % 32;

	if (reg == ARMV8_PMCCNTR)
		return CYCLES;
	if (reg == ARMV8_PMXEVCNTR && c == CYCLES)
		return 32;
	return reach(m, el2) & BIT(c) ? c : 32;
}

static bool is_count(uint32_t reg)
{
	return reg == ARMV8_PMCCNTR || reg == ARMV8_PMXEVCNTR ||
	       (reg >= ARMV8_PMEVCNTR(0) && reg <= ARMV8_PMEVCNTR(30));
}

static bool is_type(uint32_t reg)
{
	return reg == ARMV8_PMXEVTYPER ||
	       (reg >= ARMV8_PMEVTYPER(0) && reg <= ARMV8_PMCCFILTR);
}

static uint64_t read_reg(struct hw_armv8 *m, uint32_t reg, bool el2)
{
	uint64_t mask = reach(m, el2), n = el2 ? m->config.counters : hpmn(m);
	unsigned c = counter_of(m, reg, el2);

	if (is_count(reg))
		return c < 32 ? m->count[c] : 0;
	if (is_type(reg))
		return c < 32 ? m->type[c] : 0;
	switch (reg) {
	case ARMV8_PMINTENSET:
	case ARMV8_PMINTENCLR: return m->irq & mask;
	case ARMV8_PMCNTENSET:
	case ARMV8_PMCNTENCLR: return m->enable & mask;
	case ARMV8_PMOVSSET:
	case ARMV8_PMOVSCLR: return m->overflow & mask;
	case ARMV8_PMCR: return m->pmcr | n << 11 | 0x41ULL << 24 | 0x0bULL << 16;
	case ARMV8_PMSELR: return m->selr;
	case ARMV8_PMUSERENR: return m->userenr;
	case ARMV8_PMCEID0: return BIT(0x00) | BIT(0x08) | BIT(0x11) | BIT(0x1e);
	case ARMV8_PMMIR: return 6; /* SLOTS */
	default: return 0;
	}
}

static void write_pmcr(struct hw_armv8 *m, uint64_t value, bool el2)
{
	uint64_t kept = ARMV8_PMCR_E | ARMV8_PMCR_D | ARMV8_PMCR_X | ARMV8_PMCR_DP |
			ARMV8_PMCR_LC | (v3p5(m) ? ARMV8_PMCR_LP : 0);

	m->pmcr = value & kept;
	for (unsigned c = 0; value & ARMV8_PMCR_P && c < CYCLES; c++)
		if (reach(m, el2) & BIT(c))
			m->count[c] = 0;
	if (value & ARMV8_PMCR_C) {
		m->count[CYCLES] = 0;
		m->ticks = 0;
	}
}

static void software_increment(struct hw_armv8 *m, uint64_t which, enum vpmu_mode mode)
{
	for (unsigned c = 0; c < CYCLES; c++)
		if (which & BIT(c) && counts(m, c, mode, ARMV8_EVENT_SW_INCR))
			add(m, c, 1, mode);
}

static void write_counter(struct hw_armv8 *m, uint32_t reg, uint64_t value, unsigned c)
{
	uint64_t type = 0x3fULL << 26 | (c == CYCLES ? 0 : event_bits(m));

	if (c >= 32)
		return;
	if (is_type(reg))
		m->type[c] = value & type;
	else
		m->count[c] = c == CYCLES || v3p5(m) ? value : (uint32_t)value;
}

static void write_reg(struct hw_armv8 *m, uint32_t reg, uint64_t value, enum vpmu_mode mode)
{
	bool el2 = mode == VPMU_MODE_HYP;
	uint64_t bits = value & reach(m, el2);

	if (is_count(reg) || is_type(reg))
		return write_counter(m, reg, value, counter_of(m, reg, el2));
	switch (reg) {
	case ARMV8_PMINTENSET: m->irq |= bits; break;
	case ARMV8_PMINTENCLR: m->irq &= ~bits; break;
	case ARMV8_PMCNTENSET: m->enable |= bits; break;
	case ARMV8_PMCNTENCLR: m->enable &= ~bits; break;
	case ARMV8_PMOVSSET: m->overflow |= bits; break;
	case ARMV8_PMOVSCLR: m->overflow &= ~bits; break;
	case ARMV8_PMCR: write_pmcr(m, value, el2); break;
	case ARMV8_PMSWINC: software_increment(m, bits, mode); break;
	case ARMV8_PMSELR: m->selr = value & 0x1f; break;
	case ARMV8_PMUSERENR: m->userenr = value & 0xf; break;
	}
}

/* ---- from EL2 */

static uint64_t el2_read(void *ctx, uint32_t reg)
{
	struct hw_armv8 *m = ctx;
	const struct reg *r = find(m, reg);

	m->hw.reads++;
	if (reg == ARMV8_MDCR_EL2)
		return m->mdcr;
	if (reg == ARMV8_ID_AA64DFR0)
		return (uint64_t)m->config.hpmn0 << 60 | (uint64_t)m->config.version << 8 |
		       6;
	/* Undefined at EL2: the hypervisor would have died. */
	if (!r || !(r->access & R) || !m->config.version)
		abort();
	return read_reg(m, reg, true);
}

static void el2_write(void *ctx, uint32_t reg, uint64_t value)
{
	struct hw_armv8 *m = ctx;
	const struct reg *r = find(m, reg);

	m->hw.writes++;
	if (reg == ARMV8_MDCR_EL2) {
		/* CONSTRAINED UNPREDICTABLE (D17.3): what no hypervisor may do. */
		if (!(value & 0x1f) && m->config.counters && !m->config.hpmn0)
			abort();
		m->mdcr = value;
		return;
	}
	if (!r || !(r->access & W) || !m->config.version)
		abort();
	write_reg(m, reg, value, VPMU_MODE_HYP);
}

static void sync(void *ctx)
{
	((struct hw_armv8 *)ctx)->hw.syncs++;
}

static uint64_t now(void *ctx)
{
	return *((struct hw_armv8 *)ctx)->hw.clock;
}

/* ---- from EL1 and EL0 */

static bool el0_allowed(const struct hw_armv8 *m, const struct reg *r, bool write)
{
	uint8_t need = r->el0[write ? W : R];

	return need == ALWAYS || m->userenr & need;
}

static enum hw_access guest(struct hw *hw, enum vpmu_mode mode, uint32_t reg, bool write,
			    uint64_t *value)
{
	struct hw_armv8 *m = (struct hw_armv8 *)hw;
	const struct reg *r = find(m, reg);

	if (!r || !(r->access & (write ? W : R)))
		return HW_REFUSED;
	if (mode == VPMU_MODE_USER && !el0_allowed(m, r, write))
		return HW_REFUSED;
	if (m->mdcr & ARMV8_MDCR_TPM || (reg == ARMV8_PMCR && m->mdcr & ARMV8_MDCR_TPMCR))
		return HW_EXIT;
	if (write)
		write_reg(m, reg, *value, mode);
	else
		*value = read_reg(m, reg, false);
	return HW_DONE;
}

static void trap(struct hw *hw, bool on)
{
	struct hw_armv8 *m = (struct hw_armv8 *)hw;
	uint64_t traps = ARMV8_MDCR_TPM | ARMV8_MDCR_TPMCR;

	m->mdcr = on ? m->mdcr | traps : m->mdcr & ~traps;
}

/* Only HPMN (all counters) and PMCR.E (0) have known values after a reset. */
static void reset(struct hw *hw)
{
	struct hw_armv8 *m = (struct hw_armv8 *)hw;
	uint64_t rubbish = 0x9e3779b97f4a7c15ULL;

	m->pmcr = rubbish & (ARMV8_PMCR_LC | ARMV8_PMCR_D);
	m->selr = rubbish & 0x1f;
	m->userenr = rubbish & 0xe; /* EL0 is kept out */
	m->enable = m->irq = m->overflow = ~0ULL & implemented(m);
	m->mdcr = ARMV8_MDCR_TPM | ARMV8_MDCR_TPMCR | 1ULL << 11 | m->config.counters;
	for (unsigned c = 0; c < 32; c++)
		if (implemented(m) & BIT(c)) {
			write_counter(m, ARMV8_PMEVCNTR(0), rubbish * (c + 1), c);
			write_counter(m, ARMV8_PMEVTYPER(0), rubbish * (c + 3), c);
		}
}

static const struct vpmu_hw_ops ops = {
	.read = el2_read,
	.write = el2_write,
	.sync = sync,
	.now = now,
};

static const struct hw_model model = {
	.name = "armv8",
	.reset = reset,
	.run = run,
	.next_overflow = next_overflow,
	.irq_line = irq_line,
	.guest = guest,
	.trap = trap,
};

struct hw *hw_armv8_new(const struct hw_armv8_config *config, const uint64_t *clock)
{
	struct hw_armv8 *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	m->config = *config;
	m->hw = (struct hw) {
		.hw = { .ops = &ops, .ctx = m },
		.model = &model,
		.clock = clock,
	};
	reset(&m->hw);
	return &m->hw;
}
