/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/windows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/vec.h"
#include "session/counting.h"
#include "session/nodes.h"
#include "session/residence.h"

#define LOOKS 16 /* at placements, in a window */

/* A vCPU, and what was read of it in the window that runs. */
struct seen_vcpu {
	int index;
	struct residence residence;
	uint64_t ran_ns;
	struct reading *reading; /* owned; one per event */
};

struct seen_vm {
	char id[32], name[80];
	double mem_node[DIAG_NODES];
	struct seen_vcpu *vcpus; /* owned */
	size_t nvcpus, capvcpus;
};

struct windows {
	struct windows_config config;
	struct target target;
	struct counting *counting;
	struct nodes *nodes;
	struct topology topo;
	struct cpu_nodes cpu_nodes;
	struct diag_machine machine;
	struct seen_vm *vms; /* all that were ever seen */
	size_t nvms, capvms;
	struct diag_window *done;
	size_t ndone, capdone;
	char **reasons; /* owned: what quantities point to */
	size_t nreasons, capreasons;
	bool partial, oom;
};

static const char absent[] = "it was not counted in this window";
static const char not_asked[] = "nothing reads this role";

/* Reasons of readings last for a call, those of quantities as long as the windows. */
static const char *keep_reason(struct windows *w, const char *reason)
{
	char *copy;

	if (!reason)
		return NULL;
	for (size_t i = 0; i < w->nreasons; i++)
		if (!strcmp(w->reasons[i], reason))
			return w->reasons[i];
	copy = strdup(reason);
	if (copy && !VEC_PUSH(w->reasons, w->nreasons, w->capreasons, copy))
		return copy;
	free(copy);
	w->oom = true;
	return "out of memory";
}

/* ---- who was seen */

static struct seen_vm *find_vm(struct windows *w, const char *id, const char *name)
{
	struct seen_vm new = { 0 };

	for (size_t i = 0; i < w->nvms; i++)
		if (!strcmp(w->vms[i].id, id))
			return &w->vms[i];
	str_copy(new.id, sizeof(new.id), id);
	str_copy(new.name, sizeof(new.name), name);
	if (VEC_PUSH(w->vms, w->nvms, w->capvms, new)) {
		w->oom = true;
		return NULL;
	}
	return &w->vms[w->nvms - 1];
}

static void forget_readings(const struct windows *w, struct seen_vcpu *v)
{
	for (size_t i = 0; i < w->config.events->vcpu.n; i++)
		v->reading[i] =
			(struct reading) { .state = READ_NOT_SCHEDULED, .reason = absent };
	v->residence = (struct residence) { 0 };
	v->ran_ns = 0;
}

static struct seen_vcpu *find_vcpu(struct windows *w, struct seen_vm *vm, int index)
{
	struct seen_vcpu new = { .index = index };

	for (size_t i = 0; vm && i < vm->nvcpus; i++)
		if (vm->vcpus[i].index == index)
			return &vm->vcpus[i];
	if (!vm)
		return NULL;
	new.reading = calloc(w->config.events->vcpu.n + 1, sizeof(*new.reading));
	if (!new.reading || VEC_PUSH(vm->vcpus, vm->nvcpus, vm->capvcpus, new)) {
		free(new.reading);
		w->oom = true;
		return NULL;
	}
	forget_readings(w, &vm->vcpus[vm->nvcpus - 1]);
	return &vm->vcpus[vm->nvcpus - 1];
}

/* ---- what the session says */

/* A vCPU whose thread was replaced within a window comes twice. */
static void add_reading(struct reading *sum, const struct reading *r)
{
	if (sum->reason == absent) {
		*sum = *r;
		return;
	}
	sum->value += r->value;
	sum->raw += r->raw;
	sum->enabled_ns += r->enabled_ns;
	sum->running_ns += r->running_ns;
	sum->error += r->error;
	if (r->state > sum->state) {
		sum->state = r->state;
		sum->reason = r->reason;
	}
}

