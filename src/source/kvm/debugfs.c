/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KVM's debugfs: a directory TID-FD per VM (kvm_create_vm_debugfs: the thread
 * that created it and the descriptor it got), in it vcpuN/pid (Linux 5.19) with
 * the thread that ran the vCPU last.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "source/kvm/discover.h"

#define DEBUG_KVM "sys/kernel/debug/kvm"

static int add_vcpu(const struct rootfs *root, const char *name, const char *ent,
		    struct debug_vm *vm)
{
	struct debug_vcpu vcpu;
	int64_t tid;
	int end = 0;

	if (sscanf(ent, "vcpu%d%n", &vcpu.index, &end) != 1 || ent[end] || vcpu.index < 0)
		return 0;
	if (rootfs_read_i64(root, &tid, DEBUG_KVM "/%s/%s/pid", name, ent) || tid < 0 ||
	    tid > INT32_MAX)
		return 0;
	vcpu.tid = tid;
	return VEC_PUSH(vm->vcpus, vm->n, vm->cap, vcpu);
}

static int add_vm(const struct rootfs *root, const char *name, struct debug_vms *vms)
{
	struct debug_vm vm = { 0 };
	struct dirent *ent;
	int end = 0, ret = 0;
	DIR *dir;

	if (sscanf(name, "%d-%d%n", &vm.creator, &vm.fd, &end) != 2 || name[end] ||
	    vm.creator <= 0 || vm.fd < 0)
		return 0;
	dir = rootfs_opendir(root, DEBUG_KVM "/%s", name);
	while (!ret && dir && (ent = readdir(dir)))
		ret = add_vcpu(root, name, ent->d_name, &vm);
	if (dir)
		closedir(dir);
	if (!ret)
		ret = VEC_PUSH(vms->v, vms->n, vms->cap, vm);
	if (ret)
		free(vm.vcpus);
	return ret;
}

int debug_vms_read(const struct rootfs *root, struct debug_vms *vms)
{
	DIR *dir = rootfs_opendir(root, DEBUG_KVM);
	struct dirent *ent;
	int ret = 0;

	while (!ret && dir && (ent = readdir(dir)))
		ret = add_vm(root, ent->d_name, vms);
	if (dir)
		closedir(dir);
	return ret;
}

void debug_vms_free(struct debug_vms *vms)
{
	for (size_t i = 0; i < vms->n; i++)
		free(vms->v[i].vcpus);
	free(vms->v);
	*vms = (struct debug_vms) { 0 };
}
