/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The simulated hypervisor as one of event sets. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/ring.h"
#include "source/sim/state.h"

#define RING_DEFAULT (512 * 1024)
#define RING_LEAST (2 * VPMU_RING_PAGE)
#define RING_MOST (64 * 1024 * 1024)

struct sim_ring {
	struct sim_ring *next;
	struct vpmu_reader reader;
	const void *ring;
};

/* ---- sets */

static void target_of(const struct vm *vm, struct hosted_target *out)
{
	*out = (struct hosted_target) {
		.kind = HOSTED_VM,
		.id = sim_number(vm),
		.name = vm->name,
	};
}

static unsigned capacity(void *ctx, const struct hosted_target *t, bool sampling)
{
	const struct source *src = ctx;

	(void)sampling;
	if (t->kind == HOSTED_NODE)
		return src->info.uncore + 1; /* and the clock's own */
	return src->info.counters + src->info.fixed;
}

static int open_set(void *ctx, const struct hosted_target *t,
		    const struct vpmu_event *events, unsigned n, size_t ring_bytes,
		    uint32_t *handle, unsigned *bad, struct err *err)
{
	struct source *src = ctx;
	uint64_t config[VPMU_SET_EVENTS];
	int ret;

	for (unsigned i = 0; i < n; i++)
		config[i] = events[i].config;
	ret = t->kind == HOSTED_NODE
		      ? sim_uncore_open(src->sim, t->id, config, n, handle, bad)
		      : sim_set_open(src->sim, (int)t->id, events, n, ring_bytes, handle,
				     bad);
	return ret == -ENOMEM ? err_set(err, ENOMEM, "out of memory") : ret;
}

static void explain(void *ctx, const struct hosted_target *t, int code,
		    struct opened *opened)
{
	const struct source *src = ctx;
	bool node = t->kind == HOSTED_NODE;

	switch (code) {
	case -EBUSY:
		opened_say(opened, READ_TAKEN,
			   "the counters of the %s that could count it, or its group, "
			   "are too few, or someone else holds them",
			   node ? "socket" : "core");
		break;
	case -ENOSPC:
	case -EMFILE:
		opened_say(opened, READ_TAKEN,
			   "too many events are open on this %s: ask for fewer",
			   node ? "node" : "VM");
		break;
	case -EOPNOTSUPP:
	case -EINVAL:
		opened_say(opened, READ_UNSUPPORTED,
			   "the simulated %s PMU has no such event; it has those of the "
			   "event table of %s that can happen in it",
			   node ? "uncore" : "core", sim_machine(src->sim)->name);
		break;
	default:
		opened_say(opened, READ_UNSUPPORTED,
			   "the simulated host does not open it: %s", err_name(code));
	}
}

static int read_set(void *ctx, const struct hosted_target *t, uint32_t handle,
		    unsigned vcpu, struct xenpmu_count out[VPMU_SET_EVENTS])
{
	struct source *src = ctx;

	return t->kind == HOSTED_NODE ? sim_uncore_read(src->sim, handle, out)
				      : sim_set_read(src->sim, handle, vcpu, out);
}

static void close_set(void *ctx, const struct hosted_target *t, uint32_t handle)
{
	struct source *src = ctx;

	if (t->kind == HOSTED_NODE)
		sim_uncore_close(src->sim, handle);
	else
		sim_set_close(src->sim, handle);
}

/* Its scheduler tells how long a vCPU ran and waited. */
static enum hosted_told told(const struct hosted_target *t, const struct event *ev)
{
	if (t->kind != HOSTED_VM)
		return TOLD_NOTHING;
	if (ev->kind == EVENT_MONITOR && ev->config == ROLE_WAITED)
		return TOLD_WAITED;
	return ev->type == PERF_TYPE_SOFTWARE && ev->config == PERF_COUNT_SW_TASK_CLOCK &&
			       !ev->exclude_user && !ev->exclude_kernel
		       ? TOLD_RAN
		       : TOLD_NOTHING;
}

static int tell(void *ctx, const struct hosted_target *t, unsigned vcpu,
		enum hosted_told what, uint64_t *ns)
{
	struct source *src = ctx;
	struct sim_vcpu v;
	int ret = sim_vcpu(src->sim, t->id, vcpu, &v);

	if (!ret)
		*ns = what == TOLD_RAN ? v.ran_ns : v.waited_ns;
	return ret;
}

/* ---- sampling */

static size_t ring_bytes(const struct vm *vm, size_t bytes)
{
	size_t room = RING_LEAST;

	(void)vm;
	if (!bytes)
		bytes = RING_DEFAULT;
	while (room < bytes && room < RING_MOST)
		room *= 2;
	return room;
}

static void *map_ring(void *ctx, uint32_t handle, unsigned vcpu, size_t asked,
		      size_t *bytes)
{
	struct source *src = ctx;
	struct sim_ring *r = calloc(1, sizeof(*r));
	void *ring = r ? sim_set_ring(src->sim, handle, vcpu, bytes) : NULL;

	(void)asked;
	if (!ring || vpmu_reader_init(&r->reader, ring, *bytes)) {
		errno = r ? EINVAL : ENOMEM;
		free(r);
		return NULL;
	}
	r->ring = ring;
	r->next = src->rings;
	src->rings = r;
	return ring;
}

/* The ring itself goes with its set. */
static void unmap_ring(void *ctx, void *ring, size_t bytes)
{
	struct source *src = ctx;
	struct sim_ring **at = &src->rings, *r;

	(void)bytes;
	while (*at && (*at)->ring != ring)
		at = &(*at)->next;
	r = *at;
	if (r)
		*at = r->next;
	free(r);
}

void sim_look_at_rings(struct source *src)
{
	const uint64_t one = 1;

	for (struct sim_ring *r = src->rings; r; r = r->next) {
		r->reader.tail = r->reader.page->tail;
		if (vpmu_reader_waiting(&r->reader) * 2 < r->reader.records)
			continue;
		if (write(src->wake, &one, sizeof(one)) == sizeof(one))
			return;
	}
}

static uint64_t clock_offset(void *ctx, struct opened *remark)
{
	(void)ctx;
	(void)remark;
	return SIM_EPOCH_NS;
}

static int wake(void *ctx)
{
	return ((struct source *)ctx)->wake;
}

static void rearm(void *ctx)
{
	struct source *src = ctx;
	uint64_t times;

	if (read(src->wake, &times, sizeof(times)) < 0)
		return; /* nobody was woken */
}

const struct hosted_ops sim_hosted = {
	.who = "the simulated hypervisor",
	.vm = "VM",
	.sets_max = HOSTED_SETS_MAX,
	.together = true,
	.period_frequent = 100003, /* simulated runs are short */
	.period_others = 10007,
	.own_clock = true,
	.rings_end = true,
	.target = target_of,
	.event = sim_event,
	.capacity = capacity,
	.open = open_set,
	.explain = explain,
	.read = read_set,
	.close = close_set,
	.told = told,
	.tell = tell,
	.ring_bytes = ring_bytes,
	.map = map_ring,
	.unmap = unmap_ring,
	.clock_offset = clock_offset,
	.wake = wake,
	.rearm = rearm,
};
