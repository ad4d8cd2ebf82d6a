/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel architectural perfmon: the physical PMU. Nothing in a counter tells a guest's
 * ring 0 from a hypervisor's: VM exits and entries load IA32_PERF_GLOBAL_CTRL, so that
 * in VMX root mode the counters of events on the hypervisor itself are on, and no others.
 * Where they cannot, such events are refused.
 */
#include "core/err.h"
#include "core/offset.h"
#include "core/pmu/intel.h"
#include "core/pmu/x86_guest.h"
#include "core/pmu/intel_regs.h"

#define GP_MASK ((1ULL << INTEL_GP_MAX) - 1)

static bool is_fixed(unsigned counter)
{
	return counter >= INTEL_FIXED;
}

static uint64_t cpuid(const struct vpmu_hw *hw, uint32_t leaf, unsigned r)
{
	return vpmu_hw_read(hw, X86_CPUID(leaf, r)) & 0xffffffff;
}

/* Sets the bits of @set in MSR @reg, clears those of @clear, leaves the others. */
static void change(const struct vpmu_hw *hw, uint32_t reg, uint64_t clear, uint64_t set)
{
	vpmu_hw_write(hw, reg, (vpmu_hw_read(hw, reg) & ~clear) | set);
}

/* Which fixed counters there are: v2 to v4 by number, v5 by a map too (leaf 0xa). */
static uint64_t fixed_counters(const struct vpmu_hw *hw, unsigned version)
{
	unsigned n = cpuid(hw, 0xa, X86_EDX) & 0x1f;
	uint64_t map;

	if (version < 2)
		return 0;
	map = vpmu_width_mask(n);
	if (version >= 5)
		map |= cpuid(hw, 0xa, X86_ECX);
	return (map & vpmu_width_mask(INTEL_FIXED_MAX)) << INTEL_FIXED;
}

static uint32_t features(const struct vpmu_hw *hw, unsigned version)
{
	uint64_t known = cpuid(hw, 1, X86_ECX);
	uint32_t found = 0;

	if (known & INTEL_CPUID_PDCM)
		found |= vpmu_hw_read(hw, INTEL_PERF_CAPABILITIES) & INTEL_CAP_FW_WRITE
				 ? INTEL_HAS_CAPABILITIES | INTEL_HAS_FULL_WIDTH
				 : INTEL_HAS_CAPABILITIES;
	if (version >= 2 && known & INTEL_CPUID_VMX &&
	    vpmu_hw_read(hw, INTEL_VMX_EXIT_CTLS) & INTEL_EXIT_LOADS_CTRL)
		found |= INTEL_HAS_ROOT;
	return found;
}

static int probe(const struct vpmu_hw *hw, struct vpmu_caps *caps)
{
	uint32_t eax, n;

	if (cpuid(hw, 0, X86_EAX) < 0xa)
		return -VPMU_ENODEV;
	eax = cpuid(hw, 0xa, X86_EAX);
	caps->version = eax & 0xff;
	n = eax >> 8 & 0xff;
	caps->width = eax >> 16 & 0xff;
	if (!caps->version || !n || caps->width < 32 || caps->width > 64)
		return -VPMU_ENODEV;
	if (caps->version > 5) /* later ones keep what v5 has */
		caps->version = 5;
	caps->id[0] = eax | cpuid(hw, 0xa, X86_EBX) << 32;
	caps->programmable = n < INTEL_GP_MAX ? n : INTEL_GP_MAX;
	caps->counters =
		vpmu_width_mask(caps->programmable) | fixed_counters(hw, caps->version);
	caps->fixed_width = cpuid(hw, 0xa, X86_EDX) >> 5 & 0xff;
	caps->features = features(hw, caps->version);
	caps->topbit = caps->version < 2;
	return 0;
}

/*
 * The highest general-purpose ones: a guest is told a number, and counts from 0. Who
 * leaves it none takes the fixed ones, too: there is no PMU for it then.
 */
static uint64_t keep(const struct vpmu_caps *caps, unsigned n)
{
	uint64_t left = caps->counters & GP_MASK;

	while (n-- && left)
		left &= left >> 1;
	return left ? (caps->counters & GP_MASK) & ~left : caps->counters;
}

