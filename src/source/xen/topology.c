/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Domains and vCPUs as Xen tells of them, and Xen itself. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "source/machine.h"
#include "source/xen/state.h"
#include "source/xen/xenstore.h"

#define VCPUS_MAX 8192 /* more than Xen gives any domain */

unsigned xen_domid(const struct vm *vm)
{
	return vm->accel == ACCEL_HYPERVISOR ? XENPMU_DOMID_XEN
					     : (unsigned)strtoul(vm->id + 3, NULL, 10);
}

/* Once the store was silent it is not asked again: each time would take a while. */
static void name_domain(struct source *src, unsigned domid, struct vm *vm)
{
	char path[48];
	int ret = src->store < 0 ? src->store : 0;

	snprintf(path, sizeof(path), "/local/domain/%u/name", domid);
	if (!ret)
		ret = xenstore_read(src->store, path, vm->name, sizeof(vm->name));
	if (ret || !*vm->name)
		str_copy(vm->name, sizeof(vm->name), vm->id);
	if (src->store >= 0 && (ret == -ETIMEDOUT || ret == -EPROTO || ret == -EPIPE)) {
		close(src->store);
		src->store = -1;
	}
}

static void tell_vpmu(struct source *src, unsigned domid, struct vm *vm)
{
	struct xenpmu_domain d = { .domid = domid };

	vm->vpmu = src->own == OWN_OFF ? VPMU_NONE : VPMU_UNKNOWN;
	vm->vpmu_why = src->own == OWN_OFF ? "Xen's is off: boot it with vpmu=1"
		       : src->own == OWN_ON
			       ? "Xen's is on; who has used it it does not tell"
			       : "only a Xen with vmmprof's graft tells";
	if (src->graft || XEN_PMU(&src->xen, XENPMU_DOMAIN, &d))
		return;
	vm->vpmu = !(d.flags & XENPMU_DOMAIN_PMU)   ? VPMU_NONE
		   : (d.flags & XENPMU_DOMAIN_USED) ? VPMU_USED
						    : VPMU_UNUSED;
	vm->vpmu_why =
		vm->vpmu == VPMU_NONE	? "it was created without vpmu=1, or Xen's is off"
		: vm->vpmu == VPMU_USED ? "it has a PMU of its own and has used it"
					: "it has a PMU of its own and has not touched it";
}

/* A domain that has shut down stays until a toolstack destroys it, if there is one. */
static bool has_ended(const struct xen_domain *d)
{
	return (d->flags & XEN_DOMINF_SHUTDOWN) &&
	       XEN_DOMINF_REASON(d->flags) != XEN_SHUTDOWN_SUSPEND;
}

static char state_of(const struct xen_domain *d, const struct xen_vcpuinfo *v)
{
	if (has_ended(d))
		return 's';
	if (!v->online)
		return 'o';
	if (d->flags & (XEN_DOMINF_PAUSED | XEN_DOMINF_SHUTDOWN))
		return 'p';
	return v->running ? 'r' : v->blocked ? 'b' : 'w';
}

static void look_at_vcpu(struct source *src, const struct xen_domain *d, struct vcpu *vcpu)
{
	struct xen_vcpuinfo info;

	if (xen_vcpuinfo(&src->xen, d->domain, vcpu->index, &info))
		return;
	vcpu->state = state_of(d, &info);
	vcpu->last_cpu = info.cpu < src->pcpus ? (int)info.cpu : -1;
	xen_affinity(&src->xen, d->domain, vcpu->index, src->pcpus, vcpu->affinity,
		     sizeof(vcpu->affinity));
}

static int list_vcpus(struct vm *vm, size_t n)
{
	vm->vcpus = calloc(n ? n : 1, sizeof(*vm->vcpus));
	if (!vm->vcpus)
		return -ENOMEM;
	for (; vm->nvcpus < n; vm->nvcpus++)
		vm->vcpus[vm->nvcpus] = (struct vcpu) {
			.index = (int)vm->nvcpus,
			.found = FOUND_HYPERVISOR,
			.state = '?',
			.last_cpu = -1,
		};
	return 0;
}

/* Two domains of one number are told apart by their handles. */
static uint64_t birth_of(const struct xen_domain *d)
{
	uint64_t half[2];

	memcpy(half, d->handle, sizeof(half));
	return half[0] ^ half[1];
}

