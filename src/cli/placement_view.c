/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/placement_view.h"

#include <math.h>

#include "base/vec.h"

#define WORTH_SAYING 0.1 /* of a VM's memory is away */
#define LEAST_SHOWN 0.005

static double memory_of(const struct vm *vm)
{
	double sum = 0;

	for (size_t i = 0; vm->mem_node && i < vm->nmem_node; i++)
		sum += vm->mem_node[i];
	return sum;
}

/* The node of machine.nodes that a vCPU is on; -1: not known. */
static int node_of(const struct vcpu *vcpu, const struct cpu_nodes *nodes)
{
	int node = cpus_node(nodes, vcpu->affinity);

	return node >= 0 ? node : cpu_node(nodes, vcpu->last_cpu);
}

double memory_away(const struct vm *vm, const struct cpu_nodes *nodes)
{
	double all = memory_of(vm), near = 0;
	size_t known = 0;

	for (size_t i = 0; all > 0 && i < vm->nvcpus; i++) {
		int node = node_of(&vm->vcpus[i], nodes);

		if (node < 0)
			continue;
		known++;
		if ((size_t)node < vm->nmem_node)
			near += vm->mem_node[node] / all;
	}
	return known ? 1 - near / known : NAN;
}

void vcpus_in_words(const struct vm *vm, const struct machine *machine,
		    const struct cpu_nodes *nodes, struct strbuf *out)
{
	for (size_t n = 0; n < machine->nnodes; n++) {
		size_t there = 0;

		for (size_t i = 0; i < vm->nvcpus; i++)
			there += node_of(&vm->vcpus[i], nodes) == (int)n;
		if (there)
			strbuf_addf(out, "%s%zu on node %d", out->len ? ", " : "", there,
				    machine->nodes[n].id);
	}
}

void memory_in_words(const struct vm *vm, const struct machine *machine, struct strbuf *out)
{
	double all = memory_of(vm);

	for (size_t n = 0; all > 0 && n < vm->nmem_node && n < machine->nnodes; n++)
		if (vm->mem_node[n] / all >= LEAST_SHOWN)
			strbuf_addf(out, "%s%.0f %% on node %d", out->len ? ", " : "",
				    100 * vm->mem_node[n] / all, machine->nodes[n].id);
}

struct placement_row {
	const char *vm, *id, *vcpus, *memory;
	double away;
};

static const struct column columns[] = {
	COLUMN(struct placement_row, vm, "vm", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct placement_row, id, "vm_id", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct placement_row, vcpus, "vcpus", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct placement_row, memory, "memory", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct placement_row, away, "away", "", FIELD_F64, COL_DATA_ONLY),
};
static const struct view placement_view = { "placement", columns, ARRAY_SIZE(columns) };

static void show_vm(struct out *out, const struct machine *machine,
		    const struct cpu_nodes *nodes, const struct vm *vm, bool say)
{
	struct strbuf vcpus = { 0 }, memory = { 0 };
	struct placement_row row = { .vm = vm->name,
				     .id = vm->id,
				     .away = memory_away(vm, nodes) };

	vcpus_in_words(vm, machine, nodes, &vcpus);
	memory_in_words(vm, machine, &memory);
	row.vcpus = vcpus.len && !vcpus.oom ? vcpus.data : NULL;
	row.memory = memory.len && !memory.oom ? memory.data : NULL;
	out_row(out, &row);
	if (say && row.away >= WORTH_SAYING)
		out_line(out,
			 "%s: %.0f %% of its memory is away from its vCPUs: vCPUs %s; "
			 "memory %s",
			 vm->name, 100 * row.away, row.vcpus, row.memory);
	strbuf_free(&vcpus);
	strbuf_free(&memory);
}

void placement_show(struct out *out, const struct topology *topo, const char *const *ids,
		    const bool *say, size_t n)
{
	struct cpu_nodes nodes;

	if (cpu_nodes_make(&topo->machine, &nodes))
		return;
	out_table(out, &placement_view);
	for (size_t i = 0; i < n; i++) {
		const struct vm *vm = topology_find(topo, ids[i]);

		if (vm)
			show_vm(out, &topo->machine, &nodes, vm, say[i]);
	}
	out_end(out);
	cpu_nodes_free(&nodes);
}
