/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/err.h"
#include "core/host.h"
#include "core/slots.h"
#include "core/vpmu.h"

/* ---- event sets */

static int event_check(const struct vpmu *m, struct vpmu_set *set, unsigned i, bool hyp)
{
	const struct vpmu_event *e = &set->event[i];
	uint32_t allowed = hyp ? VPMU_EVENT_HYP : VPMU_EVENT_USER | VPMU_EVENT_KERNEL;
	uint64_t shortest = hyp ? VPMU_PERIOD_MIN_HYP : VPMU_PERIOD_MIN, taken;
	int rc;

	if (e->zero || !e->flags || e->flags & ~allowed)
		return -VPMU_EINVAL;
	if (e->period && (e->period < shortest || e->period > VPMU_PERIOD_MAX))
		return -VPMU_EINVAL;
	rc = m->family->encode(&m->caps, e, &set->select[i], &set->may[i]);
	if (rc)
		return rc;
	taken = set->may[i] & m->caps.given;
	set->may[i] &= m->caps.host;
	if (set->may[i])
		return 0;
	return taken ? -VPMU_EBUSY : -VPMU_EOPNOTSUPP;
}

int vpmu_set_check(const struct vpmu *m, struct vpmu_set *set, bool hyp, unsigned *bad)
{
	*bad = set->n;
	if (!set->n || set->n > VPMU_SET_EVENTS)
		return -VPMU_EINVAL;
	for (unsigned i = 0; i < set->n; i++) {
		int rc = event_check(m, set, i, hyp);

		if (rc) {
			*bad = i;
			return rc;
		}
	}
	return 0;
}

static uint64_t used(const struct vpmu_plan *plan)
{
	return plan ? plan->used : 0;
}

static struct vpmu_plan *spare(struct vpmu_plan plans[2], const struct vpmu_plan *in_use)
{
	return &plans[in_use == &plans[0]];
}

static void publish(const struct vpmu_plan **to, const struct vpmu_plan *plan)
{
	__atomic_store_n(to, plan->nslots ? plan : NULL, __ATOMIC_RELEASE);
}

static void publish_vm(struct vpmu_vm *vm)
{
	__atomic_store_n(&vm->stirred, true, __ATOMIC_RELAXED);
	publish(&vm->plan, spare(vm->plans, vm->plan));
}

static int plan_vm(struct vpmu_vm *vm, uint64_t hyp_counters)
{
	const struct vpmu_caps *caps = &vm->m->caps;

	return vpmu_budget_plan(vm->sets, caps->host & ~hyp_counters, caps->kick, false,
				spare(vm->plans, vm->plan));
}

/* The hypervisor's plan, and with it those of all VMs: all of them new, or none. */
static int replan_all(struct vpmu *m)
{
	struct vpmu_plan *hyp = spare(m->plans, m->hyp_plan);
	int rc = vpmu_budget_plan(m->hyp_sets, m->caps.host, m->caps.kick, true, hyp);

	for (struct vpmu_vm *vm = m->vms; vm && !rc; vm = vm->next)
		rc = plan_vm(vm, hyp->used);
	if (rc)
		return rc;
	for (struct vpmu_vm *vm = m->vms; vm; vm = vm->next)
		publish_vm(vm);
	publish(&m->hyp_plan, hyp);
	return 0;
}

static int replan(struct vpmu *m, struct vpmu_vm *vm)
{
	int rc;

	if (!vm)
		return replan_all(m);
	rc = plan_vm(vm, used(m->hyp_plan));
	if (!rc)
		publish_vm(vm);
	return rc;
}

static struct vpmu_set **sets_of(struct vpmu *m, struct vpmu_vm *vm)
{
	return vm ? &vm->sets : &m->hyp_sets;
}

static void unlink_set(struct vpmu_set **list, struct vpmu_set *set)
{
	while (*list && *list != set)
		list = &(*list)->next;
	if (*list)
		*list = set->next;
}

static void unlink_vm(struct vpmu *m, struct vpmu_vm *vm)
{
	struct vpmu_vm **list = &m->vms;

	while (*list && *list != vm)
		list = &(*list)->next;
	if (*list)
		*list = vm->next;
}

int vpmu_host_add(struct vpmu *m, struct vpmu_vm *vm, struct vpmu_set *set)
{
	struct vpmu_set **end = sets_of(m, vm);
	int rc;

	for (unsigned t = 0; t < set->ntallies; t++)
		for (unsigned i = 0; i < set->n; i++)
			set->tally[t].count[i].left = set->event[i].period;
	while (*end)
		end = &(*end)->next;
	set->next = NULL;
	*end = set;
	rc = replan(m, vm);
	if (rc) {
		*end = NULL;
		return rc;
	}
	if (vm && vm->sets == set) {
		vm->next = m->vms;
		m->vms = vm;
	}
	return 0;
}

