/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MODEL_TOPOLOGY_H
#define MODEL_TOPOLOGY_H

#include <stdbool.h>

#include "model/machine.h"
#include "model/vm.h"

/* What a source sees at one moment. Zero-initialise; topology_free() empties it. */
struct topology {
	struct machine machine;
	struct vm *vms; /* owned; ascending pid or domain */
	size_t nvms;
	size_t unreadable; /* processes that we may not look into: VMs may hide there */
};

void topology_free(struct topology *topo);
void vm_free(struct vm *vm);

/* By its id; NULL if it is not there. */
const struct vm *topology_vm(const struct topology *topo, const char *id);

/* By exact id, exact name, or pid in decimal; NULL if there is none. */
const struct vm *topology_find(const struct topology *topo, const char *what);

/* Does @vm answer to @pattern: id, pid, name, or a shell pattern (fnmatch) on the name? */
bool vm_matches(const struct vm *vm, const char *pattern);

#endif
