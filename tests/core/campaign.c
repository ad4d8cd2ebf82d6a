/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/core/campaign_families.h"
#include "tests/core/campaign_state.h"

const struct campaign_family campaign_families[] = {
	{ "armv8", campaign_armv8 },
	{ "intel", campaign_intel },
	{ "amd", campaign_amd },
	{ NULL, NULL },
};

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators) */
uint64_t campaign_random(struct campaign_random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

uint32_t campaign_below(struct campaign_random *r, uint32_t n)
{
	return (uint32_t)(campaign_random(r) >> 32) % n;
}

void c_fail(struct campaign *c, const char *format, ...)
{
	va_list args;

	if (c->result->failed) /* what failed first tells most */
		return;
	c->result->failed = true;
	va_start(args, format);
	vsnprintf(c->result->why, sizeof(c->result->why), format, args);
	va_end(args);
}

/* ---- making steps */

static const struct {
	const char *name;
	unsigned weight;
} ops[STEPS] = {
	[STEP_RUN] = { "run", 200 },	   [STEP_RUN_LATE] = { "run-late", 200 },
	[STEP_IRQ] = { "interrupt", 80 },  [STEP_SWITCH] = { "switch", 150 },
	[STEP_ACCESS] = { "access", 200 }, [STEP_OPEN] = { "open", 14 },
	[STEP_CLOSE] = { "close", 6 },	   [STEP_DRAIN] = { "drain", 60 },
	[STEP_RUBBISH] = { "rubbish", 3 }, [STEP_THREAD] = { "thread", 50 },
	[STEP_TURN] = { "turn", 40 },	   [STEP_FOLD] = { "fold", 20 },
	[STEP_DESTROY] = { "destroy", 2 }, [STEP_RESET] = { "reset", 2 },
	[STEP_PLUG] = { "plug", 3 },
};

static unsigned pick_op(struct campaign_random *r)
{
	unsigned all = 0, op = 0, at;

	for (unsigned i = 0; i < STEPS; i++)
		all += ops[i].weight;
	at = campaign_below(r, all);
	while (at >= ops[op].weight)
		at -= ops[op++].weight;
	return op;
}

static struct campaign_step access_step(unsigned pcpu, const struct campaign_access *a)
{
	return (struct campaign_step) { STEP_ACCESS, pcpu,   a->write,
					a->user,     a->reg, a->value };
}

/* Usually what a driver does, a whole sequence; at times anything. How many steps. */
static size_t generate_access(const struct campaign_variant *variant,
			      struct campaign_random *r, const struct vpmu_caps *caps,
			      unsigned pcpu, struct campaign_step *steps, size_t room)
{
	struct campaign_access access[CAMPAIGN_DRIVER];
	size_t n = 1;

	if (campaign_below(r, 7))
		n = variant->driver(variant, r, caps, access);
	else
		access[0] = variant->wild(variant, r, caps);
	if (n > room)
		n = room;
	for (size_t i = 0; i < n; i++)
		steps[i] = access_step(pcpu, &access[i]);
	return n;
}

static struct campaign_step generate_one(struct campaign_random *r, unsigned op,
					 unsigned pcpu)
{
	struct campaign_step s = { .op = op, .pcpu = pcpu };

	s.a = campaign_below(r, CAMPAIGN_VMS);
	s.b = campaign_below(r, CAMPAIGN_VCPUS);
	s.value = campaign_random(r) >> 8;
	switch (op) {
	case STEP_RUN:
	case STEP_RUN_LATE: s.a = campaign_below(r, 16); break;
	case STEP_SWITCH: s.a = campaign_below(r, 8) ? s.a : CAMPAIGN_VMS; break;
	case STEP_OPEN:
	case STEP_CLOSE:
	case STEP_DRAIN:
	case STEP_RUBBISH:
		s.a = campaign_below(r, CAMPAIGN_VMS + 1);
		s.b = campaign_below(r, C_SETS);
		break;
	case STEP_THREAD: s.a = campaign_below(r, C_THREADS); break;
	case STEP_TURN: s.value = campaign_below(r, 2 * VPMU_TURN_NS); break;
	}
	if (op == STEP_DRAIN)
		s.value %= 20;
	return s;
}

void campaign_generate(const struct campaign_variant *variant, uint64_t seed,
		       struct campaign_step *steps, size_t n)
{
	struct campaign_result none = { .failed = false };
	struct campaign c = { .variant = variant, .result = &none };
	struct campaign_random r = { seed };

	c_begin(&c); /* a machine, to know what its guests have */
	for (size_t i = 0; i < n;) {
		unsigned op = pick_op(&r), pcpu = campaign_below(&r, CAMPAIGN_PCPUS);

		if (op == STEP_ACCESS)
			i += generate_access(variant, &r, &c.m.caps, pcpu, &steps[i],
					     n - i);
		else
			steps[i++] = generate_one(&r, op, pcpu);
	}
	c_end(&c);
}

static const char *mode_name(unsigned a)
{
	return a < 7 ? "user" : a < 14 ? "kernel" : "hypervisor";
}

static enum vpmu_mode mode_of(unsigned a)
{
	return a < 7 ? VPMU_MODE_USER : a < 14 ? VPMU_MODE_KERNEL : VPMU_MODE_HYP;
}

void campaign_print(const struct campaign_step *s, char *line, size_t size)
{
	const char *name = ops[s->op].name;

	switch (s->op) {
	case STEP_RUN:
	case STEP_RUN_LATE:
		snprintf(line, size, "pCPU %u: %s in %s mode, seed 0x%" PRIx64, s->pcpu,
			 name, mode_name(s->a), s->value);
		break;
	case STEP_SWITCH:
		if (s->a < CAMPAIGN_VMS)
			snprintf(line, size, "pCPU %u: switch to VM %u vCPU %u%s", s->pcpu,
				 s->a, s->b, s->value & 1 ? ", idle ones unseen" : "");
		else
			snprintf(line, size, "pCPU %u: switch to none", s->pcpu);
		break;
	case STEP_ACCESS:
		snprintf(line, size, "pCPU %u: %s %s 0x%" PRIx32 " 0x%" PRIx64, s->pcpu,
			 s->b ? "user" : "kernel", s->a ? "writes" : "reads", s->reg,
			 s->a ? s->value : 0);
		break;
	case STEP_OPEN:
	case STEP_CLOSE:
	case STEP_DRAIN:
	case STEP_RUBBISH:
		snprintf(line, size, "%s set %u of %s %u, 0x%" PRIx64, name, s->b,
			 s->a < CAMPAIGN_VMS ? "VM" : "hypervisor", s->a, s->value);
		break;
	case STEP_DESTROY: snprintf(line, size, "destroy VM %u", s->a); break;
	case STEP_RESET: snprintf(line, size, "reset VM %u vCPU %u", s->a, s->b); break;
	case STEP_THREAD:
		snprintf(line, size, "pCPU %u: to thread %u", s->pcpu, s->a);
		break;
	default: snprintf(line, size, "pCPU %u: %s 0x%" PRIx64, s->pcpu, name, s->value);
	}
}

/* ---- taking them */

/* How many of each event: often few, at times none or many. */
static uint64_t amount(struct campaign_random *r)
{
	static const uint32_t most[] = { 1, 40, 700, 700, 3000, 3000, 9000, 100000 };

	return campaign_below(r, most[campaign_below(r, 8)]);
}

static void happen(struct campaign *c, struct c_pcpu *p, unsigned event, uint64_t n)
{
	struct hw_event e = { c->variant->events[event], n };
	enum vpmu_mode mode = p->runs ? p->runs->where.mode : VPMU_MODE_HYP;

	p->hw->model->run(p->hw, mode, &e, 1);
	if (mode != VPMU_MODE_HYP && p->runs->bare)
		p->runs->bare->model->run(p->runs->bare, mode, &e, 1);
	c->clock += n / 2;
	c_expect(c, p, event, mode, n);
}

/* One event, up to each overflow and its interrupt. */
static void happen_exactly(struct campaign *c, struct c_pcpu *p, unsigned event, uint64_t n)
{
	while (n && !c->result->failed) {
		enum vpmu_mode mode = p->runs ? p->runs->where.mode : VPMU_MODE_HYP;
		uint64_t next =
			p->hw->model->next_overflow(p->hw, mode, c->variant->events[event]);
		uint64_t now = next && next < n ? next : n;

		happen(c, p, event, now);
		n -= now;
		c_interrupt(c, p, mode);
	}
}

static void step_run(struct campaign *c, struct c_pcpu *p, const struct campaign_step *s)
{
	struct campaign_random r = { s->value };
	enum vpmu_mode mode = mode_of(s->a);
	struct c_vcpu *v = p->runs;

	/* The hypervisor, while a vCPU is on the pCPU, is not where that one left off. */
	struct vpmu_where where = v ? v->where : (struct vpmu_where) { .pc = 0 };

	if (v)
		v->where = (struct vpmu_where) {
			.mode = mode,
			.pc = c_pc(mode == VPMU_MODE_HYP ? 0 : c_vm_of(v)->serial,
				   v->v.index) |
			      campaign_below(&r, 1 << 24),
		};
	if (s->op == STEP_RUN) {
		p->late = false;
		c_interrupt(c, p, v ? mode : VPMU_MODE_HYP);
	}
	for (unsigned e = 0; e < CAMPAIGN_EVENTS; e++) {
		uint64_t n = amount(&r);

		if (s->op == STEP_RUN)
			happen_exactly(c, p, e, n);
		else
			happen(c, p, e, n);
	}
	p->late |= s->op == STEP_RUN_LATE;
	if (v && mode == VPMU_MODE_HYP)
		v->where = where;
}

static void step_pcpu(struct campaign *c, struct c_pcpu *p, const struct campaign_step *s)
{
	struct campaign_access access = { s->reg, s->a, s->b, s->value };

	switch (s->op) {
	case STEP_RUN:
	case STEP_RUN_LATE: step_run(c, p, s); break;
	case STEP_IRQ:
		p->late = false;
		c_interrupt(c, p,
			    p->runs && s->value & 3 ? p->runs->where.mode : VPMU_MODE_HYP);
		break;
	case STEP_SWITCH:
		c_switch(c, p, s->a < CAMPAIGN_VMS ? &c->vm[s->a].vcpu[s->b] : NULL,
			 s->value & 1);
		break;
	case STEP_ACCESS:
		if (p->runs)
			c_access(c, p, &access);
		break;
	case STEP_THREAD: c_thread(c, p, s->a); break;
	case STEP_TURN:
		c->clock += s->value;
		vpmu_host_turn(&p->p);
		break;
	case STEP_FOLD: vpmu_host_fold(&p->p); break;
	}
}

static void step(struct campaign *c, const struct campaign_step *s)
{
	struct c_pcpu *p = &c->pcpu[s->pcpu];
	struct c_vm *vm = s->a < CAMPAIGN_VMS ? &c->vm[s->a] : NULL;
	struct c_set *set = vm ? &vm->set[s->b % C_SETS] : &c->hyp[s->b % C_SETS];

	switch (s->op) {
	case STEP_OPEN: c_open(c, vm, set, s->value); break;
	case STEP_CLOSE: c_close(c, vm, set); break;
	case STEP_DRAIN: c_drain(c, vm, set, s->value); break;
	case STEP_RUBBISH: c_rubbish(set, s->value); break;
	case STEP_DESTROY: c_destroy(c, vm); break;
	case STEP_RESET: c_reset_vcpu(c, &vm->vcpu[s->b]); break;
	case STEP_PLUG: c_plug(c, p); break;
	default:
		if (p->up)
			step_pcpu(c, p, s);
	}
	for (unsigned i = 0; i < CAMPAIGN_PCPUS; i++)
		if (c->pcpu[i].up && !c->pcpu[i].late)
			c_interrupt(c, &c->pcpu[i], VPMU_MODE_HYP);
}

/* One step in four, and always the same ones. */
static bool is_looked_at(const struct campaign_step *s)
{
	struct campaign_random r = { s->value + s->reg };

	return !campaign_below(&r, 4);
}

void campaign_run(const struct campaign_variant *variant, const struct campaign_step *steps,
		  size_t n, struct campaign_result *result)
{
	struct campaign *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	*result = (struct campaign_result) { .failed = false };
	c->variant = variant;
	c->result = result;
	c_begin(c);
	for (size_t i = 0; i < n && !result->failed; i++) {
		result->step = i;
		result->steps[steps[i].op]++;
		step(c, &steps[i]);
		/* Not always: what only a guest's reading puts right has to show. */
		c_check(c, is_looked_at(&steps[i]));
	}
	c_end(c);
	free(c);
}
