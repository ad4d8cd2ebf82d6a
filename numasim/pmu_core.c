/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "numasim/pmu_impl.h"

#define PS 1000 /* of a ns */
#define NO_MARK UINT64_MAX

/* Nehalem's: version 3, 4 counters and 3 fixed ones of 48 bits, no full-width writes. Of
 * the architectural events there are no bus cycles, branches, or top-down slots. */
static const struct pmu_intel_config config = {
	.version = 3,
	.gp = 4,
	.gp_width = 48,
	.fixed = 3,
	.fixed_width = 48,
	.vmx = true,
	.absent = 1 << 2 | 1 << 5 | 1 << 6 | 1 << 7,
};

/* ---- the hardware, as core/ reaches it; a #GP is a fault in core/: Xen would die */

static uint64_t op_read(void *ctx, uint32_t reg)
{
	const struct pmu_x86 *x = &((struct core_pmu *)ctx)->regs.x86;
	uint64_t value = 0;

	if (!x->rdmsr(x, reg, &value))
		abort();
	return value;
}

static void op_write(void *ctx, uint32_t reg, uint64_t value)
{
	struct core_pmu *c = ctx;

	if (!c->regs.x86.wrmsr(&c->regs.x86, reg, value))
		abort();
	c->changed = true;
}

static void op_sync(void *ctx)
{
	(void)ctx;
}

static uint64_t op_now(void *ctx)
{
	const struct core_pmu *c = ctx;

	return machine_now(c->u->machine, c->core) / PS;
}

static const struct vpmu_hw_ops ops = { op_read, op_write, op_sync, op_now };

/* ---- overflow */

/*
 * A counter that sums n raw counts may overflow once one of them has grown by the n-th
 * part of what is left; not before.
 */
static void mark_counter(const struct core_pmu *c, unsigned counter,
			 uint64_t marks[CORE_EVENTS])
{
	const struct wire *w = &c->wired.counter[counter].wire;
	uint64_t room = pmu_x86_room(&c->regs.x86, counter);

	for (unsigned i = 0; i < w->n; i++) {
		uint64_t at = c->wired.raw[w->raw[i]] + (room + w->n - 1) / w->n;

		if (at < marks[w->raw[i]])
			marks[w->raw[i]] = at;
	}
}

static void mark(struct core_pmu *c)
{
	const struct pmu_x86 *x = &c->regs.x86;
	uint64_t marks[CORE_EVENTS];

	for (unsigned i = 0; i < CORE_EVENTS; i++)
		marks[i] = NO_MARK;
	for (uint64_t left = c->wired.on; left; left &= left - 1) {
		unsigned counter = (unsigned)__builtin_ctzll(left);

		if (x->interrupts(x, counter))
			mark_counter(c, counter, marks);
	}
	for (unsigned i = 0; i < CORE_EVENTS; i++) {
		if (marks[i] == c->mark[i])
			continue;
		c->mark[i] = marks[i];
		machine_mark(c->u->machine, c->core, i, marks[i]);
	}
}

static void interrupt(struct core_pmu *c)
{
	struct vpmu_where where;

	if (!c->regs.x86.waiting)
		return;
	c->regs.x86.waiting = false;
	c->u->where(c->u->ctx, c->core, &where);
	vpmu_interrupt(&c->p, &where);
}

/* ---- bringing it up to date */

/* Requests in flight are summed up only when asked for. */
static bool lags(const struct core_pmu *c)
{
	for (uint64_t left = c->wired.on; left; left &= left - 1) {
		unsigned counter = (unsigned)__builtin_ctzll(left);
		const struct wire *w = &c->wired.counter[counter].wire;

		if (w->n &&
		    (w->raw[0] == CORE_OUTSTANDING || w->raw[0] == CORE_OUTSTANDING_CYCLES))
			return true;
	}
	return false;
}

static void settle(struct core_pmu *c)
{
	struct machine *m = c->u->machine;

	c->busy = true;
	machine_settle(m, c->core / c->u->spec->cores, machine_now(m, c->core));
	c->busy = false;
}