static void on_count(void *ctx, const struct count *count)
{
	struct windows *w = ctx;
	struct reading r = count->reading;
	struct seen_vcpu *v;

	if (count->vcpu < 0)
		return;
	v = find_vcpu(w, find_vm(w, count->vm_id, count->vm_name), count->vcpu);
	if (!v)
		return;
	r.reason = keep_reason(w, r.reason);
	add_reading(&v->reading[count->index], &r);
	if (v->reading[count->index].enabled_ns > v->ran_ns)
		v->ran_ns = v->reading[count->index].enabled_ns;
}

static void on_note(void *ctx, const struct note *note)
{
	struct windows *w = ctx;

	if (w->config.note)
		w->config.note(w->config.ctx, note);
}

static const struct counting_ops on_data = { on_count, on_note };

/* Where do they run just now? A look that fails is one less. */
static void look(struct windows *w)
{
	struct topology topo = { 0 };

	if (!w->config.ops->topology(w->config.src, TOPOLOGY_THREADS, &topo, NULL))
		for (size_t i = 0; i < topo.nvms; i++) {
			struct seen_vm *vm = find_vm(w, topo.vms[i].id, topo.vms[i].name);

			for (size_t k = 0; k < topo.vms[i].nvcpus; k++) {
				const struct vcpu *vcpu = &topo.vms[i].vcpus[k];
				struct seen_vcpu *v = find_vcpu(w, vm, vcpu->index);

				if (v)
					residence_look(&v->residence, &w->cpu_nodes, vcpu);
			}
		}
	topology_free(&topo);
}

static int first_look(struct windows *w, struct err *err)
{
	int ret = w->config.ops->topology(w->config.src, TOPOLOGY_THREADS | TOPOLOGY_MEMORY,
					  &w->topo, err);

	if (!ret && cpu_nodes_make(&w->topo.machine, &w->cpu_nodes))
		ret = err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; !ret && i < w->topo.nvms; i++) {
		const struct vm *from = &w->topo.vms[i];
		struct seen_vm *vm = find_vm(w, from->id, from->name);

		for (size_t n = 0; vm && n < from->nmem_node && n < DIAG_NODES; n++)
			vm->mem_node[n] = from->mem_node ? from->mem_node[n] : 0;
	}
	return ret;
}

/* ---- from readings to a window */

static struct quantity as_quantity(struct metric_value v)
{
	return (struct quantity) { v.value, v.error, v.state, v.reason };
}

static struct quantity without(enum reading_state state, const char *reason)
{
	return (struct quantity) { 0, 0, state, reason };
}

/* What has been read of the role of an input; @r: of the events of its scope. */
static struct quantity input_quantity(const struct windows *w, size_t input,
				      const struct reading *r)
{
	const struct profile_events *e = w->config.events;
	bool vcpu = w->config.model->inputs[input].scope == SCOPE_VCPU;
	const struct event *ev = vcpu ? e->vcpu.ev : e->node.ev;
	const struct profile_place *p = &e->place[input];
	struct quantity q;

	if (!p->n)
		return without(READ_UNSUPPORTED, e->need[input].words);
	q = as_quantity(profile_input_value(ev + p->first, r + p->first, p->n));
	if (!reading_has_value(q.state))
		q.value = q.error = 0;
	else if (isnan(q.error))
		q.error = q.value; /* all that can be said of an unknown bound */
	return q;
}

/* @first: role[0] of @out; @r NULL: there are no readings, for the reason @absent. */
static void fill_roles(const struct windows *w, enum profile_scope scope, size_t first,
		       size_t n, const struct reading *r, struct quantity *out)
{
	const struct profile_model *m = w->config.model;

	for (size_t i = 0; i < n; i++)
		out[i] = without(READ_UNSUPPORTED, not_asked);
	for (size_t i = 0; i < m->ninputs; i++) {
		const struct profile_input *in = &m->inputs[i];

		if (in->by_role && in->scope == scope && in->role - first < n)
			out[in->role - first] = r ? input_quantity(w, i, r)
						  : without(READ_NOT_SCHEDULED, absent);
	}
}

