/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "core/pmu/intel_regs.h"
#include "numasim/pmu_impl.h"

#define GP_MASK ((1ULL << INTEL_FIXED) - 1)

int pmu_new(struct machine *m, const struct machine_spec *spec, pmu_where *where, void *ctx,
	    struct pmu **out)
{
	struct pmu *u = calloc(1, sizeof(*u));
	int ret = 0;

	if (!u)
		return -ENOMEM;
	u->machine = m;
	u->spec = spec;
	u->where = where;
	u->ctx = ctx;
	u->ncores = spec->nodes * spec->cores;
	u->cores = calloc(u->ncores, sizeof(*u->cores));
	u->sockets = calloc(spec->nodes, sizeof(*u->sockets));
	if (!u->cores || !u->sockets)
		ret = -ENOMEM;
	for (unsigned i = 0; i < u->ncores && !ret; i++)
		ret = core_pmu_init(&u->cores[i], u, i);
	for (unsigned i = 0; i < spec->nodes && !ret; i++)
		ret = socket_pmu_init(&u->sockets[i], u, i);
	if (ret) {
		pmu_free(u);
		return ret;
	}
	machine_alarm(m, core_pmu_alarm, u);
	*out = u;
	return 0;
}

void pmu_free(struct pmu *u)
{
	if (!u)
		return;
	pmu_sets_free(u);
	for (unsigned i = 0; i < u->nvms; i++)
		free(u->vms[i]);
	free(u->sockets);
	free(u->cores);
	free(u);
}

int pmu_add_vm(struct pmu *u, unsigned nvcpus)
{
	struct pmu_vm *vm;

	if (u->nvms == SIM_VMS)
		return -ENOSPC;
	vm = calloc(1, sizeof(*vm) + nvcpus * sizeof(vm->vcpu[0]));
	if (!vm)
		return -ENOMEM;
	vm->nvcpus = nvcpus;
	vpmu_vm_init(&vm->vm, &u->m, false, NULL);
	for (unsigned i = 0; i < nvcpus; i++)
		vpmu_vcpu_init(&vm->vcpu[i], &vm->vm, i, NULL);
	u->vms[u->nvms++] = vm;
	return 0;
}

void pmu_info(const struct pmu *u, struct sim_pmu_info *out)
{
	*out = (struct sim_pmu_info) {
		.family = u->m.family->name,
		.counters = x86_bits(u->m.caps.host & GP_MASK),
		.fixed = x86_bits(u->m.caps.host & ~GP_MASK),
		.uncore = x86_bits(u->uncore.caps.host & GP_MASK),
	};
}

/* The highest @n programmable ones, as far as open sets can do without them. */
static void take(struct vpmu *m, unsigned n)
{
	int ret = -EBUSY;

	for (; n && ret; n--) {
		uint64_t left = m->caps.host & GP_MASK;

		for (unsigned i = 0; i < n; i++)
			left &= left >> 1;
		ret = vpmu_host_give(m, m->caps.host & GP_MASK & ~left);
	}
}

void pmu_take_counters(struct pmu *u, unsigned core, unsigned uncore)
{
	take(&u->m, core);
	take(&u->uncore, uncore);
	for (unsigned i = 0; i < u->ncores; i++)
		core_pmu_refresh(&u->cores[i]);
	for (unsigned i = 0; i < u->spec->nodes; i++)
		socket_pmu_refresh(&u->sockets[i]);
}
