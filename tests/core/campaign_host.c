/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hypervisor of a campaign: what core/vpmu.h and core/host.h ask of their caller. */
#include <stdlib.h>
#include <string.h>

#include "tests/core/campaign_state.h"

static void raise_interrupt(struct vpmu_vcpu *v)
{
	struct c_vcpu *cv = v->cookie;

	cv->told = true;
	cv->result->raised++;
}

static void trap_changed(struct vpmu_vcpu *v, bool on)
{
	((struct c_vcpu *)v->cookie)->trapped = on;
}

static void wake(struct vpmu_set *set)
{
	(void)set;
}

static const struct vpmu_upcalls upcalls = { raise_interrupt, trap_changed, wake };

/* Traps as the vCPU that runs wants them; of one without a PMU everything traps. */
static void set_traps(struct c_pcpu *p)
{
	if (p->hw->model->trap)
		p->hw->model->trap(p->hw, !p->runs || p->runs->trapped);
}

/* ---- pCPUs */

static void up(struct campaign *c, struct c_pcpu *p)
{
	const struct vpmu_family *family = c->variant->family;
	unsigned index = p - c->pcpu;
	const char *why;

	p->hw->model->reset(p->hw);
	if (vpmu_pcpu_up(&p->p, &c->m, index, &p->hw->hw, &why)) {
		c_fail(c, "pCPU %u: %s", index, why);
		return;
	}
	if (p->hw->model->ack)
		p->hw->model->ack(p->hw);
	p->up = true;
	p->late = false;
	/* Near their end, so that those that only count wrap too. */
	for (uint64_t left = c->m.caps.host & ~p->p.counting; left; left &= left - 1) {
		unsigned i = __builtin_ctzll(left);
		unsigned width = family->width(&c->m.caps, i);

		family->write(&p->p.hw, &c->m.caps, i,
			      -(uint64_t)(3000 * (i + 1)) & vpmu_width_mask(width));
	}
	set_traps(p);
}

void c_plug(struct campaign *c, struct c_pcpu *p)
{
	if (!p->up) {
		up(c, p);
		return;
	}
	c_switch(c, p, NULL, false);
	p->late = false;
	c_interrupt(c, p, VPMU_MODE_HYP);
	vpmu_pcpu_down(&p->p);
	p->up = false;
}

void c_switch(struct campaign *c, struct c_pcpu *p, struct c_vcpu *to, bool skip)
{
	struct c_vcpu *from = p->runs;

	if (to && to->pcpu >= 0)
		return; /* it runs, here or elsewhere */
	if (from) {
		if (!skip || !vpmu_idle_out(&from->v))
			vpmu_switch_out(&p->p, &from->v, &from->where);
		from->pcpu = -1;
		p->runs = NULL;
	}
	if (to) {
		struct vpmu_pcpu *holder = vpmu_holder(&to->v);

		if (holder && holder != &p->p)
			vpmu_fetch(holder, &to->v);
		if (!skip || !vpmu_idle_in(&to->v))
			vpmu_switch_in(&p->p, &to->v);
		to->pcpu = p - c->pcpu;
		p->runs = to;
	}
	set_traps(p);
}

static bool ack(struct c_pcpu *p)
{
	if (!p->hw->model->irq_line(p->hw))
		return false;
	if (p->hw->model->ack)
		p->hw->model->ack(p->hw);
	return true;
}

void c_interrupt(struct campaign *c, struct c_pcpu *p, enum vpmu_mode mode)
{
	for (unsigned times = 0; ack(p); times++) {
		struct vpmu_where where = { .mode = VPMU_MODE_HYP, .pc = c_pc(0, 0) };

		if (p->runs && mode != VPMU_MODE_HYP)
			where = p->runs->where;
		if (times == 3) {
			c_fail(c, "pCPU %u: its interrupt does not end", p->p.index);
			return;
		}
		vpmu_interrupt(&p->p, &where);
		c->result->interrupts++;
		set_traps(p);
	}
}

/* ---- VMs */

static void new_bare(struct campaign *c, struct c_vcpu *v)
{
	free(v->bare);
	v->bare = NULL;
	if (v->v.vm->guest_pmu)
		v->bare = c->variant->bare(c->variant, &c->m.caps, &c->clock);
}

static void create(struct campaign *c, struct c_vm *vm)
{
	bool guest_pmu = vm != &c->vm[CAMPAIGN_VMS - 1];

	vm->serial = ++c->serial;
	vpmu_vm_init(&vm->vm, &c->m, guest_pmu, vm);
	for (unsigned i = 0; i < CAMPAIGN_VCPUS; i++) {
		struct c_vcpu *v = &vm->vcpu[i];
		struct hw *bare = v->bare;

		*v = (struct c_vcpu) {
			.bare = bare, .pcpu = -1, .trapped = true, .result = c->result
		};
		v->where = (struct vpmu_where) { VPMU_MODE_KERNEL, c_pc(vm->serial, i) };
		vpmu_vcpu_init(&v->v, &vm->vm, i, v);
		new_bare(c, v);
	}
}

/* Off its pCPU, and its bank out of the one that holds it. */
static void quiesce(struct campaign *c, struct c_vcpu *v)
{
	struct vpmu_pcpu *holder;

	if (v->pcpu >= 0)
		c_switch(c, &c->pcpu[v->pcpu], NULL, false);
	holder = vpmu_holder(&v->v);
	if (holder)
		vpmu_fetch(holder, &v->v);
}

