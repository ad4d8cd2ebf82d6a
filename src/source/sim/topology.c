/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The simulated host as its hypervisor tells of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "source/sim/state.h"

unsigned sim_number(const struct vm *vm)
{
	return (unsigned)strtoul(vm->id + strlen("sim"), NULL, 10);
}

static int fill_machine(const struct source *src, struct machine *m)
{
	const struct machine_spec *spec = sim_machine(src->sim);

	*m = (struct machine) {
		.arch = "x86_64",
		.hostname = "simulated",
		.ncpus = (int)(spec->nodes * spec->cores),
		.threads_per_core = 1,
	};
	str_copy(m->cpu_model, sizeof(m->cpu_model), spec->cpu);
	m->nodes = calloc(spec->nodes, sizeof(*m->nodes));
	if (!m->nodes)
		return -ENOMEM;
	m->nnodes = spec->nodes;
	for (unsigned i = 0; i < spec->nodes; i++) {
		struct node *node = &m->nodes[i];

		node->id = (int)i;
		node->mem_bytes = spec->node_bytes;
		snprintf(node->cpus, sizeof(node->cpus), spec->cores > 1 ? "%u-%u" : "%u",
			 i * spec->cores, (i + 1) * spec->cores - 1);
	}
	return 0;
}

/* As the kernel's lists: "0-3,8". */
static void affinity_in_words(const uint64_t set[4], unsigned ncpus, char *out, size_t size)
{
	struct strbuf sb = { 0 };

	for (unsigned i = 0, last; i < ncpus; i = last + 1) {
		last = i;
		if (!(set[i / 64] >> i % 64 & 1))
			continue;
		while (last + 1 < ncpus && set[(last + 1) / 64] >> (last + 1) % 64 & 1)
			last++;
		strbuf_addf(&sb, last > i ? "%s%u-%u" : "%s%u", sb.len ? "," : "", i, last);
	}
	str_copy_list(out, size, sb.data ? sb.data : "");
	strbuf_free(&sb);
}

static int fill_vcpus(const struct source *src, unsigned parts, unsigned number,
		      const struct sim_vm *from, struct vm *vm)
{
	const struct machine_spec *spec = sim_machine(src->sim);

	vm->vcpus = calloc(from->nvcpus + 1, sizeof(*vm->vcpus));
	if (!vm->vcpus)
		return -ENOMEM;
	for (; vm->nvcpus < from->nvcpus; vm->nvcpus++) {
		struct vcpu *v = &vm->vcpus[vm->nvcpus];
		struct sim_vcpu now;

		*v = (struct vcpu) {
			.index = (int)vm->nvcpus,
			.found = FOUND_HYPERVISOR,
			.state = '?',
			.last_cpu = -1,
		};
		if (!(parts & TOPOLOGY_THREADS) ||
		    sim_vcpu(src->sim, number, (unsigned)vm->nvcpus, &now))
			continue;
		v->state = now.state;
		v->last_cpu = now.pcpu;
		affinity_in_words(now.affinity, spec->nodes * spec->cores, v->affinity,
				  sizeof(v->affinity));
	}
	return 0;
}

static int fill_vm(const struct source *src, unsigned parts, unsigned number, struct vm *vm)
{
	struct sim_vm from;
	int ret = sim_vm(src->sim, number, &from);

	*vm = (struct vm) {
		.vmm = "numasim",
		.accel = ACCEL_SIM,
		.vpmu = VPMU_NONE,
		.vpmu_why = "simulated guests have no PMU of their own",
	};
	if (ret)
		return ret;
	vm->uptime_ns = sim_now_ns(src->sim);
	snprintf(vm->id, sizeof(vm->id), "sim%u", number);
	str_copy(vm->name, sizeof(vm->name), from.name);
	if (!(parts & TOPOLOGY_MEMORY))
		return fill_vcpus(src, parts, number, &from, vm);
	vm->nmem_node = sim_machine(src->sim)->nodes;
	vm->mem_node = calloc(vm->nmem_node, sizeof(*vm->mem_node));
	if (!vm->mem_node)
		return -ENOMEM;
	memcpy(vm->mem_node, from.node_bytes, vm->nmem_node * sizeof(*vm->mem_node));
	return fill_vcpus(src, parts, number, &from, vm);
}

int sim_topology(struct source *src, unsigned parts, struct topology *topo, struct err *err)
{
	unsigned n = sim_vms(src->sim);
	int ret = fill_machine(src, &topo->machine);

	topo->vms = ret ? NULL : calloc(n + 1, sizeof(*topo->vms));
	if (!topo->vms)
		ret = -ENOMEM;
	for (unsigned i = 0; !ret && i < n; i++) {
		ret = fill_vm(src, parts, i, &topo->vms[i]);
		topo->nvms++;
	}
	return ret ? err_set(err, ret, "out of memory for the list of VMs") : 0;
}

int sim_symbols_each(struct source *src, const struct vm *vm, symbol_cb *cb, void *ctx)
{
	size_t n;
	const struct sim_symbol *symbols = sim_symbols(src->sim, sim_number(vm), &n);
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++)
		ret = cb(ctx, symbols[i].address, symbols[i].size, symbols[i].name);
	return ret;
}
