/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PMUv3 as the hypervisor drives it, from EL2. Manual: Arm ARM DDI 0487, D11. */
#include "core/err.h"
#include "core/pmu/armv8.h"

static int armv8_probe(const struct vpmu_hw *hw, struct vpmu_caps *caps)
{
	uint64_t dfr0 = vpmu_hw_read(hw, ARMV8_ID_AA64DFR0);
	uint64_t version = dfr0 >> ARMV8_DFR0_PMUVER_SHIFT & ARMV8_DFR0_PMUVER;
	uint64_t pmcr;

	if (!version || version == ARMV8_PMUVER_OTHER)
		return -VPMU_ENODEV;
	pmcr = vpmu_hw_read(hw, ARMV8_PMCR);
	*caps = (struct vpmu_caps) {
		.programmable = pmcr >> ARMV8_PMCR_N_SHIFT & ARMV8_PMCR_N,
		.version = version < ARMV8_PMUVER_V3P5 ? version : ARMV8_PMUVER_V3P5,
		.features = dfr0 >> ARMV8_DFR0_HPMN0_SHIFT ? ARMV8_HPMN0 : 0,
		.width = version < ARMV8_PMUVER_V3P5 ? 32 : 64,
		.fixed_width = 64,
	};
	caps->counters = ((1ULL << caps->programmable) - 1) | ARMV8_CYCLES_BIT;
	caps->id[ARMV8_ID_EVENTS0] = vpmu_hw_read(hw, ARMV8_PMCEID0);
	caps->id[ARMV8_ID_EVENTS1] = vpmu_hw_read(hw, ARMV8_PMCEID1);
	caps->id[ARMV8_ID_PMCR] = pmcr & ARMV8_PMCR_ID;
	if (version >= ARMV8_PMUVER_V3P4)
		caps->id[ARMV8_ID_PMMIR] = vpmu_hw_read(hw, ARMV8_PMMIR) & ARMV8_PMMIR_V3P5;
	return 0;
}

/*
 * The highest ones: MDCR_EL2.HPMN parts them from the guests', and 0 guests' counters
 * are CONSTRAINED UNPREDICTABLE without FEAT_HPMN0 (D17.3.17).
 */
static uint64_t armv8_keep(const struct vpmu_caps *caps, unsigned n)
{
	unsigned most = caps->programmable, guests;

	if (most && !(caps->features & ARMV8_HPMN0))
		most--;
	guests = caps->programmable - (n < most ? n : most);
	return caps->counters & ~ARMV8_CYCLES_BIT & ~((1ULL << guests) - 1);
}

static void armv8_reset(const struct vpmu_hw *hw, const struct vpmu_caps *caps)
{
	uint64_t mdcr = vpmu_hw_read(hw, ARMV8_MDCR_EL2) & ~ARMV8_MDCR_OURS;
	uint64_t counters = caps->counters;

	mdcr |= armv8_guest_counters(caps) | ARMV8_MDCR_HPME;
	if (caps->version >= ARMV8_PMUVER_V3P1)
		mdcr |= ARMV8_MDCR_HPMD;
	if (caps->version >= ARMV8_PMUVER_V3P5)
		mdcr |= ARMV8_MDCR_HCCD | ARMV8_MDCR_HLP;
	vpmu_hw_write(hw, ARMV8_PMCNTENCLR, counters);
	vpmu_hw_write(hw, ARMV8_PMINTENCLR, counters);
	vpmu_hw_write(hw, ARMV8_MDCR_EL2, mdcr);
	vpmu_hw_write(hw, ARMV8_PMCR, ARMV8_PMCR_TRAPPED | ARMV8_PMCR_P | ARMV8_PMCR_C);
	for (; counters; counters &= counters - 1)
		armv8_select(hw, (unsigned)__builtin_ctzll(counters), 0);
	vpmu_hw_write(hw, ARMV8_PMOVSCLR, caps->counters);
	vpmu_hw_write(hw, ARMV8_PMUSERENR, ARMV8_PMUSERENR_TRAPPED);
	vpmu_hw_sync(hw);
}

static unsigned armv8_width(const struct vpmu_caps *caps, unsigned counter)
{
	return counter == ARMV8_CYCLES ? caps->fixed_width : caps->width;
}

uint64_t armv8_read(const struct vpmu_hw *hw, unsigned counter)
{
	return vpmu_hw_read(hw, counter == ARMV8_CYCLES ? ARMV8_PMCCNTR
							: ARMV8_PMEVCNTR(counter));
}