void c_reset_vcpu(struct campaign *c, struct c_vcpu *v)
{
	quiesce(c, v);
	vpmu_vcpu_reset(&v->v);
	new_bare(c, v);
}

void c_destroy(struct campaign *c, struct c_vm *vm)
{
	for (unsigned i = 0; i < CAMPAIGN_VCPUS; i++)
		quiesce(c, &vm->vcpu[i]);
	for (unsigned i = 0; i < C_SETS; i++)
		c_close(c, vm, &vm->set[i]);
	create(c, vm);
}

/* ---- sets */

static void refresh(struct campaign *c)
{
	for (unsigned i = 0; i < CAMPAIGN_PCPUS; i++) {
		struct c_pcpu *p = &c->pcpu[i];

		if (p->up)
			vpmu_host_refresh(&p->p, p->runs ? &p->runs->v : NULL);
	}
}

static void choose(struct campaign *c, struct c_set *s, bool hyp, struct campaign_random *r)
{
	s->set.n = 1 + campaign_below(r, 4);
	for (unsigned i = 0; i < s->set.n; i++) {
		struct vpmu_event *e = &s->set.event[i];

		e->config = c->variant->events[campaign_below(r, CAMPAIGN_EVENTS)];
		e->flags = hyp ? VPMU_EVENT_HYP : 1 + campaign_below(r, 3);
		if (campaign_below(r, 2))
			e->period = (hyp ? VPMU_PERIOD_MIN_HYP : VPMU_PERIOD_MIN) +
				    campaign_below(r, 5000);
	}
}

static void give_rings(struct campaign *c, struct c_set *s)
{
	for (unsigned t = 0; t < s->set.ntallies; t++) {
		s->ring[t] = aligned_alloc(VPMU_RING_PAGE, 2 * VPMU_RING_PAGE);
		if (!s->ring[t])
			abort();
		memset(s->ring[t], 0, 2 * VPMU_RING_PAGE);
		if (vpmu_ring_init(&s->tally[t].ring, s->ring[t], C_RING) ||
		    vpmu_reader_init(&s->reader[t], s->ring[t], C_RING))
			c_fail(c, "a ring was refused");
	}
}

static void forget(struct c_set *s)
{
	for (unsigned t = 0; t < C_TALLIES; t++)
		free(s->ring[t]);
	*s = (struct c_set) { .open = false };
}

static void start_threads(struct c_vm *vm)
{
	for (unsigned i = 0; i < CAMPAIGN_VCPUS; i++) {
		struct c_vcpu *v = &vm->vcpu[i];

		memset(v->thread, 0, sizeof(v->thread));
		memset(v->thread_expected, 0, sizeof(v->thread_expected));
	}
}

void c_open(struct campaign *c, struct c_vm *vm, struct c_set *s, uint64_t of)
{
	struct campaign_random r = { of };
	unsigned bad;

	if (s->open)
		return;
	choose(c, s, !vm, &r);
	s->set.tally = s->tally;
	s->set.ntallies = vm ? CAMPAIGN_VCPUS : CAMPAIGN_PCPUS;
	if (vpmu_set_check(&c->m, &s->set, !vm, &bad) == 0) {
		if (campaign_below(&r, 8))
			give_rings(c, s);
		s->open = vpmu_host_add(&c->m, vm ? &vm->vm : NULL, &s->set) == 0;
	}
	if (!s->open) {
		forget(s);
		return;
	}
	refresh(c);
	if (vm && s == &vm->set[0])
		start_threads(vm);
	if (vm && vm->vm.plan->nturns > 1)
		c->result->multiplexed++;
}

void c_close(struct campaign *c, struct c_vm *vm, struct c_set *s)
{
	if (!s->open)
		return;
	vpmu_host_remove(&c->m, vm ? &vm->vm : NULL, &s->set);
	refresh(c);
	c_check_set(c, vm, s);
	for (unsigned t = 0; t < s->set.ntallies; t++)
		c->result->lost += s->tally[t].ring.lost;
	forget(s);
}

/* ---- guests */

void c_access(struct campaign *c, struct c_pcpu *p, const struct campaign_access *access)
{
	c_compare(c, p, access);
	set_traps(p);
}

void c_begin(struct campaign *c)
{
	const struct campaign_variant *variant = c->variant;
	const char *why;

	c->clock = 1000;
	for (unsigned i = 0; i < CAMPAIGN_PCPUS; i++)
		c->pcpu[i].hw = variant->machine(variant, &c->clock);
	if (vpmu_init(&c->m, variant->family, &upcalls, &variant->config,
		      &c->pcpu[0].hw->hw, &why)) {
		c_fail(c, "%s", why);
		return;
	}
	for (unsigned i = 0; i < CAMPAIGN_PCPUS; i++)
		up(c, &c->pcpu[i]);
	for (unsigned i = 0; i < CAMPAIGN_VMS; i++)
		create(c, &c->vm[i]);
}

void c_end(struct campaign *c)
{
	for (unsigned i = 0; i < CAMPAIGN_VMS; i++)
		for (unsigned j = 0; j < CAMPAIGN_VCPUS; j++) {
			free(c->vm[i].vcpu[j].bare);
		}
	for (unsigned i = 0; i < CAMPAIGN_VMS; i++)
		for (unsigned j = 0; j < C_SETS; j++)
			forget(&c->vm[i].set[j]);
	for (unsigned j = 0; j < C_SETS; j++)
		forget(&c->hyp[j]);
	for (unsigned i = 0; i < CAMPAIGN_PCPUS; i++)
		free(c->pcpu[i].hw);
}
