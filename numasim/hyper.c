/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/hyper.h"

#include "numasim/guest.h"
#include "numasim/program.h"

#define LOOKAHEAD 25000 /* 25 ns: a pCPU may be so far ahead of the others */
#define HYPER_TEXT 0xffff82d040200000ull

/* What the hypervisor does at a switch of vCPUs. */
#define SWITCH_INSTRUCTIONS 1500
#define SWITCH_CYCLES 2400

enum { HYPER_SWITCH, HYPER_IDLE };

static const struct sim_symbol symbols[] = {
	[HYPER_SWITCH] = { HYPER_TEXT, 0x800, "context_switch" },
	[HYPER_IDLE] = { HYPER_TEXT + 0x800, 0x100, "idle_loop" },
};

const struct sim_symbol *hyper_symbols(size_t *n)
{
	*n = sizeof(symbols) / sizeof(*symbols);
	return symbols;
}

/* ---- the order of the pCPUs: a heap by time, then by number */

static bool earlier(const struct pcpu *a, const struct pcpu *b)
{
	return a->now < b->now || (a->now == b->now && a->core < b->core);
}

static void put(struct sim *s, size_t rank, struct pcpu *p)
{
	s->order[rank] = p;
	p->rank = rank;
}

static void sift_up(struct sim *s, struct pcpu *p)
{
	size_t i = p->rank;

	for (; i && earlier(p, s->order[(i - 1) / 2]); i = (i - 1) / 2)
		put(s, i, s->order[(i - 1) / 2]);
	put(s, i, p);
}

static void sift_down(struct sim *s, struct pcpu *p)
{
	size_t i = p->rank, child;

	while ((child = 2 * i + 1) < s->npcpus) {
		if (child + 1 < s->npcpus && earlier(s->order[child + 1], s->order[child]))
			child++;
		if (!earlier(s->order[child], p))
			break;
		put(s, i, s->order[child]);
		i = child;
	}
	put(s, i, p);
}

/* Until when the first of all may run before it is another's turn. */
static uint64_t horizon(const struct sim *s)
{
	uint64_t a = s->npcpus > 1 ? s->order[1]->now : SIM_NEVER - LOOKAHEAD;
	uint64_t b = s->npcpus > 2 ? s->order[2]->now : a;

	return (a < b ? a : b) + LOOKAHEAD;
}

/* An idle pCPU has something to do at @now. */
static void kick(struct sim *s, struct pcpu *p, uint64_t now)
{
	if (p->runs || p->now <= now)
		return;
	p->now = now;
	sift_up(s, p);
}

/* ---- states of vCPUs */

static void set_state(struct vcpu *v, enum vcpu_state state, uint64_t now)
{
	if (now > v->since) {
		v->in_state[v->state] += now - v->since;
		v->since = now;
	}
	v->state = state;
}

uint64_t hyper_time(const struct sim *s, const struct vcpu *v, enum vcpu_state state)
{
	uint64_t sum = v->in_state[state];

	return v->state == state && s->now > v->since ? sum + s->now - v->since : sum;
}

static void enqueue(struct pcpu *p, struct vcpu *v)
{
	v->pcpu = p->core;
	v->next = NULL;
	*p->queue_end = v;
	p->queue_end = &v->next;
	p->nqueue++;
}

static void dequeue(struct pcpu *p, struct vcpu *v)
{
	struct vcpu **at = &p->queue;

	while (*at != v)
		at = &(*at)->next;
	*at = v->next;
	if (p->queue_end == &v->next)
		p->queue_end = at;
	p->nqueue--;
}

/* The one that had least. */
static struct vcpu *first_waiting(const struct pcpu *p)
{
	struct vcpu *best = p->queue;

	for (struct vcpu *v = p->queue; v; v = v->next)
		if (v->vtime < best->vtime)
			best = v;
	return best;
}

static void next_wake(struct pcpu *p)
{
	p->wake_at = SIM_NEVER;
	for (const struct vcpu *v = p->blocked; v; v = v->next)
		if (v->wake_at < p->wake_at)
			p->wake_at = v->wake_at;
}