void core_pmu_begin(struct core_pmu *c)
{
	if (lags(c))
		settle(c);
	pmu_wired_fold(&c->wired);
	interrupt(c);
}

void core_pmu_end(struct core_pmu *c)
{
	if (c->changed) {
		pmu_wired_follow(&c->wired);
		if (lags(c)) { /* what was in flight before is not its */
			settle(c);
			pmu_wired_follow(&c->wired);
		}
	}
	c->changed = false;
	mark(c);
}

void core_pmu_alarm(void *pmu, unsigned core)
{
	struct core_pmu *c = &((struct pmu *)pmu)->cores[core];

	if (c->busy)
		return;
	core_pmu_begin(c);
	core_pmu_end(c);
}

void core_pmu_refresh(struct core_pmu *c)
{
	core_pmu_begin(c);
	vpmu_host_refresh(&c->p, c->runs);
	core_pmu_end(c);
}

/* Who reads a ring looks into it when he likes. */
static void wake(struct vpmu_set *set)
{
	(void)set;
}

int core_pmu_init(struct core_pmu *c, struct pmu *u, unsigned core)
{
	const struct vpmu_hw hw = { &ops, c };
	const char *why;
	int ret;

	c->u = u;
	c->core = core;
	pmu_intel_init(&c->regs, &config);
	c->wired = (struct pmu_wired) {
		.pmu = &c->regs.x86,
		.raw = machine_core_events(u->machine, core),
		.find = wire_core,
		.model = u->spec->pmu,
		.mode = VPMU_MODE_HYP,
	};
	for (unsigned i = 0; i < CORE_EVENTS; i++)
		c->mark[i] = NO_MARK;
	if (!u->m.family) {
		static const struct vpmu_upcalls upcalls = { .wake = wake };
		const struct vpmu_config all = { .host_counters = (int)config.gp,
						 .turn_ns = PMU_TURN_NS / 4 * 3 };

		ret = vpmu_init(&u->m, &vpmu_intel, &upcalls, &all, &hw, &why);
		if (ret)
			return ret;
	}
	ret = vpmu_pcpu_up(&c->p, &u->m, core, &hw, &why);
	core_pmu_end(c);
	return ret;
}

/* ---- what the hypervisor calls */

static void set_mode(struct core_pmu *c, enum vpmu_mode mode)
{
	c->changed |= mode != c->wired.mode;
	c->wired.mode = mode;
}

void pmu_in(struct pmu *u, unsigned core, unsigned vm, unsigned vcpu)
{
	struct core_pmu *c = &u->cores[core];
	struct vpmu_vcpu *v = &u->vms[vm]->vcpu[vcpu];

	core_pmu_begin(c);
	c->runs = v;
	if (!vpmu_idle_in(v))
		vpmu_switch_in(&c->p, v);
	set_mode(c, VPMU_MODE_USER);
	core_pmu_end(c);
}

void pmu_out(struct pmu *u, unsigned core, const struct vpmu_where *w)
{
	struct core_pmu *c = &u->cores[core];

	core_pmu_begin(c);
	if (!vpmu_idle_out(c->runs))
		vpmu_switch_out(&c->p, c->runs, w);
	c->runs = NULL;
	set_mode(c, VPMU_MODE_HYP);
	core_pmu_end(c);
}

void pmu_enter(struct pmu *u, unsigned core, enum vpmu_mode mode)
{
	struct core_pmu *c = &u->cores[core];

	core_pmu_begin(c);
	set_mode(c, mode);
	core_pmu_end(c);
}

void pmu_tick(struct pmu *u, unsigned core)
{
	struct core_pmu *c = &u->cores[core];

	if (vpmu_host_turns(&c->p)) {
		core_pmu_begin(c);
		vpmu_host_turn(&c->p);
		core_pmu_end(c);
	}
	if (core % u->spec->cores == 0)
		socket_pmu_turn(&u->sockets[core / u->spec->cores]);
}
