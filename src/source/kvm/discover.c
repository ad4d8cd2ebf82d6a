/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the kernel's traces of VMs to a topology. */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "source/kvm/discover.h"

/* The VMs found so far. */
struct finds {
	struct vm *v;
	size_t n, cap;
};

static int add_plain(const struct source *src, unsigned parts, struct finds *finds)
{
	for (size_t i = 0; i < src->npids; i++) {
		struct vm vm;
		int ret = plain_read(src, src->pids[i], parts, &vm);

		if (ret == -ESRCH)
			continue;
		if (!ret)
			ret = VEC_PUSH(finds->v, finds->n, finds->cap, vm);
		if (ret)
			return ret;
	}
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct vm *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int kvm_topology(struct source *src, unsigned parts, struct topology *topo, struct err *err)
{
	struct finds finds = { 0 };
	int ret = machine_copy(&topo->machine, &src->machine);

	if (!ret)
		ret = add_plain(src, parts, &finds);
	if (finds.n)
		qsort(finds.v, finds.n, sizeof(*finds.v), by_pid);
	topo->vms = finds.v;
	topo->nvms = finds.n;
	if (ret) {
		topology_free(topo);
		return err_set(err, ret, "cannot look for VMs: %s", err_name(ret));
	}
	return 0;
}