void vpmu_host_remove(struct vpmu *m, struct vpmu_vm *vm, struct vpmu_set *set)
{
	unlink_set(sets_of(m, vm), set);
	if (vm && !vm->sets)
		unlink_vm(m, vm);
	/* Cannot fail: what is left fitted beside it. */
	(void)replan(m, vm);
}

int vpmu_host_give(struct vpmu *m, uint64_t counters)
{
	uint64_t host = m->caps.host;
	int rc;

	m->caps.host &= ~counters;
	rc = replan_all(m);
	if (rc)
		m->caps.host = host;
	else
		m->caps.given |= counters & host;
	return rc;
}

/* ---- what runs here */

static struct vpmu_side hyp_side(const struct vpmu_pcpu *p)
{
	return (struct vpmu_side) { .plan = p->hyp_plan, .index = p->index };
}

/*
 * The newest plans of VM and hypervisor may have been made for each other while only
 * one of them is loaded here yet: the hypervisor's counters are its own until then.
 */
static struct vpmu_side vm_side(const struct vpmu_pcpu *p, const struct vpmu_vcpu *v)
{
	return (struct vpmu_side) {
		.plan = p->plan,
		.denied = used(p->hyp_plan),
		.turn = v->turn,
		.index = v->index,
	};
}

static void fold_vm(struct vpmu_pcpu *p, struct vpmu_vcpu *v, uint64_t now)
{
	struct vpmu_side side = vm_side(p, v);

	vpmu_slots_fold(p, &side, now - p->since_ns);
	v->turn_ns += now - p->since_ns;
	p->since_ns = now;
}

static void fold(struct vpmu_pcpu *p, uint64_t now)
{
	if (p->plan)
		fold_vm(p, p->runs, now);
	if (p->hyp_plan) {
		struct vpmu_side side = hyp_side(p);

		vpmu_slots_fold(p, &side, now - p->hyp_since_ns);
		p->hyp_since_ns = now;
	}
}

void vpmu_host_fold(struct vpmu_pcpu *p)
{
	if (p->plan || p->hyp_plan)
		fold(p, vpmu_hw_now(&p->hw));
}

static void load_vm(struct vpmu_pcpu *p, struct vpmu_vcpu *v, const struct vpmu_plan *plan)
{
	struct vpmu_side side;

	p->plan = plan;
	if (v->turn_ns >= p->m->config.turn_ns) {
		v->turn_ns = 0;
		v->turn++;
	}
	if (v->turn >= plan->nturns)
		v->turn = 0;
	side = vm_side(p, v);
	vpmu_slots_load(p, &side);
	p->since_ns = vpmu_hw_now(&p->hw);
}

static void load_hyp(struct vpmu_pcpu *p, const struct vpmu_plan *plan)
{
	struct vpmu_side side;

	p->hyp_plan = plan;
	if (!plan)
		return;
	side = hyp_side(p);
	vpmu_slots_load(p, &side);
	p->hyp_since_ns = vpmu_hw_now(&p->hw);
}

static void unload(struct vpmu_pcpu *p)
{
	if (p->plan) {
		struct vpmu_side vm = vm_side(p, p->runs);

		vpmu_slots_unload(p, &vm);
	}
	if (p->hyp_plan) {
		struct vpmu_side hyp = hyp_side(p);

		vpmu_slots_unload(p, &hyp);
	}
}

void vpmu_host_in(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	const struct vpmu_plan *plan = __atomic_load_n(&v->vm->plan, __ATOMIC_ACQUIRE);

	if (plan)
		load_vm(p, v, plan);
}

void vpmu_host_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v, const struct vpmu_where *w)
{
	struct vpmu_side side = vm_side(p, v);

	if (!p->plan)
		return;
	fold_vm(p, v, vpmu_hw_now(&p->hw));
	if (p->plan->sampling) {
		vpmu_slots_unload(p, &side);
		vpmu_slots_sample(p, &side, w, VPMU_SAMPLE_LATE, p->since_ns);
	}
	p->plan = NULL;
}

void vpmu_host_refresh(struct vpmu_pcpu *p, struct vpmu_vcpu *v)
{
	const struct vpmu_plan *hyp = __atomic_load_n(&p->m->hyp_plan, __ATOMIC_ACQUIRE);
	const struct vpmu_plan *vm =
		v ? __atomic_load_n(&v->vm->plan, __ATOMIC_ACQUIRE) : NULL;

	vpmu_host_fold(p);
	/* Counters that ran on for a set that may be gone by now. */
	vpmu_slots_stop(p, ~p->m->caps.guest & ~used(p->hyp_plan) & ~used(p->plan));
	if (hyp == p->hyp_plan && vm == p->plan)
		return;
	unload(p);
	vpmu_slots_stop(p, ~p->m->caps.guest & ~used(hyp) & ~used(vm));
	p->plan = NULL;
	load_hyp(p, hyp);
	if (!vm)
		return;
	/* Its way in was idle, and skipped; its way out is not. */
	v->on = p;
	p->runs = v;
	load_vm(p, v, vm);
}

