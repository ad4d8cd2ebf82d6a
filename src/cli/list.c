/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmmprof list: the VMs of this host. */
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "cli/commands.h"
#include "cli/common.h"

static struct {
	struct common_options common;
	bool vcpus, memory;
} opt;

static const struct option_row options[] = {
	{ "vcpus", 'v', NULL, OPT_FLAG, &opt.vcpus,
	  "One more row per vCPU: thread, state, CPUs" },
	{ "memory", 'm', NULL, OPT_FLAG, &opt.memory,
	  "One more row per VM and memory node" },
	COMMON_FORMAT(&opt.common),
	COMMON_SOURCE(&opt.common),
	{ 0 },
};

struct vm_row {
	const struct vm *vm;
	const char *name, *id, *vmm, *accel, *vpmu, *vpmu_why, *problem;
	int pid;
	uint64_t uptime_ns;
	int vcpus;
	uint64_t memory;   /* on all nodes */
	const char *nodes; /* what each holds, in words */
};

static const struct column vm_columns[] = {
	COLUMN(struct vm_row, name, "vm", "VM", FIELD_STR, 0),
	COLUMN(struct vm_row, id, "id", "id", FIELD_STR, 0),
	COLUMN(struct vm_row, pid, "pid", "pid", FIELD_INT, COL_DATA_ONLY),
	COLUMN(struct vm_row, vmm, "vmm", "VMM", FIELD_STR, 0),
	COLUMN(struct vm_row, accel, "accel", "accel", FIELD_STR, 0),
	COLUMN(struct vm_row, uptime_ns, "uptime", "uptime", FIELD_DURATION, 0),
	COLUMN(struct vm_row, vcpus, "vcpus", "vCPUs", FIELD_INT, 0),
	COLUMN(struct vm_row, vpmu, "vpmu", "vPMU", FIELD_STR, 0),
	COLUMN(struct vm_row, vpmu_why, "vpmu_why", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct vm_row, memory, "memory", "memory", FIELD_BYTES, 0),
	COLUMN(struct vm_row, nodes, "nodes", "on node", FIELD_STR,
	       COL_TEXT_ONLY | COL_LAST),
	COLUMN(struct vm_row, problem, "problem", "", FIELD_STR, COL_DATA_ONLY),
};
static const struct view vm_view = { "vm", vm_columns, ARRAY_SIZE(vm_columns) };

struct vcpu_row {
	const char *vm, *id;
	int vcpu, tid;
	const char *found;
	char state[2];
	int last_cpu;
	const char *affinity, *comm;
};

static const struct column vcpu_columns[] = {
	COLUMN(struct vcpu_row, vm, "vm", "VM", FIELD_STR, 0),
	COLUMN(struct vcpu_row, id, "id", "id", FIELD_STR, 0),
	COLUMN(struct vcpu_row, vcpu, "vcpu", "vCPU", FIELD_INT, 0),
	COLUMN(struct vcpu_row, tid, "tid", "thread", FIELD_INT, 0),
	COLUMN(struct vcpu_row, found, "found", "told by", FIELD_STR, 0),
	COLUMN(struct vcpu_row, state, "state", "state", FIELD_TEXT, 0),
	COLUMN(struct vcpu_row, last_cpu, "last_cpu", "last CPU", FIELD_INT, 0),
	COLUMN(struct vcpu_row, comm, "comm", "thread's name", FIELD_STR, 0),
	COLUMN(struct vcpu_row, affinity, "affinity", "may run on", FIELD_STR, COL_LAST),
};
static const struct view vcpu_view = { "vcpu", vcpu_columns, ARRAY_SIZE(vcpu_columns) };

struct memory_row {
	const char *vm, *id;
	int node;
	uint64_t bytes;
	double share;
};

static const struct column memory_columns[] = {
	COLUMN(struct memory_row, vm, "vm", "VM", FIELD_STR, 0),
	COLUMN(struct memory_row, id, "id", "id", FIELD_STR, 0),
	COLUMN(struct memory_row, node, "node", "node", FIELD_INT, 0),
	COLUMN(struct memory_row, bytes, "bytes", "memory", FIELD_BYTES, 0),
	COLUMN(struct memory_row, share, "share", "share", FIELD_PERCENT, 0),
};
static const struct view memory_view = { "memory", memory_columns,
					 ARRAY_SIZE(memory_columns) };

