/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <xen/errno.h>
#include <xen/sched.h>
#include <xen/xmalloc.h>

#include <asm/processor.h>
#include <asm/vgic.h>

#include "glue.h"

/*
 * Every domain has a struct vpmu_vm when vpmu= is on, for the host's sets; one with
 * vpmu=1 (XEN_DOMCTL_CDF_vpmu) also sees a PMU.
 */
int vpmu_hook_domain_create(struct domain *d)
{
	bool own = d->options & XEN_DOMCTL_CDF_vpmu;
	struct vpmu_vm *vm;

	if (!vpmu_on)
		return 0;
	vm = xzalloc(struct vpmu_vm);
	if (!vm)
		return -ENOMEM;
	if (own && !vgic_reserve_virq(d, vpmu_virq(d))) {
		xfree(vm);
		return -EBUSY;
	}
	vpmu_vm_init(vm, &vpmu_machine, own, d);
	d->arch.vpmu = vm;
	return 0;
}

void vpmu_hook_domain_destroy(struct domain *d)
{
	if (!d->arch.vpmu)
		return;
	XFREE(d->arch.vpmu);
}

int vpmu_hook_vcpu_create(struct vcpu *v)
{
	struct vpmu_vm *vm = v->domain->arch.vpmu;

	if (!vm)
		return 0;
	v->arch.vpmu = xzalloc(struct vpmu_vcpu);
	if (!v->arch.vpmu)
		return -ENOMEM;
	vpmu_vcpu_init(v->arch.vpmu, vm, v->vcpu_id, v);
	v->arch.mdcr_el2 |= HDCR_TPM | HDCR_TPMCR | vpmu_mdcr();
	return 0;
}

/* The vCPU does not run any more. Its counters may still be in some pCPU. */
void vpmu_hook_vcpu_destroy(struct vcpu *v)
{
	if (!v->arch.vpmu)
		return;
	vpmu_take_back(v->arch.vpmu);
	XFREE(v->arch.vpmu);
}

/*
 * The vCPU is down, but may still be on its way off a pCPU. Never on the vCPU itself,
 * which is not down.
 */
void vpmu_hook_vcpu_reset(struct vcpu *v)
{
	if (!v->arch.vpmu)
		return;
	vcpu_pause(v);
	vpmu_take_back(v->arch.vpmu);
	vpmu_vcpu_reset(v->arch.vpmu);
	vcpu_unpause(v);
}
