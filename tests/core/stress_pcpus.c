/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several pCPUs at once, a thread each, under ThreadSanitizer: vCPUs move between them,
 * are reset, use their PMUs; the first pCPU opens, reads and closes event sets on their
 * VMs meanwhile. Of the hypervisor around the core there is what Xen promises: a lock
 * under which a pCPU takes a vCPU that nobody runs, and calls to other pCPUs that are
 * waited for. Every count is held against what happened, to the event.
 *
 * usage: stress_pcpus trap|direct STEPS
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/vpmu.h"
#include "tests/core/hw_armv8.h"

#define PCPUS 3
#define VMS 2
#define VCPUS 2 /* of each VM: more in all than pCPUs */
#define ON (1ULL << ARMV8_CYCLES | 1)

struct vcpu {
	struct vpmu_vcpu v;
	bool taken; /* under the lock: someone runs it, or resets it */
	bool untrapped;
	bool set_up, on;
	uint64_t counted;
};

/* A set, and what happened to each vCPU while its pCPU had the set's plan. */
struct open {
	struct vpmu_set set;
	struct vpmu_tally tally[VCPUS];
	uint64_t happened[VCPUS], last[VCPUS];
};

struct vm {
	struct vpmu_vm vm;
	struct vcpu vcpu[VCPUS];
	struct open *open;
};

struct pcpu {
	struct vpmu_pcpu p;
	struct hw *hw;
	struct vcpu *runs;
	uint64_t clock, seed;
	unsigned long moves, resets, sets; /* how much of it there was */
	void (*asked)(struct pcpu *self, void *arg);
	void *arg;
	int waiting; /* asked, and not done */
};

static struct vpmu machine;
static struct vm vm[VMS];
static struct pcpu pcpu[PCPUS];
static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t calling = PTHREAD_MUTEX_INITIALIZER;
static int busy = PCPUS;
static unsigned long steps;
static _Thread_local struct pcpu *me;

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "stress_pcpus: %s\n", what);
	exit(1);
}

static uint64_t draw(uint64_t below)
{
	me->seed ^= me->seed >> 12;
	me->seed ^= me->seed << 25;
	me->seed ^= me->seed >> 27;
	return (me->seed * 0x2545f4914f6cdd1d >> 32) % below;
}

static void raise(struct vpmu_vcpu *v)
{
	(void)v;
}

static void trap(struct vpmu_vcpu *v, bool on)
{
	struct vcpu *vcpu = v->cookie;

	vcpu->untrapped = !on;
	if (me->runs == vcpu)
		me->hw->model->trap(me->hw, on);
}

static void wake(struct vpmu_set *set)
{
	(void)set;
}

static const struct vpmu_upcalls upcalls = { .raise = raise, .trap = trap, .wake = wake };

/* ---- interrupts between pCPUs */

/* Where interrupts are on: what others ask for. */
static void serve(void)
{
	if (!__atomic_load_n(&me->waiting, __ATOMIC_ACQUIRE)) {
		sched_yield();
		return;
	}
	me->asked(me, me->arg);
	__atomic_store_n(&me->waiting, 0, __ATOMIC_RELEASE);
}

static void call(struct pcpu *other, void (*what)(struct pcpu *, void *), void *arg)
{
	if (other == me) {
		what(me, arg);
		return;
	}
	while (pthread_mutex_trylock(&calling))
		serve();
	other->asked = what;
	other->arg = arg;
	__atomic_store_n(&other->waiting, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&other->waiting, __ATOMIC_ACQUIRE))
		serve();
	pthread_mutex_unlock(&calling);
}

static void fetch(struct pcpu *self, void *arg)
{
	struct vcpu *vcpu = arg;

	vpmu_fetch(&self->p, &vcpu->v);
}

static void take_back(struct vcpu *vcpu)
{
	const struct vpmu_pcpu *holder = vpmu_holder(&vcpu->v);

#ifndef NO_FETCH
	if (holder && holder != &me->p)
		call(&pcpu[holder->index], fetch, vcpu);
#else
	(void)holder;
	(void)fetch;
#endif
}

/* ---- vCPUs */

static struct vcpu *take(void)
{
	struct vcpu *vcpu = &vm[draw(VMS)].vcpu[draw(VCPUS)];

