/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a VM still lives, and for how long its vCPUs ran. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "source/kvm/discover.h"

int kvm_vm_fd(struct source *src, const struct vm *vm)
{
	struct proc_stat st;
	int fd;

	if (!src->live)
		return -EOPNOTSUPP;
	fd = syscall(SYS_pidfd_open, vm->pid, 0);
	if (fd < 0)
		return -errno;
	/* Looked at after the open: from here on the number cannot be reused. */
	if (proc_stat_read(&src->root, vm->pid, 0, &st) || st.start_ticks != vm->birth) {
		close(fd);
		return -ESRCH;
	}
	return fd;
}

int kvm_thread_ran(struct source *src, pid_t pid, pid_t tid, uint64_t *guest_ns)
{
	static long hz;
	struct proc_stat st;
	int ret = proc_stat_read(&src->root, pid, tid, &st);

	if (!hz)
		hz = sysconf(_SC_CLK_TCK);
	if (!ret)
		*guest_ns = st.guest_ticks * (1000000000u / (uint64_t)hz);
	return ret;
}
