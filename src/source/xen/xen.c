/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Xen source: its row of operations, and its state. */
#include "source/xen/xen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/machine.h"
#include "source/xen/state.h"
#include "source/xen/xenstore.h"

/* xenfs tells dom0 from others; where it is not mounted, a Xen that lets us call it. */
static bool xen_here(const struct rootfs *root)
{
	char text[64];

	if (rootfs_read(root, text, sizeof(text), "proc/xen/capabilities") >= 0)
		return strstr(text, "control_d");
	return rootfs_read(root, text, sizeof(text), "sys/hypervisor/type") > 0 &&
	       !strcmp(text, "xen") && rootfs_exists(root, "dev/xen/privcmd") &&
	       !rootfs_exists(root, "dev/kvm");
}

/* Only an x86 Xen knows the hypercall without knowing the graft's part of it. */
static void ask_own_vpmu(struct source *src)
{
	char type[16] = "";
	int ret = -ENOSYS;

	if (src->graft && src->graft != -ENOSYS && !src->closed.code)
		ret = xen_own_vpmu(&src->xen, &src->own_mode, &src->own_features);
	src->own = !ret ? OWN_ON : ret == -EOPNOTSUPP ? OWN_OFF : OWN_NONE;
	/* do_xenpmu_op() has no other answer for a domain with a local APIC of its own */
	rootfs_read(&src->root, type, sizeof(type), "sys/hypervisor/guest_type");
	if (src->own == OWN_OFF && (!strcmp(type, "PVH") || !strcmp(type, "HVM")))
		src->own = OWN_UNTOLD;
}

void xen_ask_graft(struct source *src)
{
	struct xenpmu_info info = { 0 };

	src->graft = src->closed.code ? src->closed.code
				      : XEN_PMU(&src->xen, XENPMU_INFO, &info);
	if (!src->graft && info.version != XENPMU_VERSION) /* it answers any with its own */
		src->graft = -EPROTONOSUPPORT;
	info.family[sizeof(info.family) - 1] = '\0';
	info.why[sizeof(info.why) - 1] = '\0';
	str_clean(info.family);
	str_clean(info.why);
	src->info = info;
	ask_own_vpmu(src);
}

bool xen_can_count(const struct source *src)
{
	return !src->graft && (src->info.flags & XENPMU_INFO_ON);
}

void xen_why_not(const struct source *src, char *why, size_t size)
{
	if (src->closed.code)
		snprintf(why, size, "%s", src->closed.text);
	else if (src->own != OWN_NONE)
		snprintf(why, size,
			 "on x86 Xen counts no domain for dom0: count in the domain%s",
			 src->own == OWN_OFF ? ", once Xen was booted with vpmu=1" : "");
	else if (src->graft == -ENOSYS)
		snprintf(why, size,
			 "this Xen has no virtual PMU: build it with vmmprof's graft "
			 "(xen/graft); vmmprof check says more");
	else if (src->graft == -EPERM)
		snprintf(why, size, "Xen lets only its control domain, dom0, count");
	else if (src->graft == -EPROTONOSUPPORT)
		snprintf(why, size,
			 "Xen's graft speaks version %u, this vmmprof %u: use the same "
			 "release of both",
			 src->info.version, XENPMU_VERSION);
	else if (src->graft)
		snprintf(why, size, "Xen's PMU does not answer: %s", err_name(src->graft));
	else if (!(src->info.flags & XENPMU_INFO_ON))
		snprintf(why, size, "Xen's PMU is off: %s; boot Xen with vpmu=1",
			 *src->info.why ? src->info.why : "vpmu= is not given at boot");
	else
		*why = '\0';
}

static void xen_source_close(struct source *src)
{
	if (!src)
		return;
	if (src->store >= 0)
		close(src->store);
	xen_close(&src->xen);
	rootfs_close(&src->root);
	free(src->machine.nodes);
	free(src);
}

