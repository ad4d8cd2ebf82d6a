/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_FAKE_PMU_H
#define TESTS_CORE_FAKE_PMU_H

/*
 * The plainest PMU that the host's part of the core can be driven on: eight alike
 * counters of any width, of which the host keeps the upper ones, and nothing of a
 * guest's. Event 15 is for counter 4 alone; there is no event 16.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/family.h"
#include "core/vpmu.h"

#define FAKE_COUNTERS 8
#define FAKE_HOST 0xf0u

struct fake_pmu {
	uint64_t value[FAKE_COUNTERS], select[FAKE_COUNTERS];
	uint64_t counting, irq, flags;
	unsigned width;
	unsigned writes;   /* by the core, of any register */
	uint64_t unsynced; /* counters that were set up, and may not be yet */
	bool fault;	   /* an overflow is noticed only once another counter overflows */
	const uint64_t *clock;
};

extern const struct vpmu_family fake_family;
extern const struct vpmu_hw_ops fake_ops; /* ctx: struct fake_pmu */

/* @n of @event happen in @mode, at once. */
void fake_run(struct fake_pmu *f, enum vpmu_mode mode, uint64_t event, uint64_t n);
/* How many until the next counter of it overflows; 0: none counts it. */
uint64_t fake_next(const struct fake_pmu *f, enum vpmu_mode mode, uint64_t event);
bool fake_line(const struct fake_pmu *f);

#endif