/* Gives @win every vCPU that was ever seen; the new ones have no values. */
static int level(const struct windows *w, struct diag_window *win)
{
	struct diag_vm *vms = reallocarray(win->vms, w->nvms + 1, sizeof(*vms));

	if (!vms)
		return -ENOMEM;
	memset(vms + win->nvms, 0, (w->nvms - win->nvms) * sizeof(*vms));
	win->vms = vms;
	win->nvms = w->nvms;
	for (size_t i = 0; i < w->nvms; i++) {
		const struct seen_vm *from = &w->vms[i];
		struct diag_vm *vm = &vms[i];
		struct diag_vcpu *vcpus =
			reallocarray(vm->vcpus, from->nvcpus + 1, sizeof(*vcpus));

		if (!vcpus)
			return -ENOMEM;
		vm->vcpus = vcpus;
		str_copy(vm->id, sizeof(vm->id), from->id);
		str_copy(vm->name, sizeof(vm->name), from->name);
		memcpy(vm->mem_node, from->mem_node, sizeof(vm->mem_node));
		for (; vm->nvcpus < from->nvcpus; vm->nvcpus++) {
			struct diag_vcpu *v = &vcpus[vm->nvcpus];

			*v = (struct diag_vcpu) { .index = from->vcpus[vm->nvcpus].index };
			fill_roles(w, SCOPE_VCPU, 0, ROLE_OF_NODE, NULL, v->role);
		}
	}
	return 0;
}

static void fill_vcpus(struct windows *w, struct diag_window *win)
{
	double span_ns = win->seconds * 1e9;

	for (size_t i = 0; i < w->nvms; i++)
		for (size_t k = 0; k < w->vms[i].nvcpus; k++) {
			struct seen_vcpu *from = &w->vms[i].vcpus[k];
			struct diag_vcpu *v = &win->vms[i].vcpus[k];

			fill_roles(w, SCOPE_VCPU, 0, ROLE_OF_NODE, from->reading, v->role);
			residence_share(&from->residence, fmin(from->ran_ns / span_ns, 1),
					v->on_node);
			v->cpu = from->residence.cpu;
			v->choices = from->residence.choices;
			forget_readings(w, from);
		}
}

