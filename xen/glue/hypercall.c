/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HYPERVISOR_xenpmu_op on Arm: core/abi/xenpmu.h. A struct comes in once and goes out
 * once; what is between them reads the copy.
 */
#include <xen/bitops.h>
#include <xen/cpumask.h>
#include <xen/guest_access.h>
#include <xen/hypercall.h>
#include <xen/sched.h>
#include <xsm/xsm.h>

#include "glue.h"
#include "sets.h"
#include "valid.h"

/*
 * Who may: the checks that Xen has for the nearest thing, so that dummy and flask both
 * get one. For the hypervisor that is its performance counters (flask: perfcontrol), for
 * a domain its trace (flask: setdebugging). xsm_pmu_op() is not for us: it is compiled
 * for x86 only, and flask refuses any sub-operation that it does not know.
 */
static int may_open(struct domain *d, enum vpmu_may *may)
{
	*may = VPMU_MAY_ALL;
	if (!d)
		return xsm_sysctl(XSM_PRIV, XEN_SYSCTL_perfc_op);
	if (d == current->domain && vpmu_options.self && !is_control_domain(d)) {
		*may = VPMU_MAY_COUNT;
		return 0;
	}
	return xsm_domctl(XSM_OTHER, d, XEN_DOMCTL_vmtrace_op, 0);
}

/*
 * The domain that a caller names, locked, NULL for the hypervisor, and what he may do
 * to it.
 */
static int target_get(domid_t domid, struct domain **d, enum vpmu_may *may)
{
	int rc;

	*d = NULL;
	if (domid != DOMID_XEN) {
		*d = rcu_lock_domain_by_any_id(domid);
		if (!*d || is_system_domain(*d)) {
			if (*d)
				rcu_unlock_domain(*d);
			return -ESRCH;
		}
	}
	rc = may_open(*d, may);
	if (rc && *d)
		rcu_unlock_domain(*d);
	return rc;
}

static void target_put(struct domain *d)
{
	if (d)
		rcu_unlock_domain(d);
}

static void describe_pmu(struct xenpmu_info *info)
{
	const struct vpmu_caps *caps = &vpmu_machine.caps;
	uint64_t taken = vpmu_machine.hyp_plan ? vpmu_machine.hyp_plan->used : 0;

	info->flags |= XENPMU_INFO_ON;
	if (vpmu_machine.config.direct)
		info->flags |= XENPMU_INFO_DIRECT;
	if (caps->kick)
		info->flags |= XENPMU_INFO_KICK;
	if (vpmu_options.self)
		info->flags |= XENPMU_INFO_SELF;
	/* PMCNTENSET_EL0 has the cycle counter in bit 31, above all others */
	info->guest_counters = hweight32(caps->guest & 0x7fffffff);
	info->host_counters = hweight64(caps->host);
	info->hyp_counters = hweight64(taken);
	info->events[0] = caps->id[0];
	info->events[1] = caps->id[1];
	strlcpy(info->family, vpmu_machine.family->name, sizeof(info->family));
}

static long op_info(XEN_GUEST_HANDLE_PARAM(void) arg)
{
	struct xenpmu_info info;

	/* any version is answered with ours */
	if (copy_from_guest(&info, arg, 1))
		return -EFAULT;
	memset(&info, 0, sizeof(info));
	info.version = XENPMU_VERSION;
	info.now_ns = vpmu_hw_now(&vpmu_hw);
	strlcpy(info.why, vpmu_why, sizeof(info.why));
	if (is_control_domain(current->domain)) {
		info.flags |= XENPMU_INFO_PRIVILEGED;
		info.pcpus = cpumask_last(&cpu_online_map) + 1;
	}
	if (vpmu_on)
		describe_pmu(&info);
	return copy_to_guest(arg, &info, 1) ? -EFAULT : 0;
}

static uint32_t pmu_of(const struct domain *d)
{
	uint32_t flags = d->arch.vpmu->guest_pmu ? XENPMU_DOMAIN_PMU : 0;
	const struct vcpu *v;

	for_each_vcpu(d, v)
	{
		if (v->arch.vpmu->touched)
			flags |= XENPMU_DOMAIN_USED;
	}
	return flags;
}