	pthread_mutex_lock(&taking);
	if (vcpu->taken)
		vcpu = NULL;
	else
		vcpu->taken = true;
	pthread_mutex_unlock(&taking);
	return vcpu;
}

static void give(struct vcpu *vcpu)
{
	pthread_mutex_lock(&taking);
	vcpu->taken = false;
	pthread_mutex_unlock(&taking);
}

static void change(struct vcpu *next)
{
	const struct vpmu_where where = { .mode = VPMU_MODE_USER };
	struct vcpu *prev = me->runs;

	if (next)
		take_back(next);
	me->runs = next;
	if (prev && !vpmu_idle_out(&prev->v))
		vpmu_switch_out(&me->p, &prev->v, &where);
	me->hw->model->trap(me->hw, !next || !next->untrapped);
	if (next && !vpmu_idle_in(&next->v))
		vpmu_switch_in(&me->p, &next->v);
	if (prev)
		give(prev);
	me->moves++;
}

static void reset(struct vcpu *vcpu)
{
	take_back(vcpu);
	vpmu_vcpu_reset(&vcpu->v);
	vcpu->set_up = vcpu->on = false;
	vcpu->counted = 0;
	me->resets++;
	give(vcpu);
}

/* ---- what they do */

static uint64_t access(uint32_t reg, bool write, uint64_t value)
{
	enum hw_access how =
		me->hw->model->guest(me->hw, VPMU_MODE_KERNEL, reg, write, &value);

	if (how == HW_EXIT)
		must(vpmu_guest_access(&me->p, &me->runs->v, reg, write, false, &value) ==
			     VPMU_DONE,
		     "an access is refused");
	else
		must(how == HW_DONE, "an access is refused by the hardware");
	return value;
}

static void use(struct vcpu *vcpu)
{
	if (!vcpu->set_up) {
		access(ARMV8_PMCR, true, ARMV8_PMCR_E | ARMV8_PMCR_LC | ARMV8_PMCR_LP);
		access(ARMV8_PMCCFILTR, true, 0);
		access(ARMV8_PMEVTYPER(0), true, ARMV8_EVENT_CPU_CYCLES);
		access(ARMV8_PMCCNTR, true, 0);
		access(ARMV8_PMEVCNTR(0), true, 0);
		vcpu->set_up = true;
	}
	if (!vcpu->on || !draw(4)) {
		vcpu->on = !vcpu->on;
		access(vcpu->on ? ARMV8_PMCNTENSET : ARMV8_PMCNTENCLR, true, ON);
	}
	must(access(ARMV8_PMCCNTR, false, 0) == vcpu->counted, "a cycle counter is wrong");
	must(access(ARMV8_PMEVCNTR(0), false, 0) == vcpu->counted,
	     "an event counter is wrong");
}

static void run(struct vcpu *vcpu, uint64_t cycles)
{
	const struct vpmu_where where = { .mode = VPMU_MODE_KERNEL };
	const struct hw_model *model = me->hw->model;

	while (cycles) {
		uint64_t next = model->next_overflow(me->hw, VPMU_MODE_KERNEL,
						     ARMV8_EVENT_CPU_CYCLES);
		struct hw_event happens = { ARMV8_EVENT_CPU_CYCLES, cycles };

		if (next && next < cycles)
			happens.count = next;
		model->run(me->hw, VPMU_MODE_KERNEL, &happens, 1);
		cycles -= happens.count;
		me->clock += happens.count;
		vcpu->counted += vcpu->on ? happens.count : 0;
		if (me->p.plan) {
			struct open *o = me->p.plan->slot[0].set->cookie;

			o->happened[vcpu->v.index] += happens.count;
		}
		if (model->irq_line(me->hw))
			vpmu_interrupt(&me->p, &where);
	}
}

/* ---- what the host does */

static void refresh(struct pcpu *self, void *unused)
{
	(void)unused;
	vpmu_host_refresh(&self->p, self->runs ? &self->runs->v : NULL);
}

static void refresh_everywhere(void)
{
	for (unsigned i = 0; i < PCPUS; i++)
		call(&pcpu[i], refresh, NULL);
}

