/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/counting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fdlimit.h"
#include "base/str.h"
#include "base/vec.h"
#include "session/counted_nodes.h"
#include "session/counted_vm.h"

#define LINUX_TURN_NS 10000000u
#define TURNS_PER_TICK 5 /* longer than a full rotation of a dozen events */
#define TICKS_PER_INTERVAL 8
/* Looks whether events have begun to share counters; sooner at first: a VM may be about to
 * start. */
#define TURNS_PER_PROBE 100
#define TICK_SHARE 100 /* a tick may cost 1/100 of the time between two */

struct counting {
	struct counting_config config;
	struct watch *watch;
	struct counted_vm **vms;
	size_t nvms, capvms;
	struct counted_nodes *nodes; /* NULL: none are */
	struct reading *scratch;     /* room for the largest set */
	size_t nscratch;
	uint64_t start_ns, mark_ns, tick_ns, tick_due_ns, probe_due_ns, probe_ns;
	bool multiplexed, hardware, partial, starting;
	bool pending; /* vCPUs wait for open_pending() */
};

static void tell(struct counting *c, struct note note)
{
	c->config.cb->note(c->config.ctx, &note);
}

/* ---- VMs and vCPUs that come and go: the watch calls these */

/* The newest VM with this id: a reused one leaves its namesake behind. */
static struct counted_vm *find_vm(struct counting *c, const char *id)
{
	for (size_t i = c->nvms; i-- > 0;)
		if (!c->vms[i]->gone && !strcmp(c->vms[i]->id, id))
			return c->vms[i];
	return NULL;
}

static int add_vm(struct counting *c, const struct vm *from, const struct event_set *events,
		  struct counted_vm **out)
{
	struct counted_vm *vm = NULL;
	int ret = counted_vm_create(from, events, c->config.side, &vm);

	if (!ret && vm->set.n > c->nscratch) {
		free(c->scratch);
		c->nscratch = vm->set.n;
		c->scratch = calloc(c->nscratch, sizeof(*c->scratch));
		ret = c->scratch ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = VEC_PUSH(c->vms, c->nvms, c->capvms, vm);
	if (ret) {
		counted_vm_free(vm);
		return ret;
	}
	for (size_t i = 0; i < vm->set.n; i++)
		c->hardware = c->hardware || vm->set.ev[i].kind == EVENT_HARDWARE;
	*out = vm;
	return 0;
}

/* Only made here: opened when the scan is over and the descriptors are counted. */
static int vcpu_appeared(void *ctx, const struct vm *from, const struct vcpu *vcpu,
			 const struct event_set *events)
{
	struct counting *c = ctx;
	struct counted_vm *vm = find_vm(c, from->id);
	struct unit *u = NULL;
	int ret = vm ? 0 : add_vm(c, from, events, &vm);

	if (!ret)
		ret = unit_create(c->config.ops, c->config.src, vcpu, &vm->set, &u);
	if (!ret)
		ret = VEC_PUSH(vm->units, vm->nunits, vm->capunits, u);
	if (ret) {
		unit_free(u);
		if (vm)
			vm->refused++;
		tell(c, note_make(NOTE_PROBLEM, from->name, 0,
				  "vCPU %d is not counted: out of memory", vcpu->index));
	}
	c->pending = true;
	return ret;
}

static void read_unit(struct counting *c, const struct counted_vm *vm, struct unit *u)
{
	int ret = unit_read(u, c->scratch);

	if (ret && u->complained)
		ret = 0;
	u->complained = u->complained || ret;
	c->partial = c->partial || ret;
	if (ret == -ERANGE)
		tell(c, note_make(NOTE_PROBLEM, vm->name, 0,
				  "vCPU %d: a counter went back; what it counted meanwhile "
				  "is left out",
				  u->index));
	else if (ret)
		tell(c, note_make(NOTE_PROBLEM, vm->name, 0, "vCPU %d: cannot be read: %s",
				  u->index, err_name(ret)));
	c->multiplexed = c->multiplexed || u->multiplexed;
}

/* A thread's counters outlive it: what it counted to its end is in them. */
static void end_unit(struct counting *c, const struct counted_vm *vm, struct unit *u)
{
	if (u->gone)
		return;
	read_unit(c, vm, u);
	unit_close(u);
	u->gone = true;
}

static void vcpu_gone(void *ctx, const char *vm_id, int key)
{
	struct counting *c = ctx;
	struct counted_vm *vm = find_vm(c, vm_id);

	for (size_t i = 0; vm && i < vm->nunits; i++)
		if (vm->units[i]->key == key)
			end_unit(c, vm, vm->units[i]);
}

static void vm_gone(void *ctx, const char *vm_id)
{
	struct counted_vm *vm = find_vm(ctx, vm_id);

	if (vm)
		vm->gone = true;
}

static void pass_note(void *ctx, const struct note *note)
{
	tell(ctx, *note);
}

static const struct watch_ops on_change = { vcpu_appeared, vcpu_gone, vm_gone, pass_note };

/* ---- opening */

static bool is_pending(const struct unit *u)
{
	return !u->counters && !u->gone;
}

static uint64_t descriptors_pending(const struct counting *c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->nvms; i++)
		for (size_t k = 0; k < c->vms[i]->nunits; k++)
			if (is_pending(c->vms[i]->units[k]))
				n += c->vms[i]->set.n;
	return n;
}

