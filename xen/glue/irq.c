/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <xen/compile.h>
#include <xen/irq.h>
#include <xen/sched.h>

#include <asm/processor.h>
#include <asm/regs.h>
#include <asm/sysregs.h>
#include <asm/vgic.h>

#include "glue.h"
#include "sets.h"

/* dom0 has the host's interrupts where Xen uses them too, as with its timers. */
unsigned int vpmu_virq(const struct domain *d)
{
	return is_hardware_domain(d) ? vpmu_ppi : GUEST_VPMU_PPI;
}

/* Interrupts within Xen itself are host's samples only. */
static void handle(void)
{
	const struct cpu_user_regs *regs = get_irq_regs();
	struct vpmu_where where = { .pc = regs->pc };
	unsigned long flags;

	if (hyp_mode(regs))
		where.mode = VPMU_MODE_HYP;
	else if (regs_mode_is_user(regs))
		where.mode = VPMU_MODE_USER;
	else
		where.mode = VPMU_MODE_KERNEL;
	local_irq_save(flags);
	vpmu_interrupt(&this_cpu(vpmu_pcpu), &where);
	local_irq_restore(flags);
}

#if XEN_SUBVERSION < 19
static void interrupt(int irq, void *dev_id, struct cpu_user_regs *regs)
#else
static void interrupt(int irq, void *dev_id)
#endif
{
	handle();
}

/* One per pCPU, not allocated: a starting CPU must not allocate. */
static DEFINE_PER_CPU(struct irqaction, action);

int vpmu_irq_request(void)
{
	struct irqaction *a = &this_cpu(action);

	*a = (struct irqaction) { .handler = interrupt, .name = "vpmu" };
	return setup_irq(vpmu_ppi, 0, a);
}

void vpmu_irq_release(void)
{
	release_irq(vpmu_ppi, NULL);
}

static void raise(struct vpmu_vcpu *g)
{
	struct vcpu *v = g->cookie;

	v->arch.vpmu_raised = true;
	vgic_inject_irq(v->domain, v, vpmu_virq(v->domain), true);
}

/*
 * Xen's vGIC has no levels. The guest has finished the interrupt when it is no longer in
 * flight; if the line is still up then, it is pending again, as in a GIC. Called in
 * place of what reads the list registers, the last that is done at an exit, so that other
 * exits need no stack frame.
 */
void vpmu_line_again(struct vcpu *v)
{
	struct vpmu_vcpu *g = v->arch.vpmu;
	unsigned long flags;

	vgic_sync_from_lrs(v);
	local_irq_save(flags);
	if (!vpmu_line(g))
		v->arch.vpmu_raised = false;
	else if (list_empty(&irq_to_pending(v, vpmu_virq(v->domain))->inflight))
		raise(g);
	local_irq_restore(flags);
}

/* One that does not run has its MDCR_EL2 put into the register when it enters. */
static void trap(struct vpmu_vcpu *g, bool on)
{
	struct vcpu *v = g->cookie;

	if (on)
		v->arch.mdcr_el2 |= HDCR_TPM | HDCR_TPMCR;
	else
		v->arch.mdcr_el2 &= ~(register_t)(HDCR_TPM | HDCR_TPMCR);
	if (v == current)
		WRITE_SYSREG(v->arch.mdcr_el2, MDCR_EL2);
}

const struct vpmu_upcalls vpmu_upcalls = {
	.raise = raise,
	.trap = trap,
	.wake = vpmu_sets_wake,
};
