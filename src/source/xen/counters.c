/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One vCPU's counting events: its part of the domain's set, and its running time. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "source/xen/set.h"

struct counters {
	struct source *src;
	struct xen_set *set;
	unsigned domid, vcpu;
	size_t n;
	struct opened *opened;
	bool clocked;	    /* some event is the vCPU's own running time */
	uint64_t ran_since; /* that was its running time at the open */
	uint64_t ran;	    /* at the last read */
	bool *is_clock;	    /* per event */
};

static bool is_task_clock(const struct event *ev, enum vm_accel accel)
{
	return accel == ACCEL_XEN && ev->type == PERF_TYPE_SOFTWARE &&
	       ev->config == PERF_COUNT_SW_TASK_CLOCK && !ev->exclude_user &&
	       !ev->exclude_kernel;
}

static int ran(const struct counters *c, uint64_t *ns)
{
	struct xen_vcpuinfo info;
	int ret = xen_vcpuinfo(&c->src->xen, c->domid, c->vcpu, &info);

	*ns = info.cpu_time;
	return ret;
}

/* Xen's scheduler tells it, without any counter. */
static int start_clock(struct counters *c, const struct vm *vm, const struct event_set *set,
		       struct err *err)
{
	int ret;

	for (size_t i = 0; i < set->n; i++) {
		c->is_clock[i] = is_task_clock(&set->ev[i], vm->accel);
		c->clocked = c->clocked || c->is_clock[i];
		if (c->is_clock[i])
			c->opened[i] = (struct opened) { .state = READ_COUNTED };
	}
	ret = c->clocked ? ran(c, &c->ran_since) : 0;
	c->ran = c->ran_since;
	return ret ? err_set(err, ret, "%s, vCPU %u: %s", vm->name, c->vcpu, err_name(ret))
		   : 0;
}

int xen_counters_open(struct source *src, const struct vm *vm, const struct vcpu *vcpu,
		      const struct event_set *set, struct opened *opened,
		      struct counters **out, struct err *err)
{
	struct counters *c;
	int ret;

	if (src->closed.code)
		return err_set(err, src->closed.code, "%s", src->closed.text);
	c = calloc(1, sizeof(*c));
	if (c)
		c->is_clock = calloc(set->n + 1, sizeof(*c->is_clock));
	if (!c || !c->is_clock) {
		free(c);
		return err_set(err, ENOMEM, "out of memory");
	}
	c->src = src;
	c->domid = xen_domid(vm);
	c->vcpu = (unsigned)vcpu->index;
	c->n = set->n;
	c->opened = opened;
	ret = xen_set_get(src, vm, set, 0, opened, &c->set, err);
	if (!ret)
		ret = start_clock(c, vm, set, err);
	if (ret)
		xen_counters_close(c);
	else
		*out = c;
	return ret;
}

static bool any_open(const struct counters *c)
{
	return xen_set_event(c->set, 0) >= 0;
}

int xen_counters_read(struct counters *c, struct reading *out)
{
	struct xenpmu_read read = { 0 };
	int ret = any_open(c) ? xen_set_read(c->set, c->vcpu, &read) : 0;
	uint64_t now;

	/* the time of a vCPU that is gone stays what it was */
	if (c->clocked && !ran(c, &now))
		c->ran = now;
	for (size_t i = 0; !ret && i < c->n; i++) {
		const struct opened *o = &c->opened[i];
		int place = xen_set_place(c->set, i);

		out[i] = (struct reading) { .state = o->state,
					    .reason = *o->reason ? o->reason : NULL };
		if (c->is_clock[i]) {
			out[i].raw = c->ran - c->ran_since;
			out[i].enabled_ns = out[i].running_ns = out[i].raw;
		} else if (place >= 0) {
			out[i].raw = read.count[place].value;
			out[i].enabled_ns = read.count[place].enabled_ns;
			out[i].running_ns = read.count[place].running_ns;
			if (out[i].running_ns > out[i].enabled_ns)
				out[i].running_ns = out[i].enabled_ns;
		}
	}
	return ret;
}

int xen_vcpu_ran(struct counters *c, uint64_t *guest_ns)
{
	return ran(c, guest_ns);
}

void xen_counters_close(struct counters *c)
{
	if (c->set) {
		xen_set_stop(c->set);
		xen_set_put(c->set);
	}
	free(c->is_clock);
	free(c);
}