void armv8_write(const struct vpmu_hw *hw, const struct vpmu_caps *caps, unsigned counter,
		 uint64_t value)
{
	(void)caps;
	vpmu_hw_write(hw, counter == ARMV8_CYCLES ? ARMV8_PMCCNTR : ARMV8_PMEVCNTR(counter),
		      value);
}

void armv8_select(const struct vpmu_hw *hw, unsigned counter, uint64_t select)
{
	/* PMCCFILTR_EL0 has the number that PMEVTYPER31_EL0 would have. */
	vpmu_hw_write(hw, ARMV8_PMEVTYPER(counter), select);
}

static void armv8_start(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			uint64_t mask, const uint64_t *select)
{
	(void)caps;
	(void)select;
	vpmu_hw_write(hw, ARMV8_PMCNTENSET, mask);
}

static void armv8_stop(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
		       uint64_t mask, const uint64_t *select)
{
	(void)caps;
	(void)select;
	vpmu_hw_write(hw, ARMV8_PMCNTENCLR, mask);
}

static void armv8_irq(const struct vpmu_hw *hw, uint64_t on, uint64_t off)
{
	if (off)
		vpmu_hw_write(hw, ARMV8_PMINTENCLR, off);
	if (on)
		vpmu_hw_write(hw, ARMV8_PMINTENSET, on);
}

static uint64_t armv8_overflowed(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
				 uint64_t mask)
{
	(void)caps;
	return vpmu_hw_read(hw, ARMV8_PMOVSSET) & mask;
}

static void armv8_clear(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			uint64_t mask)
{
	(void)caps;
	vpmu_hw_write(hw, ARMV8_PMOVSCLR, mask);
}

static void armv8_control(const struct vpmu_hw *hw, uint64_t value)
{
	vpmu_hw_write(hw, ARMV8_PMCR, value);
}

/* PMCEID<n>_EL0 tell of events 0 to 0x3f and 0x4000 to 0x403f, others nothing (D17.5.3). */
static bool has_event(const struct vpmu_caps *caps, uint64_t event)
{
	uint64_t common = event & ~0x4000ULL;

	if (event & ~armv8_type_event(caps))
		return false;
	/* These two mean something only beside a guest's other counters. */
	if (event == ARMV8_EVENT_SW_INCR || event == ARMV8_EVENT_CHAIN)
		return false;
	if (common >= 0x40)
		return true;
	return caps->id[common / 32] >> (common % 32 + (event & 0x4000 ? 32 : 0)) & 1;
}

static int armv8_encode(const struct vpmu_caps *caps, const struct vpmu_event *event,
			uint64_t *select, uint64_t *may)
{
	const uint32_t known = VPMU_EVENT_USER | VPMU_EVENT_KERNEL | VPMU_EVENT_HYP;
	uint64_t filter = 0;

	if (event->config & ~ARMV8_TYPE_EVENT || event->zero || !event->flags ||
	    event->flags & ~known)
		return -VPMU_EINVAL;
	if (!has_event(caps, event->config))
		return -VPMU_EOPNOTSUPP;
	if (!(event->flags & VPMU_EVENT_USER))
		filter |= ARMV8_TYPE_U;
	if (!(event->flags & VPMU_EVENT_KERNEL))
		filter |= ARMV8_TYPE_P;
	filter = armv8_shut_in(filter);
	if (event->flags & VPMU_EVENT_HYP)
		filter |= ARMV8_TYPE_NSH;
	*select = filter | event->config;
	*may = caps->host;
	return 0;
}

const struct vpmu_family vpmu_armv8 = {
	.name = "armv8-pmuv3",
	.probe = armv8_probe,
	.keep = armv8_keep,
	.reset = armv8_reset,
	.width = armv8_width,
	.read = armv8_read,
	.write = armv8_write,
	.select = armv8_select,
	.start = armv8_start,
	.stop = armv8_stop,
	.irq = armv8_irq,
	.overflowed = armv8_overflowed,
	.clear = armv8_clear,
	.encode = armv8_encode,
	.guest_reset = armv8_guest_reset,
	.guest_active = armv8_guest_active,
	.guest_select = armv8_guest_select,
	.guest_control = armv8_guest_control,
	.control = armv8_control,
	.guest_line = armv8_guest_line,
	.guest_read = armv8_guest_read,
	.guest_write = armv8_guest_write,
	.direct_load = armv8_direct_load,
	.direct_stop = armv8_direct_stop,
	.direct_start = armv8_direct_start,
	.direct_save = armv8_direct_save,
	.direct_overflowed = armv8_direct_overflowed,
	.direct_status = armv8_direct_status,
};
