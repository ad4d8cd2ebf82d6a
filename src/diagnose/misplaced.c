/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/misplaced.h"

#include "diagnose/reads.h"

#define MOST 0.5 /* of its time or memory: that is most of it */

static unsigned largest(const double *share, unsigned n)
{
	unsigned best = 0;

	for (unsigned i = 1; i < n; i++)
		if (share[i] > share[best])
			best = i;
	return best;
}

bool vm_misplaced(const struct diag_window *w, size_t vm, struct misplaced *out)
{
	const struct diag_vm *v = &w->vms[vm];
	unsigned nodes = w->machine.nodes < DIAG_NODES ? w->machine.nodes : DIAG_NODES;
	double ran[DIAG_NODES] = { 0 }, time = 0, memory = 0;

	for (unsigned n = 0; n < nodes; n++) {
		memory += v->mem_node[n];
		for (size_t i = 0; i < v->nvcpus; i++)
			ran[n] += v->vcpus[i].on_node[n];
		time += ran[n];
	}
	if (nodes < 2 || !(time > 0) || !(memory > 0))
		return false;
	out->runs = largest(ran, nodes);
	out->memory = largest(v->mem_node, nodes);
	out->away = 1 - v->mem_node[out->runs] / memory;
	return ran[out->runs] > MOST * time && out->away > MOST;
}

bool vm_reads_counted(const struct diag_vm *vm)
{
	for (size_t i = 0; i < vm->nvcpus; i++) {
		const struct quantity *q = vm->vcpus[i].role;

		if (quantity_has(&q[ROLE_DRAM_REMOTE]) || quantity_has(&q[ROLE_LLC_MISSES]))
			return true;
	}
	return false;
}