static void reset(const struct vpmu_hw *hw, const struct vpmu_caps *caps)
{
	if (caps->version >= 2) {
		vpmu_hw_write(hw, INTEL_GLOBAL_CTRL, 0);
		vpmu_hw_write(hw, INTEL_FIXED_CTR_CTRL, 0);
	}
	if (caps->features & INTEL_HAS_ROOT)
		vpmu_hw_write(hw, INTEL_ROOT_GLOBAL_CTRL, 0);
	for (unsigned i = 0; i < INTEL_GP_MAX && caps->counters >> i & 1; i++) {
		vpmu_hw_write(hw, INTEL_EVTSEL(i), 0);
		vpmu_hw_write(hw, INTEL_PMC(i), 0);
	}
	for (unsigned i = 0; i < INTEL_FIXED_MAX; i++)
		if (caps->counters >> (INTEL_FIXED + i) & 1)
			vpmu_hw_write(hw, INTEL_FIXED_CTR(i), 0);
	if (caps->version >= 2)
		vpmu_hw_write(hw, INTEL_GLOBAL_OVF_CTRL, caps->counters);
}

/*
 * Without full-width writes a guest's counter cannot be put back at full width. It is
 * then 32 bits wide: written so that it overflows where those 32 bits do, as long as
 * bit 31 was set, which it is wherever an overflow is wanted (20.2.6).
 */
unsigned intel_width(const struct vpmu_caps *caps, unsigned counter)
{
	if (is_fixed(counter))
		return caps->fixed_width;
	if (!(caps->features & INTEL_HAS_FULL_WIDTH) && !(caps->host >> counter & 1))
		return 32;
	return caps->width;
}

static uint64_t read(const struct vpmu_hw *hw, unsigned counter)
{
	return vpmu_hw_read(hw, is_fixed(counter) ? INTEL_FIXED_CTR(counter - INTEL_FIXED)
						  : INTEL_PMC(counter));
}

/* A host's counter takes zero and the negative of any period. */
static void write(const struct vpmu_hw *hw, const struct vpmu_caps *caps, unsigned counter,
		  uint64_t value)
{
	if (is_fixed(counter))
		vpmu_hw_write(hw, INTEL_FIXED_CTR(counter - INTEL_FIXED), value);
	else if (caps->features & INTEL_HAS_FULL_WIDTH)
		vpmu_hw_write(hw, INTEL_A_PMC(counter), value);
	else
		vpmu_hw_write(hw, INTEL_PMC(counter), value & 0xffffffff);
}

/* A fixed counter's modes are told as those of the others. */
static uint64_t fixed_modes(uint64_t select)
{
	return (select & X86_SEL_OS ? INTEL_FIXED_OS : 0) |
	       (select & X86_SEL_USR ? INTEL_FIXED_USR : 0);
}

/* The interrupt bit stays as irq() left it. */
static void select(const struct vpmu_hw *hw, unsigned counter, uint64_t value)
{
	unsigned shift = INTEL_FIXED_SHIFT(counter - INTEL_FIXED);

	if (is_fixed(counter))
		change(hw, INTEL_FIXED_CTR_CTRL,
		       (uint64_t)(INTEL_FIXED_OS | INTEL_FIXED_USR) << shift,
		       fixed_modes(value) << shift);
	else
		change(hw, INTEL_EVTSEL(counter), ~(uint64_t)X86_SEL_INT,
		       value & ~INTEL_SEL_ROOT);
}

static void enable_each(const struct vpmu_hw *hw, uint64_t mask, uint64_t clear,
			uint64_t set)
{
	for (unsigned i = 0; i < INTEL_GP_MAX; i++)
		if (mask >> i & 1)
			change(hw, INTEL_EVTSEL(i), clear, set);
}

/* Those of @mask that count in the hypervisor. */
static uint64_t in_root(const struct vpmu_caps *caps, uint64_t mask,
			const uint64_t *selects)
{
	uint64_t found = 0;

	if (!(caps->features & INTEL_HAS_ROOT))
		return 0;
	for (; mask; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask);

		if (selects[i] & INTEL_SEL_ROOT)
			found |= 1ULL << i;
	}
	return found;
}

/* Clears and sets them in the GLOBAL_CTRL that each is in. */
static void change_global(const struct vpmu_hw *hw, uint64_t mask, uint64_t root, bool on)
{
	if (root)
		change(hw, INTEL_ROOT_GLOBAL_CTRL, on ? 0 : root, on ? root : 0);
	mask &= ~root;
	if (mask)
		change(hw, INTEL_GLOBAL_CTRL, on ? 0 : mask, on ? mask : 0);
}