static int fill_nodes(struct windows *w, struct diag_window *win)
{
	const struct event_set *set = &w->config.events->node;
	struct reading *r = calloc(set->n + 1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	for (size_t n = 0; n < nodes_count(w->nodes); n++) {
		for (size_t i = 0; i < set->n; i++) {
			r[i] = nodes_interval(w->nodes, n, i);
			r[i].reason = keep_reason(w, r[i].reason);
		}
		if (n < DIAG_NODES)
			fill_roles(w, SCOPE_NODE, ROLE_OF_NODE, ROLES - ROLE_OF_NODE, r,
				   win->node[n].role);
	}
	free(r);
	return 0;
}

/* Reads everything and makes a window of it, unless it is too short to be @wanted. */
static int close_window(struct windows *w, uint64_t from_ns, bool wanted, struct err *err)
{
	struct diag_window win = { .machine = w->machine };
	int ret = counting_interval(w->counting, err);

	if (ret)
		return ret;
	if (nodes_read(w->nodes))
		w->partial = true; /* the readings say why */
	win.seconds = (clock_now_ns() - from_ns) / 1e9;
	ret = level(w, &win);
	if (!ret) {
		fill_vcpus(w, &win);
		ret = fill_nodes(w, &win);
	}
	if (!ret && wanted && win.seconds > 0) {
		ret = VEC_PUSH(w->done, w->ndone, w->capdone, win);
		for (size_t i = 0; !ret && i + 1 < w->ndone; i++)
			ret = level(w, &w->done[i]);
	} else {
		diag_window_free(&win);
	}
	return ret || w->oom ? err_set(err, ENOMEM, "out of memory") : 0;
}

/* ---- start, run, end */

static int begin(struct windows *w, struct err *err)
{
	const struct counting_config config = {
		.ops = w->config.ops,
		.src = w->config.src,
		.targets = &w->target,
		.ntargets = 1,
		.side = SIDE_GUEST,
		.per_vcpu = true,
		.interval_ns = w->config.window_ns,
		.cb = &on_data,
		.ctx = w,
	};
	int ret;

	w->target.events = w->config.events->vcpu;
	ret = first_look(w, err);
	if (!ret)
		ret = counting_start(&config, &w->counting, err);
	if (!ret)
		ret = nodes_open(w->config.ops, w->config.src, &w->topo.machine,
				 &w->config.events->node, &w->nodes, err);
	if (!ret)
		w->partial = nodes_begin(w->nodes); /* the readings say why */
	return ret;
}

int windows_start(const struct windows_config *config, struct windows **out,
		  struct err *err)
{
	struct windows *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return err_set(err, ENOMEM, "out of memory");
	w->config = *config;
	w->machine = *config->machine;
	ret = begin(w, err);
	if (ret) {
		windows_free(w);
		return ret;
	}
	*out = w;
	return 0;
}

/* One step of a window; -EINTR: woken. */
static int step(struct windows *w, uint64_t until_ns, struct err *err)
{
	struct pollfd fds[] = { { w->config.wake_fd, POLLIN, 0 },
				{ counting_fd(w->counting), POLLIN, 0 } };
	uint64_t due = counting_due_ns(w->counting);
	int ret = clock_wait(fds, ARRAY_SIZE(fds), due < until_ns ? due : until_ns);

	if (ret > 0 && fds[0].revents)
		return -EINTR;
	if (ret < 0 && ret != -EINTR)
		return err_set(err, ret, "cannot wait: %s", err_name(ret));
	return counting_tick(w->counting, err);
}

int windows_next(struct windows *w, struct err *err)
{
	uint64_t from_ns = clock_now_ns(), end_ns = from_ns + w->config.window_ns;
	uint64_t pace = w->config.window_ns / LOOKS, look_ns = from_ns + pace / 2;
	bool woken = false, wanted;
	int ret = 0;

	while (!ret && clock_now_ns() < end_ns) {
		ret = step(w, look_ns < end_ns ? look_ns : end_ns, err);
		if (clock_now_ns() < look_ns)
			continue;
		look(w);
		nodes_read(w->nodes); /* a tick of their estimates */
		look_ns += pace;
	}
	woken = ret == -EINTR;
	if (ret && !woken)
		return ret;
	wanted = !w->ndone || clock_now_ns() - from_ns >= w->config.window_ns / 2;
	ret = close_window(w, from_ns, wanted, err);
	if (!ret && woken)
		ret = -EINTR;
	return ret || counting_alive(w->counting) ? ret : -ENODATA;
}

size_t windows_count(const struct windows *w)
{
	return w->ndone;
}

const struct diag_window *windows_get(const struct windows *w, size_t i)
{
	return &w->done[i];
}

const struct topology *windows_topology(const struct windows *w)
{
	return &w->topo;
}

bool windows_partial(const struct windows *w)
{
	return w->partial || counting_partial(w->counting);
}

void windows_free(struct windows *w)
{
	if (!w)
		return;
	counting_free(w->counting);
	nodes_free(w->nodes);
	for (size_t i = 0; i < w->nvms; i++) {
		for (size_t k = 0; k < w->vms[i].nvcpus; k++)
			free(w->vms[i].vcpus[k].reading);
		free(w->vms[i].vcpus);
	}
	free(w->vms);
	for (size_t i = 0; i < w->ndone; i++)
		diag_window_free(&w->done[i]);
	free(w->done);
	for (size_t i = 0; i < w->nreasons; i++)
		free(w->reasons[i]);
	free(w->reasons);
	cpu_nodes_free(&w->cpu_nodes);
	topology_free(&w->topo);
	free(w);
}
