/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Xen with vmmprof's graft as a hypervisor of event sets. */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "source/xen/state.h"

#define READ_TRIES 8   /* counts that change while they are read */
#define SETS_MAX 65536 /* more than Xen has room for: a list that does not end is wrong */
#define RING_DEFAULT (512 * 1024)
#define CLOCK_TRIES 16
#define CLOCK_GOOD_NS 1000000 /* a worse clock is told of */

/* ---- whose sets these are */

/* When a process started, in ticks (proc(5), field 22 of stat); 0: there is none. */
static uint64_t start_of(const struct source *src, pid_t pid)
{
	char stat[1024], *s;

	if (rootfs_read_head(&src->root, stat, sizeof(stat), "proc/%d/stat", pid) < 0)
		return 0;
	s = strrchr(stat, ')'); /* the name before it may hold anything */
	for (int field = 2; s && field < 22; field++) {
		s = strchr(s, ' ');
		s = s ? s + 1 : NULL;
	}
	return s ? strtoull(s, NULL, 10) : 0;
}

static uint64_t mark_of(const struct source *src, pid_t pid)
{
	return (uint64_t)pid << 32 | (uint32_t)start_of(src, pid);
}

static bool left_behind(const struct source *src, uint64_t owner)
{
	return owner && mark_of(src, (pid_t)(owner >> 32)) != owner;
}

/* A tool that was killed could not close its sets: they would hold counters for ever. */
static void tidy(struct source *src)
{
	struct xenpmu_next next = { 0 };
	uint32_t *dead = NULL;
	size_t n = 0, cap = 0;

	if (src->tidied)
		return;
	src->tidied = true;
	for (unsigned i = 0; i < SETS_MAX && !XEN_PMU(&src->xen, XENPMU_NEXT, &next); i++)
		if (left_behind(src, next.owner) && VEC_PUSH(dead, n, cap, next.handle))
			break;
	while (n--) {
		struct xenpmu_close close = { .handle = dead[n] };

		XEN_PMU(&src->xen, XENPMU_CLOSE, &close);
	}
	free(dead);
}

/* ---- sets */

static void target_of(const struct vm *vm, struct hosted_target *out)
{
	*out = (struct hosted_target) {
		.kind = vm->accel == ACCEL_HYPERVISOR ? HOSTED_HYPERVISOR : HOSTED_VM,
		.id = xen_domid(vm),
		.name = vm->name,
	};
}

static unsigned capacity(void *ctx, const struct hosted_target *t, bool sampling)
{
	const struct source *src = ctx;
	const struct xenpmu_info *info = &src->info;
	unsigned n = info->host_counters;

	if (t->kind != HOSTED_HYPERVISOR)
		n -= info->hyp_counters < n ? info->hyp_counters : n;
	return sampling && (info->flags & XENPMU_INFO_KICK) ? n / 2 : n;
}

static int open_set(void *ctx, const struct hosted_target *t,
		    const struct vpmu_event *events, unsigned n, size_t ring_bytes,
		    uint32_t *handle, unsigned *bad, struct err *err)
{
	struct source *src = ctx;
	struct xenpmu_open open = {
		.domid = (uint16_t)t->id,
		.nevents = n,
		.ring_frames = (uint32_t)(ring_bytes / VPMU_RING_PAGE),
		.owner = mark_of(src, getpid()),
	};
	int ret;

	tidy(src);
	memcpy(open.event, events, n * sizeof(*events));
	ret = XEN_PMU(&src->xen, XENPMU_OPEN, &open);
	*handle = open.handle;
	*bad = open.bad;
	if (ret == -ESRCH)
		return err_set(err, ESRCH, "%s: the domain is gone", t->name);
	if (ret == -ENOMEM || ret == -E2BIG)
		return err_set(err, ENOMEM, "%s: Xen has no memory for its events%s",
			       t->name, ring_bytes ? ": give less to --ring" : "");
	return ret;
}

static void explain(void *ctx, const struct hosted_target *t, int code,
		    struct opened *opened)
{
	const struct source *src = ctx;
	unsigned host = src->info.host_counters;

	switch (code) {
	case -EPERM:
	case -EACCES:
		opened_say(
			opened, READ_DENIED,
			t->kind == HOSTED_HYPERVISOR
				? "only the control domain, dom0, may count Xen itself"
				: "only the control domain, dom0, may count other domains");
		break;
	case -EBUSY:
		opened_say(
			opened, READ_TAKEN,
			"of the %u counters that Xen keeps for the host none is left for "
			"it: Xen's own events hold theirs all the time; ask for fewer, end "
			"other users, or boot Xen with vpmu=host=%u",
			host, host * 2);
		break;
	case -ENOSPC:
		opened_say(
			opened, READ_TAKEN,
			"too many events are open on this target: end other users, or ask "
			"for fewer");
		break;
	case -EMFILE:
		opened_say(opened, READ_TAKEN,
			   "too many event sets are open in Xen: end other users of it");
		break;
	case -EOPNOTSUPP:
		opened_say(
			opened, READ_UNSUPPORTED,
			"this machine's PMU has no such event: vmmprof check says which it "
			"has");
		break;
	case -EINVAL:
		opened_say(opened, READ_UNSUPPORTED,
			   "Xen refuses this event with these modifiers and this period");
		break;
	default:
		opened_say(opened, READ_UNSUPPORTED, "Xen does not open it: %s",
			   err_name(code));
	}
}