static void start(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask,
		  const uint64_t *selects)
{
	if (caps->version >= 2)
		change_global(hw, mask, in_root(caps, mask, selects), true);
	else
		enable_each(hw, mask, 0, X86_SEL_EN);
}

static void stop(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask,
		 const uint64_t *selects)
{
	if (caps->version >= 2)
		change_global(hw, mask, in_root(caps, mask, selects), false);
	else
		enable_each(hw, mask, X86_SEL_EN, 0);
}

static uint64_t fixed_pmi(uint64_t mask)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < INTEL_FIXED_MAX; i++)
		if (mask >> (INTEL_FIXED + i) & 1)
			bits |= (uint64_t)INTEL_FIXED_PMI << INTEL_FIXED_SHIFT(i);
	return bits;
}

static void irq(const struct vpmu_hw *hw, uint64_t on, uint64_t off)
{
	enable_each(hw, off & ~on, X86_SEL_INT, 0);
	enable_each(hw, on, 0, X86_SEL_INT);
	if ((on | off) >> INTEL_FIXED)
		change(hw, INTEL_FIXED_CTR_CTRL, fixed_pmi(off), fixed_pmi(on));
}

static uint64_t overflowed(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			   uint64_t mask)
{
	uint64_t found = 0;

	if (!caps->topbit)
		return vpmu_hw_read(hw, INTEL_GLOBAL_STATUS) & mask;
	for (unsigned i = 0; i < INTEL_GP_MAX; i++)
		if (mask >> i & 1 && !(read(hw, i) >> (caps->width - 1) & 1))
			found |= 1ULL << i;
	return found;
}

static void clear(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask)
{
	if (!caps->topbit)
		vpmu_hw_write(hw, INTEL_GLOBAL_OVF_CTRL, mask);
}

/*
 * The architectural events in the order of leaf 0xa's EBX (20.2.1.2, table 20-1), which
 * tells those that a processor lacks.
 */
static bool is_absent(const struct vpmu_caps *caps, uint64_t config)
{
	static const uint16_t events[] = {
		0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5, 0x01a4,
	};
	uint32_t length = caps->id[0] >> 24 & 0xff;

	for (unsigned i = 0; i < sizeof(events) / sizeof(*events) && i < length; i++)
		if ((config & X86_SEL_EVENT) == events[i])
			return caps->id[0] >> (32 + i) & 1;
	return false;
}

/* The counters that can count it: a fixed one, too, or, reference cycles, that alone. */
static uint64_t counters_for(const struct vpmu_caps *caps, uint64_t config)
{
	uint64_t host = caps->host | caps->given;

	switch (config) {
	case INTEL_INSTRUCTIONS: return host & (GP_MASK | 1ULL << INTEL_FIXED);
	case INTEL_CYCLES: return host & (GP_MASK | 2ULL << INTEL_FIXED);
	case INTEL_REF_CYCLES: return host & 4ULL << INTEL_FIXED;
	default: return host & GP_MASK;
	}
}

static int encode(const struct vpmu_caps *caps, const struct vpmu_event *event,
		  uint64_t *value, uint64_t *may)
{
	if (event->config & ~(uint64_t)X86_SEL_CONFIG)
		return -VPMU_EINVAL;
	if (event->flags & VPMU_EVENT_HYP && !(caps->features & INTEL_HAS_ROOT))
		return -VPMU_EOPNOTSUPP;
	if (is_absent(caps, event->config))
		return -VPMU_EOPNOTSUPP;
	*value = event->config;
	if (event->flags & VPMU_EVENT_HYP)
		*value |= INTEL_SEL_ROOT | X86_SEL_OS;
	if (event->flags & VPMU_EVENT_USER)
		*value |= X86_SEL_USR;
	if (event->flags & VPMU_EVENT_KERNEL)
		*value |= X86_SEL_OS;
	if (caps->version >= 2)
		*value |= X86_SEL_EN;
	*may = counters_for(caps, event->config);
	return 0;
}

const struct vpmu_family vpmu_intel = {
	.name = "intel-perfmon",
	.probe = probe,
	.keep = keep,
	.reset = reset,
	.width = intel_width,
	.read = read,
	.write = write,
	.select = select,
	.start = start,
	.stop = stop,
	.irq = irq,
	.overflowed = overflowed,
	.clear = clear,
	.encode = encode,
	.guest_reset = intel_guest_reset,
	.guest_active = intel_guest_active,
	.guest_select = intel_guest_select,
	.guest_line = x86_guest_line,
	.guest_read = intel_guest_read,
	.guest_write = intel_guest_write,
};
