/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The oracle of a campaign, and what is held against it after each step. */
#include <inttypes.h>
#include <string.h>

#include "tests/core/campaign_state.h"

/* ---- sets: counts */

/* The slot by which event @i of @s counts on @p now, or NULL. */
static const struct vpmu_slot *slot_on(const struct c_pcpu *p, bool hyp,
				       const struct c_set *s, unsigned i)
{
	const struct vpmu_plan *plan = hyp ? p->p.hyp_plan : p->p.plan;

	for (unsigned k = 0; plan && k < plan->nslots; k++)
		if (plan->slot[k].set == &s->set && plan->slot[k].event == i &&
		    (hyp || plan->slot[k].turn == p->runs->v.turn))
			return &plan->slot[k];
	return NULL;
}

/* Where tally @t of a set is being counted, or NULL. */
static struct c_pcpu *counted_on(struct campaign *c, struct c_vm *vm, unsigned t)
{
	if (!vm)
		return c->pcpu[t].up ? &c->pcpu[t] : NULL;
	return vm->vcpu[t].pcpu < 0 ? NULL : &c->pcpu[vm->vcpu[t].pcpu];
}

/* What event @i of tally @t has counted since it was last folded. */
static uint64_t unfolded(struct campaign *c, struct c_vm *vm, const struct c_set *s,
			 unsigned t, unsigned i)
{
	const struct vpmu_family *family = c->variant->family;
	const struct c_pcpu *p = counted_on(c, vm, t);
	const struct vpmu_slot *slot = p ? slot_on(p, !vm, s, i) : NULL;
	struct vpmu_offset o = { .start = s->tally[t].count[i].offset.start };

	if (!slot)
		return 0;
	return vpmu_offset_value(&o, family->read(&p->p.hw, slot->counter),
				 family->width(&c->m.caps, slot->counter));
}

static uint64_t value(struct campaign *c, struct c_vm *vm, const struct c_set *s,
		      unsigned t, unsigned i)
{
	return s->tally[t].count[i].offset.sum + unfolded(c, vm, s, t, i);
}

static bool wants(const struct vpmu_event *e, enum vpmu_mode mode)
{
	switch (mode) {
	case VPMU_MODE_USER: return e->flags & VPMU_EVENT_USER;
	case VPMU_MODE_KERNEL: return e->flags & VPMU_EVENT_KERNEL;
	default: return e->flags & VPMU_EVENT_HYP;
	}
}

/* A VM's events are on all the time where they fit, else in turns. */
static bool has_turn(const struct c_vm *vm, const struct c_vcpu *v, const struct c_set *s,
		     unsigned i)
{
	const struct vpmu_plan *plan = vm->vm.plan;

	if (plan->nturns == 1)
		return true;
	for (unsigned k = 0; k < plan->nslots; k++)
		if (plan->slot[k].set == &s->set && plan->slot[k].event == i)
			return plan->slot[k].turn == v->v.turn;
	return false;
}

static void expect_set(struct campaign *c, struct c_pcpu *p, struct c_set *s, bool hyp,
		       unsigned event, enum vpmu_mode mode, uint64_t n)
{
	struct c_vcpu *v = hyp ? NULL : p->runs;
	unsigned t = hyp ? p->p.index : v->v.index;

	for (unsigned i = 0; s->open && i < s->set.n; i++) {
		if (s->set.event[i].config != c->variant->events[event] ||
		    !wants(&s->set.event[i], mode))
			continue;
		if (!hyp && !has_turn(c_vm_of(v), v, s, i))
			continue;
		s->expected[t][i] += n;
		if (!hyp && s == &c_vm_of(v)->set[0] && i == 0)
			v->thread_expected[v->current] += n;
	}
}

void c_expect(struct campaign *c, struct c_pcpu *p, unsigned event, enum vpmu_mode mode,
	      uint64_t n)
{
	for (unsigned i = 0; i < C_SETS; i++) {
		expect_set(c, p, &c->hyp[i], true, event, mode, n);
		if (p->runs)
			expect_set(c, p, &c_vm_of(p->runs)->set[i], false, event, mode, n);
	}
}

/* ---- sets: samples */

