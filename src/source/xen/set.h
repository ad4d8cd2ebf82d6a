/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_XEN_SET_H
#define SOURCE_XEN_SET_H

/*
 * A set of events that is open in Xen on one domain: shared by the counters, or the
 * samplers, of all its vCPUs, closed with the last of them.
 */

#include "source/xen/state.h"

/*
 * The set of @events on @vm, opened if this is its first vCPU, with rings of @frames
 * where it samples (@frames 0: it only counts; the rings are as large as the first
 * asked for). What became of each event is copied into @opened. 0 also where no event
 * could be opened; -ESRCH: the domain is gone, -ENOMEM, with words. Whoever has it stops
 * it once, then gives it back with xen_set_put().
 */
int xen_set_get(struct source *src, const struct vm *vm, const struct event_set *events,
		unsigned frames, struct opened *opened, struct xen_set **out,
		struct err *err);
void xen_set_put(struct xen_set *set);
/*
 * Ends it for @set's user: the last one closes it in Xen. Its rings can be read on, its
 * counts not.
 */
void xen_set_stop(struct xen_set *set);
/* The place of event @i in the set; -1: it is not open. */
int xen_set_place(const struct xen_set *set, size_t i);
/* The event at a place; -1: there is none. */
int xen_set_event(const struct xen_set *set, unsigned place);
/* Are its events too many to be counted all at the same time? */
bool xen_set_turns(const struct xen_set *set);
uint32_t xen_set_handle(const struct xen_set *set);
unsigned xen_set_frames(const struct xen_set *set); /* of a vCPU's ring */
/* What Xen was asked for. */
const struct vpmu_event *xen_set_asked(const struct xen_set *set, size_t i);
/* The counts of one vCPU. 0 or -errno. */
int xen_set_read(const struct xen_set *set, unsigned vcpu, struct xenpmu_read *out);

#endif
