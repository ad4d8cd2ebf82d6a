/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One process may hold several VMs, and several descriptors of one VM. A vCPU's
 * link does not say whose it is; debugfs does. Without it, kcmp(2) tells whether
 * two descriptors are one VM, and the order of descriptors, which are given out
 * upwards, hints at whose the vCPUs are.
 */
#include <errno.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/vec.h"
#include "source/kvm/discover.h"

static bool belongs(const struct debug_vm *dv, const pid_t *tids, size_t ntids)
{
	bool ran = false;

	/* The creator may be gone and its number reused: running vCPUs know better. */
	for (size_t i = 0; i < dv->n; i++) {
		if (proc_has_thread(tids, ntids, dv->vcpus[i].tid))
			return true;
		ran = ran || dv->vcpus[i].tid;
	}
	return !ran && proc_has_thread(tids, ntids, dv->creator);
}

static int add_vm(struct kvm_vms *vms, int fd, const struct debug_vm *debug)
{
	struct kvm_vm vm = { .fd = fd, .debug = debug };

	return VEC_PUSH(vms->v, vms->n, vms->cap, vm);
}

static int by_vm_fd(const void *a, const void *b)
{
	return ((const struct kvm_vm *)a)->fd - ((const struct kvm_vm *)b)->fd;
}

static int vms_by_debugfs(const struct debug_vms *debug, const pid_t *tids, size_t ntids,
			  struct kvm_vms *out)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < debug->n; i++)
		if (belongs(&debug->v[i], tids, ntids))
			ret = add_vm(out, debug->v[i].fd, &debug->v[i]);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_vm_fd);
	return ret;
}

/* 1: the same open file, 0: different ones, -errno: cannot be told. */
static int same_file(pid_t pid, int fd1, int fd2)
{
	long ret = syscall(SYS_kcmp, pid, pid, KCMP_FILE, fd1, fd2);

	return ret < 0 ? -errno : ret == 0;
}

/* How often the commonest vCPU number occurs: a VM has each number once. */
static size_t vcpu_copies(const struct kvm_fds *fds)
{
	size_t most = 0;

	for (size_t i = 0; i < fds->n; i++) {
		size_t n = 0;

		for (size_t k = i; fds->v[i].vcpu != FD_IS_VM && k < fds->n; k++)
			n += fds->v[k].vcpu == fds->v[i].vcpu;
		if (n > most)
			most = n;
		/* A number that is new from here on occurs at most this often. */
		if (fds->n - i <= most)
			break;
	}
	return most;
}

static int vms_by_fds(const struct process *p, bool live, struct kvm_vms *out, bool *unsure)
{
	bool single = vcpu_copies(&p->fds) <= 1;
	int ret = 0;

	for (size_t i = 0; !ret && i < p->fds.n; i++) {
		int fd = p->fds.v[i].fd, same = 0;

		if (p->fds.v[i].vcpu != FD_IS_VM)
			continue;
		for (size_t k = 0; same != 1 && k < out->n; k++) {
			same = live ? same_file(p->pid, out->v[k].fd, fd) : -EPERM;
			/* No vCPU twice: more likely copies of one descriptor. */
			*unsure = *unsure || same < 0;
			if (same < 0)
				same = single;
		}
		if (same != 1)
			ret = add_vm(out, fd, NULL);
	}
	if (!ret && !out->n)
		ret = add_vm(out, -1, NULL); /* its vCPUs keep a VM alive */
	return ret;
}

/* The VM whose descriptor is the last one before @fd. */
static struct kvm_vm *vm_before(struct kvm_vms *vms, int fd)
{
	struct kvm_vm *vm = &vms->v[0];

	for (size_t i = 1; i < vms->n && vms->v[i].fd < fd; i++)
		vm = &vms->v[i];
	return vm;
}

static int add_debug_vcpus(struct kvm_vm *vm)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < vm->debug->n; i++) {
		struct kvm_fd vcpu = { .fd = -1, .vcpu = vm->debug->vcpus[i].index };

		ret = VEC_PUSH(vm->vcpus, vm->n, vm->cap, vcpu);
	}
	return ret;
}

static int by_index(const void *a, const void *b)
{
	const struct kvm_fd *x = a, *y = b;

	return x->vcpu != y->vcpu ? x->vcpu - y->vcpu : x->fd - y->fd;
}

static int share_vcpus(const struct process *p, struct kvm_vms *out)
{
	int ret = 0;
	bool told = true;

	for (size_t i = 0; !ret && i < out->n; i++) {
		if (out->v[i].debug)
			ret = add_debug_vcpus(&out->v[i]);
		told = told && out->v[i].n;
	}
	/* With one VM the links add descriptors, for by_syscall(). */
	if (told && out->n > 1)
		return ret;
	for (size_t i = 0; !ret && i < p->fds.n; i++) {
		struct kvm_vm *vm = vm_before(out, p->fds.v[i].fd);

		if (p->fds.v[i].vcpu == FD_IS_VM ||
		    (out->n > 1 && vm->debug && vm->debug->n))
			continue;
		out->guessed = out->guessed || out->n > 1;
		ret = VEC_PUSH(vm->vcpus, vm->n, vm->cap, p->fds.v[i]);
	}
	return ret;
}

/* What may be a copy of a descriptor, and has no vCPU, is one. */
static void drop_copies(struct kvm_vms *vms)
{
	size_t n = 0;

	for (size_t i = 0; i < vms->n; i++)
		if (vms->v[i].n)
			vms->v[n++] = vms->v[i];
	if (n)
		vms->n = n;
	vms->guessed = vms->guessed && n > 1;
}

int split_vms(const struct process *p, const struct debug_vms *debug, const pid_t *tids,
	      size_t ntids, bool live, struct kvm_vms *out)
{
	bool unsure = false;
	int ret = vms_by_debugfs(debug, tids, ntids, out);

	if (!ret && !out->n)
		ret = vms_by_fds(p, live, out, &unsure);
	if (!ret)
		ret = share_vcpus(p, out);
	if (!ret && unsure)
		drop_copies(out);
	for (size_t i = 0; i < out->n; i++)
		if (out->v[i].n)
			qsort(out->v[i].vcpus, out->v[i].n, sizeof(struct kvm_fd),
			      by_index);
	return ret;
}

void kvm_vms_free(struct kvm_vms *vms)
{
	for (size_t i = 0; i < vms->n; i++)
		free(vms->v[i].vcpus);
	free(vms->v);
	*vms = (struct kvm_vms) { 0 };
}
