/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the kernel's traces of VMs to a topology. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "source/kvm/discover.h"
#include "source/machine.h"

/* What a discovery works with. */
struct discovery {
	struct source *src;
	unsigned parts;
	struct debug_vms debug;
	struct processes processes;
	struct program *prog;
	struct vm *vms;
	size_t n, cap;
};

/* A process that holds VMs. */
struct host {
	const struct process *p;
	struct proc_stat st;
	pid_t *tids;
	struct threads threads;
};

void vm_problem(struct vm *vm, const char *fmt, ...)
{
	va_list ap;

	if (*vm->problem)
		return;
	va_start(ap, fmt);
	vsnprintf(vm->problem, sizeof(vm->problem), fmt, ap);
	va_end(ap);
}

static int add_plain(struct discovery *d)
{
	for (size_t i = 0; i < d->src->npids; i++) {
		struct vm vm;
		int ret = plain_read(d->src, d->src->pids[i], d->parts, &vm);

		if (ret == -ESRCH)
			continue;
		if (!ret && (d->parts & TOPOLOGY_MEMORY))
			ret = numa_read(d->src, &vm);
		if (!ret)
			ret = VEC_PUSH(d->vms, d->n, d->cap, vm);
		if (ret)
			return ret;
	}
	return 0;
}

/* -ESRCH if it is gone: then it just is not there. */
static int host_read(const struct source *src, const struct process *p, struct host *host)
{
	size_t n;
	int ret = proc_stat_read(&src->root, p->pid, 0, &host->st);

	if (!ret)
		ret = proc_threads(&src->root, p->pid, &host->tids, &n);
	if (ret)
		return ret == -ENOMEM ? ret : -ESRCH;
	if (n == 1 && host->st.state == 'Z')
		return -ESRCH;
	host->p = p;
	host->threads.v = calloc(n, sizeof(*host->threads.v));
	if (!host->threads.v)
		return -ENOMEM;
	host->threads.n = n;
	for (size_t i = 0; i < n; i++)
		host->threads.v[i].tid = host->tids[i];
	return 0;
}

static void host_free(struct host *host)
{
	free(host->tids);
	free(host->threads.v);
}

static void describe(struct discovery *d, const struct host *host, struct vm *vm)
{
	vm->pid = host->p->pid;
	vm->birth = host->st.start_ticks;
	vm->uptime_ns = proc_uptime_ns(d->src, vm->birth);
	vm->accel = host->p->accel;
	program_name(d->prog, host->st.comm, vm);
	vpmu_tell(d->src, d->prog, vm);
}

static int finish(struct discovery *d, struct vm *vm, size_t siblings)
{
	int ret = 0;

	for (size_t i = 0; i < vm->nvcpus && (d->parts & TOPOLOGY_THREADS); i++)
		proc_vcpu_fill(&d->src->root, vm->pid, &vm->vcpus[i]);
	if ((d->parts & TOPOLOGY_MEMORY) && siblings)
		vm_problem(
			vm,
			"memory per node is known only for all VMs of process %d together",
			vm->pid);
	else if (d->parts & TOPOLOGY_MEMORY)
		ret = numa_read(d->src, vm);
	return ret ? ret : VEC_PUSH(d->vms, d->n, d->cap, *vm);
}

static int add_kvm(struct discovery *d, struct host *host)
{
	struct kvm_vms kvms = { 0 };
	int ret = split_vms(host->p, &d->debug, host->tids, host->threads.n, d->src->live,
			    &kvms);

	for (size_t i = 0; !ret && i < kvms.n; i++) {
		struct vm vm = { 0 };

		describe(d, host, &vm);
		if (kvms.guessed)
			vm_problem(
				&vm,
				"several VMs in one process: only the order of its "
				"descriptors tells whose the vCPUs are; as root, debugfs "
				"(Linux 5.19) tells");
		ret = vm_id_give(&d->src->ids, kvms.v[i].fd, &vm);
		if (!ret)
			ret = vcpus_match(d->src, &kvms.v[i], &host->threads, kvms.n == 1,
					  &vm);
		if (!ret)
			ret = finish(d, &vm, kvms.n - 1);
		if (ret)
			vm_free(&vm);
	}
	kvm_vms_free(&kvms);
	return ret;
}

static int add_tcg(struct discovery *d, struct host *host)
{
	struct vm vm = { 0 };
	int ret;

	describe(d, host, &vm);
	snprintf(vm.id, sizeof(vm.id), "%d", vm.pid);
	ret = vcpus_match_tcg(d->src, &host->threads, qemu_cpus(d->prog), &vm);
	if (!ret)
		ret = finish(d, &vm, 0);
	if (ret)
		vm_free(&vm);
	return ret;
}

static const struct process *find_process(const struct processes *all, pid_t pid)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].pid == pid)
			return &all->v[i];
	return NULL;
}

/*
 * VMMs fork helpers, which inherit descriptors. KVM lets only the creator's
 * address space use them: a child with nothing but its parent's is no VM.
 */
static bool is_helper(const struct discovery *d, const struct host *host)
{
	const struct process *parent = find_process(&d->processes, host->st.ppid);
	const struct kvm_fds *own = &host->p->fds;

	if (host->p->accel != ACCEL_KVM || !parent)
		return false;
	for (size_t i = 0, k = 0; i < own->n; i++) {
		while (k < parent->fds.n && parent->fds.v[k].fd < own->v[i].fd)
			k++;
		if (k == parent->fds.n || parent->fds.v[k].fd != own->v[i].fd ||
		    parent->fds.v[k].vcpu != own->v[i].vcpu)
			return false;
	}
	return true;
}

static int add_process(struct discovery *d, const struct process *p)
{
	struct host host = { 0 };
	int ret = host_read(d->src, p, &host);

	if (!ret && !is_helper(d, &host)) {
		ret = program_find(&d->src->root, p->pid, d->prog) ? -ESRCH : 0;
		if (!ret) {
			program_args(&d->src->root, p->pid, d->prog);
			ret = p->accel == ACCEL_KVM ? add_kvm(d, &host) : add_tcg(d, &host);
		}
	}
	host_free(&host);
	return ret == -ESRCH ? 0 : ret;
}

static int add_vms(struct discovery *d)
{
	int ret = debug_vms_read(&d->src->root, &d->debug);

	if (!ret)
		ret = scan_processes(&d->src->root, &d->src->scan, &d->debug,
				     &d->processes);
	d->prog = malloc(sizeof(*d->prog));
	if (!ret && !d->prog)
		ret = -ENOMEM;
	for (size_t i = 0; !ret && i < d->processes.n; i++)
		ret = add_process(d, &d->processes.v[i]);
	vm_ids_forget(&d->src->ids);
	free(d->prog);
	debug_vms_free(&d->debug);
	return ret;
}

static int by_pid(const void *a, const void *b)
{
	const struct vm *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int kvm_topology(struct source *src, unsigned parts, struct topology *topo, struct err *err)
{
	struct discovery d = { .src = src, .parts = parts };
	int ret = machine_copy(&topo->machine, &src->machine);

	quiet_mark(src);
	if (!ret)
		ret = src->npids ? add_plain(&d) : add_vms(&d);
	/* VMs of the scan are in order already; given pids need not be. */
	if (src->npids && d.n)
		qsort(d.vms, d.n, sizeof(*d.vms), by_pid);
	topo->vms = d.vms;
	topo->nvms = d.n;
	topo->unreadable = d.processes.unreadable;
	processes_free(&d.processes);
	if (ret) {
		topology_free(topo);
		return err_set(err, ret, "cannot look for VMs in /proc: %s", err_name(ret));
	}
	return 0;
}
