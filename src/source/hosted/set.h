/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_HOSTED_SET_H
#define SOURCE_HOSTED_SET_H

/*
 * The events that are open in the hypervisor on one target: shared by the counters, or
 * the samplers, of all its vCPUs, closed with the last of them. More events than one
 * set of the hypervisor holds are several of its sets.
 */

#include "source/hosted/hosted.h"

/*
 * The set of @events on @t, opened if this is its first user, with rings of @ring_bytes
 * where it samples (0: it only counts; the rings are as large as the first asked for).
 * What became of each event is copied into @opened. 0 also where no event could be
 * opened; -ESRCH: the target is gone, -ENOMEM, with words. Whoever has it stops it once,
 * then gives it back with hosted_set_put().
 */
int hosted_set_get(struct hosted *h, const struct hosted_target *t,
		   const struct event_set *events, size_t ring_bytes, struct opened *opened,
		   struct hosted_set **out, struct err *err);
void hosted_set_put(struct hosted_set *set);
/*
 * Ends it for @set's user: the last one closes it in the hypervisor, where its rings
 * outlive it. They can be read on, its counts not.
 */
void hosted_set_stop(struct hosted_set *set);
bool hosted_set_stopped(const struct hosted_set *set); /* by all */
/* The place of event @i among all that are open; -1: it is not. */
int hosted_set_place(const struct hosted_set *set, size_t i);
/* The event at a place; -1: there is none. */
int hosted_set_event(const struct hosted_set *set, unsigned place);
/* Are its events too many to be counted all at the same time? */
bool hosted_set_turns(const struct hosted_set *set);
/* Of a set that samples: there is one only. */
uint32_t hosted_set_handle(const struct hosted_set *set);
size_t hosted_set_ring_bytes(const struct hosted_set *set);
/* What the hypervisor was asked for. */
const struct vpmu_event *hosted_set_asked(const struct hosted_set *set, size_t i);
/* One vCPU's counts, by place. 0 or -errno. */
int hosted_set_read(const struct hosted_set *set, unsigned vcpu,
		    struct xenpmu_count out[HOSTED_SETS_MAX * VPMU_SET_EVENTS]);

#endif
