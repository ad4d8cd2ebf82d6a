/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_HOST_H
#define CORE_HOST_H

/*
 * Host-owned event sets: what the hypervisor counts and samples of a VM on the counters
 * that it keeps for itself. A VM may have several sets, of several users; a plan
 * (budget.h) says which event is on which counter in which turn. A counter that is on
 * the event it should count is not programmed again: only sums move.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/event.h"
#include "core/budget.h"
#include "core/offset.h"
#include "core/ring.h"

struct vpmu;
struct vpmu_pcpu;
struct vpmu_vcpu;
struct vpmu_vm;

/* One event on one vCPU (of the target "xen": on one pCPU). */
struct vpmu_count {
	struct vpmu_offset offset;
	uint64_t enabled_ns;  /* its vCPU ran and the set was open */
	uint64_t running_ns;  /* it was on a counter meanwhile */
	uint64_t left;	      /* sampling: events to the next sample; signed, <= 0: due */
	uint64_t taken, lost; /* samples */
};

/* A set on one vCPU. Written where that vCPU runs, read anywhere under @sequence. */
struct vpmu_tally {
	uint32_t sequence; /* odd while it changes */
	struct vpmu_count count[VPMU_SET_EVENTS];
	struct vpmu_ring ring;
};

/* One user's events on one VM, or on the hypervisor itself. The caller allocates it. */
struct vpmu_set {
	unsigned n;
	struct vpmu_event event[VPMU_SET_EVENTS];
	uint64_t select[VPMU_SET_EVENTS];
	uint64_t may[VPMU_SET_EVENTS]; /* counters that can count it */
	bool together; /* its events are on counters at the same time, if all can be */
	struct vpmu_tally *tally; /* one per vCPU (pCPU), zeroed; the caller's */
	unsigned ntallies;
	void *cookie;	       /* the caller's, for wake() */
	struct vpmu_set *next; /* of the same target */
};

/*
 * Checks @set->event[0..n) and fills select and may. 0; as family->encode(), with
 * *@bad the event at fault; -EBUSY (16): its counters were given away; -EINVAL also for n,
 * period or flags out of range (a VM's event must not count the hypervisor, the
 * hypervisor's nothing else).
 */
int vpmu_set_check(const struct vpmu *m, struct vpmu_set *set, bool hyp, unsigned *bad);

/*
 * Adds a set to a VM (@vm NULL: to the hypervisor) or takes it away, and makes new
 * plans. The caller serialises these, then has every pCPU that is up run
 * vpmu_host_refresh() and waits for it: until then the old plans, and a set taken
 * away, are still in use. -EBUSY (16): an event of it would fit on none of the counters
 * that the hypervisor's own events leave, or, for one on the hypervisor, an event of it
 * or of an open set on a VM would; -ENOSPC (28): the target has too many events
 * already. Nothing has changed then.
 */
int vpmu_host_add(struct vpmu *m, struct vpmu_vm *vm, struct vpmu_set *set);
void vpmu_host_remove(struct vpmu *m, struct vpmu_vm *vm, struct vpmu_set *set);
/*
 * @counters, of the host's, are someone else's from here on. The caller goes on as after
 * vpmu_host_add(). -EBUSY (16): an open set cannot do without; nothing has changed then.
 */
int vpmu_host_give(struct vpmu *m, uint64_t counters);
/*
 * On a pCPU: brings all tallies up to this moment and takes up the newest plans, for
 * @v, who runs here (NULL: nobody), too.
 */
void vpmu_host_refresh(struct vpmu_pcpu *p, struct vpmu_vcpu *v);
/* Brings the tallies of who runs here up to this moment. */
void vpmu_host_fold(struct vpmu_pcpu *p);
/* The next turn, where a plan has several; called every config.turn_ns or so. */
void vpmu_host_turn(struct vpmu_pcpu *p);
/* Whether anything here needs vpmu_host_turn() to be called. */
bool vpmu_host_turns(const struct vpmu_pcpu *p);
#define VPMU_TURN_NS 4000000

/* A consistent copy of one vCPU's counts (offset.sum, not start), from any pCPU. Bounded;
 * -EAGAIN (11): it kept changing. */
int vpmu_tally_read(const struct vpmu_tally *tally, struct vpmu_count out[VPMU_SET_EVENTS]);

/* ---- called by vpmu.c */
struct vpmu_where;
void vpmu_host_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v, const struct vpmu_where *w);
void vpmu_host_in(struct vpmu_pcpu *p, struct vpmu_vcpu *v);
/*
 * The physical interrupt, the host's part. A sample is due by what its counter shows,
 * not by how often it interrupted: an interrupt that comes late makes one record, whose
 * period is that of all the whole periods that have passed, and what went beyond them
 * counts towards the next. So the periods of the samples taken (the lost ones' too) add
 * up to the count, less than one period short of it.
 */
void vpmu_host_interrupt(struct vpmu_pcpu *p, uint64_t overflowed,
			 const struct vpmu_where *w);

#endif
