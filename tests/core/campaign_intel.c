/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intel architectural perfmon in a campaign. */
#include "core/pmu/intel_regs.h"
#include "tests/core/campaign_families.h"
#include "tests/core/hw_intel.h"

static struct hw *machine(const struct campaign_variant *v, const uint64_t *clock)
{
	return hw_intel_new(v->model, clock);
}

static unsigned gp(const struct vpmu_caps *caps)
{
	unsigned n = 0;

	while (caps->guest >> n & 1 && n < INTEL_GP_MAX)
		n++;
	return n;
}

static struct hw *bare(const struct campaign_variant *v, const struct vpmu_caps *caps,
		       const uint64_t *clock)
{
	struct pmu_intel_config config = *(const struct pmu_intel_config *)v->model;
	struct hw *hw;

	config.gp = gp(caps);
	if (!config.full_width) /* the guest's CPUID says 32 bits, then */
		config.gp_width = 32;
	hw = hw_intel_new(&config, clock);
	hw_x86_bare(hw);
	return hw;
}

static unsigned view(const struct vpmu_caps *caps, uint32_t regs[64])
{
	static const uint32_t globals[] = {
		INTEL_FIXED_CTR_CTRL,  INTEL_GLOBAL_STATUS, INTEL_GLOBAL_CTRL,
		INTEL_GLOBAL_OVF_CTRL, INTEL_GLOBAL_INUSE,  INTEL_PERF_CAPABILITIES,
	};
	unsigned n = 0;

	for (; n < sizeof(globals) / sizeof(*globals); n++)
		regs[n] = globals[n];
	for (unsigned i = 0; i < gp(caps); i++) {
		regs[n++] = INTEL_PMC(i);
		regs[n++] = INTEL_EVTSEL(i);
		regs[n++] = x86_rdpmc(i);
	}
	for (unsigned i = 0; i < 5; i++)
		regs[n++] = INTEL_FIXED_CTR(i);
	return n;
}

static struct campaign_access put(uint32_t reg, uint64_t value)
{
	return (struct campaign_access) { .reg = reg, .write = true, .value = value };
}

/* A value near the end of what can be written, at times of the whole counter. */
static struct campaign_access preload(struct campaign_random *r, bool full_width,
				      unsigned c, unsigned width)
{
	uint64_t value = -(uint64_t)campaign_below(r, 6000);

	if (full_width && campaign_below(r, 2))
		return put(INTEL_A_PMC(c), value & pmu_x86_mask(width));
	return put(INTEL_PMC(c), value);
}

static unsigned program(const struct campaign_variant *v, struct campaign_random *r,
			const struct vpmu_caps *caps, unsigned c,
			struct campaign_access *out)
{
	uint64_t select = v->events[campaign_below(r, CAMPAIGN_EVENTS)] | X86_SEL_EN;
	unsigned n = 0;

	select |= (uint64_t)(1 + campaign_below(r, 3)) << 16;
	if (campaign_below(r, 2))
		select |= X86_SEL_INT;
	if (caps->version >= 2)
		out[n++] = put(INTEL_GLOBAL_CTRL, 0);
	if (campaign_below(r, 2))
		out[n++] = put(INTEL_EVTSEL(c), 0);
	if (campaign_below(r, 4)) /* else it goes on with another event */
		out[n++] =
			preload(r, caps->features & INTEL_HAS_FULL_WIDTH, c, caps->width);
	out[n++] = put(INTEL_EVTSEL(c), select);
	if (caps->version >= 2)
		out[n++] = put(INTEL_GLOBAL_CTRL, caps->guest);
	return n;
}

static unsigned program_fixed(struct campaign_random *r, const struct vpmu_caps *caps,
			      struct campaign_access *out)
{
	unsigned i = campaign_below(r, 3);

	out[0] = put(INTEL_FIXED_CTR(i),
		     -(uint64_t)campaign_below(r, 6000) & pmu_x86_mask(caps->fixed_width));
	out[1] =
		put(INTEL_FIXED_CTR_CTRL, (uint64_t)(campaign_below(r, 16) & ~4u) << 4 * i);
	out[2] = put(INTEL_GLOBAL_CTRL, caps->guest);
	return 3;
}

