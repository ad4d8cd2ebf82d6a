/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One vCPU thread's counting events. Events of a {group} share one descriptor's
 * read(2); the others have one each, without the group's header.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "source/kvm/kvm.h"

struct slot {
	int fd;	       /* -1: not open */
	size_t leader; /* index of the event whose read() holds this one's value */
	size_t place;  /* which of the group's values */
	bool grouped;
	bool disabled; /* until all are open */
	bool ended;    /* read() met the end: the kernel took the counter away */
	int monitor;   /* its number, where no counter tells it; else -1 */
};

struct vcpu_counters {
	struct counters base;
	struct source *src;
	struct monitors *monitors; /* owned; NULL: none were asked for */
	pid_t pid, tid;
	size_t n;
	const struct opened *opened;
	uint64_t *buf; /* nr, enabled, running, values: room for the largest group */
	struct slot slot[];
};

static bool is_grouped(const struct event_set *set, size_t i)
{
	for (size_t k = 0; set->ev[i].group >= 0 && k < set->n; k++)
		if (k != i && set->ev[k].group == set->ev[i].group)
			return true;
	return false;
}

/* The same for what no counter tells. */
static int open_monitor(struct vcpu_counters *c, const struct event *ev, struct slot *slot,
			struct opened *opened)
{
	int ret = c->monitors ? 0 : monitors_create(c->src, c->pid, c->tid, &c->monitors);

	if (ret)
		return ret;
	slot->monitor = monitors_add(c->monitors, (enum role)ev->config, opened);
	return 0;
}

/* 0 also if the event cannot be had; -errno if no other could be either. */
static int open_slot(struct vcpu_counters *c, struct source *src,
		     const struct event_set *set, size_t i, struct perf_want *want,
		     struct opened *opened)
{
	const struct event *ev = &set->ev[i];
	ssize_t leader = kvm_group_leader(set, opened, i);
	struct slot *slot = &c->slot[i];
	struct perf_event_attr attr;
	bool el0;
	int fd;

	if (ev->kind == EVENT_MONITOR)
		return open_monitor(c, ev, slot, &opened[i]);
	want->side = ev->kind == EVENT_HARDWARE ? ev->side : SIDE_BOTH;
	el0 = el0_loses(src, ev, want->side, want->accel);
	kvm_perf_attr(ev, want, &attr);
	slot->grouped = is_grouped(set, i);
	if (slot->grouped)
		attr.read_format |= PERF_FORMAT_GROUP;
	/* One alone needs no common start. */
	slot->disabled = leader < 0 && (set->n > 1 || el0);
	attr.disabled = slot->disabled;
	if (slot->grouped)
		kvm_perf_group(&attr, leader < 0);
	fd = kvm_perf_open(&attr, ev, want, leader < 0 ? -1 : c->slot[leader].fd,
			   &opened[i]);
	if (fd >= 0 && el0)
		opened[i].wrong_in_turns = el0_in_turns(want->side);
	slot->fd = fd < 0 ? -1 : fd;
	if (fd < 0)
		return fd == -ESRCH || fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM ? fd
										       : 0;
	slot->leader = leader < 0 ? i : (size_t)leader;
	for (size_t k = 0; k < i; k++)
		slot->place += c->slot[k].fd >= 0 && c->slot[k].leader == slot->leader &&
			       slot->grouped;
	return 0;
}

/* An event's state before its value is known. */
static void start_reading(const struct opened *opened, struct reading *r)
{
	*r = (struct reading) { .state = opened->state,
				.reason = *opened->reason ? opened->reason : NULL };
}

static void took_away(struct reading *r)
{
	*r = (struct reading) { .state = READ_TAKEN,
				.reason =
					"the kernel took the counter away: another user "
					"pinned it; vmmprof check names who may hold it" };
}

/* value, enabled, running: read_format without GROUP (perf_event_open(2)). */
static int read_alone(struct slot *slot, struct reading *r)
{
	uint64_t v[3];
	ssize_t n = slot->ended ? 0 : read(slot->fd, v, sizeof(v));

	if (n < 0)
		return -errno;
	if (n < (ssize_t)sizeof(v)) {
		slot->ended = true;
		took_away(r);
		return 0;
	}
	r->raw = v[0];
	r->enabled_ns = v[1];
	r->running_ns = v[2];
	return 0;
}

