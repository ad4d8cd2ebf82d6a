/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PMUv3 in a campaign. */
#include "tests/core/campaign_families.h"
#include "tests/core/hw_armv8.h"

static struct hw *machine(const struct campaign_variant *v, const uint64_t *clock)
{
	return hw_armv8_new(v->model, clock);
}

static unsigned counters(const struct vpmu_caps *caps)
{
	unsigned n = 0;

	while (caps->guest >> n & 1 && n < ARMV8_EVENT_COUNTERS)
		n++;
	return n;
}

/* EL1's own machine: EL2 lets it have everything, and has set nothing up. */
static struct hw *bare(const struct campaign_variant *v, const struct vpmu_caps *caps,
		       const uint64_t *clock)
{
	struct hw_armv8_config config = *(const struct hw_armv8_config *)v->model;
	struct hw *hw;

	config.counters = counters(caps);
	config.hpmn0 = true;
	hw = hw_armv8_new(&config, clock);
	vpmu_hw_write(&hw->hw, ARMV8_PMCR, ARMV8_PMCR_P | ARMV8_PMCR_C);
	vpmu_hw_write(&hw->hw, ARMV8_PMCNTENCLR, ~0ULL);
	vpmu_hw_write(&hw->hw, ARMV8_PMINTENCLR, ~0ULL);
	vpmu_hw_write(&hw->hw, ARMV8_PMOVSCLR, ~0ULL);
	for (unsigned i = 0; i < config.counters; i++)
		vpmu_hw_write(&hw->hw, ARMV8_PMEVTYPER(i), 0);
	vpmu_hw_write(&hw->hw, ARMV8_PMCCFILTR, 0);
	vpmu_hw_write(&hw->hw, ARMV8_PMSELR, 0);
	vpmu_hw_write(&hw->hw, ARMV8_PMUSERENR, 0);
	hw->model->trap(hw, false);
	return hw;
}

static bool line(const struct hw *hw)
{
	return hw->model->irq_line(hw);
}

static unsigned view(const struct vpmu_caps *caps, uint32_t regs[64])
{
	static const uint32_t plain[] = {
		ARMV8_PMCR,    ARMV8_PMCNTENSET, ARMV8_PMINTENCLR, ARMV8_PMOVSSET,
		ARMV8_PMCCNTR, ARMV8_PMCCFILTR,	 ARMV8_PMSELR,	   ARMV8_PMUSERENR,
		ARMV8_PMCEID0, ARMV8_PMXEVCNTR,	 ARMV8_PMXEVTYPER,
	};
	unsigned n = 0;

	for (; n < sizeof(plain) / sizeof(*plain); n++)
		regs[n] = plain[n];
	for (unsigned i = 0; i < counters(caps); i++) {
		regs[n++] = ARMV8_PMEVCNTR(i);
		regs[n++] = ARMV8_PMEVTYPER(i);
	}
	return n;
}

static struct campaign_access put(uint32_t reg, uint64_t value)
{
	return (struct campaign_access) { .reg = reg, .write = true, .value = value };
}

/*
 * A guest that reaches the PMU itself, and asks for it, counts EL2's cycles before
 * FEAT_PMUv3p5 (see core/pmu/armv8_direct.c): there, it does not ask.
 */
static uint64_t filter_bits(const struct campaign_variant *v, const struct vpmu_caps *caps)
{
	bool counts_el2 = v->config.direct && caps->version < ARMV8_PMUVER_V3P5;

	return counts_el2 ? ~ARMV8_TYPE_NSH : ~0ULL;
}

/* Of 64 bits, or of 32 and not of 64: which of them overflows is PMCR's to say. */
static uint64_t near_the_end(struct campaign_random *r)
{
	uint64_t value = -(uint64_t)campaign_below(r, 6000);

	return campaign_below(r, 2) ? value : (uint32_t)value;
}

/* As a driver opens an event: near its end, so that it overflows. */
static unsigned program(const struct campaign_variant *v, struct campaign_random *r,
			const struct vpmu_caps *caps, unsigned c, uint64_t irq,
			struct campaign_access *out)
{
	static const uint64_t filters[] = { 0, ARMV8_TYPE_P, ARMV8_TYPE_U, ARMV8_TYPE_NSH };
	uint64_t type = filters[campaign_below(r, 4)] & filter_bits(v, caps);
	unsigned n = 0;

	if (c != ARMV8_CYCLES)
		type |= campaign_below(r, 8) ? v->events[campaign_below(r, CAMPAIGN_EVENTS)]
					     : ARMV8_EVENT_CHAIN;
	out[n++] = put(ARMV8_PMCNTENCLR, 1ULL << c);
	out[n++] = put(ARMV8_PMEVTYPER(c), type);
	out[n++] =
		put(c == ARMV8_CYCLES ? ARMV8_PMCCNTR : ARMV8_PMEVCNTR(c), near_the_end(r));
	out[n++] = put(irq ? ARMV8_PMINTENSET : ARMV8_PMINTENCLR, 1ULL << c);
	out[n++] = put(ARMV8_PMCNTENSET, 1ULL << c);
	out[n++] =
		put(ARMV8_PMCR, ARMV8_PMCR_E | (campaign_below(r, 2) ? ARMV8_PMCR_LC : 0) |
					(campaign_below(r, 2) ? ARMV8_PMCR_LP : 0));
	return n;
}