static void block(struct sim *s, struct pcpu *p, struct vcpu *v)
{
	v->wake_at = guest_wake_at(s, v);
	v->next = p->blocked;
	p->blocked = v;
	next_wake(p);
}

static void unblock(struct pcpu *p, struct vcpu *v)
{
	struct vcpu **at = &p->blocked;

	while (*at != v)
		at = &(*at)->next;
	*at = v->next;
	next_wake(p);
}

/* @v waits on @p from @now on. Who slept long is not owed all that time: at most a slice
 * less than who runs there. */
static void wait_on(struct sim *s, struct pcpu *p, struct vcpu *v, uint64_t now)
{
	uint64_t least = p->runs ? p->runs->vtime : p->queue ? first_waiting(p)->vtime : 0;

	set_state(v, VCPU_WAITS, now);
	if (v->vtime + s->sc.slice_ps < least)
		v->vtime = least - s->sc.slice_ps;
	enqueue(p, v);
	kick(s, p, now);
}

static void wake_due(struct sim *s, struct pcpu *p, uint64_t now)
{
	struct vcpu *v = p->blocked, *next;

	for (; v; v = next) {
		next = v->next;
		if (v->wake_at > now)
			continue;
		unblock(p, v);
		wait_on(s, policy_wake(s, v), v, now);
	}
}

/* ---- who runs */

static uint64_t enter(struct sim *s, struct pcpu *p, struct vcpu *v, uint64_t now)
{
	/* Another pCPU's clock may have been a little ahead when it began to wait. */
	machine_idle(s->machine, p->core, v->since > now ? v->since : now);
	now = machine_compute(s->machine, p->core, SWITCH_INSTRUCTIONS, SWITCH_CYCLES);
	set_state(v, VCPU_RUNS, now);
	v->pcpu = p->core;
	p->runs = v;
	p->slice_end = now + s->sc.slice_ps;
	pmu_in(s->pmu, p->core, v->vm, v->index);
	p->mode = VPMU_MODE_USER;
	guest_enter(s, p, v);
	return machine_now(s->machine, p->core);
}

static uint64_t leave(struct sim *s, struct pcpu *p, enum vcpu_state state)
{
	struct vcpu *v = p->runs;
	struct vpmu_where where;
	uint64_t now;

	machine_drain(s->machine, p->core);
	guest_leave(s, p, v);
	hyper_where(s, p->core, &where);
	pmu_out(s->pmu, p->core, &where);
	p->runs = NULL;
	now = machine_now(s->machine, p->core);
	v->vtime += now > v->since ? now - v->since : 0;
	set_state(v, state, now);
	return now;
}

static struct vcpu *choose(struct sim *s, struct pcpu *p)
{
	struct vcpu *v = first_waiting(p);
	struct vcpu *other = policy_steal(s, p, v ? v->vtime : SIM_NEVER);

	if (other) {
		dequeue(&s->pcpus[other->pcpu], other);
		return other;
	}
	if (v)
		dequeue(p, v);
	return v;
}

/* The slice is over: someone else's turn, if there is someone. */
static uint64_t turn(struct sim *s, struct pcpu *p, uint64_t now)
{
	struct vcpu *v = p->runs;

	v->vtime += now > v->since ? now - v->since : 0;
	set_state(v, VCPU_RUNS, now);
	p->slice_end = now + s->sc.slice_ps;
	if (!p->queue && !policy_steal(s, p, v->vtime))
		return now;
	now = leave(s, p, VCPU_WAITS);
	enqueue(p, v);
	return enter(s, p, choose(s, p), now);
}

static void tick(struct sim *s, struct pcpu *p)
{
	struct vcpu *v = policy_balance(s, p);

	p->tick_at += SIM_TICK;
	if (v) {
		dequeue(&s->pcpus[v->pcpu], v);
		enqueue(p, v);
	}
	pmu_tick(s->pmu, p->core);
}