static void open_set(struct vm *on)
{
	struct open *o = calloc(1, sizeof(*o));
	unsigned bad;

	must(o, "no memory");
	o->set = (struct vpmu_set) {
		.n = 1, .tally = o->tally, .ntallies = VCPUS, .cookie = o
	};
	o->set.event[0].config = ARMV8_EVENT_CPU_CYCLES;
	o->set.event[0].flags = VPMU_EVENT_USER | VPMU_EVENT_KERNEL;
	o->set.event[0].period = draw(2) * 5000;
	must(!vpmu_set_check(&machine, &o->set, false, &bad) &&
		     !vpmu_host_add(&machine, &on->vm, &o->set),
	     "a set is refused");
	on->open = o;
	refresh_everywhere();
}

static void read_set(struct open *o)
{
	struct vpmu_count count[VPMU_SET_EVENTS];
	unsigned t = draw(VCPUS);

	if (vpmu_tally_read(&o->tally[t], count))
		return;
	must(count[0].offset.sum >= o->last[t], "a count runs backwards");
	o->last[t] = count[0].offset.sum;
}

static void close_set(struct vm *on)
{
	struct open *o = on->open;

	vpmu_host_remove(&machine, &on->vm, &o->set);
	refresh_everywhere();
	for (unsigned t = 0; t < VCPUS; t++)
		must(o->tally[t].count[0].offset.sum == o->happened[t],
		     "a set's count is not what happened");
	on->open = NULL;
	free(o);
	me->sets++;
}

static void host(void)
{
	struct vm *on = &vm[draw(VMS)];

	if (!on->open)
		open_set(on);
	else if (!draw(16))
		close_set(on);
	else
		read_set(on->open);
}

static void step(void)
{
	struct vcpu *next;

	serve();
	switch (draw(8)) {
	case 0:
	case 1:
		next = take();
		if (next)
			change(next);
		break;
	case 2:
		next = draw(4) ? NULL : take();
		if (next)
			reset(next);
		break;
	case 3:
		if (me == pcpu)
			host();
		break;
	default:
		if (!me->runs)
			break;
		if (draw(2))
			use(me->runs);
		run(me->runs, 1 + draw(3000));
	}
}

static void *thread(void *arg)
{
	me = arg;
	for (unsigned long i = 0; i < steps; i++)
		step();
	change(NULL);
	for (unsigned i = 0; me == pcpu && i < VMS; i++)
		if (vm[i].open)
			close_set(&vm[i]);
	__atomic_sub_fetch(&busy, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&busy, __ATOMIC_SEQ_CST))
		serve();
	return NULL;
}

static void set_up(bool direct)
{
	const struct hw_armv8_config hw = { .counters = 6, .version = ARMV8_PMUVER_V3P5 };
	const struct vpmu_config config = { .direct = direct, .host_counters = 2 };
	const char *why = NULL;

	for (unsigned i = 0; i < PCPUS; i++) {
		pcpu[i].seed = i + 1;
		pcpu[i].hw = hw_armv8_new(&hw, &pcpu[i].clock);
	}
	me = pcpu;
	must(!vpmu_init(&machine, &vpmu_armv8, &upcalls, &config, &pcpu[0].hw->hw, &why),
	     "the PMU is refused");
	for (unsigned i = 0; i < PCPUS; i++)
		must(!vpmu_pcpu_up(&pcpu[i].p, &machine, i, &pcpu[i].hw->hw, &why),
		     "a pCPU is refused");
	for (unsigned i = 0; i < VMS; i++) {
		vpmu_vm_init(&vm[i].vm, &machine, true, &vm[i]);
		for (unsigned j = 0; j < VCPUS; j++)
			vpmu_vcpu_init(&vm[i].vcpu[j].v, &vm[i].vm, j, &vm[i].vcpu[j]);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[PCPUS];
	unsigned long moves = 0, resets = 0;

	must(argc == 3, "usage: stress_pcpus trap|direct STEPS");
	steps = strtoul(argv[2], NULL, 0);
	set_up(!strcmp(argv[1], "direct"));
	for (unsigned i = 0; i < PCPUS; i++)
		must(!pthread_create(&threads[i], NULL, thread, &pcpu[i]), "no thread");
	for (unsigned i = 0; i < PCPUS; i++) {
		pthread_join(threads[i], NULL);
		moves += pcpu[i].moves;
		resets += pcpu[i].resets;
		free(pcpu[i].hw);
	}
	must(moves && resets && pcpu[0].sets, "not everything happened");
	printf("%lu moves, %lu resets, %lu sets\n", moves, resets, pcpu[0].sets);
	return 0;
}
