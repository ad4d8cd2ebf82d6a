/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SESSION_COUNTED_VM_H
#define SESSION_COUNTED_VM_H

/* A VM that is counted: its events and its vCPUs, those that ended included. */

#include "session/unit.h"

struct counted_vm {
	char id[32], name[80];
	struct event_set set; /* sides resolved; units point to it */
	struct unit **units;
	size_t nunits, capunits;
	struct reading_sum *past; /* per event: units that ended and were let go */
	uint64_t since_ns;	  /* when its first vCPU was opened; 0: none was */
	size_t unknown, refused;  /* vCPUs not counted: no thread known; not opened */
	char lacks[120];	  /* what is said of them */
	bool gone, done;	  /* it ended; its last interval was shown */
};

/*
 * @events  what was asked for; those that do not say their side get @side: one
 *          event for the guest or the host, two for both. A plain process and
 *          the hypervisor have the host's side only, the kernel's own events know no sides.
 * 0 or -ENOMEM.
 */
int counted_vm_create(const struct vm *from, const struct event_set *events,
		      enum event_side side, struct counted_vm **out);
void counted_vm_free(struct counted_vm *vm);
/* Frees units whose thread has ended and whose last interval was shown. */
void counted_vm_let_go(struct counted_vm *vm);
/* The sum of its vCPUs: suspect if some are not in it, however good the others. */
struct reading counted_vm_sum(struct counted_vm *vm, const struct reading_sum *sum);
/* Event @i of all its vCPUs since the start. */
struct reading counted_vm_total(struct counted_vm *vm, size_t i);

#endif
