/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which thread runs which vCPU, by the best witness there is: the kernel's
 * debugfs, the system call the thread stands in, its name, the time it has spent
 * in guest mode. A vCPU that no witness knows stays without a thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "source/kvm/discover.h"

#define KVM_RUN_IOCTL 0xAE80 /* _IO(KVMIO, 0x80), linux/kvm.h */

struct match {
	const struct source *src;
	const struct kvm_vm *kv;
	struct threads *threads;
	struct vm *vm;
	size_t open; /* vCPUs without a thread */
};

static void take(struct match *m, struct vcpu *vcpu, struct thread *thread,
		 enum vcpu_found found)
{
	vcpu->tid = thread->tid;
	vcpu->found = found;
	thread->taken = true;
	m->open--;
}

static struct vcpu *find_vcpu(struct match *m, int index)
{
	for (size_t i = 0; i < m->vm->nvcpus; i++)
		if (m->vm->vcpus[i].index == index)
			return &m->vm->vcpus[i];
	return NULL;
}

/* A thread that is free to take; NULL if there is no such one (any more). */
static struct thread *find_thread(struct match *m, pid_t tid)
{
	for (size_t i = 0; i < m->threads->n; i++)
		if (m->threads->v[i].tid == tid)
			return m->threads->v[i].taken ? NULL : &m->threads->v[i];
	return NULL;
}

static void by_debugfs(struct match *m)
{
	const struct debug_vm *dv = m->kv->debug;

	for (size_t i = 0; dv && i < dv->n; i++) {
		struct thread *thread = find_thread(m, dv->vcpus[i].tid);
		struct vcpu *vcpu = find_vcpu(m, dv->vcpus[i].index);

		if (thread && vcpu && !vcpu->tid)
			take(m, vcpu, thread, FOUND_DEBUGFS);
	}
}

/* The system call's number as proc/PID/syscall shows it, by the host's architecture. */
static long ioctl_number(const struct machine *machine)
{
	return !strcmp(machine->arch, "aarch64") ? 29 : 16;
}

/* The vCPU's descriptor that @tid runs right now; -errno if it does not. */
static int running_fd(struct match *m, pid_t tid)
{
	unsigned long fd, request;
	char buf[256];
	long number;
	ssize_t n = rootfs_read(&m->src->root, buf, sizeof(buf), "proc/%d/task/%d/syscall",
				m->vm->pid, tid);

	if (n < 0)
		return n;
	if (sscanf(buf, "%ld %lx %lx", &number, &fd, &request) != 3 ||
	    number != ioctl_number(&m->src->machine) || request != KVM_RUN_IOCTL ||
	    fd > INT32_MAX)
		return -ENOENT;
	return fd;
}

static void by_syscall(struct match *m)
{
	for (size_t i = 0; m->open && i < m->threads->n; i++) {
		struct thread *thread = &m->threads->v[i];
		int fd = thread->taken ? -ENOENT : running_fd(m, thread->tid);

		if (fd == -EPERM || fd == -EACCES)
			return; /* nor will the others be readable */
		for (size_t k = 0; fd >= 0 && k < m->kv->n; k++) {
			struct vcpu *vcpu = find_vcpu(m, m->kv->vcpus[k].vcpu);

			if (m->kv->vcpus[k].fd != fd || !vcpu || vcpu->tid)
				continue;
			take(m, vcpu, thread, FOUND_SYSCALL);
			break;
		}
	}
}

struct named {
	int index;
	struct thread *thread;
};

static int by_named_index(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return x->index != y->index ? x->index - y->index
				    : (x->thread->tid > y->thread->tid) -
					      (x->thread->tid < y->thread->tid);
}

/* The free threads with vCPU names, ordered by number; how many, or -ENOMEM. */
static ssize_t named_threads(struct match *m, bool tcg, struct named **out)
{
	size_t n = 0, cap = 0;

	*out = NULL;
	for (size_t i = 0; i < m->threads->n; i++) {
		struct named named = { .thread = &m->threads->v[i] };
		char comm[64];

		if (named.thread->taken ||
		    rootfs_read(&m->src->root, comm, sizeof(comm), "proc/%d/task/%d/comm",
				m->vm->pid, named.thread->tid) < 0)
			continue;
		named.index = vcpu_name_index(comm, tcg);
		if (named.index >= 0 && VEC_PUSH(*out, n, cap, named)) {
			free(*out);
			return -ENOMEM;
		}
	}
	if (n)
		qsort(*out, n, sizeof(**out), by_named_index);
	return n;
}

/*
 * As many names as open vCPUs go together in order: QEMU numbers its threads
 * 0, 1, 2 and gives KVM the APIC id, which has gaps. Otherwise by number.
 */