/* Opens one; a thread that ended meanwhile leaves without a trace. */
static int open_unit(struct counting *c, struct counted_vm *cvm, size_t i,
		     const struct vm *vm, struct err *err)
{
	struct unit *u = cvm->units[i];
	const struct vcpu *vcpu = vm_vcpu(vm, u->key);
	struct err why = { 0 };
	int ret = vcpu ? unit_open(u, vm, vcpu, c->starting ? err : &why) : -ESRCH;

	if (!ret) {
		if (!cvm->since_ns)
			cvm->since_ns = u->opened_ns;
		return 0;
	}
	if (ret != -ESRCH && !c->starting)
		tell(c, note_make(NOTE_PROBLEM, cvm->name, 0,
				  "vCPU %d is not counted: %.180s", u->index, why.text));
	cvm->refused += ret != -ESRCH;
	unit_free(u);
	cvm->units[i] = cvm->units[--cvm->nunits];
	return ret == -ESRCH || !c->starting ? 0 : ret;
}

static int open_pending(struct counting *c, struct err *err)
{
	const struct topology *topo = watch_topology(c->watch);
	int ret = c->pending ? fdlimit_reserve(descriptors_pending(c),
					       c->starting ? err : NULL)
			     : 0;

	if (!c->starting)
		ret = 0; /* the others go on; what does not open is told of each vCPU */
	for (size_t i = 0; c->pending && !ret && i < c->nvms; i++) {
		struct counted_vm *cvm = c->vms[i];
		const struct vm *vm = topology_vm(topo, cvm->id);

		for (size_t k = cvm->nunits; !ret && k-- > 0;)
			if (is_pending(cvm->units[k]))
				ret = open_unit(c, cvm, k, vm, err);
	}
	c->pending = false;
	return ret;
}

static int open_nodes(struct counting *c, struct err *err)
{
	if (!c->config.node_events || !c->config.node_events->n)
		return 0;
	c->hardware = true;
	return counted_nodes_open(&c->config, &watch_topology(c->watch)->machine, &c->nodes,
				  err);
}

static uint64_t turn_ns(const struct counting_config *config)
{
	return config->ops->turn_ns ? config->ops->turn_ns : LINUX_TURN_NS;
}

static uint64_t first_tick_ns(const struct counting_config *config)
{
	uint64_t turn = turn_ns(config);
	uint64_t ns = config->interval_ns / TICKS_PER_INTERVAL;

	if (!config->interval_ns || ns > TURNS_PER_TICK * turn)
		return TURNS_PER_TICK * turn;
	return ns < turn ? turn : ns;
}

int counting_start(const struct counting_config *config, struct counting **out,
		   struct err *err)
{
	struct counting *c = calloc(1, sizeof(*c));
	const char *unmatched;
	int ret;

