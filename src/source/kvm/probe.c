/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters tried out on the calling thread: what opens, and how many at once. */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "source/kvm/capabilities.h"

#define GROUP_MAX 64
#define RUN_NS 200000u

static const struct perf_want myself = { .side = SIDE_BOTH, .accel = ACCEL_KVM };

/* Disabling and enabling makes the kernel try to schedule the group anew. */
static bool live_runs(int leader)
{
	uint64_t before[3], after[3]; /* value, enabled, running */
	uint64_t end;

	if (ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP) ||
	    ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) ||
	    read(leader, before, sizeof(before)) != sizeof(before))
		return false;
	end = clock_real_ns() + RUN_NS;
	while (clock_real_ns() < end)
		;
	if (read(leader, after, sizeof(after)) != sizeof(after))
		return false;
	return after[2] > before[2] && after[1] - before[1] == after[2] - before[2];
}

const struct probe_ops probe_live = {
	.open = kvm_perf_open,
	.runs = live_runs,
};

static int open_member(const struct probe_ops *ops, uint64_t config, bool user,
		       int group_fd, struct opened *opened)
{
	struct event ev = {
		.name = "cycles",
		.kind = EVENT_HARDWARE,
		.type = PERF_TYPE_HARDWARE,
		.config = config,
		.exclude_kernel = user,
		.exclude_hv = user,
		.group = group_fd < 0 ? -1 : 0,
		.scale = 1,
	};
	struct perf_event_attr attr;

	if (config == PERF_COUNT_HW_INSTRUCTIONS)
		strcpy(ev.name, "instructions");
	kvm_perf_attr(&ev, &myself, &attr);
	/* Kernels leave events that are off out when they look whether a group fits. */
	attr.disabled = 0;
	return ops->open(&attr, &ev, &myself, group_fd, opened);
}

/* After cycles (which may have a counter of their own) come instructions, or
 * more cycles where the PMU has no instructions. */
static int grow(const struct probe_ops *ops, bool user, int *fds, struct opened *first)
{
	uint64_t config = PERF_COUNT_HW_INSTRUCTIONS;
	struct opened opened;
	int n = 0;

	fds[n] = open_member(ops, PERF_COUNT_HW_CPU_CYCLES, user, -1, first);
	if (fds[n] < 0)
		return 0;
	n++;
	fds[n] = open_member(ops, config, user, fds[0], &opened);
	if (fds[n] < 0)
		config = PERF_COUNT_HW_CPU_CYCLES;
	else
		n++;
	while (n < GROUP_MAX) {
		fds[n] = open_member(ops, config, user, fds[0], &opened);
		if (fds[n] < 0)
			break;
		n++;
	}
	return n;
}

void probe_counters(const struct probe_ops *ops, bool user, struct probe_counters *out)
{
	int fds[GROUP_MAX];
	int n;

	*out = (struct probe_counters) { 0 };
	n = grow(ops, user, fds, &out->first);
	out->fit = n;
	while (n > 0 && !ops->runs(fds[0]))
		close(fds[--n]);
	out->free = n;
	while (n > 0)
		close(fds[--n]);
}

void probe_event(const struct probe_ops *ops, const struct event *ev, enum event_side side,
		 bool sampling, struct opened *opened)
{
	struct perf_want want = myself;
	struct perf_event_attr attr;
	int fd;

	want.side = side;
	want.sampling = sampling;
	kvm_perf_attr(ev, &want, &attr);
	fd = ops->open(&attr, ev, &want, -1, opened);
	if (fd >= 0)
		close(fd);
}