/* nr, enabled, running, then the values of the leader and its siblings. */
static int read_group(struct vcpu_counters *c, size_t leader, struct reading *out)
{
	struct slot *lead = &c->slot[leader];
	ssize_t n = lead->ended ? 0 : read(lead->fd, c->buf, (3 + c->n) * sizeof(*c->buf));

	if (n < 0)
		return -errno;
	lead->ended = n < (ssize_t)(4 * sizeof(*c->buf));
	for (size_t i = leader; i < c->n; i++) {
		struct slot *slot = &c->slot[i];

		if (slot->fd < 0 || slot->leader != leader)
			continue;
		if (lead->ended || slot->place >= c->buf[0]) {
			took_away(&out[i]);
			continue;
		}
		out[i].raw = c->buf[3 + slot->place];
		out[i].enabled_ns = c->buf[1];
		out[i].running_ns = c->buf[2];
	}
	return 0;
}

static int read_all(struct counters *base, struct reading *out)
{
	struct vcpu_counters *c = (struct vcpu_counters *)base;
	int ret = 0;

	for (size_t i = 0; i < c->n; i++)
		start_reading(&c->opened[i], &out[i]);
	for (size_t i = 0; !ret && i < c->n; i++) {
		if (c->slot[i].monitor >= 0)
			monitors_read(c->monitors, c->slot[i].monitor, &out[i]);
		if (c->slot[i].fd < 0)
			continue;
		if (!c->slot[i].grouped)
			ret = read_alone(&c->slot[i], &out[i]);
		else if (c->slot[i].leader == i)
			ret = read_group(c, i, out);
	}
	return ret;
}

static int ran(struct counters *base, uint64_t *guest_ns)
{
	struct vcpu_counters *c = (struct vcpu_counters *)base;

	return kvm_thread_ran(c->src, c->pid, c->tid, guest_ns);
}

static void close_all(struct counters *base)
{
	struct vcpu_counters *c = (struct vcpu_counters *)base;

	for (size_t i = 0; i < c->n; i++)
		if (c->slot[i].fd >= 0)
			close(c->slot[i].fd);
	monitors_free(c->monitors);
	free(c->buf);
	free(c);
}

static int say_hopeless(int code, const struct vm *vm, const struct vcpu *vcpu,
			const struct opened *opened, struct err *err)
{
	return err_set(err, code, "%s, vCPU %d (thread %d): %s", vm->name, vcpu->index,
		       vcpu->tid, *opened->reason ? opened->reason : err_name(code));
}

int kvm_counters_open(struct source *src, const struct vm *vm, const struct vcpu *vcpu,
		      const struct event_set *set, struct opened *opened,
		      struct counters **out, struct err *err)
{
	struct perf_want want = { .tid = vcpu->tid, .accel = vm->accel };
	struct el0_seat seat;
	struct vcpu_counters *c;
	int ret;

	if (!src->live)
		return err_set(err, EOPNOTSUPP,
			       "a recorded tree has no counters: leave --root out");
	c = calloc(1, sizeof(*c) + set->n * sizeof(c->slot[0]));
	if (c)
		c->buf = calloc(3 + set->n, sizeof(*c->buf));
	if (!c || !c->buf) {
		free(c);
		return err_set(err, ENOMEM, "out of memory");
	}
	c->base = (struct counters) { read_all, ran, close_all };
	c->src = src;
	c->pid = vm->pid;
	c->tid = vcpu->tid;
	c->n = set->n;
	c->opened = opened;
	for (size_t i = 0; i < set->n; i++)
		c->slot[i].fd = c->slot[i].monitor = -1;
	for (size_t i = 0; i < set->n; i++) {
		ret = open_slot(c, src, set, i, &want, opened);
		if (ret) {
			close_all(&c->base);
			return say_hopeless(ret, vm, vcpu, &opened[i], err);
		}
	}
	el0_take_seat(&seat, src, vm, vcpu, opened, set->n);
	for (size_t i = 0; i < set->n; i++)
		if (c->slot[i].fd >= 0 && c->slot[i].leader == i && c->slot[i].disabled)
			ioctl(c->slot[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	el0_leave_seat(&seat, src, vm, vcpu);
	*out = &c->base;
	return 0;
}

int kvm_counters_read(struct counters *c, struct reading *out)
{
	return c->read(c, out);
}

int kvm_vcpu_ran(struct counters *c, uint64_t *guest_ns)
{
	return c->ran(c, guest_ns);
}

void kvm_counters_close(struct counters *c)
{
	if (c)
		c->close(c);
}