/* What a run of the command shows. */
struct listing {
	struct out out;
	const struct topology *topo;
	char **patterns;
	int npatterns;
};

static const char *text_or_null(const char *s)
{
	return *s ? s : NULL;
}

static bool wanted(const struct listing *l, const struct vm *vm)
{
	for (int i = 0; i < l->npatterns; i++)
		if (vm_matches(vm, l->patterns[i]))
			return true;
	return !l->npatterns;
}

static uint64_t memory_of(const struct vm *vm)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < vm->nmem_node; i++)
		sum += vm->mem_node[i];
	return vm->mem_node ? sum : UINT64_MAX;
}

/* "0: 2.0 GiB, 1: 512 KiB"; nodes that hold nothing are left out. */
static void nodes_in_words(const struct listing *l, const struct vm *vm, struct strbuf *sb)
{
	strbuf_reset(sb);
	for (size_t i = 0; i < vm->nmem_node; i++) {
		if (!vm->mem_node[i])
			continue;
		strbuf_addf(sb, "%s%d: ", sb->len ? ", " : "",
			    l->topo->machine.nodes[i].id);
		out_format(sb, FIELD_BYTES, &vm->mem_node[i]);
	}
}

static void show_vms(struct listing *l)
{
	struct strbuf nodes = { 0 };

	out_table(&l->out, &vm_view);
	for (size_t i = 0; i < l->topo->nvms; i++) {
		const struct vm *vm = &l->topo->vms[i];
		struct vm_row row = {
			.name = vm->name,
			.id = vm->id,
			.pid = vm->pid ? vm->pid : -1,
			.vmm = vm->vmm,
			.accel = vm_accel_name(vm->accel),
			.uptime_ns = vm->uptime_ns,
			.vcpus = vm->nvcpus,
			.vpmu = vpmu_kind_name(vm->vpmu),
			.vpmu_why = vm->vpmu_why,
			.memory = memory_of(vm),
			.problem = text_or_null(vm->problem),
		};

		if (!wanted(l, vm))
			continue;
		nodes_in_words(l, vm, &nodes);
		row.nodes = nodes.len ? nodes.data : NULL;
		out_row(&l->out, &row);
	}
	out_end(&l->out);
	strbuf_free(&nodes);
}

static void show_vcpus(struct listing *l)
{
	out_line(&l->out, "%s", "");
	out_table(&l->out, &vcpu_view);
	for (size_t i = 0; i < l->topo->nvms; i++) {
		const struct vm *vm = &l->topo->vms[i];

		for (size_t k = 0; k < vm->nvcpus && wanted(l, vm); k++) {
			const struct vcpu *vcpu = &vm->vcpus[k];
			struct vcpu_row row = {
				.vm = vm->name,
				.id = vm->id,
				.vcpu = vcpu->index,
				.tid = vcpu->tid ? vcpu->tid : -1,
				.found = vcpu_found_name(vcpu->found),
				.state = { vcpu->state == '?' ? '\0' : vcpu->state },
				.last_cpu = vcpu->last_cpu,
				.affinity = text_or_null(vcpu->affinity),
				.comm = text_or_null(vcpu->comm),
			};

			out_row(&l->out, &row);
		}
	}
	out_end(&l->out);
}

static bool any_memory(const struct listing *l)
{
	for (size_t i = 0; i < l->topo->nvms; i++)
		if (wanted(l, &l->topo->vms[i]) && l->topo->vms[i].mem_node)
			return true;
	return false;
}

static void show_memory(struct listing *l)
{
	if (!any_memory(l))
		return;
	out_line(&l->out, "%s", "");
	out_table(&l->out, &memory_view);
	for (size_t i = 0; i < l->topo->nvms; i++) {
		const struct vm *vm = &l->topo->vms[i];
		uint64_t sum = memory_of(vm);

		for (size_t k = 0; k < vm->nmem_node && wanted(l, vm); k++) {
			struct memory_row row = {
				.vm = vm->name,
				.id = vm->id,
				.node = l->topo->machine.nodes[k].id,
				.bytes = vm->mem_node[k],
				.share = sum ? (double)vm->mem_node[k] / sum : 0,
			};

			out_row(&l->out, &row);
		}
	}
	out_end(&l->out);
}