	if (!c)
		return err_set(err, ENOMEM, "out of memory");
	c->config = *config;
	c->starting = true;
	c->tick_ns = c->probe_ns = first_tick_ns(config);
	ret = watch_create(config->ops, config->src, config->targets, config->ntargets,
			   &on_change, c, &c->watch, err);
	if (!ret)
		ret = watch_scan(c->watch, err);
	c->start_ns = c->mark_ns = clock_now_ns();
	if (!ret)
		ret = open_nodes(c, err);
	if (!ret && !watch_vms(c->watch) && !c->nodes)
		ret = watch_say_nothing(c->watch, err);
	if (!ret)
		ret = open_pending(c, err);
	if (ret) {
		counting_free(c);
		return ret;
	}
	if (c->nodes)
		counted_nodes_begin(c->nodes);
	c->starting = false;
	c->tick_due_ns = c->start_ns + c->tick_ns;
	unmatched = watch_unmatched(c->watch);
	if (unmatched)
		tell(c, note_make(NOTE_PROBLEM, "", 0, "no VM answers to %.100s so far",
				  unmatched));
	*out = c;
	return 0;
}

/* ---- reading */

static int scan(struct counting *c, struct err *err)
{
	int ret = watch_poll(c->watch, err);

	return ret ? ret : open_pending(c, err);
}

static void read_nodes(struct counting *c)
{
	if (!c->nodes)
		return;
	c->partial = counted_nodes_read(c->nodes) || c->partial;
	c->multiplexed = c->multiplexed || counted_nodes_multiplexed(c->nodes);
}

/* Reads what shares counters and, to find out whether it does, at times what might. */
static void tick(struct counting *c, uint64_t now)
{
	uint64_t start = clock_spent_ns(), least = first_tick_ns(&c->config), cost, passed;
	bool probe = now >= c->probe_due_ns;

	for (size_t i = 0; i < c->nvms; i++)
		for (size_t k = 0; k < c->vms[i]->nunits; k++) {
			struct unit *u = c->vms[i]->units[k];

			if (u->multiplexed || (probe && u->turns))
				read_unit(c, c->vms[i], u);
		}
	if (c->nodes && (probe || counted_nodes_multiplexed(c->nodes)))
		read_nodes(c);
	cost = clock_spent_ns() - start;
	passed = clock_now_ns() - now;
	if (cost > passed) /* where the kernel counts CPU time in its own ticks */
		cost = passed;
	c->tick_ns = cost * TICK_SHARE > least ? cost * TICK_SHARE : least;
	if (probe) {
		c->probe_due_ns = now + c->probe_ns;
		c->probe_ns = 2 * c->probe_ns;
		if (c->probe_ns > TURNS_PER_PROBE * turn_ns(&c->config))
			c->probe_ns = TURNS_PER_PROBE * turn_ns(&c->config);
	}
	c->tick_due_ns = c->multiplexed ? now + c->tick_ns : c->probe_due_ns;
}

int counting_tick(struct counting *c, struct err *err)
{
	int ret = scan(c, err);
	uint64_t now = clock_now_ns();

	if (c->hardware && now >= c->tick_due_ns)
		tick(c, now);
	return ret;
}

uint64_t counting_due_ns(const struct counting *c)
{
	uint64_t due = watch_due_ns(c->watch);

	return c->hardware && c->tick_due_ns < due ? c->tick_due_ns : due;
}

int counting_fd(const struct counting *c)
{
	return watch_fd(c->watch);
}

/* ---- emitting */

static unsigned cpus_of(const struct counted_vm *vm)
{
	unsigned n = 0;

	for (size_t i = 0; i < vm->nunits; i++)
		n += !vm->units[i]->done;
	return n;
}

/* @from_ns  start of the interval; what came later is measured from its own start */
static void emit(struct counting *c, const struct counted_vm *vm, const struct unit *u,
		 size_t i, uint64_t from_ns, const struct reading *r)
{
	uint64_t since_ns = u ? u->opened_ns : vm->since_ns;
	const struct count count = {
		.time_ns = c->mark_ns - c->start_ns,
		.interval_ns = c->mark_ns - (since_ns > from_ns ? since_ns : from_ns),
		.vm_id = vm->id,
		.vm_name = vm->name,
		.node = -1,
		.vcpu = u ? u->index : -1,
		.tid = u ? u->tid : 0,
		.event = &vm->set.ev[i],
		.index = i,
		.cpus = u ? 1 : cpus_of(vm),
		.side = vm->set.ev[i].side,
		.reading = *r,
	};

	c->config.cb->count(c->config.ctx, &count);
}

