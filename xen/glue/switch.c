/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <xen/sched.h>
#include <xen/smp.h>
#include <xen/timer.h>

#include <asm/current.h>
#include <asm/regs.h>

#include "glue.h"

static DEFINE_PER_CPU(struct timer, turn_timer);

/* Called with interrupts off, as the core wants it: schedule_tail() has them so. */
void vpmu_switch_from(struct vpmu_vcpu *g)
{
	const struct vcpu *v = g->cookie;
	const struct cpu_user_regs *regs = &v->arch.cpu_info->guest_cpu_user_regs;
	struct vpmu_where where = {
		.mode = regs_mode_is_user(regs) ? VPMU_MODE_USER : VPMU_MODE_KERNEL,
		.pc = regs->pc,
	};

	vpmu_switch_out(&this_cpu(vpmu_pcpu), g, &where);
}

void vpmu_switch_to(struct vpmu_vcpu *g)
{
	struct vpmu_pcpu *p = &this_cpu(vpmu_pcpu);

	vpmu_switch_in(p, g);
	vpmu_turns_arm(p);
}

static void fetch(void *data)
{
	unsigned long flags;

	local_irq_save(flags);
	vpmu_fetch(&this_cpu(vpmu_pcpu), data);
	local_irq_restore(flags);
}

/*
 * Nobody takes the counters up meanwhile; they may be given back at any moment, and then
 * the other pCPU has nothing to do.
 */
void vpmu_take_back(struct vpmu_vcpu *g)
{
	const struct vpmu_pcpu *holder = vpmu_holder(g);

	if (holder)
		on_selected_cpus(cpumask_of(holder->index), fetch, g, 1);
}

void vpmu_fetch_from_afar(struct vpmu_vcpu *g)
{
	if (vpmu_holder(g) != &this_cpu(vpmu_pcpu))
		vpmu_take_back(g);
}

static void refresh(void *unused)
{
	struct vpmu_pcpu *p = &this_cpu(vpmu_pcpu);
	unsigned long flags;

	local_irq_save(flags);
	vpmu_host_refresh(p, current->arch.vpmu);
	vpmu_turns_arm(p);
	local_irq_restore(flags);
}

void vpmu_refresh_everywhere(void)
{
	on_each_cpu(refresh, NULL, 1);
}

static void turn(void *unused)
{
	struct vpmu_pcpu *p = &this_cpu(vpmu_pcpu);
	unsigned long flags;

	local_irq_save(flags);
	vpmu_host_turn(p);
	vpmu_turns_arm(p);
	local_irq_restore(flags);
}

void vpmu_turns_init(void)
{
	init_timer(&this_cpu(turn_timer), turn, NULL, smp_processor_id());
}

void vpmu_turns_arm(struct vpmu_pcpu *p)
{
	struct timer *timer = &this_cpu(turn_timer);

	if (vpmu_host_turns(p) && !timer_is_active(timer))
		set_timer(timer, NOW() + VPMU_TURN_NS);
}

void vpmu_turns_kill(void)
{
	kill_timer(&this_cpu(turn_timer));
}
