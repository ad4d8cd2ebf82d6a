/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/residence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/vec.h"

/* @cpus are of @node. */
static int add_cpus(struct cpu_nodes *cn, size_t *cap, const int *cpus, size_t n, int node)
{
	for (size_t i = 0; i < n; i++) {
		size_t need = (size_t)cpus[i] + 1;

		if (vec_reserve((void **)&cn->node, cap, need, sizeof(*cn->node)))
			return -ENOMEM;
		while (cn->n < need)
			cn->node[cn->n++] = -1;
		cn->node[cpus[i]] = node;
	}
	return 0;
}

int cpu_nodes_make(const struct machine *machine, struct cpu_nodes *out)
{
	size_t cap = 0;
	int ret = 0;

	*out = (struct cpu_nodes) { 0 };
	for (size_t i = 0; !ret && i < machine->nnodes && i < DIAG_NODES; i++) {
		int *cpus = NULL;
		size_t n = 0;

		/* A list that is none leaves its CPUs without a node. */
		ret = cpulist_parse(machine->nodes[i].cpus, &cpus, &n);
		ret = ret == -ENOMEM ? ret : ret ? 0 : add_cpus(out, &cap, cpus, n, (int)i);
		free(cpus);
	}
	if (ret)
		cpu_nodes_free(out);
	return ret;
}

void cpu_nodes_free(struct cpu_nodes *cn)
{
	free(cn->node);
	*cn = (struct cpu_nodes) { 0 };
}

int cpu_node(const struct cpu_nodes *cn, int cpu)
{
	return cpu >= 0 && (size_t)cpu < cn->n ? cn->node[cpu] : -1;
}

int cpus_node(const struct cpu_nodes *cn, const char *list)
{
	int *cpus = NULL, node = -1;
	size_t n = 0;

	if (cpulist_parse(list, &cpus, &n))
		return -1; /* also one that was cut short */
	for (size_t i = 0; i < n; i++) {
		int of = cpu_node(cn, cpus[i]);

		node = i && of != node ? -1 : of;
		if (node < 0)
			break;
	}
	free(cpus);
	return node;
}

/* pCPUs that it may run on; 0: not known, or it has not got there yet. */
static unsigned choices(const struct vcpu *vcpu)
{
	int *cpus = NULL;
	bool there = false;
	size_t n = 0;

	if (cpulist_parse(vcpu->affinity, &cpus, &n))
		return 0;
	for (size_t i = 0; i < n; i++)
		there |= cpus[i] == vcpu->last_cpu;
	free(cpus);
	return there ? (unsigned)n : 0;
}

void residence_look(struct residence *r, const struct cpu_nodes *cn,
		    const struct vcpu *vcpu)
{
	int node = cpus_node(cn, vcpu->affinity);

	if (node < 0)
		node = cpu_node(cn, vcpu->last_cpu);
	r->cpu = vcpu->last_cpu;
	r->choices = choices(vcpu);
	if (node < 0)
		return;
	r->seen[node]++;
	r->looks++;
}

void residence_share(const struct residence *r, double ran, double out[static DIAG_NODES])
{
	for (size_t i = 0; i < DIAG_NODES; i++)
		out[i] = r->looks ? ran * r->seen[i] / r->looks : 0;
}