static void emit_interval(struct counting *c, struct counted_vm *vm, uint64_t from_ns)
{
	if (!vm->gone)
		vm->unknown = watch_unknown_of(c->watch, vm->id);
	for (size_t i = 0; i < vm->set.n; i++) {
		struct reading_sum sum = { 0 };
		struct reading r;

		for (size_t k = 0; k < vm->nunits; k++) {
			struct unit *u = vm->units[k];

			if (u->done)
				continue;
			r = unit_interval(u, i);
			reading_sum_add(&sum, &r, NULL);
			if (c->config.per_vcpu)
				emit(c, vm, u, i, from_ns, &r);
		}
		r = counted_vm_sum(vm, &sum);
		emit(c, vm, NULL, i, from_ns, &r);
	}
}

/* What has ended was shown for the last time. */
static void mark_done(struct counted_vm *vm)
{
	vm->done = vm->gone;
	for (size_t k = 0; k < vm->nunits; k++)
		vm->units[k]->done = vm->units[k]->gone;
}

int counting_interval(struct counting *c, struct err *err)
{
	uint64_t from_ns = c->mark_ns;
	int ret = scan(c, err);

	c->mark_ns = clock_now_ns();
	for (size_t i = 0; i < c->nvms; i++)
		for (size_t k = 0; k < c->vms[i]->nunits; k++)
			read_unit(c, c->vms[i], c->vms[i]->units[k]);
	read_nodes(c);
	if (c->multiplexed)
		c->tick_due_ns = c->mark_ns + c->tick_ns;
	for (size_t i = 0; i < c->nvms; i++) {
		if (c->vms[i]->done)
			continue;
		emit_interval(c, c->vms[i], from_ns);
		mark_done(c->vms[i]);
		if (!c->config.per_vcpu)
			counted_vm_let_go(c->vms[i]);
	}
	if (c->nodes)
		counted_nodes_emit(c->nodes, false, c->start_ns, from_ns, c->mark_ns);
	return ret;
}

void counting_totals(struct counting *c)
{
	for (size_t v = 0; v < c->nvms; v++) {
		struct counted_vm *vm = c->vms[v];

		for (size_t i = 0; i < vm->set.n; i++) {
			struct reading r;

			for (size_t k = 0; c->config.per_vcpu && k < vm->nunits; k++) {
				r = unit_total(vm->units[k], i);
				emit(c, vm, vm->units[k], i, c->start_ns, &r);
			}
			r = counted_vm_total(vm, i);
			c->partial = c->partial || !reading_has_value(r.state);
			emit(c, vm, NULL, i, c->start_ns, &r);
		}
	}
	if (c->nodes &&
	    counted_nodes_emit(c->nodes, true, c->start_ns, c->start_ns, c->mark_ns))
		c->partial = true;
}

bool counting_partial(const struct counting *c)
{
	for (size_t i = 0; i < c->nvms; i++)
		if (c->vms[i]->refused || c->vms[i]->unknown)
			return true;
	return c->partial || watch_unmatched(c->watch) || watch_unknown(c->watch);
}

bool counting_measured(const struct counting *c)
{
	for (size_t i = 0; i < c->nvms; i++)
		if (c->vms[i]->since_ns)
			return true;
	return c->nodes && counted_nodes_measured(c->nodes);
}

size_t counting_alive(const struct counting *c)
{
	return watch_vms(c->watch);
}

bool counting_over(const struct counting *c)
{
	return !watch_vms(c->watch) && !c->nodes;
}

void counting_free(struct counting *c)
{
	if (!c)
		return;
	watch_free(c->watch);
	counted_nodes_free(c->nodes);
	for (size_t i = 0; i < c->nvms; i++)
		counted_vm_free(c->vms[i]);
	free(c->vms);
	free(c->scratch);
	free(c);
}
