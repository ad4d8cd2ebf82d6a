/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "core/pmu/nehalem_uncore_regs.h"
#include "numasim/pmu_impl.h"

#define PS 1000 /* of a ns */

static uint64_t op_read(void *ctx, uint32_t reg)
{
	const struct pmu_x86 *x = &((struct socket_pmu *)ctx)->regs.x86;
	uint64_t value = 0;

	if (!x->rdmsr(x, reg, &value))
		abort();
	return value;
}

static void op_write(void *ctx, uint32_t reg, uint64_t value)
{
	struct pmu_x86 *x = &((struct socket_pmu *)ctx)->regs.x86;

	if (!x->wrmsr(x, reg, value))
		abort();
}

static void op_sync(void *ctx)
{
	(void)ctx;
}

static uint64_t op_now(void *ctx)
{
	return ((struct socket_pmu *)ctx)->now_ns;
}

static const struct vpmu_hw_ops ops = { op_read, op_write, op_sync, op_now };

/* The time that any core has come to. */
static uint64_t latest(const struct pmu *u)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < u->ncores; i++) {
		uint64_t now = machine_now(u->machine, i);

		at = now > at ? now : at;
	}
	return at;
}

void socket_pmu_begin(struct socket_pmu *s)
{
	uint64_t at = latest(s->u);

	s->now_ns = at / PS;
	machine_settle(s->u->machine, s->node, at);
	pmu_wired_fold(&s->wired);
}

void socket_pmu_end(struct socket_pmu *s)
{
	pmu_wired_follow(&s->wired);
}

void socket_pmu_refresh(struct socket_pmu *s)
{
	socket_pmu_begin(s);
	vpmu_host_refresh(&s->p, &s->v);
	socket_pmu_end(s);
}

void socket_pmu_turn(struct socket_pmu *s)
{
	if (!vpmu_host_turns(&s->p))
		return;
	socket_pmu_begin(s);
	vpmu_host_turn(&s->p);
	socket_pmu_end(s);
}

int socket_pmu_init(struct socket_pmu *s, struct pmu *u, unsigned node)
{
	const struct vpmu_hw hw = { &ops, s };
	const char *why;
	int ret;

	s->u = u;
	s->node = node;
	/* What is not Nehalem has Westmere's, whatever its cores are. */
	pmu_uncore_init(&s->regs, u->spec->pmu);
	s->wired = (struct pmu_wired) {
		.pmu = &s->regs.x86,
		.raw = machine_node_events(u->machine, node),
		.find = wire_uncore,
		.model = u->spec->pmu,
		.mode = VPMU_MODE_HYP,
	};
	if (!u->uncore.family) {
		static const struct vpmu_upcalls none;
		const struct vpmu_config all = { .host_counters = UNCORE_GP,
						 .turn_ns = PMU_TURN_NS / 4 * 3 };

		ret = vpmu_init(&u->uncore, &vpmu_nehalem_uncore, &none, &all, &hw, &why);
		if (ret)
			return ret;
	}
	ret = vpmu_pcpu_up(&s->p, &u->uncore, node, &hw, &why);
	if (ret)
		return ret;
	vpmu_vm_init(&s->vm, &u->uncore, false, NULL);
	vpmu_vcpu_init(&s->v, &s->vm, 0, NULL);
	vpmu_switch_in(&s->p, &s->v);
	socket_pmu_end(s);
	return 0;
}
