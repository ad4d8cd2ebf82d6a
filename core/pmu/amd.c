/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AMD core performance counters: the physical PMU. All selections of a guest's or on a
 * guest carry GuestOnly, those on the hypervisor HostOnly (APM vol. 2, 13.2.1), so that
 * nothing is counted of the other side; hosts run guests with EFER.SVME set.
 */
#include "core/err.h"
#include "core/offset.h"
#include "core/pmu/amd.h"
#include "core/pmu/x86_guest.h"
#include "core/pmu/amd_regs.h"

static uint32_t cpuid(const struct vpmu_hw *hw, uint32_t leaf, unsigned r)
{
	return vpmu_hw_read(hw, X86_CPUID(leaf, r));
}

/* "AuthenticAMD", "HygonGenuine" */
static bool is_ours(const struct vpmu_hw *hw)
{
	uint32_t ebx = cpuid(hw, 0, X86_EBX);

	return ebx == 0x68747541 || ebx == 0x6f677948;
}

static int probe(const struct vpmu_hw *hw, struct vpmu_caps *caps)
{
	uint32_t top = cpuid(hw, 0x80000000, X86_EAX), n = AMD_LEGACY;

	if (!is_ours(hw) || top < 0x80000001)
		return -VPMU_ENODEV;
	caps->version = AMD_K10;
	if (cpuid(hw, 0x80000001, X86_ECX) & AMD_CPUID_EXT_CORE) {
		caps->version = AMD_EXT;
		n = AMD_EXTENDED;
	}
	if (top >= 0x80000022 && cpuid(hw, 0x80000022, X86_EAX) & AMD_CPUID_V2) {
		caps->version = AMD_V2;
		n = cpuid(hw, 0x80000022, X86_EBX) & AMD_CPUID_COUNTERS;
	}
	if (!n)
		return -VPMU_ENODEV;
	caps->programmable = n;
	caps->programmable = n;
	caps->counters = vpmu_width_mask(n);
	caps->width = caps->fixed_width = AMD_WIDTH;
	caps->topbit = caps->version < AMD_V2;
	return 0;
}

/*
 * The highest ones. Before PerfMonV2 a guest can be told of four counters or of six and
 * of no other number, so two are kept, where there are six, or all.
 */
static uint64_t keep(const struct vpmu_caps *caps, unsigned n)
{
	unsigned all = x86_bits(caps->counters);

	if (n < all && n && caps->version < AMD_V2)
		n = all - AMD_LEGACY;
	return n < all ? caps->counters & ~vpmu_width_mask(all - n) : caps->counters;
}

static uint32_t ctl(unsigned counter)
{
	return counter < AMD_LEGACY ? AMD_LEGACY_CTL(counter) : AMD_CTL(counter);
}

static uint32_t ctr(unsigned counter)
{
	return counter < AMD_LEGACY ? AMD_LEGACY_CTR(counter) : AMD_CTR(counter);
}

/* Sets the bits of @set in MSR @reg, clears those of @clear, leaves the others. */
static void change(const struct vpmu_hw *hw, uint32_t reg, uint64_t clear, uint64_t set)
{
	vpmu_hw_write(hw, reg, (vpmu_hw_read(hw, reg) & ~clear) | set);
}

static void change_each(const struct vpmu_hw *hw, uint64_t mask, uint64_t clear,
			uint64_t set)
{
	for (; mask; mask &= mask - 1)
		change(hw, ctl(__builtin_ctzll(mask)), clear, set);
}

static void clear(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask)
{
	if (!caps->topbit)
		vpmu_hw_write(hw, AMD_GLOBAL_STATUS_CLR, mask);
}

static void reset(const struct vpmu_hw *hw, const struct vpmu_caps *caps)
{
	if (caps->version >= AMD_V2)
		vpmu_hw_write(hw, AMD_GLOBAL_CTL, 0);
	for (unsigned i = 0; i < AMD_MAX && caps->counters >> i & 1; i++) {
		vpmu_hw_write(hw, ctl(i), 0);
		vpmu_hw_write(hw, ctr(i), 0);
	}
	clear(hw, caps, caps->counters);
}

static unsigned width(const struct vpmu_caps *caps, unsigned counter)
{
	(void)counter;
	return caps->width;
}

static uint64_t read(const struct vpmu_hw *hw, unsigned counter)
{
	return vpmu_hw_read(hw, ctr(counter));
}

static void write(const struct vpmu_hw *hw, const struct vpmu_caps *caps, unsigned counter,
		  uint64_t value)
{
	(void)caps;
	vpmu_hw_write(hw, ctr(counter), value);
}

/* The interrupt bit stays as irq() left it. */
static void select(const struct vpmu_hw *hw, unsigned counter, uint64_t value)
{
	change(hw, ctl(counter), ~(uint64_t)X86_SEL_INT, value);
}

static void start(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask,
		  const uint64_t *selects)
{
	(void)selects; /* the registers tell */
	if (caps->version >= AMD_V2)
		change(hw, AMD_GLOBAL_CTL, 0, mask);
	else
		change_each(hw, mask, 0, X86_SEL_EN);
}

static void stop(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask,
		 const uint64_t *selects)
{
	(void)selects;
	if (caps->version >= AMD_V2)
		change(hw, AMD_GLOBAL_CTL, mask, 0);
	else
		change_each(hw, mask, X86_SEL_EN, 0);
}

static void irq(const struct vpmu_hw *hw, uint64_t on, uint64_t off)
{
	change_each(hw, off & ~on, X86_SEL_INT, 0);
	change_each(hw, on, 0, X86_SEL_INT);
}

static uint64_t overflowed(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			   uint64_t mask)
{
	uint64_t found = 0;

	if (!caps->topbit)
		return vpmu_hw_read(hw, AMD_GLOBAL_STATUS) & mask;
	for (; mask; mask &= mask - 1) {
		unsigned i = __builtin_ctzll(mask);

		if (!(read(hw, i) >> (AMD_WIDTH - 1) & 1))
			found |= 1ULL << i;
	}
	return found;
}

static int encode(const struct vpmu_caps *caps, const struct vpmu_event *event,
		  uint64_t *value, uint64_t *may)
{
	bool hyp = event->flags & VPMU_EVENT_HYP;

	if (event->config & ~AMD_SEL_CONFIG)
		return -VPMU_EINVAL;
	if (hyp && event->flags & (VPMU_EVENT_USER | VPMU_EVENT_KERNEL))
		return -VPMU_EOPNOTSUPP; /* one counter has one filter */
	*value = event->config | (hyp ? AMD_SEL_HOST_ONLY : AMD_SEL_GUEST_ONLY);
	if (event->flags & VPMU_EVENT_USER)
		*value |= X86_SEL_USR;
	if (event->flags & (VPMU_EVENT_KERNEL | VPMU_EVENT_HYP))
		*value |= X86_SEL_OS;
	if (caps->version >= AMD_V2)
		*value |= X86_SEL_EN;
	*may = caps->host;
	return 0;
}

const struct vpmu_family vpmu_amd = {
	.name = "amd-core",
	.probe = probe,
	.keep = keep,
	.reset = reset,
	.width = width,
	.read = read,
	.write = write,
	.select = select,
	.start = start,
	.stop = stop,
	.irq = irq,
	.overflowed = overflowed,
	.clear = clear,
	.encode = encode,
	.guest_reset = amd_guest_reset,
	.guest_active = amd_guest_active,
	.guest_select = amd_guest_select,
	.guest_line = x86_guest_line,
	.guest_read = amd_guest_read,
	.guest_write = amd_guest_write,
};
