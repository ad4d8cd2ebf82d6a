/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/core/hw_intel.h"

struct hw_intel {
	struct hw_x86 hw;
	struct pmu_intel pmu;
};

static void reset(struct hw *hw)
{
	pmu_intel_reset(&((struct hw_intel *)hw)->pmu);
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

struct hw *hw_intel_new(const struct pmu_intel_config *config, const uint64_t *clock)
{
	struct hw_intel *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	pmu_intel_init(&m->pmu, config);
	hw_x86_init(&m->hw, &m->pmu.x86, &model, clock);
	return &m->hw.hw;
}
