/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/bank.h"
#include "core/vpmu.h"

bool vpmu_direct(const struct vpmu_pcpu *p)
{
	return p->m->config.direct && p->m->family->direct_load;
}

static void trap(struct vpmu_vcpu *v, bool on)
{
	if (v->untrapped != on)
		return;
	v->untrapped = !on;
	v->vm->m->upcalls->trap(v, on);
}

static void load(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	const struct vpmu *m = p->m;
	struct vpmu_bank *bank = &v->bank;
	bool line = m->family->guest_line(&m->caps, bank);
	uint64_t waits = line ? bank->overflow & bank->irq : 0;

	bank->overflow &= ~waits;
	m->family->direct_load(&p->hw, &m->caps, bank);
	bank->overflow = waits;
	v->direct = true;
	trap(v, waits);
}

static void stop(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	const struct vpmu *m = p->m;

	m->family->direct_stop(&p->hw, &m->caps, &v->bank);
	vpmu_bank_take(p, v, m->family->direct_overflowed(&p->hw, &m->caps));
}

static void save(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	uint64_t waits = v->bank.overflow;

	p->m->family->direct_save(&p->hw, &p->m->caps, &v->bank);
	v->bank.overflow |= waits;
	v->direct = false;
}

void vpmu_direct_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	stop(p, v);
	vpmu_bank_line(v);
}

void vpmu_direct_in(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	const struct vpmu *m = p->m;

	if (p->holds == v) {
		m->family->direct_start(&p->hw, &m->caps, &v->bank);
		trap(v, v->bank.overflow);
	} else if (m->family->guest_active(&m->caps, &v->bank)) {
		vpmu_bank_acquire(p, v);
		load(p, v);
	} else {
		/* Its first access will load it. */
		v->in_use = false;
	}
}

void vpmu_direct_save(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	if (v->on == p)
		vpmu_direct_out(p, v);
	save(p, v);
	trap(v, true);
}

void vpmu_direct_begin(struct vpmu_pcpu *p, struct vpmu_vcpu *v, uint32_t reg, bool user)
{
	if (p->holds != v) {
		vpmu_bank_acquire(p, v);
	} else if (v->direct && (user || !p->m->family->direct_status(reg))) {
		stop(p, v);
		save(p, v);
	}
}

void vpmu_direct_end(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	if (v->direct)
		trap(v, v->bank.overflow);
	else
		load(p, v);
	/* An interrupt may have been on its way for what begin took. */
	vpmu_bank_line(v);
}

void vpmu_direct_interrupt(struct vpmu_pcpu *p, struct vpmu_vcpu *v, uint64_t bits)
{
	vpmu_bank_take(p, v, bits);
	vpmu_bank_line(v);
	if (v->on == p)
		trap(v, true);
}
