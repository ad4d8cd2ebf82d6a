/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One vCPU's sampling events: its ring of its VM's set. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "source/hosted/set.h"
#include "source/hosted/stage.h"

struct sampled_event {
	struct perf_event_attr attr;
	uint64_t id;				    /* 0: not open */
	uint64_t raw, enabled_ns, running_ns, lost; /* at the last read */
};

struct sampler {
	struct hosted *h;
	struct hosted_set *set;
	unsigned vcpu;
	const struct opened *opened; /* one per event, the caller's */
	void *ring;		     /* NULL: nothing samples */
	size_t bytes;
	struct stage stage;
	bool stopped;
	size_t n;
	struct sampled_event ev[];
};

static void describe(const struct hosted_ops *ops, const struct event *ev,
		     const struct vpmu_event *asked, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr) {
		.type = ev->type,
		.size = sizeof(*attr),
		.config = ev->config,
		.sample_period = asked->period,
		.sample_type = STAGE_SAMPLE_TYPE,
		.read_format = PERF_FORMAT_ID,
		.sample_id_all = 1,
		.use_clockid = !ops->own_clock,
		.clockid = ops->own_clock ? 0 : CLOCK_MONOTONIC,
		.exclude_user = ev->exclude_user,
		.exclude_kernel = ev->exclude_kernel,
		.exclude_hv = ev->exclude_hv,
	};
}

static int map_ring(struct sampler *s, const struct vm *vm, struct err *err)
{
	const struct hosted_ops *ops = s->h->ops;
	int ret;

	s->ring = ops->map(s->h->ctx, hosted_set_handle(s->set), s->vcpu,
			   hosted_set_ring_bytes(s->set), &s->bytes);
	if (!s->ring)
		return err_set(err, errno, "%s, vCPU %u: cannot map its samples: %s",
			       vm->name, s->vcpu, err_name(errno));
	ret = stage_init(&s->stage, s->ring, s->bytes);
	if (ret == -ENOMEM)
		return err_set(err, ret, "%s, vCPU %u: out of memory", vm->name, s->vcpu);
	if (ret)
		return err_set(err, ret,
			       "%s, vCPU %u: what %s shows is no ring of samples: use the "
			       "same release of both",
			       vm->name, s->vcpu, ops->who);
	return 0;
}

static void name_events(struct sampler *s, const struct event_set *set)
{
	for (size_t i = 0; i < s->n; i++) {
		int place = hosted_set_place(s->set, i);

		describe(s->h->ops, &set->ev[i], hosted_set_asked(s->set, i),
			 &s->ev[i].attr);
		if (place < 0)
			continue;
		s->ev[i].id = ++s->h->last_id;
		s->stage.ids[place] = s->ev[i].id;
		s->stage.nids = (unsigned)place + 1 > s->stage.nids ? (unsigned)place + 1
								    : s->stage.nids;
	}
}

int hosted_sampler_open(struct hosted *h, const struct vm *vm, const struct vcpu *vcpu,
			const struct event_set *set, size_t ring_bytes,
			struct opened *opened, struct sampler **out, struct err *err)
{
	struct sampler *s = calloc(1, sizeof(*s) + set->n * sizeof(s->ev[0]));
	struct hosted_target t;
	int place, ret;

	if (!s)
		return err_set(err, ENOMEM, "out of memory");
	h->ops->target(vm, &t);
	s->h = h;
	s->vcpu = (unsigned)vcpu->index;
	s->opened = opened;
	s->n = set->n;
	s->stage.vcpu = s->vcpu;
	s->stage.hypervisor = t.kind == HOSTED_HYPERVISOR;
	s->stage.pid = (uint32_t)vm_key(vm);
	s->stage.tid = (uint32_t)vcpu_key(vcpu);
	ret = hosted_set_get(h, &t, set, h->ops->ring_bytes(vm, ring_bytes), opened,
			     &s->set, err);
	if (ret)
		goto out;
	name_events(s, set);
	place = hosted_set_event(s->set, 0);
	if (place >= 0) {
		ret = map_ring(s, vm, err);
		s->stage.clock_offset = h->ops->clock_offset(h->ctx, &opened[place]);
	}
out:
	if (ret)
		hosted_sampler_close(s);
	else
		*out = s;
	return ret;
}

int hosted_sampler_fd(const struct sampler *s)
{
	return s->h->ops->wake(s->h->ctx);
}

bool hosted_sampler_event(const struct sampler *s, size_t i, struct perf_event_attr *attr,
			  uint64_t *id)
{
	*attr = s->ev[i].attr;
	*id = s->ev[i].id;
	return s->ev[i].id;
}

int hosted_sampler_peek(struct sampler *s, struct iovec spans[2],
			struct sampler_tally *tally)
{
	if (!s->ring)
		return 0;
	s->h->ops->rearm(s->h->ctx);
	stage_fill(&s->stage, hosted_set_stopped(s->set), tally);
	spans[0] = (struct iovec) { s->stage.out, s->stage.used };
	return s->stage.used ? 1 : 0;
}

void hosted_sampler_release(struct sampler *s)
{
	if (s->ring)
		stage_release(&s->stage);
}

/* What cannot be read, since the set is closed, stays as it was. */
static void read_counts(struct sampler *s)
{
	struct xenpmu_count counts[HOSTED_SETS_MAX * VPMU_SET_EVENTS];

	if (!s->ring || hosted_set_read(s->set, s->vcpu, counts))
		return;
	s->stage.known_lost = 0;
	for (unsigned place = 0; place < s->stage.nids; place++) {
		const struct xenpmu_count *count = &counts[place];
		struct sampled_event *e = &s->ev[hosted_set_event(s->set, place)];

		e->raw = count->value;
		e->enabled_ns = count->enabled_ns;
		e->running_ns = count->running_ns < count->enabled_ns ? count->running_ns
								      : count->enabled_ns;
		e->lost = count->lost;
		s->stage.known_lost += count->lost;
	}
}

int hosted_sampler_read(struct sampler *s, struct reading *out, uint64_t *lost)
{
	read_counts(s);
	for (size_t i = 0; i < s->n; i++) {
		const struct sampled_event *e = &s->ev[i];

		out[i] = (struct reading) {
			.raw = e->raw,
			.enabled_ns = e->enabled_ns,
			.running_ns = e->running_ns,
			.state = s->opened[i].state,
			.reason = s->opened[i].reason,
		};
		lost[i] = e->lost;
	}
	return 0;
}

void hosted_sampler_stop(struct sampler *s)
{
	if (s->stopped)
		return;
	read_counts(s);
	s->stopped = true;
	hosted_set_stop(s->set);
}

void hosted_sampler_close(struct sampler *s)
{
	if (s->set && !s->stopped)
		hosted_set_stop(s->set);
	stage_free(&s->stage);
	if (s->ring)
		s->h->ops->unmap(s->h->ctx, s->ring, s->bytes);
	if (s->set)
		hosted_set_put(s->set);
	free(s);
}