/* What Xen knows better than dom0, which sees its own vCPUs and memory only. */
static void ask_machine(struct source *src)
{
	struct machine *m = &src->machine;
	struct xen_physinfo phys;

	if (src->closed.code || xen_physinfo(&src->xen, &phys))
		return;
	src->pcpus = phys.max_cpu_id < 8192 ? phys.max_cpu_id + 1 : 8192;
	m->ncpus = phys.nr_cpus;
	m->threads_per_core = phys.threads_per_core;
	m->nnodes = phys.nr_nodes == 1;
	if (!m->nnodes)
		return;
	m->nodes[0] = (struct node) {
		.mem_bytes = phys.total_pages * XEN_PAGE_BYTES,
	};
	snprintf(m->nodes[0].cpus, sizeof(m->nodes[0].cpus), src->pcpus > 1 ? "0-%u" : "0",
		 src->pcpus - 1);
}

int xen_source_open(const struct xen_ops *ops, const struct source_config *config,
		    struct source **out, struct err *err)
{
	struct source *src;
	int ret;

	if (config->npids)
		return err_set(err, EINVAL,
			       "-p: Xen knows domains, not processes: processes of this "
			       "domain are measured with --source kvm");
	src = calloc(1, sizeof(*src));
	if (!src)
		return err_set(err, ENOMEM, "out of memory");
	src->hosted = (struct hosted) { .ops = &xen_hosted, .ctx = src };
	src->live = !strcmp(config->root, "/");
	src->root.fd = src->store = src->wake = -1;
	ret = rootfs_open(&src->root, config->root, err);
	if (!ret && machine_read(&src->root, src->live, &src->machine))
		ret = err_set(err, ENOMEM, "out of memory for the machine's nodes");
	if (ret) {
		xen_source_close(src);
		return ret;
	}
	/* `vmmprof check` explains what is missing: no reason to fail here */
	xen_open(ops, &src->root, src->live, &src->xen, &src->closed);
	ask_machine(src);
	xen_ask_graft(src);
	src->store = xenstore_open(&src->root);
	*out = src;
	return 0;
}

static int closed(const struct source *src, struct err *err)
{
	return err_set(err, src->closed.code, "%s", src->closed.text);
}

static int counters_open(struct source *src, const struct vm *vm, const struct vcpu *vcpu,
			 const struct event_set *set, struct opened *opened,
			 struct counters **out, struct err *err)
{
	if (src->closed.code)
		return closed(src, err);
	return hosted_counters_open(&src->hosted, vm, vcpu, set, opened, out, err);
}

/* A domain is seen from inside; there is no other view. */
static int sampler_open(struct source *src, const struct vm *vm, const struct vcpu *vcpu,
			const struct event_set *set, bool inside, size_t ring_bytes,
			struct opened *opened, struct sampler **out, struct err *err)
{
	(void)inside;
	if (src->closed.code)
		return closed(src, err);
	return hosted_sampler_open(&src->hosted, vm, vcpu, set, ring_bytes, opened, out,
				   err);
}

/* Xen moves no memory of a running domain: only xl migrate to another host does. */
static void say_move(struct source *src, const struct vm *vm, const struct move *move,
		     struct strbuf *out)
{
	(void)src;
	if (move->kind != MOVE_VCPU)
		return;
	strbuf_puts(out, "xl vcpu-pin ");
	strbuf_quote(out, vm->name);
	strbuf_addf(out, " %d %s", move->vcpu, move->cpus);
}

static int open_here(const struct source_config *config, struct source **out,
		     struct err *err)
{
	return xen_source_open(&xen_privcmd, config, out, err);
}

const struct source_ops xen_source = {
	.name = "xen",
	.help = "Xen's domains and Xen itself, from dom0",
	.stat_events = "task-clock,cycles,instructions",
	.lone_turns = true,
	.here = xen_here,
	.open = open_here,
	.close = xen_source_close,
	.topology = xen_topology,
	.capabilities = xen_capabilities,
	.counters_open = counters_open,
	.counters_read = hosted_counters_read,
	.vcpu_ran = hosted_vcpu_ran,
	.counters_close = hosted_counters_close,
	.say_move = say_move,
	.sampler_open = sampler_open,
	.sampler_fd = hosted_sampler_fd,
	.sampler_event = hosted_sampler_event,
	.sampler_peek = hosted_sampler_peek,
	.sampler_release = hosted_sampler_release,
	.sampler_stop = hosted_sampler_stop,
	.sampler_read = hosted_sampler_read,
	.sampler_close = hosted_sampler_close,
};
