/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The KVM source: its row of operations, and its state. */
#include "source/kvm/kvm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/kvm/discover.h"
#include "source/machine.h"

static void kvm_close(struct source *src)
{
	if (!src)
		return;
	rootfs_close(&src->root);
	free(src->machine.nodes);
	free(src->ids.v);
	scan_free(src->scan);
	free(src->pids);
	free(src);
}

static int take_pids(struct source *src, const struct source_config *config,
		     struct err *err)
{
	if (!config->npids)
		return 0;
	src->pids = calloc(config->npids, sizeof(*src->pids));
	if (!src->pids)
		return err_set(err, ENOMEM, "out of memory for %zu processes",
			       config->npids);
	memcpy(src->pids, config->pids, config->npids * sizeof(*src->pids));
	src->npids = config->npids;
	for (size_t i = 0; i < src->npids; i++)
		if (!rootfs_exists(&src->root, "proc/%d/task", src->pids[i]))
			return err_set(err, ESRCH,
				       "process %d: there is none with this number; "
				       "see `ps -e` for those that run",
				       src->pids[i]);
	return 0;
}

static int kvm_open(const struct source_config *config, struct source **out,
		    struct err *err)
{
	struct source *src = calloc(1, sizeof(*src));
	int ret;

	if (!src)
		return err_set(err, ENOMEM, "out of memory");
	src->live = !strcmp(config->root, "/");
	src->root.fd = -1;
	ret = rootfs_open(&src->root, config->root, err);
	if (!ret && !rootfs_exists(&src->root, "proc"))
		ret = err_set(err, ENOENT,
			      "%s: holds no proc directory; expected / or a "
			      "recorded tree with proc and sys in it",
			      config->root);
	if (!ret)
		ret = take_pids(src, config, err);
	if (!ret && machine_read(&src->root, src->live, &src->machine))
		ret = err_set(err, ENOMEM, "out of memory for the machine's nodes");
	if (!ret)
		src->host_vpmu = vpmu_of_host(&src->root);
	if (ret) {
		kvm_close(src);
		return ret;
	}
	*out = src;
	return 0;
}

const struct source_ops kvm_source = {
	.name = "kvm",
	.help = "KVM and TCG guests and processes of this host",
	.stat_events = "task-clock,context-switches,cycles,instructions,cache-misses,"
		       "branch-misses",
	.processes = true,
	.open = kvm_open,
	.close = kvm_close,
	.topology = kvm_topology,
	.unchanged = kvm_unchanged,
	.capabilities = kvm_capabilities,
	.vm_fd = kvm_vm_fd,
	.counters_open = kvm_counters_open,
	.counters_read = kvm_counters_read,
	.vcpu_ran = kvm_vcpu_ran,
	.counters_close = kvm_counters_close,
	.node_open = kvm_node_open,
	.move = kvm_move,
	.say_move = kvm_say_move,
	.sampler_open = kvm_sampler_open,
	.sampler_fd = kvm_sampler_fd,
	.sampler_event = kvm_sampler_event,
	.sampler_peek = kvm_sampler_peek,
	.sampler_release = kvm_sampler_release,
	.sampler_stop = kvm_sampler_stop,
	.sampler_read = kvm_sampler_read,
	.sampler_close = kvm_sampler_close,
	.sideband = kvm_sideband,
};
