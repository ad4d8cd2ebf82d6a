/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KVM's anonymous inodes under /proc/PID/fd: the names are given in the kernel's
 * virt/kvm/kvm_main.c (kvm_dev_ioctl_create_vm, create_vcpu_fd). No file that a
 * user can make reads like that: paths begin with a slash.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "source/kvm/discover.h"

#define VCPU_MAX 65536 /* far above any kernel's KVM_MAX_VCPU_IDS */

static bool parse_link(const char *link, int *vcpu)
{
	static const char vm[] = "anon_inode:kvm-vm", cpu[] = "anon_inode:kvm-vcpu:";
	uint64_t n;

	if (!strcmp(link, vm)) {
		*vcpu = FD_IS_VM;
		return true;
	}
	if (!str_starts(link, cpu) || str_u64(link + strlen(cpu), 10, &n) || n >= VCPU_MAX)
		return false;
	*vcpu = n;
	return true;
}

static int by_fd(const void *a, const void *b)
{
	return ((const struct kvm_fd *)a)->fd - ((const struct kvm_fd *)b)->fd;
}

int kvm_fds_read(const struct rootfs *root, pid_t pid, struct kvm_fds *fds)
{
	DIR *dir = rootfs_opendir(root, "proc/%d/fd", pid);
	struct dirent *ent;
	int ret = 0;

	if (!dir)
		return errno == ENOENT || errno == ESRCH ? -ESRCH : -EACCES;
	while (!ret && (ent = readdir(dir))) {
		char link[48];
		ssize_t len;
		uint64_t n;
		struct kvm_fd fd;

		if (str_u64(ent->d_name, 10, &n) || n > INT32_MAX)
			continue;
		len = readlinkat(dirfd(dir), ent->d_name, link, sizeof(link) - 1);
		if (len < 0 || (size_t)len >= sizeof(link) - 1)
			continue;
		link[len] = '\0';
		fd.fd = n;
		if (*link == 'a' && parse_link(link, &fd.vcpu))
			ret = VEC_PUSH(fds->v, fds->n, fds->cap, fd);
	}
	closedir(dir);
	if (fds->n)
		qsort(fds->v, fds->n, sizeof(*fds->v), by_fd);
	return ret;
}
