/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_HW_X86_H
#define TESTS_CORE_HW_X86_H

/*
 * The register models of Intel's and AMD's PMUs as tests drive them. An access that the
 * processor would answer with #GP, made by the hypervisor, ends the test: Xen would have
 * died.
 */

#include <stdlib.h>

#include "numasim/pmu_x86.h"
#include "tests/core/hw.h"

struct hw_x86 {
	struct hw hw;
	struct pmu_x86 *pmu;
};

/* @pmu is part of what @x begins. */
void hw_x86_init(struct hw_x86 *x, struct pmu_x86 *pmu, const struct hw_model *model,
		 const uint64_t *clock);
/* Makes a machine without a hypervisor of it, its counters as a hypervisor resets them. */
void hw_x86_bare(struct hw *hw);
/* On such a one: is an interrupt due that its software has not dealt with? */
bool hw_x86_due(const struct hw *hw);

/* The members of struct hw_model that are alike. */
void hw_x86_run(struct hw *hw, enum vpmu_mode mode, const struct hw_event *events,
		unsigned n);
uint64_t hw_x86_next_overflow(const struct hw *hw, enum vpmu_mode mode, uint64_t event);
bool hw_x86_irq_line(const struct hw *hw);
void hw_x86_ack(struct hw *hw);
enum hw_access hw_x86_guest(struct hw *hw, enum vpmu_mode mode, uint32_t reg, bool write,
			    uint64_t *value);

#endif
