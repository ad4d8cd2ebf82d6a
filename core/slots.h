/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_SLOTS_H
#define CORE_SLOTS_H

/*
 * What a plan's slots do in the hardware of one pCPU; host.c alone calls this. What was
 * counted is known by the counter's value alone, whether or not its overflow was
 * noticed: count->left goes down by what was counted, and a sample is due once it is
 * zero or less (as a signed number). It stays due until someone knows where the vCPU is.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/budget.h"

struct vpmu_pcpu;
struct vpmu_where;

/* Whose slots: the VM's that runs here, or the hypervisor's. */
struct vpmu_side {
	const struct vpmu_plan *plan;
	uint64_t denied; /* counters that the other side has here */
	unsigned turn;
	unsigned index; /* which tally of its sets */
};

/* Programs and starts what is not as the side's turn wants it. */
void vpmu_slots_load(struct vpmu_pcpu *p, const struct vpmu_side *side);
/*
 * Stops what could interrupt: the sampling counters, after a fold. Those that only
 * count run on, unread, for whoever wants the same next.
 */
void vpmu_slots_unload(struct vpmu_pcpu *p, const struct vpmu_side *side);
/* Stops those of @counters that run. */
void vpmu_slots_stop(struct vpmu_pcpu *p, uint64_t counters);
/* Moves what was counted into the tallies; @dt: ns since the last time. */
void vpmu_slots_fold(struct vpmu_pcpu *p, const struct vpmu_side *side, uint64_t dt);
/* Brings counters that only count back after they wrapped, after a fold … */
void vpmu_slots_rewind(struct vpmu_pcpu *p, uint64_t counters);
/* … and lets the slots on @counters count from what these show now. */
void vpmu_slots_begin(struct vpmu_pcpu *p, const struct vpmu_side *side, uint64_t counters);
/* The counters of slots that sample, and of those of them whose sample is due (after a
 * fold). */
uint64_t vpmu_slots_sampling(const struct vpmu_side *side);
uint64_t vpmu_slots_due(const struct vpmu_side *side);
/*
 * After a fold: a record at @w for each slot whose sample is due. It stands for all the
 * whole periods that have passed, and what went beyond them counts towards the next.
 */
void vpmu_slots_sample(struct vpmu_pcpu *p, const struct vpmu_side *side,
		       const struct vpmu_where *w, uint32_t flags, uint64_t now);
/* Starts @counters, those of sampling slots, from what is left of their periods. */
void vpmu_slots_rearm(struct vpmu_pcpu *p, const struct vpmu_side *side, uint64_t counters);

#endif