static long op_domain(XEN_GUEST_HANDLE_PARAM(void) arg)
{
	struct xenpmu_domain domain;
	enum vpmu_may may;
	struct domain *d;
	int rc;

	if (copy_from_guest(&domain, arg, 1))
		return -EFAULT;
	if (!vpmu_domain_valid(&domain))
		return -EINVAL;
	rc = target_get(domain.domid, &d, &may);
	if (rc)
		return rc;
	domain.vcpus = d ? d->max_vcpus : nr_cpu_ids;
	domain.flags = d ? pmu_of(d) : 0;
	domain.sets = vpmu_sets_on(d, may == VPMU_MAY_ALL ? NULL : current->domain);
	target_put(d);
	return copy_to_guest(arg, &domain, 1) ? -EFAULT : 0;
}

static int open_copied(struct xenpmu_open *open)
{
	enum vpmu_may may;
	struct domain *d;
	int rc;

	open->handle = open->tallies = 0;
	if (!vpmu_open_valid(open, &open->bad))
		return -EINVAL;
	rc = target_get(open->domid, &d, &may);
	if (rc)
		return rc;
	if (may == VPMU_MAY_COUNT && vpmu_open_samples(open))
		rc = -EPERM;
	else
		rc = vpmu_sets_open(d, open, may);
	target_put(d);
	return rc;
}

static long op_open(XEN_GUEST_HANDLE_PARAM(void) arg)
{
	struct xenpmu_open open;
	int rc;

	if (copy_from_guest(&open, arg, 1))
		return -EFAULT;
	rc = open_copied(&open);
	if (rc == -ERESTART)
		return rc;
	if (copy_to_guest(arg, &open, 1)) {
		if (!rc)
			vpmu_sets_close(open.handle);
		return -EFAULT;
	}
	return rc;
}

static long op_read(XEN_GUEST_HANDLE_PARAM(void) arg)
{
	struct xenpmu_read read;
	int rc;

	if (copy_from_guest(&read, arg, 1))
		return -EFAULT;
	if (!vpmu_read_valid(&read))
		return -EINVAL;
	rc = vpmu_sets_read(&read);
	if (rc)
		return rc;
	return copy_to_guest(arg, &read, 1) ? -EFAULT : 0;
}

static long op_close(XEN_GUEST_HANDLE_PARAM(void) arg)
{
	struct xenpmu_close close;

	if (copy_from_guest(&close, arg, 1))
		return -EFAULT;
	if (close.version != XENPMU_VERSION)
		return -EINVAL;
	return vpmu_sets_close(close.handle);
}

static long op_next(XEN_GUEST_HANDLE_PARAM(void) arg)
{
	struct xenpmu_next next;
	int rc;

	if (copy_from_guest(&next, arg, 1))
		return -EFAULT;
	if (!vpmu_next_valid(&next))
		return -EINVAL;
	rc = vpmu_sets_next(&next);
	if (rc)
		return rc;
	return copy_to_guest(arg, &next, 1) ? -EFAULT : 0;
}

static void abi_is_as_agreed(void)
{
#define OFFSET(type, field, where) BUILD_BUG_ON(offsetof(struct type, field) != (where))
#define SIZE(type, bytes) BUILD_BUG_ON(sizeof(struct type) != (bytes))
	VPMU_ABI_LAYOUT(OFFSET, SIZE);
	BUILD_BUG_ON(XENPMU_OP_HYPERCALL != __HYPERVISOR_xenpmu_op);
	BUILD_BUG_ON(XENPMU_DOMID_XEN != DOMID_XEN || XENPMU_DOMID_SELF != DOMID_SELF);
	BUILD_BUG_ON(XENPMU_VIRQ != VIRQ_XENPMU || VPMU_RING_PAGE != PAGE_SIZE);
}

static long dispatch(unsigned int op, XEN_GUEST_HANDLE_PARAM(void) arg)
{
	if (op == XENPMU_INFO)
		return op_info(arg);
	if (!vpmu_on)
		return -ENOSYS;
	switch (op) {
	case XENPMU_DOMAIN: return op_domain(arg);
	case XENPMU_OPEN: return op_open(arg);
	case XENPMU_READ: return op_read(arg);
	case XENPMU_CLOSE: return op_close(arg);
	case XENPMU_NEXT: return op_next(arg);
	default: return -ENOSYS;
	}
}

/* The sub-operations below XENPMU_INFO are those of x86's vPMU, which Arm has not. */
long do_xenpmu_op(unsigned int op, XEN_GUEST_HANDLE_PARAM(void) arg)
{
	long rc;

	abi_is_as_agreed();
	rc = dispatch(op, arg);
	if (rc == -ERESTART)
		rc = hypercall_create_continuation(__HYPERVISOR_xenpmu_op, "ih", op, arg);
	return rc;
}
