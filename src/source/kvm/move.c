/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where vCPUs run and memory is, changed: sched_setaffinity(2), migrate_pages(2). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpulist.h"
#include "source/kvm/kvm.h"

#define NODES_MAX 1024 /* as NODES_SHIFT of the kernel allows */
#define WORD_BITS (8 * sizeof(unsigned long))

static const struct vcpu *vcpu_of(const struct vm *vm, int index)
{
	for (size_t i = 0; i < vm->nvcpus; i++)
		if (vm->vcpus[i].index == index && vm->vcpus[i].tid)
			return &vm->vcpus[i];
	return NULL;
}

static int pin(const struct vm *vm, const struct move *move, struct err *err)
{
	const struct vcpu *vcpu = vcpu_of(vm, move->vcpu);
	size_t n = 0, size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	int *cpus = NULL, ret = set ? 0 : -ENOMEM;

	if (!ret)
		ret = cpulist_parse(move->cpus, &cpus, &n);
	if (!ret && !vcpu)
		ret = err_set(err, ESRCH, "vCPU %d of %s: its thread is not known",
			      move->vcpu, vm->name);
	else if (ret)
		err_set(err, ret, "%.80s: expected a list of pCPUs, as 0-3,8", move->cpus);
	if (!ret) {
		CPU_ZERO_S(size, set);
		for (size_t i = 0; i < n; i++)
			CPU_SET_S(cpus[i], size, set);
		if (sched_setaffinity(vcpu->tid, size, set))
			ret = err_set(err, errno,
				      "vCPU %d of %s (thread %d) cannot be put on pCPUs "
				      "%.80s: %s",
				      move->vcpu, vm->name, vcpu->tid, move->cpus,
				      err_name(errno));
	}
	free(cpus);
	CPU_FREE(set);
	return ret;
}

static int move_memory(const struct source *src, const struct vm *vm,
		       const struct move *move, struct err *err)
{
	unsigned long from[NODES_MAX / WORD_BITS] = { 0 },
				       to[NODES_MAX / WORD_BITS] = { 0 };
	long left;

	if (!vm->pid || move->node < 0 || move->node >= NODES_MAX)
		return err_set(err, EINVAL, "node %d: there is none", move->node);
	for (size_t i = 0; i < src->machine.nnodes; i++) {
		int id = src->machine.nodes[i].id;

		if (id != move->node && id >= 0 && id < NODES_MAX)
			from[(size_t)id / WORD_BITS] |= 1ul << (size_t)id % WORD_BITS;
	}
	to[(size_t)move->node / WORD_BITS] = 1ul << (size_t)move->node % WORD_BITS;
	left = syscall(SYS_migrate_pages, vm->pid, NODES_MAX, from, to);
	if (left < 0)
		return err_set(err, errno,
			       "memory of %s (process %d) cannot go to node %d: %s%s",
			       vm->name, vm->pid, move->node, err_name(errno),
			       errno == EPERM ? ": run as root" : "");
	if (left)
		return err_set(err, EBUSY,
			       "%ld pages of %s stayed where they were: node %d is full, "
			       "or they are pinned (VFIO, huge pages)",
			       left, vm->name, move->node);
	return 0;
}

int kvm_move(struct source *src, const struct vm *vm, const struct move *move,
	     struct err *err)
{
	if (!src->live)
		return err_set(err, EOPNOTSUPP,
			       "a recorded tree stands still: nothing can be moved");
	return move->kind == MOVE_VCPU ? pin(vm, move, err)
				       : move_memory(src, vm, move, err);
}

/* libvirt puts its VMs into groups of its own: machine-qemu\x2d1\x2dweb.scope of systemd,
 * or /machine/qemu-1-web.libvirt-qemu without it. */
static bool is_libvirts(const struct source *src, const struct vm *vm)
{
	char text[4096];

	return rootfs_read_head(&src->root, text, sizeof(text), "proc/%d/cgroup", vm->pid) >
		       0 &&
	       (strstr(text, "/machine-qemu") || strstr(text, ".libvirt-qemu"));
}

void kvm_say_move(struct source *src, const struct vm *vm, const struct move *move,
		  struct strbuf *out)
{
	bool libvirt = is_libvirts(src, vm);
	const struct vcpu *vcpu = vcpu_of(vm, move->vcpu);

	if (move->kind == MOVE_VCPU && libvirt) {
		strbuf_puts(out, "virsh vcpupin ");
		strbuf_quote(out, vm->name);
		strbuf_addf(out, " %d %s --live", move->vcpu, move->cpus);
	} else if (move->kind == MOVE_VCPU && vcpu) {
		strbuf_addf(out, "taskset -p -c %s %d", move->cpus, vcpu->tid);
	} else if (move->kind == MOVE_MEMORY && libvirt) {
		strbuf_puts(out, "virsh numatune ");
		strbuf_quote(out, vm->name);
		strbuf_addf(out, " --nodeset %d --live", move->node);
	} else if (move->kind == MOVE_MEMORY) {
		strbuf_addf(out, "migratepages %d all %d", vm->pid, move->node);
	}
}