static unsigned driver(const struct campaign_variant *v, struct campaign_random *r,
		       const struct vpmu_caps *caps,
		       struct campaign_access out[CAMPAIGN_DRIVER])
{
	unsigned c = campaign_below(r, counters(caps) + 1);

	if (c == counters(caps))
		c = ARMV8_CYCLES;
	switch (campaign_below(r, 6)) {
	case 0: /* an interrupt's handler */
		out[0] = (struct campaign_access) { .reg = ARMV8_PMOVSCLR };
		out[1] = put(ARMV8_PMOVSCLR, ~0ULL);
		return 2;
	case 1: /* one that goes on */
		out[0] = put(ARMV8_PMOVSCLR, ~0ULL);
		out[1] = put(ARMV8_PMEVCNTR(c % ARMV8_CYCLES), near_the_end(r));
		out[2] = put(ARMV8_PMINTENSET, 1ULL << c);
		return 3;
	case 2: /* another event, without stopping */
		out[0] = put(ARMV8_PMEVTYPER(c), v->events[campaign_below(r, 4)]);
		return 1;
	case 3: /* an event's end */
		out[0] = put(ARMV8_PMCNTENCLR, 1ULL << c);
		out[1] = put(ARMV8_PMINTENCLR, 1ULL << c);
		return 2;
	default: return program(v, r, caps, c, campaign_below(r, 2), out);
	}
}

static struct campaign_access wild(const struct campaign_variant *v,
				   struct campaign_random *r, const struct vpmu_caps *caps)
{
	static const uint32_t regs[] = {
		ARMV8_PMINTENSET, ARMV8_PMINTENCLR, ARMV8_PMMIR,     ARMV8_PMCR,
		ARMV8_PMCNTENSET, ARMV8_PMCNTENCLR, ARMV8_PMOVSCLR,  ARMV8_PMSWINC,
		ARMV8_PMSELR,	  ARMV8_PMCEID0,    ARMV8_PMCEID1,   ARMV8_PMCCNTR,
		ARMV8_PMXEVTYPER, ARMV8_PMXEVCNTR,  ARMV8_PMUSERENR, ARMV8_PMOVSSET,
	};
	struct campaign_access a = {
		.write = campaign_below(r, 2),
		.user = !campaign_below(r, 3),
		.value = campaign_random(r) >> campaign_below(r, 64),
	};

	switch (campaign_below(r, 4)) {
	case 0: a.reg = ARMV8_PMEVCNTR(0) + campaign_below(r, 64); break;
	case 1: a.reg = ARMV8_REG(3, 3, 9, 12, 0) + campaign_below(r, 32); break;
	default: a.reg = regs[campaign_below(r, sizeof(regs) / sizeof(*regs))];
	}
	/* No register has the phase of PMCR.D's divider: it does not survive a move. */
	if (a.reg == ARMV8_PMCR)
		a.value &= ~ARMV8_PMCR_D;
	if (a.reg == ARMV8_PMXEVTYPER || a.reg == ARMV8_PMCCFILTR)
		a.value &= filter_bits(v, caps);
	return a;
}

#define COMMON                                                                             \
	.family = &vpmu_armv8, .machine = machine, .bare = bare, .line = line,             \
	.events = { 0x08, 0x11, 0x40, 0x41 }, .view = view, .driver = driver, .wild = wild

static const struct hw_armv8_config v3p5 = { .counters = 6, .version = ARMV8_PMUVER_V3P5 };
static const struct hw_armv8_config v3p1 = { .counters = 6, .version = ARMV8_PMUVER_V3P1 };
static const struct hw_armv8_config many = { .counters = 12, .version = ARMV8_PMUVER_V3P4 };
static const struct hw_armv8_config qemu = { .counters = 6,
					     .version = ARMV8_PMUVER_V3P5,
					     .unprotected = true };

static const struct campaign_variant v3p5_variant = { COMMON, .name = "v3p5, 64 bits",
						      .config = { .host_counters = -1 },
						      .model = &v3p5 };
static const struct campaign_variant v3p1_variant = { COMMON, .name = "v3p1, 32 bits",
						      .config = { .host_counters = -1 },
						      .model = &v3p1 };
static const struct campaign_variant many_variant = { COMMON,
						      .name = "12 counters, 32 bits",
						      .config = { .host_counters = 5 },
						      .model = &many };
static const struct campaign_variant kick_variant = {
	COMMON, .name = "unprotected, kick", .config = { .host_counters = 4, .kick = true },
	.model = &qemu
};
static const struct campaign_variant always_variant = {
	COMMON, .name = "always saved and restored",
	.config = { .host_counters = -1, .always_switch = true }, .model = &v3p5
};
static const struct campaign_variant direct_variant = {
	COMMON, .name = "direct, 64 bits",
	.config = { .host_counters = -1, .direct = true }, .model = &v3p5
};
static const struct campaign_variant direct_32_variant = {
	COMMON, .name = "direct, 32 bits",
	.config = { .host_counters = -1, .direct = true }, .model = &v3p1
};

const struct campaign_variant *const campaign_armv8[] = {
	&v3p5_variant,	 &v3p1_variant,	  &many_variant,      &kick_variant,
	&always_variant, &direct_variant, &direct_32_variant, NULL,
};
