/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One vCPU's sampling events: its ring of the domain's set. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "source/xen/set.h"
#include "source/xen/stage.h"

#define RING_DEFAULT (512 * 1024)
#define CLOCK_TRIES 16
#define CLOCK_GOOD_NS 1000000 /* a worse clock is told of */

struct sampled_event {
	struct perf_event_attr attr;
	uint64_t id;				    /* 0: not open */
	uint64_t raw, enabled_ns, running_ns, lost; /* at the last read */
};

struct sampler {
	struct source *src;
	struct xen_set *set;
	unsigned vcpu;
	const struct opened *opened; /* one per event, the caller's */
	void *ring;		     /* NULL: nothing samples */
	unsigned frames;
	struct stage stage;
	bool stopped;
	size_t n;
	struct sampled_event ev[];
};

/*
 * The number of frames for a ring that holds a power of two of samples; what Xen gives
 * to a set is shared among the domain's vCPUs.
 */
static unsigned ring_frames(const struct vm *vm, size_t bytes)
{
	size_t most = XENPMU_RING_FRAMES_ALL / (vm->nvcpus ? vm->nvcpus : 1);
	size_t records = 1;

	if (most > XENPMU_RING_FRAMES_MAX)
		most = XENPMU_RING_FRAMES_MAX;
	most = most < 2 ? VPMU_RING_PAGE : (most - 1) * VPMU_RING_PAGE;
	if (!bytes)
		bytes = RING_DEFAULT;
	if (bytes > most)
		bytes = most;
	while (records * 2 * sizeof(struct vpmu_sample) <= bytes)
		records *= 2;
	return 1 +
	       (records * sizeof(struct vpmu_sample) + VPMU_RING_PAGE - 1) / VPMU_RING_PAGE;
}

/*
 * Xen's clock on ours, at the start: read between two looks at ours, as close together
 * as can be had. It stays that for the whole run, so that times keep their order; the
 * two drift apart only as far as dom0's time is being disciplined meanwhile.
 */
static void learn_clock(struct source *src)
{
	src->clock_bound = UINT64_MAX;
	for (int i = 0; i < CLOCK_TRIES; i++) {
		struct xenpmu_info info = { 0 };
		uint64_t before = clock_now_ns(), between;

		if (XEN_PMU(&src->xen, XENPMU_INFO, &info))
			continue;
		between = (clock_now_ns() - before) / 2 + 1;
		if (between >= src->clock_bound)
			continue;
		src->clock_bound = between;
		src->clock_offset = before + between - info.now_ns;
	}
	src->clock_known = src->clock_bound != UINT64_MAX;
}

static void describe(const struct event *ev, const struct vpmu_event *asked,
		     struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr) {
		.type = ev->type,
		.size = sizeof(*attr),
		.config = ev->config,
		.sample_period = asked->period,
		.sample_type = STAGE_SAMPLE_TYPE,
		.read_format = PERF_FORMAT_ID,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_user = ev->exclude_user,
		.exclude_kernel = ev->exclude_kernel,
		.exclude_hv = ev->exclude_hv,
	};
}

static int map_ring(struct sampler *s, const struct vm *vm, struct err *err)
{
	struct xen *x = &s->src->xen;
	int ret;

	s->frames = xen_set_frames(s->set);
	s->ring = x->ops->map(x->ctx, XENPMU_DOMID_XEN, XENPMU_RESOURCE_RING,
			      xen_set_handle(s->set), s->vcpu * s->frames, s->frames);
	if (!s->ring)
		return err_set(err, errno, "%s, vCPU %u: cannot map its samples: %s",
			       vm->name, s->vcpu, err_name(errno));
	ret = stage_init(&s->stage, s->ring, (size_t)s->frames * VPMU_RING_PAGE);
	if (ret)
		return err_set(err, ret,
			       ret == -ENOMEM ? "%s, vCPU %u: out of memory"
					      : "%s, vCPU %u: what Xen shows is no ring of "
						"samples: use the same release of both",
			       vm->name, s->vcpu);
	return 0;
}

static void name_events(struct sampler *s, const struct event_set *set)
{
	for (size_t i = 0; i < s->n; i++) {
		int place = xen_set_place(s->set, i);

		describe(&set->ev[i], xen_set_asked(s->set, i), &s->ev[i].attr);
		if (place < 0)
			continue;
		s->ev[i].id = ++s->src->last_id;
		s->stage.ids[place] = s->ev[i].id;
		s->stage.nids = (unsigned)place + 1 > s->stage.nids ? (unsigned)place + 1
								    : s->stage.nids;
	}
}