/* Machines get problems as a field of the VM's row. */
static bool show_problems(struct listing *l)
{
	bool any = false;

	for (size_t i = 0; i < l->topo->nvms; i++) {
		const struct vm *vm = &l->topo->vms[i];

		if (!wanted(l, vm) || !*vm->problem)
			continue;
		if (!any)
			out_line(&l->out, "%s", "");
		out_line(&l->out, "%s: %s", vm->name, vm->problem);
		any = true;
	}
	return any;
}

static int unmatched_patterns(const struct listing *l)
{
	int n = 0;

	for (int p = 0; p < l->npatterns; p++) {
		bool found = false;

		for (size_t i = 0; i < l->topo->nvms && !found; i++)
			found = vm_matches(&l->topo->vms[i], l->patterns[p]);
		if (!found)
			fprintf(stderr,
				"vmmprof list: %s: no VM has this name, id or pid; "
				"`vmmprof list` shows those there are\n",
				l->patterns[p]);
		n += !found;
	}
	return n;
}

static const char *hidden_words(size_t n)
{
	return n == 1 ? "process may not be looked into"
		      : "processes may not be looked into";
}

/* Says that there are none, and why that could be. */
static int show_none(struct listing *l)
{
	size_t hidden = l->topo->unreadable;

	if (!hidden) {
		out_line(&l->out,
			 "No VMs here: no process in /proc holds one. The built-in "
			 "host has some: --source sim.");
		return STATUS_OK;
	}
	fprintf(stderr,
		"vmmprof list: no VMs found, but %zu %s: run as root or with "
		"CAP_SYS_PTRACE\n",
		hidden, hidden_words(hidden));
	return STATUS_PARTIAL;
}

static int show(struct listing *l)
{
	int unmatched, status = STATUS_OK;
	size_t hidden = l->topo->unreadable;

	if (!l->topo->nvms && !l->npatterns)
		return show_none(l);
	unmatched = unmatched_patterns(l);
	if (l->npatterns && unmatched == l->npatterns)
		return STATUS_FAILED;
	show_vms(l);
	if (opt.vcpus)
		show_vcpus(l);
	if (opt.memory)
		show_memory(l);
	if (show_problems(l) || unmatched)
		status = STATUS_PARTIAL;
	if (hidden && !l->npatterns)
		out_line(&l->out,
			 "\n%zu %s; VMs may hide there: run as root or with "
			 "CAP_SYS_PTRACE.",
			 hidden, hidden_words(hidden));
	return status;
}

static int list_run(int argc, char **argv)
{
	const unsigned parts = TOPOLOGY_MEMORY | (opt.vcpus ? TOPOLOGY_THREADS : 0);
	const struct source_ops *ops;
	const struct out_ops *format;
	struct source *src = NULL;
	struct topology topo = { 0 };
	struct listing l = { .topo = &topo, .patterns = argv, .npatterns = argc };
	struct err err = { 0 };
	int status = common_format(&opt.common, &format);

	if (status)
		return status;
	if (common_source(&opt.common, false, &ops, &err) ||
	    common_open(&opt.common, ops, NULL, 0, &src, &err))
		return command_failed(&err);
	if (ops->topology(src, parts, &topo, &err)) {
		status = command_failed(&err);
	} else {
		out_init(&l.out, format, stdout);
		common_say_host(&l.out, ops, src);
		status = show(&l);
		out_free(&l.out);
	}
	topology_free(&topo);
	ops->close(src);
	return status;
}

const struct command command_list = {
	.name = "list",
	.summary = "Find the VMs of this host, their vCPUs and memory",
	.usage = "[VM...] [--vcpus] [--memory] [--json | --csv]",
	.example = "  vmmprof list                  # every VM\n"
		   "  vmmprof list --vcpus 'web*'   # the vCPUs of some: threads, states, "
		   "CPUs\n"
		   "  vmmprof list --json | jq -r .vm\n",
	.options = options,
	.run = list_run,
};
