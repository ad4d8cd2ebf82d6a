/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_BUDGET_H
#define CORE_BUDGET_H

/*
 * Counters are few. Who gets which is decided here and nowhere else:
 *   - the split between VMs and host is made once, at boot (vpmu_budget_host);
 *   - of the host's counters, the hypervisor's own events come first and stay on;
 *   - a VM's events share the rest: all at once where they fit, else in turns of equal
 *     length, in the order they were opened, so that none starves.
 * A sampled event takes a second counter where the PMU needs a kick (family.h).
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/event.h"
#include "core/family.h"

struct vpmu_set;

/* Events of all sets of one target; a build of core/ may have its own number. */
#ifndef VPMU_PLAN_SLOTS
#define VPMU_PLAN_SLOTS 48
#endif

/* One event on one counter in one turn. */
struct vpmu_slot {
	struct vpmu_set *set;
	uint8_t event; /* index in the set */
	uint8_t turn;
	uint8_t counter;
	uint8_t kick; /* the second counter; == counter: none */
	bool samples;
	bool together;	   /* with all of its set */
	uint64_t counters; /* both, as a mask */
};

struct vpmu_plan {
	unsigned nslots, nturns;
	uint64_t used;				/* counters of any turn */
	uint64_t sampling;			/* those of events that are sampled */
	struct vpmu_slot slot[VPMU_PLAN_SLOTS]; /* ascending turn */
};

/*
 * How many counters the host should keep of @n programmable ones: what the
 * administrator @asked for (< 0: not said; then a third, at least one where there are
 * three), never so many that VMs are left with none unless he asked for all.
 */
unsigned vpmu_budget_host(unsigned n, int asked);
/*
 * Plans @sets (a list by ->next) on the counters in @avail, each event on one that may
 * count it. Every event gets exactly one turn: a turn takes, in the order of opening,
 * whatever still fits beside what it has; of a set that is to be counted together,
 * where all of it fits into one turn, all or nothing. The same events on the same counters
 * make the same plan. 0; -EBUSY (16): an event does not even fit alone, or several turns
 * would be needed where @pinned; -ENOSPC (28): more events than VPMU_PLAN_SLOTS.
 * @plan is whole or untouched.
 */
int vpmu_budget_plan(struct vpmu_set *sets, uint64_t avail, bool kick, bool pinned,
		     struct vpmu_plan *plan);

#endif