static int read_set(void *ctx, const struct hosted_target *t, uint32_t handle,
		    unsigned vcpu, struct xenpmu_count out[VPMU_SET_EVENTS])
{
	struct source *src = ctx;
	struct xenpmu_read read;
	int ret = -EAGAIN;

	(void)t;
	for (int i = 0; ret == -EAGAIN && i < READ_TRIES; i++) {
		read = (struct xenpmu_read) { .handle = handle, .tally = vcpu };
		ret = XEN_PMU(&src->xen, XENPMU_READ, &read);
	}
	if (!ret)
		memcpy(out, read.count, sizeof(read.count));
	return ret;
}

static void close_set(void *ctx, const struct hosted_target *t, uint32_t handle)
{
	struct source *src = ctx;
	struct xenpmu_close close = { .handle = handle };

	(void)t;
	XEN_PMU(&src->xen, XENPMU_CLOSE, &close);
}

/* Its scheduler tells how long a domain's vCPU ran. */
static enum hosted_told told(const struct hosted_target *t, const struct event *ev)
{
	bool clock = t->kind == HOSTED_VM && ev->type == PERF_TYPE_SOFTWARE &&
		     ev->config == PERF_COUNT_SW_TASK_CLOCK && !ev->exclude_user &&
		     !ev->exclude_kernel;

	return clock ? TOLD_RAN : TOLD_NOTHING;
}

static int tell(void *ctx, const struct hosted_target *t, unsigned vcpu,
		enum hosted_told what, uint64_t *ns)
{
	struct source *src = ctx;
	struct xen_vcpuinfo info;
	int ret = what == TOLD_RAN ? xen_vcpuinfo(&src->xen, t->id, vcpu, &info)
				   : -EOPNOTSUPP;

	if (!ret)
		*ns = info.cpu_time;
	return ret;
}

/* ---- sampling */

/*
 * Frames for a ring that holds a power of two of samples; what Xen gives to a set is
 * shared among the domain's vCPUs.
 */
static size_t ring_bytes(const struct vm *vm, size_t bytes)
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
	bytes = records * sizeof(struct vpmu_sample) + VPMU_RING_PAGE - 1;
	return (1 + bytes / VPMU_RING_PAGE) * VPMU_RING_PAGE;
}

static void *map_ring(void *ctx, uint32_t handle, unsigned vcpu, size_t ring, size_t *bytes)
{
	struct source *src = ctx;
	unsigned frames = (unsigned)(ring / VPMU_RING_PAGE);

	*bytes = ring;
	return src->xen.ops->map(src->xen.ctx, XENPMU_DOMID_XEN, XENPMU_RESOURCE_RING,
				 handle, vcpu * frames, frames);
}

static void unmap_ring(void *ctx, void *ring, size_t bytes)
{
	struct source *src = ctx;

	src->xen.ops->unmap(src->xen.ctx, ring, (unsigned)(bytes / VPMU_RING_PAGE));
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

static uint64_t clock_offset(void *ctx, struct opened *remark)
{
	struct source *src = ctx;
	size_t len = strlen(remark->reason);

	if (!src->clock_known && xen_can_count(src))
		learn_clock(src);
	if (src->clock_bound > CLOCK_GOOD_NS)
		snprintf(remark->reason + len, sizeof(remark->reason) - len,
			 "%stimes may be off by %" PRIu64 " us: the hypervisor was slow to "
			 "tell them",
			 len ? "; " : "", src->clock_bound / 1000);
	return src->clock_offset;
}

/* Where no wake-up can be had (another tool has it), the rings are looked at by clock. */
static int wake(void *ctx)
{
	struct source *src = ctx;

	if (!src->wake_wanted && !src->closed.code)
		src->wake = src->xen.ops->bind(src->xen.ctx, XENPMU_VIRQ);
	src->wake_wanted = true;
	return src->wake;
}

static void rearm(void *ctx)
{
	struct source *src = ctx;

	if (src->wake >= 0)
		src->xen.ops->rearm(src->xen.ctx);
}

const struct hosted_ops xen_hosted = {
	.who = "Xen",
	.vm = "domain",
	.self = "xen",
	.sets_max = 1,
	.period_frequent = PERIOD_OF_FREQUENT,
	.period_others = PERIOD_OF_OTHERS,
	.target = target_of,
	.event = xen_event,
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
