/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

struct counters {
	struct source *src;
	struct fake_vcpu *vcpu; /* NULL: a node's */
	int node;
	const struct opened *opened;
	size_t n;
};

struct fake_vm *fake_vm_add(struct source *src, const char *name, pid_t pid, int nvcpus)
{
	struct fake_vm *vm = src->vms;

	while (vm->id)
		vm++;
	*vm = (struct fake_vm) { .id = name, .name = name, .pid = pid, .birth = pid };
	if (pipe2(vm->end_fd, O_CLOEXEC))
		abort();
	for (int i = 0; i < nvcpus; i++)
		fake_vcpu_add(vm);
	return vm;
}

void fake_vm_end(struct fake_vm *vm)
{
	close(vm->end_fd[0]);
	close(vm->end_fd[1]);
	vm->id = NULL;
}

struct fake_vcpu *fake_vcpu_add(struct fake_vm *vm)
{
	int i = 0;

	while (vm->vcpus[i].tid)
		i++;
	vm->vcpus[i] = (struct fake_vcpu) { .index = i, .tid = vm->pid + 1 + i };
	return &vm->vcpus[i];
}

void fake_count(struct fake_vcpu *vcpu, size_t i, uint64_t raw, uint64_t enabled,
		uint64_t running)
{
	vcpu->now[i].raw += raw;
	vcpu->now[i].enabled_ns += enabled;
	vcpu->now[i].running_ns += running;
}

void fake_node_count(struct source *src, int node, size_t i, uint64_t raw, uint64_t enabled,
		     uint64_t running)
{
	struct reading *r = &src->node_now[node][i];

	r->raw += raw;
	r->enabled_ns += enabled;
	r->running_ns += running;
}

void fake_end(struct source *src)
{
	for (size_t i = 0; i < FAKE_VMS; i++)
		if (src->vms[i].id)
			fake_vm_end(&src->vms[i]);
}

static int fill_vm(struct fake_vm *from, struct vm *vm)
{
	*vm = (struct vm) {
		.pid = from->pid, .birth = from->birth, .accel = from->accel, .vpmu_why = ""
	};
	str_copy(vm->id, sizeof(vm->id), from->id);
	str_copy(vm->name, sizeof(vm->name), from->name);
	vm->vcpus = calloc(FAKE_VCPUS, sizeof(*vm->vcpus));
	vm->mem_node = calloc(FAKE_NODES, sizeof(*vm->mem_node));
	if (!vm->vcpus || !vm->mem_node)
		return -ENOMEM;
	vm->nmem_node = FAKE_NODES;
	memcpy(vm->mem_node, from->mem_node, sizeof(from->mem_node));
	for (size_t i = 0; i < FAKE_VCPUS; i++) {
		const struct fake_vcpu *f = &from->vcpus[i];
		struct vcpu *vcpu = &vm->vcpus[vm->nvcpus];

		if (!f->tid)
			continue;
		vm->nvcpus++;
		*vcpu = (struct vcpu) {
			.index = f->index,
			.tid = f->thread_unknown ? 0 : f->tid,
			.found = f->thread_unknown ? FOUND_NOT : FOUND_NAME,
			.state = 'R',
			.last_cpu = f->last_cpu,
		};
		if (f->affinity)
			str_copy(vcpu->affinity, sizeof(vcpu->affinity), f->affinity);
	}
	return 0;
}

static int fill_machine(const struct source *src, struct machine *m)
{
	m->nodes = calloc(src->nodes + 1, sizeof(*m->nodes));
	if (!m->nodes)
		return -ENOMEM;
	for (unsigned i = 0; i < src->nodes; i++) {
		m->nodes[i].id = (int)i;
		snprintf(m->nodes[i].cpus, sizeof(m->nodes[i].cpus), "%u-%u",
			 i * FAKE_NODE_CPUS, (i + 1) * FAKE_NODE_CPUS - 1);
	}
	m->nnodes = src->nodes;
	return 0;
}

