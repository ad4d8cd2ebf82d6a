/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AMD core performance counters in a campaign. */
#include "core/pmu/amd_regs.h"
#include "tests/core/campaign_families.h"
#include "tests/core/hw_amd.h"

static struct hw *machine(const struct campaign_variant *v, const uint64_t *clock)
{
	return hw_amd_new(v->model, clock);
}

static bool extended(const struct vpmu_caps *caps)
{
	return caps->version == AMD_V2 || caps->guest == pmu_x86_mask(AMD_EXTENDED);
}

static struct hw *bare(const struct campaign_variant *v, const struct vpmu_caps *caps,
		       const uint64_t *clock)
{
	unsigned n = x86_bits(caps->guest);
	struct hw_amd_config config = {
		.extension = extended(caps),
		.v2 = caps->version == AMD_V2 ? n : 0,
	};
	struct hw *hw = hw_amd_new(&config, clock);

	(void)v;
	((struct hw_x86 *)hw)->pmu->counters = caps->guest;
	hw_x86_bare(hw);
	return hw;
}

static unsigned view(const struct vpmu_caps *caps, uint32_t regs[64])
{
	unsigned n = 0;

	for (unsigned i = 0; i < 3; i++)
		regs[n++] = AMD_GLOBAL_STATUS + i;
	for (unsigned i = 0; i < x86_bits(caps->guest); i++) {
		regs[n++] = i < AMD_LEGACY ? AMD_LEGACY_CTL(i) : AMD_CTL(i);
		regs[n++] = i < AMD_LEGACY ? AMD_LEGACY_CTR(i) : AMD_CTR(i);
		regs[n++] = AMD_CTR(i);
		regs[n++] = x86_rdpmc(i);
	}
	return n;
}

static struct campaign_access put(uint32_t reg, uint64_t value)
{
	return (struct campaign_access) { .reg = reg, .write = true, .value = value };
}

static uint32_t ctl(const struct vpmu_caps *caps, unsigned i)
{
	return extended(caps) ? AMD_CTL(i) : AMD_LEGACY_CTL(i);
}

static uint32_t ctr(const struct vpmu_caps *caps, unsigned i)
{
	return extended(caps) ? AMD_CTR(i) : AMD_LEGACY_CTR(i);
}

static unsigned driver(const struct campaign_variant *v, struct campaign_random *r,
		       const struct vpmu_caps *caps,
		       struct campaign_access out[CAMPAIGN_DRIVER])
{
	unsigned all = x86_bits(caps->guest), i = campaign_below(r, all ? all : 1), n = 0;
	uint64_t select = v->events[campaign_below(r, CAMPAIGN_EVENTS)] | X86_SEL_EN;

	select |= (uint64_t)(1 + campaign_below(r, 3)) << 16;
	if (campaign_below(r, 2))
		select |= X86_SEL_INT;
	switch (campaign_below(r, 4)) {
	case 0: /* an interrupt's handler */
		if (caps->version == AMD_V2) {
			out[n++] = put(AMD_GLOBAL_CTL, 0);
			out[n++] = put(AMD_GLOBAL_STATUS_CLR, ~0ULL);
			out[n++] = (struct campaign_access) { .reg = AMD_GLOBAL_STATUS };
		}
		out[n++] = put(ctr(caps, i), -(uint64_t)campaign_below(r, 6000));
		if (caps->version == AMD_V2)
			out[n++] = put(AMD_GLOBAL_CTL, caps->guest);
		return n;
	case 1:
		out[0] = put(ctl(caps, i), 0);
		out[1] = (struct campaign_access) { .reg = x86_rdpmc(i), .user = true };
		return 2;
	default:
		if (campaign_below(r, 2))
			out[n++] = put(ctl(caps, i), 0);
		if (campaign_below(r, 4)) /* else it goes on with another event */
			out[n++] = put(ctr(caps, i), -(uint64_t)campaign_below(r, 6000));
		out[n++] = put(ctl(caps, i), select);
		if (caps->version == AMD_V2)
			out[n++] = put(AMD_GLOBAL_CTL, caps->guest);
		return n;
	}
}

static struct campaign_access wild(const struct campaign_variant *v,
				   struct campaign_random *r, const struct vpmu_caps *caps)
{
	static const uint32_t base[] = { AMD_LEGACY_CTL(0), AMD_CTL(0), AMD_GLOBAL_STATUS,
					 AMD_GLOBAL_STATUS, X86_RDPMC };
	unsigned at = campaign_below(r, sizeof(base) / sizeof(*base));
	struct campaign_access a = {
		.reg = base[at] + campaign_below(r, base[at] == AMD_GLOBAL_STATUS ? 5 : 16),
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
	.family = &vpmu_amd, .machine = machine, .bare = bare, .line = hw_x86_due,         \
	.events = { 0xc0, 0x76, 0x1c2, 0x100000041 }, .view = view, .driver = driver,      \
	.wild = wild

static const struct hw_amd_config k10 = { .extension = false };
static const struct hw_amd_config ext = { .extension = true };
static const struct hw_amd_config v2 = { .v2 = 6 };
static const struct hw_amd_config many = { .v2 = 12 };

/* All counters the guests' … */
static const struct campaign_variant k10_variant = { COMMON, .name = "K10",
						     .config = { .host_counters = 0 },
						     .model = &k10 };
/* … or all the host's: here four are, or six, or none. */
static const struct campaign_variant k10_host_variant = { COMMON, .name = "K10, the host's",
							  .config = { .host_counters = 4 },
							  .model = &k10 };
static const struct campaign_variant ext_variant = { COMMON, .name = "Fam15h",
						     .config = { .host_counters = -1 },
						     .model = &ext };
static const struct campaign_variant ext_guest_variant = { COMMON,
							   .name = "Fam15h, the guests'",
							   .config = { .host_counters = 0 },
							   .model = &ext };
static const struct campaign_variant v2_variant = { COMMON, .name = "PerfMonV2",
						    .config = { .host_counters = -1 },
						    .model = &v2 };
static const struct campaign_variant many_variant = { COMMON,
						      .name = "PerfMonV2, 12 counters",
						      .config = { .host_counters = 5 },
						      .model = &many };

const struct campaign_variant *const campaign_amd[] = {
	&v2_variant,	    &ext_variant,  &k10_variant, &k10_host_variant,
	&ext_guest_variant, &many_variant, NULL,
};
