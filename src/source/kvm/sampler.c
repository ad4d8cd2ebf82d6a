/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One vCPU's sampling events, opened into one ring. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "source/kvm/kvm.h"
#include "source/kvm/ring.h"

#define RING_DEFAULT (512 * 1024)

struct sampled_event {
	struct perf_event_attr attr;
	int fd; /* -1: not open */
	uint64_t id;
};

struct sampler {
	const struct opened *opened; /* one per event, the caller's */
	struct ring ring;
	int ring_fd; /* the event that owns the ring */
	bool inside; /* the VM's own view */
	size_t n;
	struct sampled_event ev[];
};

static size_t ring_size(size_t bytes)
{
	size_t size = sysconf(_SC_PAGESIZE);

	while (size * 2 <= bytes)
		size *= 2;
	return size;
}

#define MORE_LOCKED                                                                        \
	"raise kernel.perf_event_mlock_kb or ulimit -l, or give vmmprof CAP_IPC_LOCK"

static bool may_lock_memory(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2] = { 0 };

	return !syscall(SYS_capget, &head, caps) && caps[0].effective & 1U << CAP_IPC_LOCK;
}

/*
 * This vCPU's share of what an ordinary user may lock: perf_event_mlock_kb for
 * each CPU, then RLIMIT_MEMLOCK (kernel/events/core.c, perf_mmap()). Without
 * sharing, the first rings would leave nothing for the others.
 */
static size_t ring_share(const struct source *src, const struct vm *vm, size_t bytes)
{
	struct rlimit limit = { 0 };
	int64_t kb = 0;
	uint64_t pool;

	if (may_lock_memory() || getrlimit(RLIMIT_MEMLOCK, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY || !vm->nvcpus ||
	    rootfs_read_i64(&src->root, &kb, "proc/sys/kernel/perf_event_mlock_kb") ||
	    kb < 0)
		return bytes;
	pool = (uint64_t)kb * 1024 * sysconf(_SC_NPROCESSORS_ONLN) + limit.rlim_cur;
	pool /= vm->nvcpus;
	return pool < bytes ? pool : bytes;
}

/* Maps a ring of @want bytes if it fits @share; else of less. 0 or -errno. */
static int map_ring(struct sampler *s, size_t bytes, size_t share, struct opened *remark)
{
	size_t page = sysconf(_SC_PAGESIZE), want = ring_size(bytes);
	void *p = MAP_FAILED;
	size_t size;

	for (size = ring_size(share); size >= page; size /= 2) {
		p = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, s->ring_fd,
			 0);
		if (p != MAP_FAILED || (errno != EPERM && errno != ENOMEM))
			break;
	}
	if (p == MAP_FAILED)
		return -errno;
	s->ring.page = p;
	s->ring.data = (char *)p + page;
	s->ring.size = size;
	if (s->inside) {
		/* the stage costs memory only as far as the ring ever filled */
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
		if (p == MAP_FAILED)
			return -errno;
		s->ring.stage = p;
	}
	if (size < want && !*remark->reason)
		snprintf(remark->reason, sizeof(remark->reason),
			 "ring of %zu KiB instead of %zu: " MORE_LOCKED, size / 1024,
			 want / 1024);
	return 0;
}

/* An open event that this kernel gets wrong: how that was avoided, or can be. */
static void say_el0(const struct event *ev, const struct perf_event_attr *attr,
		    struct opened *opened)
{
	opened->wrong_in_turns = el0_in_turns(ev->side);
	if (*opened->reason || ev->period)
		return;
	if (attr->freq)
		snprintf(opened->reason, sizeof(opened->reason),
			 "sampled by frequency, which on this kernel (arm64 before Linux "
			 "6.6) gets the guest's user mode wrong: give a period instead, "
			 "-c N");
	else
		snprintf(opened->reason, sizeof(opened->reason),
			 "sampled every %llu events instead of by frequency, which on this "
			 "kernel (arm64 before Linux 6.6) gets the guest's user mode "
			 "wrong; -c N chooses another period",
			 (unsigned long long)attr->sample_period);
}

static int open_event(struct sampler *s, struct source *src, const struct vm *vm,
		      const struct vcpu *vcpu, const struct event_set *set, size_t i,
		      struct opened *opened)
{
	ssize_t leader = kvm_group_leader(set, opened, i);
	struct sampled_event *e = &s->ev[i];
	const bool el0 = el0_loses(src, &set->ev[i], set->ev[i].side, vm->accel);
	const struct perf_want want = {
		.tid = vcpu->tid,
		.sampling = true,
		.no_freq = el0,
		.sideband = vm->accel == ACCEL_NONE && s->ring_fd < 0,
		.side = set->ev[i].side,
		.accel = vm->accel,
	};

	kvm_perf_attr(&set->ev[i], &want, &e->attr);
	if (set->ev[i].group >= 0)
		kvm_perf_group(&e->attr, leader < 0);
	e->fd = kvm_perf_open(&e->attr, &set->ev[i], &want,
			      leader < 0 ? -1 : s->ev[leader].fd, &opened[i]);
	if (e->fd < 0)
		return e->fd;
	if (el0)
		say_el0(&set->ev[i], &e->attr, &opened[i]);
	if (ioctl(e->fd, PERF_EVENT_IOC_ID, &e->id))
		return -errno;
	if (s->ring_fd < 0)
		s->ring_fd = e->fd;
	return 0;
}

