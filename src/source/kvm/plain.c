/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plain processes. This is looked at once a second for processes of a thousand
 * threads: without TOPOLOGY_THREADS, nothing is read per thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "source/kvm/discover.h"

int plain_read(const struct source *src, pid_t pid, unsigned parts, struct vm *vm)
{
	struct proc_stat st;
	pid_t *tids = NULL;
	size_t n = 0;
	int ret = proc_stat_read(&src->root, pid, 0, &st);

	if (!ret)
		ret = proc_threads(&src->root, pid, &tids, &n);
	if (ret)
		return -ESRCH;
	/* A zombie leader may have left threads that still work. */
	if (n == 1 && (st.state == 'Z' || st.state == 'X')) {
		free(tids);
		return -ESRCH;
	}
	*vm = (struct vm) { .pid = pid,
			    .birth = st.start_ticks,
			    .accel = ACCEL_NONE,
			    .vpmu = VPMU_NONE,
			    .vpmu_why = "a process, no VM" };
	snprintf(vm->id, sizeof(vm->id), "%d", pid);
	str_copy(vm->name, sizeof(vm->name), *st.comm ? st.comm : vm->id);
	str_copy(vm->vmm, sizeof(vm->vmm), vm->name);
	vm->uptime_ns = proc_uptime_ns(src, st.start_ticks);
	vm->vcpus = calloc(n, sizeof(*vm->vcpus));
	if (!vm->vcpus) {
		free(tids);
		return -ENOMEM;
	}
	vm->nvcpus = n;
	for (size_t i = 0; i < n; i++) {
		vm->vcpus[i] = (struct vcpu) { .index = i,
					       .tid = tids[i],
					       .state = '?',
					       .found = FOUND_THREAD,
					       .last_cpu = -1 };
		if (parts & TOPOLOGY_THREADS)
			proc_vcpu_fill(&src->root, pid, &vm->vcpus[i]);
	}
	free(tids);
	return 0;
}