static int fake_topology(struct source *src, unsigned parts, struct topology *topo,
			 struct err *err)
{
	(void)parts;
	src->topologies++;
	if (src->topology_fails)
		return err_set(err, src->topology_fails, "the fake source fails");
	topo->vms = calloc(FAKE_VMS, sizeof(*topo->vms));
	if (fill_machine(src, &topo->machine))
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < FAKE_VMS && topo->vms; i++)
		if (src->vms[i].id && fill_vm(&src->vms[i], &topo->vms[topo->nvms++]))
			return err_set(err, ENOMEM, "out of memory");
	return topo->vms ? 0 : err_set(err, ENOMEM, "out of memory");
}

static struct fake_vm *find_vm(struct source *src, pid_t pid)
{
	for (size_t i = 0; i < FAKE_VMS; i++)
		if (src->vms[i].id && src->vms[i].pid == pid)
			return &src->vms[i];
	return NULL;
}

static struct fake_vcpu *find_vcpu(struct source *src, pid_t pid, pid_t tid)
{
	struct fake_vm *vm = find_vm(src, pid);

	for (size_t i = 0; vm && i < FAKE_VCPUS; i++)
		if (vm->vcpus[i].tid == tid)
			return &vm->vcpus[i];
	return NULL;
}

static int fake_vm_fd(struct source *src, const struct vm *vm)
{
	const struct fake_vm *f = find_vm(src, vm->pid);
	int fd = f ? fcntl(f->end_fd[0], F_DUPFD_CLOEXEC, 0) : -1;

	return fd < 0 ? -ESRCH : fd;
}

static int fake_vcpu_ran(struct counters *c, uint64_t *guest_ns)
{
	c->src->ran_asked++;
	*guest_ns = c->vcpu->guest_ns;
	return 0;
}

static int fake_counters_open(struct source *src, const struct vm *vm,
			      const struct vcpu *vcpu, const struct event_set *set,
			      struct opened *opened, struct counters **out, struct err *err)
{
	struct fake_vcpu *f = find_vcpu(src, vm->pid, vcpu->tid);

	if (!f)
		return err_set(err, ESRCH, "no such thread");
	f->opens++;
	f->set = *set;
	if (f->open_fails)
		return err_set(err, f->open_fails, "the fake source refuses");
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return err_set(err, ENOMEM, "out of memory");
	**out = (struct counters) { src, f, -1, opened, set->n };
	for (size_t i = 0; i < set->n; i++) {
		opened[i] = (struct opened) { .state = f->now[i].state,
					      .wrong_in_turns = f->wrong_in_turns };
		if (f->now[i].reason)
			str_copy(opened[i].reason, sizeof(opened[i].reason),
				 f->now[i].reason);
	}
	return 0;
}

static int fake_node_open(struct source *src, int node, const struct event_set *set,
			  struct opened *opened, struct counters **out, struct err *err)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return err_set(err, ENOMEM, "out of memory");
	**out = (struct counters) { src, NULL, node, opened, set->n };
	for (size_t i = 0; i < set->n; i++)
		opened[i] = (struct opened) { .state = src->node_now[node][i].state };
	return 0;
}

static int fake_counters_read(struct counters *c, struct reading *out)
{
	c->src->reads++;
	usleep(c->src->read_waits_us);
	for (size_t i = 0; i < c->n; i++)
		out[i] = c->vcpu ? c->vcpu->now[i] : c->src->node_now[c->node][i];
	return c->vcpu ? c->vcpu->read_fails : 0;
}

static void fake_counters_close(struct counters *c)
{
	if (c->vcpu)
		c->vcpu->closes++;
	free(c);
}

const struct source_ops fake_source = {
	.name = "fake",
	.help = "what a test says",
	.topology = fake_topology,
	.vm_fd = fake_vm_fd,
	.vcpu_ran = fake_vcpu_ran,
	.counters_open = fake_counters_open,
	.counters_read = fake_counters_read,
	.counters_close = fake_counters_close,
	.node_open = fake_node_open,
};
