/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/err.h"
#include "core/vpmu.h"

int vpmu_init(struct vpmu *m, const struct vpmu_family *family,
	      const struct vpmu_upcalls *upcalls, const struct vpmu_config *config,
	      const struct vpmu_hw *hw, const char **why)
{
	struct vpmu_caps *caps = &m->caps;
	unsigned host;

	*why = "this processor has no PMU of a kind that can be virtualized";
	if (family->probe(hw, caps))
		return -VPMU_ENODEV;
	*why = "this PMU has no event counter, only one of cycles";
	if (!caps->programmable)
		return -VPMU_ENODEV;
	*why = "fewer event counters than were asked for: ask for less, or for no number";
	if (config->host_counters > (int)caps->programmable)
		return -VPMU_ENODEV;
	*why = NULL;
	host = vpmu_budget_host(caps->programmable, config->host_counters);
	caps->host = host ? family->keep(caps, host) : 0;
	caps->guest = caps->counters & ~caps->host;
	caps->kick = config->kick;
	m->family = family;
	m->upcalls = upcalls;
	m->config = *config;
	if (!m->config.turn_ns)
		m->config.turn_ns = VPMU_TURN_NS;
	return 0;
}

int vpmu_pcpu_up(struct vpmu_pcpu *p, struct vpmu *m, unsigned index,
		 const struct vpmu_hw *hw, const char **why)
{
	struct vpmu_caps here;

	*why = "this processor has no PMU, and the first one has";
	if (m->family->probe(hw, &here))
		return -VPMU_ENODEV;
	*why = "this processor's PMU has less than the first one's";
	if (m->caps.counters & ~here.counters || here.version < m->caps.version ||
	    m->caps.features & ~here.features || here.width < m->caps.width ||
	    here.fixed_width < m->caps.fixed_width)
		return -VPMU_ENODEV;
	*why = NULL;
	*p = (struct vpmu_pcpu) { .m = m, .hw = *hw, .index = index };
	m->family->reset(&p->hw, &m->caps);
	vpmu_host_refresh(p, NULL);
	return 0;
}

void vpmu_pcpu_down(struct vpmu_pcpu *p)
{
	vpmu_host_fold(p);
	vpmu_bank_evict(p);
	p->m->family->reset(&p->hw, &p->m->caps);
	*p = (struct vpmu_pcpu) { .m = p->m, .hw = p->hw, .index = p->index };
}

void vpmu_vm_init(struct vpmu_vm *vm, struct vpmu *m, bool guest_pmu, void *cookie)
{
	*vm = (struct vpmu_vm) { .m = m, .guest_pmu = guest_pmu, .cookie = cookie };
}

void vpmu_vcpu_init(struct vpmu_vcpu *v, struct vpmu_vm *vm, unsigned index, void *cookie)
{
	*v = (struct vpmu_vcpu) { .vm = vm, .index = index, .cookie = cookie };
	vm->m->family->guest_reset(&vm->m->caps, &v->bank);
}

void vpmu_vcpu_reset(struct vpmu_vcpu *v)
{
	if (v->held)
		v->held->holds = NULL;
	v->loaded = 0;
	v->direct = v->touched = v->in_use = v->line = false;
	v->vm->m->family->guest_reset(&v->vm->m->caps, &v->bank);
	if (v->untrapped) {
		v->untrapped = false;
		v->vm->m->upcalls->trap(v, true);
	}
	__atomic_store_n(&v->held, NULL, __ATOMIC_RELEASE);
}

void vpmu_switch_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v, const struct vpmu_where *w)
{
	if (p->plan)
		vpmu_host_out(p, v, w);
	vpmu_bank_out(p, v);
	v->on = NULL;
	p->runs = NULL;
}

void vpmu_switch_in(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	v->on = p;
	p->runs = v;
	vpmu_bank_in(p, v);
	if (vpmu_planned(v->vm))
		vpmu_host_in(p, v);
}

void vpmu_fetch(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	if (p->holds == v)
		vpmu_bank_evict(p);
}

static enum vpmu_access access(struct vpmu_vcpu *v, uint32_t reg, bool write, bool user,
			       uint64_t *value)
{
	const struct vpmu_family *family = v->vm->m->family;

	if (write)
		return family->guest_write(v, reg, user, *value);
	return family->guest_read(v, reg, user, value);
}

enum vpmu_access vpmu_guest_access(struct vpmu_pcpu *p, struct vpmu_vcpu *v, uint32_t reg,
				   bool write, bool user, uint64_t *value)
{
	enum vpmu_access done;

	if (!v->vm->guest_pmu)
		return VPMU_FOREIGN;
	/* It may have been idle when it came here; it is not when it leaves. */
	v->on = p;
	p->runs = v;
	if (vpmu_direct(p)) {
		vpmu_direct_begin(p, v, reg, user);
		done = access(v, reg, write, user, value);
		vpmu_direct_end(p, v);
	} else {
		done = access(v, reg, write, user, value);
	}
	if (done != VPMU_FOREIGN)
		v->touched = true;
	return done;
}

bool vpmu_interrupt(struct vpmu_pcpu *p, const struct vpmu_where *w)
{
	const struct vpmu *m = p->m;
	uint64_t mask = m->caps.topbit ? p->irqs & p->armed : p->irqs;
	uint64_t bits = mask ? m->family->overflowed(&p->hw, &m->caps, mask) : 0;

	if (p->holds && p->holds->direct)
		bits |= m->family->direct_overflowed(&p->hw, &m->caps);
	if (bits & m->caps.host)
		vpmu_host_interrupt(p, bits & m->caps.host, w);
	if (bits & m->caps.guest)
		vpmu_bank_interrupt(p, bits & m->caps.guest);
	return bits;
}
