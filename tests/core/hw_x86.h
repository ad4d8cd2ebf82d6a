/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_HW_X86_H
#define TESTS_CORE_HW_X86_H

/*
 * What the models of Intel's and AMD's PMUs have in common: counters that count up,
 * a sticky status bit each, an interrupt that is an edge. An access that the processor
 * would answer with #GP, made by the hypervisor, ends the test: Xen would have died.
 */

#include <stdlib.h>

#include "core/pmu/x86_regs.h"
#include "tests/core/hw.h"

#define X86_COUNTERS 64

struct hw_x86 {
	struct hw hw;
	uint64_t counters; /* those that there are */
	uint64_t value[X86_COUNTERS];
	uint64_t select[X86_COUNTERS]; /* event select; fixed: its 4 bits of the control */
	unsigned (*width)(const struct hw_x86 *x, unsigned counter);
	/* Does this counter count @event in @mode? May its overflow interrupt? */
	bool (*counts)(const struct hw_x86 *x, unsigned counter, enum vpmu_mode mode,
		       uint64_t event);
	bool (*interrupts)(const struct hw_x86 *x, unsigned counter);
	uint64_t global; /* control; all ones where there is none */
	uint64_t status; /* kept even where no register shows it */
	uint64_t due;	 /* status bits that an interrupt came of, until they are cleared */
	bool waiting;	 /* an interrupt */
	bool bare;	 /* guest() reaches the registers: no hypervisor is there */
	/* Registers; false: #GP, and nothing has changed. */
	bool (*rdmsr)(const struct hw_x86 *x, uint32_t reg, uint64_t *value);
	bool (*wrmsr)(struct hw_x86 *x, uint32_t reg, uint64_t value);
};

extern const struct vpmu_hw_ops hw_x86_ops;
/* Makes a machine without a hypervisor of it, its counters as a hypervisor resets them. */
void hw_x86_bare(struct hw *hw);
/* On such a one: is an interrupt due that its software has not dealt with? */
bool hw_x86_due(const struct hw *hw);
/* A counter or its selection was written, which deals with its interrupt where no
 * register tells the status; and its interrupt may be off now. */
void hw_x86_written(struct hw_x86 *x, unsigned counter, bool has_status);

/* The members of struct hw_model that are alike. */
void hw_x86_run(struct hw *hw, enum vpmu_mode mode, const struct hw_event *events,
		unsigned n);
uint64_t hw_x86_next_overflow(const struct hw *hw, enum vpmu_mode mode, uint64_t event);
bool hw_x86_irq_line(const struct hw *hw);
void hw_x86_ack(struct hw *hw);
enum hw_access hw_x86_guest(struct hw *hw, enum vpmu_mode mode, uint32_t reg, bool write,
			    uint64_t *value);
uint64_t hw_x86_mask(unsigned width);
/* What firmware left in the counters. */
void hw_x86_rubbish(struct hw_x86 *x, uint64_t select);

#endif