static int fill_domain(struct source *src, unsigned parts, const struct xen_domain *d,
		       struct vm *vm)
{
	size_t n = (size_t)d->max_vcpu_id + 1; /* none: ~0 */

	*vm = (struct vm) {
		.vmm = "xen",
		.birth = birth_of(d),
		.uptime_ns = UINT64_MAX,
		.ended = has_ended(d),
		.accel = ACCEL_XEN,
		.vpmu_why = "not asked",
	};
	snprintf(vm->id, sizeof(vm->id), "dom%u", d->domain);
	name_domain(src, d->domain, vm);
	if (d->max_vcpu_id == UINT32_MAX) {
		n = 0;
	} else if (n > VCPUS_MAX) {
		snprintf(vm->problem, sizeof(vm->problem),
			 "Xen says that it has %zu vCPUs: none is looked at", n);
		n = 0;
	}
	if (list_vcpus(vm, n))
		return -ENOMEM;
	for (size_t i = 0; (parts & TOPOLOGY_THREADS) && i < n; i++)
		look_at_vcpu(src, d, &vm->vcpus[i]);
	if (parts)
		tell_vpmu(src, d->domain, vm);
	if (!(parts & TOPOLOGY_MEMORY) || src->machine.nnodes != 1)
		return 0;
	vm->mem_node = calloc(1, sizeof(*vm->mem_node));
	if (!vm->mem_node)
		return -ENOMEM;
	vm->mem_node[0] = d->tot_pages * XEN_PAGE_BYTES;
	vm->nmem_node = 1;
	return 0;
}

/* Xen as one more target: its pCPUs stand in for vCPUs. */
static int fill_hypervisor(struct source *src, unsigned parts, struct vm *vm)
{
	size_t n = src->info.pcpus < VCPUS_MAX ? src->info.pcpus : VCPUS_MAX;

	*vm = (struct vm) {
		.id = "xen",
		.name = "xen",
		.vmm = "xen",
		.uptime_ns = UINT64_MAX,
		.accel = ACCEL_HYPERVISOR,
		.vpmu = VPMU_NONE,
		.vpmu_why = "it is the hypervisor, whose the counters are",
	};
	if (list_vcpus(vm, n))
		return -ENOMEM;
	for (size_t i = 0; (parts & TOPOLOGY_THREADS) && i < n; i++) {
		vm->vcpus[i].last_cpu = (int)i;
		snprintf(vm->vcpus[i].affinity, sizeof(vm->vcpus[i].affinity), "%zu", i);
	}
	return 0;
}

/* @vm stays the topology's, also where it is not filled to its end. */
static int add_vm(struct topology *topo, size_t *cap, struct vm **vm)
{
	if (VEC_PUSH(topo->vms, topo->nvms, *cap, (struct vm) { 0 }))
		return -ENOMEM;
	*vm = &topo->vms[topo->nvms - 1];
	return 0;
}

int xen_topology(struct source *src, unsigned parts, struct topology *topo, struct err *err)
{
	struct xen_domain d = { 0 };
	size_t cap = 0;
	struct vm *vm;
	int ret, more;

	if (src->closed.code)
		return err_set(err, src->closed.code, "%s", src->closed.text);
	xen_ask_graft(src);
	ret = machine_copy(&topo->machine, &src->machine);
	for (unsigned from = 0; !ret; from = d.domain + 1u) {
		more = xen_next_domain(&src->xen, from, &d);
		if (more < 0)
			return err_set(err, more,
				       more == -EPROTO
					       ? "Xen's list of domains makes no sense"
					       : "Xen does not list its domains: %s",
				       err_name(more));
		if (!more)
			break;
		if (d.flags & XEN_DOMINF_DYING)
			continue;
		ret = add_vm(topo, &cap, &vm);
		if (!ret)
			ret = fill_domain(src, parts, &d, vm);
	}
	if (!ret && !src->graft)
		ret = add_vm(topo, &cap, &vm);
	if (!ret && !src->graft)
		ret = fill_hypervisor(src, parts, vm);
	return ret ? err_set(err, ret, "out of memory for the list of domains") : 0;
}
