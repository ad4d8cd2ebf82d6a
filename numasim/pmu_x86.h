/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_PMU_X86_H
#define NUMASIM_PMU_X86_H

/*
 * The registers of one x86 PMU, written from the manuals and knowing nothing of core/:
 * counters that count up, a sticky status bit each, an interrupt that is an edge. What
 * makes events happen in them, tests or the simulated machine, is not their business.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/ring.h"
#include "core/pmu/x86_regs.h"

#define PMU_X86_COUNTERS 64

struct pmu_x86 {
	uint64_t counters; /* those that there are */
	uint64_t value[PMU_X86_COUNTERS];
	/* event select; a fixed one's bits of its control register */
	uint64_t select[PMU_X86_COUNTERS];
	unsigned (*width)(const struct pmu_x86 *x, unsigned counter);
	/* As its selection has it: does it count in @mode? The number of its event. May
	 * its overflow interrupt? */
	bool (*enabled)(const struct pmu_x86 *x, unsigned counter, enum vpmu_mode mode);
	uint64_t (*event)(const struct pmu_x86 *x, unsigned counter);
	bool (*interrupts)(const struct pmu_x86 *x, unsigned counter);
	uint64_t global; /* control; all ones where there is none */
	bool has_root;	 /* a hypervisor runs with a control of its own: */
	uint64_t root;
	uint64_t status; /* kept even where no register shows it */
	uint64_t due;	 /* status bits that an interrupt came of, until they are cleared */
	bool waiting;	 /* an interrupt */
	bool bare;	 /* what a guest is shown: not all that hypervisors have */
	/* Registers; false: #GP, and nothing has changed. */
	bool (*rdmsr)(const struct pmu_x86 *x, uint32_t reg, uint64_t *value);
	bool (*wrmsr)(struct pmu_x86 *x, uint32_t reg, uint64_t value);
};

uint64_t pmu_x86_mask(unsigned width);
/* Does this counter count now, in @mode? */
bool pmu_x86_counting(const struct pmu_x86 *x, unsigned counter, enum vpmu_mode mode);
/* @n of its events happen. */
void pmu_x86_count(struct pmu_x86 *x, unsigned counter, uint64_t n);
/* How many until it overflows: 1 … 2^width (0 where that is 2^64). */
uint64_t pmu_x86_room(const struct pmu_x86 *x, unsigned counter);
/* A counter or its selection was written, which deals with its interrupt where no
 * register tells the status; and its interrupt may be off now. */
void pmu_x86_written(struct pmu_x86 *x, unsigned counter, bool has_status);
/* What firmware left in the counters. */
void pmu_x86_rubbish(struct pmu_x86 *x, uint64_t select);

#endif