bool vpmu_host_turns(const struct vpmu_pcpu *p)
{
	return p->plan && p->plan->nturns > 1;
}

void vpmu_host_turn(struct vpmu_pcpu *p)
{
	struct vpmu_vcpu *v = p->runs;
	struct vpmu_side side;

	if (!vpmu_host_turns(p))
		return;
	fold_vm(p, v, vpmu_hw_now(&p->hw));
	if (v->turn_ns < p->m->config.turn_ns)
		return;
	side = vm_side(p, v);
	vpmu_slots_unload(p, &side);
	load_vm(p, v, p->plan);
}

/* The samples that are due on @side. Those of @overflowed that only counted. */
static uint64_t interrupt(struct vpmu_pcpu *p, const struct vpmu_side *side,
			  uint64_t overflowed, const struct vpmu_where *w, uint64_t now)
{
	struct vpmu_where out = { .mode = VPMU_MODE_HYP, .pc = p->m->config.hyp_exit };
	bool hyp = side->plan == p->hyp_plan;
	uint64_t due = vpmu_slots_due(side);

	/*
	 * A VM's overflow that is only noticed in the hypervisor stays due: the next
	 * event of the vCPU, or its switch, tells where that is. Its ring never gets
	 * an address of the hypervisor, nor the hypervisor's one of a VM.
	 */
	if (due && hyp == (w->mode == VPMU_MODE_HYP))
		vpmu_slots_sample(p, side, w, 0, now);
	else if (due && hyp)
		vpmu_slots_sample(p, side, &out, VPMU_SAMPLE_LATE, now);
	if (due)
		vpmu_slots_rearm(p, side, due);
	return overflowed & ~vpmu_slots_sampling(side);
}

void vpmu_host_interrupt(struct vpmu_pcpu *p, uint64_t overflowed,
			 const struct vpmu_where *w)
{
	struct vpmu_side hyp = hyp_side(p), vm = { 0 };
	uint64_t now;

	overflowed &= p->m->caps.host;
	if (!overflowed)
		return;
	/* First: an overflow from here on is another interrupt. */
	p->m->family->clear(&p->hw, &p->m->caps, overflowed);
	now = vpmu_hw_now(&p->hw);
	fold(p, now);
	if (p->plan) {
		vm = vm_side(p, p->runs);
		overflowed = interrupt(p, &vm, overflowed, w, now);
	}
	if (p->hyp_plan)
		overflowed = interrupt(p, &hyp, overflowed, w, now);
	/* They have wrapped, be it while someone ran who does not count them. */
	vpmu_slots_rewind(p, overflowed);
	if (p->plan)
		vpmu_slots_begin(p, &vm, overflowed);
	if (p->hyp_plan)
		vpmu_slots_begin(p, &hyp, overflowed);
}

/* ---- reading, from anywhere */

/* offset.start is of use to the pCPU that counts only, and changes at any time. */
static void copy(struct vpmu_count *to, const struct vpmu_count *from)
{
	to->offset.sum = __atomic_load_n(&from->offset.sum, __ATOMIC_RELAXED);
	to->enabled_ns = __atomic_load_n(&from->enabled_ns, __ATOMIC_RELAXED);
	to->running_ns = __atomic_load_n(&from->running_ns, __ATOMIC_RELAXED);
	to->left = __atomic_load_n(&from->left, __ATOMIC_RELAXED);
	to->taken = __atomic_load_n(&from->taken, __ATOMIC_RELAXED);
	to->lost = __atomic_load_n(&from->lost, __ATOMIC_RELAXED);
}

#define READ_TRIES 1000

int vpmu_tally_read(const struct vpmu_tally *tally, struct vpmu_count out[VPMU_SET_EVENTS])
{
	for (unsigned tries = 0; tries < READ_TRIES; tries++) {
		uint32_t before = __atomic_load_n(&tally->sequence, __ATOMIC_ACQUIRE);

		for (unsigned i = 0; i < VPMU_SET_EVENTS; i++)
			copy(&out[i], &tally->count[i]);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) &&
		    before == __atomic_load_n(&tally->sequence, __ATOMIC_RELAXED))
			return 0;
	}
	return -VPMU_EAGAIN;
}
