/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moves on the simulated host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "source/sim/state.h"

static int pin(struct source *src, const struct vm *vm, const struct move *move,
	       struct err *err)
{
	uint64_t set[4] = { 0 };
	int *cpus = NULL;
	size_t n = 0;
	int ret = cpulist_parse(move->cpus, &cpus, &n);

	if (ret)
		return err_set(err, ret, "%s: expected a list of pCPUs such as 0-3,8",
			       move->cpus);
	for (size_t i = 0; i < n; i++)
		if (cpus[i] < 256)
			set[cpus[i] / 64] |= UINT64_C(1) << cpus[i] % 64;
	free(cpus);
	return sim_pin(src->sim, sim_number(vm), (unsigned)move->vcpu, set, err);
}

int sim_move(struct source *src, const struct vm *vm, const struct move *move,
	     struct err *err)
{
	if (move->kind == MOVE_VCPU)
		return pin(src, vm, move, err);
	return sim_move_memory(src->sim, sim_number(vm), (unsigned)move->node, err);
}

/* No tool is in charge of it but this one. */
void sim_say_move(struct source *src, const struct vm *vm, const struct move *move,
		  struct strbuf *out)
{
	(void)src;
	if (move->kind == MOVE_VCPU)
		strbuf_addf(out, "simulated: pin vCPU %d of %s to %s %s", move->vcpu,
			    vm->name, strpbrk(move->cpus, ",-") ? "pCPUs" : "pCPU",
			    move->cpus);
	else
		strbuf_addf(out, "simulated: move the memory of %s to node %d", vm->name,
			    move->node);
}