static void say_clock(const struct source *src, struct opened *opened)
{
	size_t len = strlen(opened->reason);

	if (src->clock_bound > CLOCK_GOOD_NS)
		snprintf(opened->reason + len, sizeof(opened->reason) - len,
			 "%stimes may be off by %" PRIu64 " us: the hypervisor was slow to "
			 "tell them",
			 len ? "; " : "", src->clock_bound / 1000);
}

/* Where no wake-up can be had (another tool has it), the rings are looked at by clock. */
static void want_wakeup(struct source *src)
{
	if (!src->wake_wanted && !src->closed.code)
		src->wake = src->xen.ops->bind(src->xen.ctx, XENPMU_VIRQ);
	src->wake_wanted = true;
}

int xen_sampler_open(struct source *src, const struct vm *vm, const struct vcpu *vcpu,
		     const struct event_set *set, bool inside, size_t ring_bytes,
		     struct opened *opened, struct sampler **out, struct err *err)
{
	struct sampler *s;
	int place, ret;

	(void)inside; /* there is no other view */
	if (src->closed.code)
		return err_set(err, src->closed.code, "%s", src->closed.text);
	s = calloc(1, sizeof(*s) + set->n * sizeof(s->ev[0]));
	if (!s)
		return err_set(err, ENOMEM, "out of memory");
	s->src = src;
	s->vcpu = (unsigned)vcpu->index;
	s->opened = opened;
	s->n = set->n;
	s->stage.vcpu = s->vcpu;
	s->stage.hypervisor = vm->accel == ACCEL_HYPERVISOR;
	s->stage.pid = (uint32_t)vm_key(vm);
	s->stage.tid = (uint32_t)vcpu_key(vcpu);
	if (!src->clock_known && xen_can_count(src))
		learn_clock(src);
	s->stage.clock_offset = src->clock_offset;
	want_wakeup(src);
	ret = xen_set_get(src, vm, set, ring_frames(vm, ring_bytes), opened, &s->set, err);
	if (ret)
		goto out;
	name_events(s, set);
	place = xen_set_event(s->set, 0);
	if (place >= 0) {
		ret = map_ring(s, vm, err);
		say_clock(src, &opened[place]);
	}
out:
	if (ret)
		xen_sampler_close(s);
	else
		*out = s;
	return ret;
}

int xen_sampler_fd(const struct sampler *s)
{
	return s->src->wake;
}

bool xen_sampler_event(const struct sampler *s, size_t i, struct perf_event_attr *attr,
		       uint64_t *id)
{
	*attr = s->ev[i].attr;
	*id = s->ev[i].id;
	return s->ev[i].id;
}

int xen_sampler_peek(struct sampler *s, struct iovec spans[2], struct sampler_tally *tally)
{
	if (!s->ring)
		return 0;
	if (s->src->wake >= 0)
		s->src->xen.ops->rearm(s->src->xen.ctx);
	stage_fill(&s->stage, !xen_set_handle(s->set), tally);
	spans[0] = (struct iovec) { s->stage.out, s->stage.used };
	return s->stage.used ? 1 : 0;
}

void xen_sampler_release(struct sampler *s)
{
	if (s->ring)
		stage_release(&s->stage);
}

/* What cannot be read, since the set is closed, stays as it was. */
static void read_counts(struct sampler *s)
{
	struct xenpmu_read read;

	if (!s->ring || xen_set_read(s->set, s->vcpu, &read))
		return;
	s->stage.known_lost = 0;
	for (unsigned place = 0; place < s->stage.nids; place++) {
		const struct xenpmu_count *count = &read.count[place];
		struct sampled_event *e = &s->ev[xen_set_event(s->set, place)];

		e->raw = count->value;
		e->enabled_ns = count->enabled_ns;
		e->running_ns = count->running_ns < count->enabled_ns ? count->running_ns
								      : count->enabled_ns;
		e->lost = count->lost;
		s->stage.known_lost += count->lost;
	}
}

int xen_sampler_read(struct sampler *s, struct reading *out, uint64_t *lost)
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

void xen_sampler_stop(struct sampler *s)
{
	if (s->stopped)
		return;
	read_counts(s);
	s->stopped = true;
	xen_set_stop(s->set);
}

void xen_sampler_close(struct sampler *s)
{
	struct xen *x = &s->src->xen;

	if (s->set) {
		if (!s->stopped)
			xen_set_stop(s->set);
		xen_set_put(s->set);
	}
	stage_free(&s->stage);
	if (s->ring)
		x->ops->unmap(x->ctx, s->ring, s->frames);
	free(s);
}