/* Refusals that are about this vCPU or this process, not about one event. */
static bool is_fatal(int code)
{
	return code == -ESRCH || code == -EMFILE || code == -ENFILE || code == -ENOMEM;
}

static void join_ring(struct sampler *s, struct opened *opened)
{
	for (size_t i = 0; i < s->n; i++) {
		struct sampled_event *e = &s->ev[i];

		if (e->fd < 0 || e->fd == s->ring_fd ||
		    !ioctl(e->fd, PERF_EVENT_IOC_SET_OUTPUT, s->ring_fd))
			continue;
		opened[i].state = READ_UNSUPPORTED;
		snprintf(opened[i].reason, sizeof(opened[i].reason),
			 "this kernel cannot put hardware and software events into one "
			 "ring (%s): record them in two runs",
			 err_name(errno));
		close(e->fd);
		e->fd = -1;
		e->id = 0;
	}
}

static struct sampler *sampler_new(size_t n, bool inside)
{
	struct sampler *s = calloc(1, sizeof(*s) + n * sizeof(s->ev[0]));

	if (!s)
		return NULL;
	s->n = n;
	s->inside = inside;
	s->ring_fd = -1;
	for (size_t i = 0; i < n; i++)
		s->ev[i].fd = -1;
	return s;
}

int kvm_sampler_open(struct source *src, const struct vm *vm, const struct vcpu *vcpu,
		     const struct event_set *set, bool inside, size_t ring_bytes,
		     struct opened *opened, struct sampler **out, struct err *err)
{
	struct el0_seat seat;
	struct sampler *s;
	int ret = 0;

	if (!src->live)
		return err_set(err, ENOTSUP, "a recorded tree has no counters to sample");
	s = sampler_new(set->n, inside && vm->accel == ACCEL_KVM);
	if (!s)
		return err_set(err, ENOMEM, "out of memory");
	s->opened = opened;
	s->ring.by_address = cpl_kernel_faulty(&src->machine);
	for (size_t i = 0; i < set->n; i++) {
		ret = open_event(s, src, vm, vcpu, set, i, opened);
		if (is_fatal(ret)) {
			err_set(err, ret, "%s: %s", vm->name, opened[i].reason);
			goto fail;
		}
	}
	ret = 0;
	if (s->ring_fd >= 0) {
		size_t owner = 0;

		while (s->ev[owner].fd != s->ring_fd)
			owner++;
		if (!ring_bytes)
			ring_bytes = RING_DEFAULT;
		ret = map_ring(s, ring_bytes, ring_share(src, vm, ring_bytes),
			       &opened[owner]);
		if (ret) {
			err_set(err, ret, "%s: cannot map a sampling ring: %s%s", vm->name,
				err_name(ret), ret == -EPERM ? ": " MORE_LOCKED : "");
			goto fail;
		}
		join_ring(s, opened);
	}
	el0_take_seat(&seat, src, vm, vcpu, opened, set->n);
	for (size_t i = 0; i < set->n; i++)
		if (s->ev[i].fd >= 0)
			ioctl(s->ev[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	el0_leave_seat(&seat, src, vm, vcpu);
	*out = s;
	return 0;
fail:
	kvm_sampler_close(s);
	return ret;
}

int kvm_sampler_fd(const struct sampler *s)
{
	return s->ring_fd;
}

bool kvm_sampler_event(const struct sampler *s, size_t i, struct perf_event_attr *attr,
		       uint64_t *id)
{
	*attr = s->ev[i].attr;
	*id = s->ev[i].id;
	return s->ev[i].fd >= 0;
}

int kvm_sampler_peek(struct sampler *s, struct iovec spans[2], struct sampler_tally *tally)
{
	return ring_peek(&s->ring, spans, tally);
}

void kvm_sampler_release(struct sampler *s)
{
	ring_release(&s->ring);
}

void kvm_sampler_stop(struct sampler *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->ev[i].fd >= 0)
			ioctl(s->ev[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

int kvm_sampler_read(struct sampler *s, struct reading *out, uint64_t *lost)
{
	for (size_t i = 0; i < s->n; i++) {
		/* value, enabled, running, id and, from Linux 6.0, lost */
		uint64_t v[5] = { 0 };

		out[i] = (struct reading) {
			.state = s->opened[i].state,
			.reason = s->opened[i].reason,
		};
		lost[i] = 0;
		if (s->ev[i].fd < 0)
			continue;
		if (read(s->ev[i].fd, v, sizeof(v)) < 4 * (ssize_t)sizeof(v[0]))
			continue;
		out[i].raw = v[0];
		out[i].enabled_ns = v[1];
		out[i].running_ns = v[2];
		lost[i] = v[4];
	}
	return 0;
}

void kvm_sampler_close(struct sampler *s)
{
	if (s->ring.stage)
		munmap(s->ring.stage, s->ring.size);
	if (s->ring.page)
		munmap(s->ring.page, sysconf(_SC_PAGESIZE) + s->ring.size);
	for (size_t i = 0; i < s->n; i++)
		if (s->ev[i].fd >= 0)
			close(s->ev[i].fd);
	free(s);
}