/* Is the sample of event @i taken, now that all its interrupts have been? */
static void check_due(struct campaign *c, struct c_vm *vm, const struct c_set *s,
		      unsigned t, unsigned i)
{
	const struct c_pcpu *p = counted_on(c, vm, t);
	int64_t left = s->tally[t].count[i].left;

	/*
	 * Due already when last folded: it waits for its turn, for its pCPU to come back,
	 * or for the vCPU to tell where it is, which it does at its switch at last.
	 */
	if (!s->set.event[i].period || (left <= 0 && (p || !vm || s->shares)))
		return;
	if (p && p->late)
		return;
	left -= (int64_t)unfolded(c, vm, s, t, i);
	if (left <= 0)
		c_fail(c, "event %u of tally %u: no sample, %" PRId64 " events late", i, t,
		       -left);
}

static void check_account(struct campaign *c, const struct c_set *s, unsigned t)
{
	const struct vpmu_ring *ring = &s->tally[t].ring;
	uint64_t taken = 0, lost = 0, page_taken, page_lost, waiting = 0;

	for (unsigned i = 0; i < s->set.n; i++) {
		taken += s->tally[t].count[i].taken;
		lost += s->tally[t].count[i].lost;
	}
	if (s->ring[t])
		waiting = vpmu_reader_waiting(&s->reader[t]);
	if (taken != ring->taken || lost != ring->lost ||
	    s->received[t] + waiting + lost != taken)
		c_fail(c,
		       "tally %u: received %" PRIu64 " + waiting %" PRIu64
		       " + lost %" PRIu64 " is not taken %" PRIu64,
		       t, s->received[t], waiting, lost, taken);
	if (!s->ring[t])
		return;
	if (!vpmu_reader_account(&s->reader[t], &page_taken, &page_lost) ||
	    page_taken != taken || page_lost != lost)
		c_fail(c, "tally %u: the page tells another account", t);
}

/* Each sample stands for its periods: with those under way they make the count. */
static void check_periods(struct campaign *c, const struct c_set *s, unsigned t, unsigned i)
{
	const struct vpmu_count *count = &s->tally[t].count[i];
	uint64_t period = s->set.event[i].period;
	uint64_t stood_for = count->offset.sum + count->left - period;

	if (!period)
		return;
	if (stood_for % period || s->periods[t][i] > stood_for)
		c_fail(c, "tally %u event %u: samples stand for %" PRIu64 " of %" PRIu64, t,
		       i, s->periods[t][i], stood_for);
	if (!count->lost && s->ring[t] && !vpmu_reader_waiting(&s->reader[t]) &&
	    s->periods[t][i] != stood_for)
		c_fail(c, "tally %u event %u: %" PRIu64 " events of %" PRIu64 " in samples",
		       t, i, s->periods[t][i], stood_for);
}

static void check_tally(struct campaign *c, struct c_vm *vm, struct c_set *s, unsigned t)
{
	for (unsigned i = 0; i < s->set.n; i++) {
		uint64_t now = value(c, vm, s, t, i);

		if (now != s->expected[t][i])
			c_fail(c,
			       "%s %u, tally %u, event %u: counted %" PRIu64
			       ", happened %" PRIu64,
			       vm ? "VM" : "hypervisor", vm ? vm->serial : 0, t, i, now,
			       s->expected[t][i]);
		if (now < s->last[t][i])
			c_fail(c, "tally %u, event %u: ran backwards", t, i);
		s->last[t][i] = now;
		if (!s->shares &&
		    s->tally[t].count[i].running_ns != s->tally[t].count[i].enabled_ns)
			c_fail(c, "tally %u, event %u: not always on a counter", t, i);
		check_due(c, vm, s, t, i);
		check_periods(c, s, t, i);
	}
	check_account(c, s, t);
}

void c_check_set(struct campaign *c, struct c_vm *vm, struct c_set *s)
{
	s->shares |= vm && vm->vm.plan && vm->vm.plan->nturns > 1;
	for (unsigned t = 0; t < s->set.ntallies; t++)
		check_tally(c, vm, s, t);
}

/* ---- rings */