static uint64_t next_event(const struct pcpu *p)
{
	uint64_t at = p->tick_at < p->wake_at ? p->tick_at : p->wake_at;

	return p->runs && p->slice_end < at ? p->slice_end : at;
}

static uint64_t events(struct sim *s, struct pcpu *p, uint64_t now)
{
	if (!p->runs)
		machine_idle(s->machine, p->core, now);
	if (now >= p->tick_at)
		tick(s, p);
	if (now >= p->wake_at)
		wake_due(s, p, now);
	now = machine_now(s->machine, p->core);
	if (p->runs && now >= p->slice_end)
		return turn(s, p, now);
	return now;
}

/* Nobody runs on @p: whose turn is it? */
static uint64_t idle(struct sim *s, struct pcpu *p, uint64_t now)
{
	struct vcpu *v = choose(s, p);

	return v ? enter(s, p, v, now) : next_event(p);
}

void hyper_step(struct sim *s)
{
	struct pcpu *p = s->order[0];
	uint64_t now = p->now, until, event = next_event(p);

	if (now >= event || !p->runs) {
		now = events(s, p, now);
		if (!p->runs)
			now = idle(s, p, now);
	} else {
		struct vcpu *v = p->runs;

		until = horizon(s);
		until = until < event ? until : event;
		now = s->vms[v->vm].move ? migrate_run(s, p, &s->vms[v->vm], until)
					 : guest_run(s, p, v, until);
	}
	if (p->runs && !p->runs->runs) {
		struct vcpu *v = p->runs;

		now = leave(s, p, VCPU_BLOCKED);
		block(s, p, v);
	}
	p->now = now;
	sift_down(s, p);
}

void hyper_repin(struct sim *s, struct vcpu *v)
{
	struct pcpu *p = &s->pcpus[v->pcpu];
	uint64_t now = p->now;

	if (vcpu_may(v, p->core))
		return;
	if (v->state == VCPU_RUNS)
		now = leave(s, p, VCPU_WAITS);
	else if (v->state == VCPU_WAITS)
		dequeue(p, v);
	else
		unblock(p, v);
	if (v->state == VCPU_BLOCKED) {
		struct pcpu *to = policy_place(s, v);

		v->pcpu = to->core;
		block(s, to, v);
		kick(s, to, to->wake_at);
		return;
	}
	wait_on(s, policy_place(s, v), v, now);
	p->now = now;
	sift_down(s, p);
}

void hyper_start(struct sim *s)
{
	for (unsigned i = 0; i < s->npcpus; i++) {
		struct pcpu *p = &s->pcpus[i];

		p->queue_end = &p->queue;
		p->wake_at = SIM_NEVER;
		p->tick_at = SIM_TICK;
		p->rank = i;
		s->order[i] = p;
	}
	for (size_t i = 0; i < s->nvcpus; i++) {
		s->vcpus[i].state = VCPU_WAITS;
		enqueue(policy_place(s, &s->vcpus[i]), &s->vcpus[i]);
	}
	/* Those that have no work look for some at their first tick. */
	for (unsigned i = 0; i < s->npcpus; i++) {
		if (!s->pcpus[i].queue)
			s->pcpus[i].now = SIM_TICK;
		sift_up(s, &s->pcpus[i]);
	}
}

void hyper_where(void *sim, unsigned core, struct vpmu_where *out)
{
	const struct sim *s = sim;
	const struct pcpu *p = &s->pcpus[core];
	const struct thread *t = p->runs ? p->runs->runs : NULL;
	const struct sim_symbol *at;

	if (!p->runs || p->kernel || !t) {
		at = p->kernel ? p->kernel : &symbols[p->runs ? HYPER_SWITCH : HYPER_IDLE];
		*out = (struct vpmu_where) { p->kernel ? VPMU_MODE_KERNEL : VPMU_MODE_HYP,
					     at->address };
		return;
	}
	at = t->routines[t->at].symbol;
	out->mode = t->routines[t->at].f->kernel ? VPMU_MODE_KERNEL : VPMU_MODE_USER;
	out->pc = at->address + (t->random >> 20) % (at->size / 4) * 4;
}
