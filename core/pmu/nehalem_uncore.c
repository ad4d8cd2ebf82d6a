/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The uncore of Nehalem and Westmere: a PMU whose "pCPU" is a socket. It cannot tell who
 * caused what it counts, so its events filter by nothing, and nothing is sampled; VMs
 * have none of it. Its counters are wide enough to be read before they wrap twice.
 */
#include "core/bank.h"
#include "core/err.h"
#include "core/family.h"
#include "core/pmu/nehalem_uncore_regs.h"

#define GP_MASK ((1ULL << UNCORE_GP) - 1)

/* Models of family 6 that have these registers: SDM vol. 4, Nehalem and Westmere. */
static bool is_known(uint32_t signature)
{
	static const uint8_t models[] = { 0x1a, 0x1e, 0x1f, 0x25, 0x2c };
	uint32_t model = (signature >> 4 & 0xf) | (signature >> 12 & 0xf0);

	if ((signature >> 8 & 0xf) != 6)
		return false;
	for (unsigned i = 0; i < sizeof(models); i++)
		if (models[i] == model)
			return true;
	return false;
}

static int probe(const struct vpmu_hw *hw, struct vpmu_caps *caps)
{
	if (!is_known((uint32_t)vpmu_hw_read(hw, X86_CPUID(1, X86_EAX))))
		return -VPMU_ENODEV;
	caps->counters = UNCORE_COUNTERS;
	caps->version = 1;
	caps->programmable = UNCORE_GP;
	caps->width = caps->fixed_width = UNCORE_WIDTH;
	return 0;
}

static uint64_t keep(const struct vpmu_caps *caps, unsigned n)
{
	(void)n; /* there is nobody to share them with */
	return caps->counters;
}

static void reset(const struct vpmu_hw *hw, const struct vpmu_caps *caps)
{
	vpmu_hw_write(hw, UNCORE_GLOBAL_CTRL, 0);
	vpmu_hw_write(hw, UNCORE_FIXED_CTR_CTRL, 0);
	vpmu_hw_write(hw, UNCORE_FIXED_CTR, 0);
	for (unsigned i = 0; i < UNCORE_GP; i++) {
		vpmu_hw_write(hw, UNCORE_EVTSEL(i), 0);
		vpmu_hw_write(hw, UNCORE_PMC(i), 0);
	}
	vpmu_hw_write(hw, UNCORE_GLOBAL_OVF_CTRL, caps->counters);
}

static unsigned width(const struct vpmu_caps *caps, unsigned counter)
{
	(void)counter;
	return caps->width;
}

static uint32_t count_reg(unsigned counter)
{
	return counter == UNCORE_FIXED ? UNCORE_FIXED_CTR : UNCORE_PMC(counter);
}

static uint64_t read(const struct vpmu_hw *hw, unsigned counter)
{
	return vpmu_hw_read(hw, count_reg(counter));
}

static void write(const struct vpmu_hw *hw, const struct vpmu_caps *caps, unsigned counter,
		  uint64_t value)
{
	(void)caps;
	vpmu_hw_write(hw, count_reg(counter), value);
}

/* Interrupts are asked for in the selection; none is. */
static void select(const struct vpmu_hw *hw, unsigned counter, uint64_t value)
{
	if (counter == UNCORE_FIXED)
		vpmu_hw_write(hw, UNCORE_FIXED_CTR_CTRL, UNCORE_FIXED_EN);
	else
		vpmu_hw_write(hw, UNCORE_EVTSEL(counter), value);
}

static void start(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask,
		  const uint64_t *selects)
{
	(void)caps;
	(void)selects;
	vpmu_hw_write(hw, UNCORE_GLOBAL_CTRL, vpmu_hw_read(hw, UNCORE_GLOBAL_CTRL) | mask);
}

static void stop(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask,
		 const uint64_t *selects)
{
	(void)caps;
	(void)selects;
	vpmu_hw_write(hw, UNCORE_GLOBAL_CTRL, vpmu_hw_read(hw, UNCORE_GLOBAL_CTRL) & ~mask);
}

static void irq(const struct vpmu_hw *hw, uint64_t on, uint64_t off)
{
	(void)hw; /* a wrap needs no notice: see encode() */
	(void)on;
	(void)off;
}

static uint64_t overflowed(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			   uint64_t mask)
{
	(void)caps;
	return vpmu_hw_read(hw, UNCORE_GLOBAL_STATUS) & mask;
}

static void clear(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask)
{
	(void)caps;
	vpmu_hw_write(hw, UNCORE_GLOBAL_OVF_CTRL, mask);
}

/*
 * It counts in all modes or in none, and its interrupt would tell of no instruction. At
 * 4 GHz a counter of occupancies (of at most 64 entries) wraps in 18 minutes.
 */
static int encode(const struct vpmu_caps *caps, const struct vpmu_event *event,
		  uint64_t *value, uint64_t *may)
{
	uint32_t all = VPMU_EVENT_USER | VPMU_EVENT_KERNEL;

	if (event->config & ~(uint64_t)X86_SEL_CONFIG)
		return -VPMU_EINVAL;
	if (event->period || (event->flags & all) != all)
		return -VPMU_EOPNOTSUPP;
	*value = event->config | X86_SEL_EN;
	*may = (caps->host | caps->given) &
	       (event->config == UNCORE_CLOCK ? 1ULL << UNCORE_FIXED : GP_MASK);
	return 0;
}

static void guest_reset(const struct vpmu_caps *caps, struct vpmu_bank *bank)
{
	(void)caps; /* no VM has a bank of it */
	(void)bank;
}

const struct vpmu_family vpmu_nehalem_uncore = {
	.name = "nehalem-uncore",
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
	.guest_reset = guest_reset,
};
