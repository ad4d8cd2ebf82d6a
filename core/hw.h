/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_HW_H
#define CORE_HW_H

/*
 * The one way to the hardware. Xen, the tests' register models and the simulator
 * differ in this struct only. All of core/ that is given a struct vpmu_hw runs on
 * the pCPU it belongs to, with that pCPU's interrupts off.
 */

#include <stdint.h>

struct vpmu_hw_ops {
	/* @reg as the PMU's family numbers its registers (core/pmu/…_regs.h). */
	uint64_t (*read)(void *ctx, uint32_t reg);
	void (*write)(void *ctx, uint32_t reg, uint64_t value);
	/* Writes made so far are in effect for what follows (an isb; nothing on x86). */
	void (*sync)(void *ctx);
	/* Nanoseconds, monotonic, the same on all pCPUs. */
	uint64_t (*now)(void *ctx);
};

struct vpmu_hw {
	const struct vpmu_hw_ops *ops;
	void *ctx;
};

static inline uint64_t vpmu_hw_read(const struct vpmu_hw *hw, uint32_t reg)
{
	return hw->ops->read(hw->ctx, reg);
}

static inline void vpmu_hw_write(const struct vpmu_hw *hw, uint32_t reg, uint64_t value)
{
	hw->ops->write(hw->ctx, reg, value);
}

static inline void vpmu_hw_sync(const struct vpmu_hw *hw)
{
	hw->ops->sync(hw->ctx);
}

static inline uint64_t vpmu_hw_now(const struct vpmu_hw *hw)
{
	return hw->ops->now(hw->ctx);
}

#endif
