/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One vCPU's counting events: its part of its VM's set, and what is told without one. */
#include <errno.h>
#include <stdlib.h>

#include "source/hosted/set.h"

/* An event that the hypervisor tells without a counter. */
struct told {
	enum hosted_told what; /* TOLD_NOTHING: it has a counter */
	uint64_t since, now;   /* at the open; at the last read */
};

struct counters {
	struct hosted *h;
	struct hosted_set *set;
	struct hosted_target target;
	unsigned vcpu;
	size_t n;
	struct opened *opened; /* the caller's */
	struct told *told;     /* per event */
};

static int start_telling(struct counters *c, const struct event_set *set, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < set->n; i++) {
		struct told *t = &c->told[i];

		t->what = c->h->ops->told(&c->target, &set->ev[i]);
		if (t->what == TOLD_NOTHING)
			continue;
		c->opened[i] = (struct opened) { .state = READ_COUNTED };
		ret = c->h->ops->tell(c->h->ctx, &c->target, c->vcpu, t->what, &t->since);
		t->now = t->since;
	}
	return ret ? err_set(err, ret, "%s, vCPU %u: %s", c->target.name, c->vcpu,
			     err_name(ret))
		   : 0;
}

static int open_counters(struct hosted *h, const struct hosted_target *t, unsigned vcpu,
			 const struct event_set *set, struct opened *opened,
			 struct counters **out, struct err *err)
{
	struct counters *c = calloc(1, sizeof(*c));
	int ret;

	if (c)
		c->told = calloc(set->n + 1, sizeof(*c->told));
	if (!c || !c->told) {
		free(c);
		return err_set(err, ENOMEM, "out of memory");
	}
	c->h = h;
	c->target = *t;
	c->vcpu = vcpu;
	c->n = set->n;
	c->opened = opened;
	ret = hosted_set_get(h, t, set, 0, opened, &c->set, err);
	if (!ret)
		ret = start_telling(c, set, err);
	c->target.name = NULL; /* the caller's */
	if (ret)
		hosted_counters_close(c);
	else
		*out = c;
	return ret;
}

int hosted_counters_open(struct hosted *h, const struct vm *vm, const struct vcpu *vcpu,
			 const struct event_set *set, struct opened *opened,
			 struct counters **out, struct err *err)
{
	struct hosted_target t;

	h->ops->target(vm, &t);
	return open_counters(h, &t, (unsigned)vcpu->index, set, opened, out, err);
}

int hosted_node_open(struct hosted *h, const struct hosted_target *node,
		     const struct event_set *set, struct opened *opened,
		     struct counters **out, struct err *err)
{
	return open_counters(h, node, 0, set, opened, out, err);
}

static void read_told(struct counters *c, size_t i, struct reading *out)
{
	struct told *t = &c->told[i];
	uint64_t now;

	/* the time of a vCPU that is gone stays what it was */
	if (!c->h->ops->tell(c->h->ctx, &c->target, c->vcpu, t->what, &now))
		t->now = now;
	out->raw = t->now - t->since;
	out->enabled_ns = out->running_ns = out->raw;
}

int hosted_counters_read(struct counters *c, struct reading *out)
{
	struct xenpmu_count counts[HOSTED_SETS_MAX * VPMU_SET_EVENTS];
	int ret = hosted_set_read(c->set, c->vcpu, counts);

	for (size_t i = 0; !ret && i < c->n; i++) {
		const struct opened *o = &c->opened[i];
		int place = hosted_set_place(c->set, i);

		out[i] = (struct reading) { .state = o->state,
					    .reason = *o->reason ? o->reason : NULL };
		if (c->told[i].what != TOLD_NOTHING) {
			read_told(c, i, &out[i]);
		} else if (place >= 0) {
			out[i].raw = counts[place].value;
			out[i].enabled_ns = counts[place].enabled_ns;
			out[i].running_ns = counts[place].running_ns;
			if (out[i].running_ns > out[i].enabled_ns)
				out[i].running_ns = out[i].enabled_ns;
		}
	}
	return ret;
}

int hosted_vcpu_ran(struct counters *c, uint64_t *guest_ns)
{
	return c->h->ops->tell(c->h->ctx, &c->target, c->vcpu, TOLD_RAN, guest_ns);
}

void hosted_counters_close(struct counters *c)
{
	if (c->set) {
		hosted_set_stop(c->set);
		hosted_set_put(c->set);
	}
	free(c->told);
	free(c);
}
