/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for VMs that share a process: "1234", "1234.2" in the order in which we
 * first saw them, which must not change when one of them goes.
 */
#include <errno.h>
#include <stdio.h>

#include "base/vec.h"
#include "source/kvm/discover.h"

int vm_id_give(struct vm_ids *ids, int fd, struct vm *vm)
{
	struct vm_id id = { vm->pid, vm->birth, fd, 1, true }, *found = NULL;

	for (size_t i = 0; i < ids->n && !found; i++) {
		struct vm_id *known = &ids->v[i];

		if (known->pid != id.pid || known->start_ticks != id.start_ticks)
			continue;
		if (known->fd == fd)
			found = known;
		else if (known->ordinal >= id.ordinal)
			id.ordinal = known->ordinal + 1;
	}
	if (found) {
		found->seen = true;
		id.ordinal = found->ordinal;
	} else if (VEC_PUSH(ids->v, ids->n, ids->cap, id)) {
		return -ENOMEM;
	}
	if (id.ordinal == 1)
		snprintf(vm->id, sizeof(vm->id), "%d", vm->pid);
	else
		snprintf(vm->id, sizeof(vm->id), "%d.%u", vm->pid, id.ordinal);
	return 0;
}

void vm_ids_forget(struct vm_ids *ids)
{
	size_t n = 0;

	for (size_t i = 0; i < ids->n; i++) {
		if (!ids->v[i].seen)
			continue;
		ids->v[n] = ids->v[i];
		ids->v[n++].seen = false;
	}
	ids->n = n;
}
