/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/home.h"

#include <math.h>

/* Where the VM's memory is, as shares; false: not known. */
static bool memory_shares(const struct diag_vm *vm, unsigned nodes, double *share)
{
	double sum = 0;

	for (unsigned n = 0; n < nodes; n++)
		sum += vm->mem_node[n];
	for (unsigned n = 0; n < nodes; n++)
		share[n] = sum > 0 ? vm->mem_node[n] / sum : 1.0 / nodes;
	return sum > 0;
}

void flow_home(struct flow *f, const struct diag_vm *vm, unsigned nodes,
	       const struct reads *r, bool moved)
{
	double share[DIAG_NODES], away = 0;
	bool known = memory_shares(vm, nodes, share);

	for (unsigned n = 0; n < nodes; n++)
		f->home[n] = share[n];
	if (!known && !r->by_home)
		for (unsigned n = 0; n < nodes; n++)
			f->home[n] = n == f->node;
	if (!r->by_home || (known && moved) || r->local + r->remote <= 0)
		return;
	double local = r->local / (r->local + r->remote);

	for (unsigned n = 0; n < nodes; n++)
		if (n != f->node)
			away += share[n];
	for (unsigned n = 0; n < nodes; n++) {
		if (n == f->node)
			f->home[n] = local;
		else
			f->home[n] = (1 - local) *
				     (away > 0 ? share[n] / away : 1.0 / (nodes - 1));
	}
}

bool vcpu_by_bytes(const struct diag_vcpu *vcpu)
{
	const struct quantity *q = vcpu->role;

	return quantity_has(&q[ROLE_MEM_BYTES]) && !quantity_has(&q[ROLE_DRAM_LOCAL]) &&
	       !quantity_has(&q[ROLE_DRAM_REMOTE]);
}

double vcpu_moved(const struct diag_vm *vm, const struct diag_vcpu *vcpu, unsigned nodes,
		  unsigned node)
{
	const struct quantity *near = &vcpu->role[ROLE_MEM_BYTES_LOCAL];
	double lines = vcpu->role[ROLE_MEM_BYTES].value / DIAG_LINE, sum = 0;
	struct reads r = { .by_home = quantity_has(near) };
	double share[DIAG_NODES];
	unsigned places = vcpu_shares(vcpu, nodes, share);

	r.local = r.by_home ? fmin(near->value / DIAG_LINE, lines) : 0;
	r.remote = lines - r.local;
	for (unsigned n = 0; n < nodes && places; n++) {
		struct flow f = { .node = n };

		flow_home(&f, vm, nodes, &r, places > 1);
		sum += share[n] * lines * f.home[node];
	}
	return sum;
}