static int by_name(struct match *m, bool alone)
{
	struct named *named;
	ssize_t n = named_threads(m, false, &named);
	bool in_order = alone && n == (ssize_t)m->open;

	if (n < 0)
		return n;
	for (ssize_t i = 0, k = 0; i < n; i++) {
		struct vcpu *vcpu;

		if (in_order) {
			while (m->vm->vcpus[k].tid)
				k++;
			vcpu = &m->vm->vcpus[k];
		} else {
			vcpu = find_vcpu(m, named[i].index);
		}
		if (vcpu && !vcpu->tid)
			take(m, vcpu, named[i].thread, FOUND_NAME);
	}
	free(named);
	return 0;
}

/* Threads that have been in guest mode; only if they are as many as the vCPUs. */
static int by_observation(struct match *m, bool alone)
{
	struct thread **seen = calloc(m->threads->n, sizeof(struct thread *));
	size_t n = 0;

	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i < m->threads->n; i++) {
		struct thread *thread = &m->threads->v[i];
		struct proc_stat st;

		if (!thread->taken &&
		    !proc_stat_read(&m->src->root, m->vm->pid, thread->tid, &st) &&
		    (st.guest_ticks || (alone && m->threads->n == 1)))
			seen[n++] = thread;
	}
	if (n != m->open || !alone)
		goto out;
	if (n > 1)
		vm_problem(m->vm,
			   "which of %zu threads runs which vCPU is told only by the order "
			   "in which they were created",
			   n);
	for (size_t i = 0, k = 0; i < n; k++)
		if (!m->vm->vcpus[k].tid)
			take(m, &m->vm->vcpus[k], seen[i++], FOUND_OBSERVED);
out:
	free(seen);
	return 0;
}

static int list_vcpus(struct vm *vm, const struct kvm_vm *kv)
{
	vm->vcpus = calloc(kv->n ? kv->n : 1, sizeof(*vm->vcpus));
	if (!vm->vcpus)
		return -ENOMEM;
	for (size_t i = 0; i < kv->n; i++)
		if (!i || kv->vcpus[i].vcpu != kv->vcpus[i - 1].vcpu)
			vm->vcpus[vm->nvcpus++] = (struct vcpu) {
				.index = kv->vcpus[i].vcpu,
				.state = '?',
				.last_cpu = -1,
			};
	return 0;
}

/* The kernel says 0 for the thread of a vCPU that has not run yet. */
static bool waits_to_run(const struct match *m)
{
	size_t n = 0;

	for (size_t i = 0; m->kv->debug && i < m->kv->debug->n; i++)
		n += !m->kv->debug->vcpus[i].tid;
	return n == m->open;
}

static void say_open(const struct match *m)
{
	if (waits_to_run(m))
		vm_problem(m->vm,
			   "%zu of %zu vCPUs have not run yet: a vCPU is picked up when it "
			   "does",
			   m->open, m->vm->nvcpus);
	else
		vm_problem(m->vm,
			   "no thread can be told for %zu of %zu vCPUs: a vCPU that has "
			   "not run yet is picked up when it does; debugfs (root, Linux "
			   "5.19) tells of the others",
			   m->open, m->vm->nvcpus);
}

int vcpus_match(const struct source *src, const struct kvm_vm *kv, struct threads *threads,
		bool alone, struct vm *vm)
{
	struct match m = { src, kv, threads, vm, 0 };
	int ret = list_vcpus(vm, kv);

	if (ret)
		return ret;
	m.open = vm->nvcpus;
	by_debugfs(&m);
	if (m.open)
		by_syscall(&m);
	if (m.open)
		ret = by_name(&m, alone);
	if (!ret && m.open)
		ret = by_observation(&m, alone);
	if (!ret && m.open)
		say_open(&m);
	return ret;
}

int vcpus_match_tcg(const struct source *src, struct threads *threads, size_t n,
		    struct vm *vm)
{
	struct match m = { src, NULL, threads, vm, 0 };
	struct named *named;
	ssize_t nnamed = named_threads(&m, true, &named);

	if (nnamed < 0)
		return nnamed;
	if (nnamed)
		n = nnamed;
	else
		vm_problem(
			vm,
			"an emulator's vCPU threads are told by name only: start QEMU with "
			"-name %s,debug-threads=on",
			vm->name);
	vm->vcpus = calloc(n, sizeof(*vm->vcpus));
	if (!vm->vcpus) {
		free(named);
		return -ENOMEM;
	}
	m.open = vm->nvcpus = n;
	for (size_t i = 0; i < n; i++) {
		vm->vcpus[i] = (struct vcpu) { .index = nnamed ? named[i].index : (int)i,
					       .state = '?',
					       .last_cpu = -1 };
		if (nnamed)
			take(&m, &vm->vcpus[i], named[i].thread, FOUND_NAME);
	}
	free(named);
	return 0;
}