static unsigned driver(const struct campaign_variant *v, struct campaign_random *r,
		       const struct vpmu_caps *caps,
		       struct campaign_access out[CAMPAIGN_DRIVER])
{
	unsigned c = campaign_below(r, gp(caps));

	switch (campaign_below(r, 5)) {
	case 0: /* an interrupt's handler */
		if (caps->version < 2) {
			out[0] = preload(r, false, c, 0);
			return 1;
		}
		out[0] = put(INTEL_GLOBAL_CTRL, 0);
		out[1] = (struct campaign_access) { .reg = INTEL_GLOBAL_STATUS };
		out[2] = put(INTEL_GLOBAL_OVF_CTRL, caps->guest);
		out[3] = preload(r, caps->features & INTEL_HAS_FULL_WIDTH, c, caps->width);
		out[4] = put(INTEL_GLOBAL_CTRL, caps->guest);
		return 5;
	case 1:
		out[0] = put(INTEL_EVTSEL(c), 0);
		out[1] = (struct campaign_access) { .reg = x86_rdpmc(c), .user = true };
		return 2;
	case 2:
		if (caps->version >= 2)
			return program_fixed(r, caps, out);
		/* fall through */
	default: return program(v, r, caps, c, out);
	}
}

static struct campaign_access wild(const struct campaign_variant *v,
				   struct campaign_random *r, const struct vpmu_caps *caps)
{
	static const uint32_t base[] = { INTEL_PMC(0),
					 INTEL_A_PMC(0),
					 INTEL_EVTSEL(0),
					 INTEL_FIXED_CTR(0),
					 INTEL_GLOBAL_STATUS - 1,
					 INTEL_GLOBAL_STATUS - 1,
					 INTEL_PERF_CAPABILITIES,
					 0x3f0,
					 X86_RDPMC };
	struct campaign_access a = {
		.reg = base[campaign_below(r, sizeof(base) / sizeof(*base))] +
		       campaign_below(r, 10),
		.write = campaign_below(r, 2),
		.user = !campaign_below(r, 6),
		.value = campaign_random(r) >> campaign_below(r, 64),
	};

	(void)v;
	if (campaign_below(r, 2))
		a.value &= caps->guest;
	return a;
}

#define COMMON                                                                             \
	.family = &vpmu_intel, .machine = machine, .bare = bare, .line = hw_x86_due,       \
	.events = { 0xc0, 0x3c, 0x4f2e, 0xd1 }, .view = view, .driver = driver,            \
	.wild = wild

static const struct pmu_intel_config v1 = { .version = 1, .gp = 2, .gp_width = 40 };
static const struct pmu_intel_config v2 = {
	.version = 2, .gp = 4, .gp_width = 40, .fixed = 3, .fixed_width = 40
};
static const struct pmu_intel_config v3 = { .version = 3,
					    .gp = 4,
					    .gp_width = 48,
					    .fixed = 3,
					    .fixed_width = 48,
					    .full_width = true };
static const struct pmu_intel_config v5 = { .version = 5,
					    .gp = 8,
					    .gp_width = 48,
					    .fixed = 3,
					    .fixed_width = 48,
					    .fixed_map = 8,
					    .full_width = true };

static const struct campaign_variant v1_variant = { COMMON, .name = "v1, 32 of 40 bits",
						    .config = { .host_counters = 1 },
						    .model = &v1 };
static const struct campaign_variant v2_variant = { COMMON, .name = "v2, 32 of 40 bits",
						    .config = { .host_counters = 2 },
						    .model = &v2 };
static const struct campaign_variant v3_variant = { COMMON, .name = "v3, 48 bits",
						    .config = { .host_counters = -1 },
						    .model = &v3 };
static const struct campaign_variant v5_variant = { COMMON, .name = "v5, 48 bits",
						    .config = { .host_counters = -1 },
						    .model = &v5 };
static const struct campaign_variant always_variant = {
	COMMON, .name = "v5, always saved and restored",
	.config = { .host_counters = 3, .always_switch = true }, .model = &v5
};

const struct campaign_variant *const campaign_intel[] = {
	&v5_variant, &v3_variant, &v2_variant, &v1_variant, &always_variant, NULL,
};