static void check_sample(struct campaign *c, const struct c_vm *vm, struct c_set *s,
			 unsigned t, const struct vpmu_sample *r)
{
	uint64_t from = c_pc(vm ? vm->serial : 0, 0);
	uint64_t period = r->event < s->set.n ? s->set.event[r->event].period : 0;

	if (!period || r->period % period)
		c_fail(c, "a sample of event %u, period %" PRIu64, r->event, r->period);
	if (r->vcpu != t || r->pcpu >= CAMPAIGN_PCPUS || r->time > c->clock)
		c_fail(c, "a sample of vCPU %u, not %u, or of another time", r->vcpu, t);
	if (vm && (r->mode == VPMU_MODE_HYP || r->pc >> 24 != (from >> 24 | t)))
		c_fail(c,
		       "VM %u, vCPU %u has a sample in mode %u at 0x%" PRIx64
		       ", which is not its own",
		       vm->serial, t, r->mode, r->pc);
	if (!vm && (r->mode != VPMU_MODE_HYP || r->pc >> 32))
		c_fail(c, "the hypervisor has a sample in mode %u at 0x%" PRIx64, r->mode,
		       r->pc);
	s->received[t]++;
	s->periods[t][r->event] += r->period;
	c->result->samples++;
	c->result->late += r->flags & VPMU_SAMPLE_LATE ? 1 : 0;
}

void c_drain(struct campaign *c, struct c_vm *vm, struct c_set *s, uint64_t most)
{
	for (unsigned t = 0; s->open && t < s->set.ntallies; t++) {
		uint32_t n;

		if (!s->ring[t])
			continue;
		n = vpmu_reader_waiting(&s->reader[t]);
		n = n < most ? n : most;
		for (uint32_t i = 0; i < n; i++) {
			struct vpmu_sample sample;

			if (vpmu_reader_copy(&s->reader[t], i, &sample))
				check_sample(c, vm, s, t, &sample);
			else
				c_fail(c, "a record that makes no sense");
		}
		vpmu_reader_done(&s->reader[t], n);
	}
}

/* Until it drains again, the consumer has gone mad. */
void c_rubbish(struct c_set *s, uint64_t value)
{
	for (unsigned t = 0; s->open && t < s->set.ntallies; t++) {
		struct vpmu_ring_page *page = s->ring[t];

		if (!page)
			continue;
		page->magic = page->version = page->records = value;
		page->tail = page->head + 1 + value;
	}
}

/* ---- threads */

static bool has_threads(const struct c_vcpu *v)
{
	return ((struct c_vm *)v->v.vm->cookie)->set[0].open;
}

static uint64_t vcpu_value(struct campaign *c, struct c_vcpu *v)
{
	struct c_vm *vm = c_vm_of(v);

	return value(c, vm, &vm->set[0], v->v.index, 0);
}

static uint64_t register_of(void *ctx, unsigned index)
{
	(void)index;
	return *(uint64_t *)ctx;
}

void c_thread(struct campaign *c, struct c_pcpu *p, unsigned to)
{
	struct c_vcpu *v = p->runs;
	uint64_t logical, read;

	if (!v || !has_threads(v))
		return;
	logical = vcpu_value(c, v);
	vpmu_offset_stop(&v->thread[v->current], logical, 64);
	v->current = to % C_THREADS;
	vpmu_offset_start(&v->thread[v->current], logical);
	v->page.counters = 1;
	vpmu_page_publish(&v->page, 0, &v->thread[v->current], 0, 64, true);
	if (!vpmu_page_read(&v->page, 0, register_of, &logical, 1, &read) ||
	    read != v->thread[v->current].sum)
		c_fail(c, "the page tells a thread another count than its own");
}

static void check_threads(struct campaign *c, struct c_vcpu *v)
{
	uint64_t logical, sum = 0;

	if (!has_threads(v))
		return;
	logical = vcpu_value(c, v);
	for (unsigned i = 0; i < C_THREADS; i++) {
		uint64_t mine = v->thread[i].sum;

		if (i == v->current)
			mine = vpmu_offset_value(&v->thread[i], logical, 64);
		if (mine != v->thread_expected[i])
			c_fail(c,
			       "thread %u of vCPU %u counted %" PRIu64
			       ", happened %" PRIu64,
			       i, v->v.index, mine, v->thread_expected[i]);
		sum += mine;
	}
	if (sum != logical)
		c_fail(c, "threads and the rest make %" PRIu64 " of %" PRIu64, sum,
		       logical);
}

