/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/guest.h"

#include "numasim/program.h"

/* What the guest's kernel does at a switch of threads. */
#define SCHEDULE_INSTRUCTIONS 600
#define SCHEDULE_CYCLES 900

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t after(uint64_t now, uint64_t ps)
{
	return ps == SIM_NEVER ? SIM_NEVER : now + ps;
}

static bool ready(struct thread *t, uint64_t now)
{
	if (t->wake_at && t->wake_at <= now)
		t->wake_at = 0;
	return !t->wake_at;
}

static bool runs(const struct thread *t)
{
	return t->vcpu->runs == t;
}

/* A thread of another vCPU of @v's VM that is ready and has to wait there. */
static struct thread *waits_elsewhere(struct vm *vm, const struct vcpu *v, uint64_t now)
{
	for (size_t i = 0; i < vm->nthreads; i++) {
		struct thread *t = &vm->threads[i];

		if (t->vcpu != v && t->vcpu->runs && !runs(t) && ready(t, now))
			return t;
	}
	return NULL;
}

/* The thread of @v whose turn comes after that of @last; NULL: none is ready. */
static struct thread *next_thread(struct vm *vm, struct vcpu *v, const struct thread *last,
				  uint64_t now)
{
	size_t from = last ? (size_t)(last - vm->threads) + 1 : 0;
	struct thread *t;

	for (size_t i = 0; i < vm->nthreads; i++) {
		t = &vm->threads[(from + i) % vm->nthreads];
		if (t->vcpu == v && ready(t, now))
			return t;
	}
	t = waits_elsewhere(vm, v, now);
	if (t)
		t->vcpu = v;
	return t;
}

/* @t goes on at @now: when will something be to do about it? */
static void go_on(struct sim *s, struct pcpu *p, struct vcpu *v, struct thread *t,
		  uint64_t now)
{
	const struct routine *r = &t->routines[t->at];

	v->runs = t;
	v->entered = now;
	v->event_at =
		min(v->slice_end, min(after(now, t->left_ps), after(now, t->awake_ps)));
	pcpu_mode(s, p, r->f->kernel ? VPMU_MODE_KERNEL : VPMU_MODE_USER);
}

/* What @t had since it went on counts. */
static void charge(struct vcpu *v, struct thread *t, uint64_t now)
{
	uint64_t had = now - v->entered;

	v->entered = now;
	if (t->left_ps != SIM_NEVER)
		t->left_ps -= min(t->left_ps, had);
	if (t->awake_ps != SIM_NEVER)
		t->awake_ps -= min(t->awake_ps, had);
}

static void schedule(struct sim *s, struct pcpu *p, struct vcpu *v, struct thread *last,
		     uint64_t now)
{
	struct vm *vm = &s->vms[v->vm];
	struct thread *t = next_thread(vm, v, last, now);

	v->runs = t;
	v->slice_end = now + vm->sc->slice_ps;
	if (t && t != last) {
		machine_drain(s->machine, p->core);
		pcpu_mode(s, p, VPMU_MODE_KERNEL);
		p->kernel = program_kernel(KERNEL_SCHEDULE);
		now = machine_compute(s->machine, p->core, SCHEDULE_INSTRUCTIONS,
				      SCHEDULE_CYCLES);
		p->kernel = NULL;
	}
	if (t)
		go_on(s, p, v, t, now);
}

void guest_enter(struct sim *s, struct pcpu *p, struct vcpu *v)
{
	uint64_t now = machine_now(s->machine, p->core);

	if (v->runs && now < v->slice_end)
		go_on(s, p, v, v->runs, now);
	else
		schedule(s, p, v, v->runs, now);
}

void guest_leave(struct sim *s, struct pcpu *p, struct vcpu *v)
{
	if (v->runs)
		charge(v, v->runs, machine_now(s->machine, p->core));
}

/* It sleeps so long that its share comes out, give or take a half at random. */
static uint64_t sleeps(struct thread *t)
{
	uint64_t x = program_draw(&t->dreams) >> 32;
	double half = 0.5 + (double)x / 4294967296.0;

	t->awake_ps = (uint64_t)(half * (1 - t->sleep) * (double)t->every_ps) + 1;
	return (uint64_t)(half * t->sleep * (double)t->every_ps) + 1;
}

uint64_t guest_run(struct sim *s, struct pcpu *p, struct vcpu *v, uint64_t until)
{
	struct thread *t = v->runs;
	uint64_t now = program_run(s->machine, p->core, &s->vms[v->vm], t,
				   min(until, v->event_at));

	if (now < v->event_at && t->left_steps)
		return now;
	charge(v, t, now);
	if (!t->left_steps || !t->left_ps)
		program_next(t);
	if (!t->awake_ps) {
		t->wake_at = now + sleeps(t);
		schedule(s, p, v, t, now);
	} else if (now >= v->slice_end) {
		schedule(s, p, v, t, now);
	} else {
		go_on(s, p, v, t, now);
	}
	return machine_now(s->machine, p->core);
}

uint64_t guest_wake_at(const struct sim *s, const struct vcpu *v)
{
	const struct vm *vm = &s->vms[v->vm];
	uint64_t at = SIM_NEVER;

	for (size_t i = 0; i < vm->nthreads; i++)
		if (vm->threads[i].vcpu == v)
			at = min(at, vm->threads[i].wake_at);
	return at;
}