/* ---- guests */

static enum hw_access of_core(enum vpmu_access done)
{
	return done == VPMU_DONE ? HW_DONE : HW_REFUSED;
}

void c_compare(struct campaign *c, struct c_pcpu *p, const struct campaign_access *a)
{
	struct c_vcpu *v = p->runs;
	enum vpmu_mode mode = a->user ? VPMU_MODE_USER : VPMU_MODE_KERNEL;
	uint64_t value = a->value, bare_value = a->value;
	enum hw_access done = p->hw->model->guest(p->hw, mode, a->reg, a->write, &value);
	enum hw_access bare;

	if (!v->bare) {
		if (done == HW_DONE ||
		    (done == HW_EXIT && vpmu_guest_access(&p->p, &v->v, a->reg, a->write,
							  a->user, &value) != VPMU_FOREIGN))
			c_fail(c, "a guest without a PMU reaches register 0x%" PRIx32,
			       a->reg);
		return;
	}
	if (done == HW_EXIT)
		done = of_core(
			vpmu_guest_access(&p->p, &v->v, a->reg, a->write, a->user, &value));
	bare = v->bare->model->guest(v->bare, mode, a->reg, a->write, &bare_value);
	if (done != bare)
		c_fail(c, "register 0x%" PRIx32 "%s %s, on the bare machine it %s", a->reg,
		       a->write ? ", written," : ",",
		       done == HW_DONE ? "is there" : "is refused",
		       bare == HW_DONE ? "is there" : "is refused");
	else if (done == HW_DONE && !a->write && value != bare_value)
		c_fail(c,
		       "VM %u vCPU %u reads 0x%" PRIx64 " from register 0x%" PRIx32
		       ", on the bare machine 0x%" PRIx64,
		       c_vm_of(v)->serial, v->v.index, value, a->reg, bare_value);
}

static void check_view(struct campaign *c, struct c_pcpu *p)
{
	uint32_t regs[64];
	unsigned n;

	if (!p->runs || !p->runs->bare || !p->runs->v.touched)
		return;
	n = c->variant->view(&c->m.caps, regs);
	for (unsigned i = 0; i < n && !c->result->failed; i++) {
		struct campaign_access a = { .reg = regs[i] };

		c_access(c, p, &a);
	}
}

static void check_line(struct campaign *c, struct c_vcpu *v)
{
	bool is = vpmu_line(&v->v), should;

	if (is && !v->told)
		c_fail(c, "VM %u vCPU %u: nobody was told of its interrupt",
		       c_vm_of(v)->serial, v->v.index);
	if (v->v.line != is)
		c_fail(c, "VM %u vCPU %u: its line is not as it was told",
		       c_vm_of(v)->serial, v->v.index);
	v->told = v->told && is;
	/* An overflow that the core has not been told of yet is no interrupt yet. */
	if (!v->bare || v->pcpu < 0 || c->pcpu[v->pcpu].late)
		return;
	should = c->variant->line(v->bare);
	if (is != should)
		c_fail(c,
		       "VM %u vCPU %u: its interrupt line is %s, on the bare machine it "
		       "is %s",
		       c_vm_of(v)->serial, v->v.index, is ? "up" : "down",
		       should ? "up" : "down");
}

void c_check(struct campaign *c, bool look)
{
	for (unsigned i = 0; look && i < CAMPAIGN_PCPUS; i++)
		/* Reading takes over what an interrupt is on the way for. */
		if (c->pcpu[i].up && !c->pcpu[i].late)
			check_view(c, &c->pcpu[i]);
	for (unsigned i = 0; i < CAMPAIGN_VMS; i++) {
		struct c_vm *vm = &c->vm[i];

		for (unsigned j = 0; j < CAMPAIGN_VCPUS; j++) {
			check_line(c, &vm->vcpu[j]);
			check_threads(c, &vm->vcpu[j]);
		}
		for (unsigned j = 0; j < C_SETS; j++)
			if (vm->set[j].open)
				c_check_set(c, vm, &vm->set[j]);
	}
	for (unsigned j = 0; j < C_SETS; j++)
		if (c->hyp[j].open)
			c_check_set(c, NULL, &c->hyp[j]);
}
