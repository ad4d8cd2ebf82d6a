/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/xen/set.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"

#define READ_TRIES 8   /* counts that change while they are read */
#define SETS_MAX 65536 /* more than Xen has room for: a list that does not end is wrong */

struct xen_set {
	struct source *src;
	struct xen_set *next;
	unsigned refs, users; /* who has it; who has not stopped it */
	unsigned domid, frames;
	const struct event_set *events; /* the VM's, whose address is its name here */
	uint32_t handle;		/* 0: nothing is open in Xen */
	unsigned n;			/* events in it, at these places: */
	int at[VPMU_SET_EVENTS];
	struct vpmu_event *asked; /* per event */
	struct opened *opened;
};

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

/* ---- opening */

__attribute__((format(printf, 3, 4))) static void
refuse(struct opened *opened, enum reading_state state, const char *fmt, ...)
{
	va_list ap;

	opened->state = state;
	va_start(ap, fmt);
	vsnprintf(opened->reason, sizeof(opened->reason), fmt, ap);
	va_end(ap);
}

/* What one event, or all, are to be told of Xen's refusal. */
static void explain(const struct source *src, int code, const struct xenpmu_open *open,
		    struct opened *opened)
{
	unsigned host = src->info.host_counters;

	switch (code) {
	case -EPERM:
	case -EACCES:
		refuse(opened, READ_DENIED,
		       open->domid == XENPMU_DOMID_XEN
			       ? "only the control domain, dom0, may count Xen itself"
			       : "only the control domain, dom0, may count other domains");
		break;
	case -EBUSY:
		refuse(opened, READ_TAKEN,
		       "of the %u counters that Xen keeps for the host none is left for "
		       "it: Xen's own events hold theirs all the time; ask for fewer, end "
		       "other users, or boot Xen with vpmu=host=%u",
		       host, host * 2);
		break;
	case -ENOSPC:
		refuse(opened, READ_TAKEN,
		       "too many events are open on this target: end other users, or ask "
		       "for fewer");
		break;
	case -EMFILE:
		refuse(opened, READ_TAKEN,
		       "too many event sets are open in Xen: end other users of it");
		break;
	case -EOPNOTSUPP:
		refuse(opened, READ_UNSUPPORTED,
		       "this machine's PMU has no such event: vmmprof check says which it "
		       "has");
		break;
	case -EINVAL:
		refuse(opened, READ_UNSUPPORTED,
		       "Xen refuses this event with these modifiers and this period");
		break;
	default:
		refuse(opened, READ_UNSUPPORTED, "Xen does not open it: %s",
		       err_name(code));
	}
}

static void refuse_all(struct xen_set *set, int code, const struct xenpmu_open *open)
{
	for (unsigned i = 0; i < set->n; i++)
		explain(set->src, code, open, &set->opened[set->at[i]]);
	set->n = 0;
}

static void refuse_one(struct xen_set *set, unsigned place, int code,
		       const struct xenpmu_open *open)
{
	explain(set->src, code, open, &set->opened[set->at[place]]);
	set->n--;
	memmove(&set->at[place], &set->at[place + 1],
		(set->n - place) * sizeof(set->at[0]));
}

/* Until Xen takes what is left. */
static int open_in_xen(struct xen_set *set, const char *name, struct err *err)
{
	struct source *src = set->src;

	while (set->n) {
		struct xenpmu_open open = {
			.domid = set->domid,
			.nevents = set->n,
			.ring_frames = set->frames,
			.owner = mark_of(src, getpid()),
		};
		int ret;

		for (unsigned i = 0; i < set->n; i++)
			open.event[i] = set->asked[set->at[i]];
		ret = XEN_PMU(&src->xen, XENPMU_OPEN, &open);
		if (!ret && !open.handle)
			ret = -EPROTO;
		set->handle = ret ? 0 : open.handle;
		if (!ret)
			return 0;
		if (ret == -ESRCH)
			return err_set(err, ESRCH, "%s: the domain is gone", name);
		if (ret == -ENOMEM || ret == -E2BIG)
			return err_set(err, ENOMEM,
				       "%s: Xen has no memory for its events%s", name,
				       set->frames ? ": give less to --ring" : "");
		if ((ret == -EOPNOTSUPP || ret == -EINVAL) && open.bad < set->n)
			refuse_one(set, open.bad, ret, &open);
		else
			refuse_all(set, ret, &open);
	}
	return 0;
}

/* So many events can be on counters at the same time. */
static unsigned capacity(const struct source *src, bool hypervisor, bool sampling)
{
	const struct xenpmu_info *info = &src->info;
	unsigned n = info->host_counters;

	if (!hypervisor)
		n -= info->hyp_counters < n ? info->hyp_counters : n;
	return sampling && (info->flags & XENPMU_INFO_KICK) ? n / 2 : n;
}

static bool has_company(const struct event_set *events, size_t i)
{
	for (size_t k = 0; events->ev[i].group >= 0 && k < events->n; k++)
		if (k != i && events->ev[k].group == events->ev[i].group)
			return true;
	return false;
}

/* Which events go into the set; of the others it is said why not. */
static void choose(struct xen_set *set, enum vm_accel accel)
{
	const struct event_set *events = set->events;
	unsigned most = capacity(set->src, accel == ACCEL_HYPERVISOR, set->frames);

	for (size_t i = 0; i < events->n; i++) {
		struct opened *opened = &set->opened[i];

		if (!xen_event(set->src, &events->ev[i], accel, set->frames, &set->asked[i],
			       opened))
			continue;
		if (has_company(events, i) && events->n > most)
			refuse(opened, READ_UNSUPPORTED,
			       "Xen lets events take turns one by one, and has %u counters "
			       "for %zu events: a group of them would not be counted "
			       "together; leave {...} out or ask for fewer",
			       most, events->n);
		else if (set->n == VPMU_SET_EVENTS)
			refuse(opened, READ_UNSUPPORTED,
			       "Xen takes %d events of one user on a domain: ask for fewer",
			       VPMU_SET_EVENTS);
		else
			set->at[set->n++] = (int)i;
	}
}

static void set_free(struct xen_set *set)
{
	free(set->asked);
	free(set->opened);
	free(set);
}

static int set_open(struct source *src, const struct vm *vm, const struct event_set *events,
		    unsigned frames, struct xen_set **out, struct err *err)
{
	struct xen_set *set = calloc(1, sizeof(*set));
	int ret = 0;

	if (set) {
		set->asked = calloc(events->n + 1, sizeof(*set->asked));
		set->opened = calloc(events->n + 1, sizeof(*set->opened));
	}
	if (!set || !set->asked || !set->opened) {
		ret = err_set(err, ENOMEM, "out of memory");
		goto out;
	}
	set->src = src;
	set->domid = xen_domid(vm);
	set->events = events;
	set->frames = frames;
	choose(set, vm->accel);
	if (set->n)
		tidy(src);
	ret = open_in_xen(set, vm->name, err);
	if (ret)
		goto out;
	set->next = src->sets;
	src->sets = set;
	*out = set;
out:
	if (ret && set)
		set_free(set);
	return ret;
}

/* ---- sharing */

int xen_set_get(struct source *src, const struct vm *vm, const struct event_set *events,
		unsigned frames, struct opened *opened, struct xen_set **out,
		struct err *err)
{
	unsigned domid = xen_domid(vm);
	struct xen_set *set = src->sets;
	int ret = 0;

	/* a domain that came with the number of one that left is another event set */
	while (set && (set->domid != domid || set->events != events ||
		       !set->frames != !frames || (set->refs && !set->users)))
		set = set->next;
	if (!set)
		ret = set_open(src, vm, events, frames, &set, err);
	if (ret)
		return ret;
	memcpy(opened, set->opened, events->n * sizeof(*opened));
	set->refs++;
	set->users++;
	*out = set;
	return 0;
}

void xen_set_stop(struct xen_set *set)
{
	struct xenpmu_close close = { .handle = set->handle };

	if (--set->users || !set->handle)
		return;
	XEN_PMU(&set->src->xen, XENPMU_CLOSE, &close);
	set->handle = 0;
}

void xen_set_put(struct xen_set *set)
{
	struct xen_set **at = &set->src->sets;

	if (--set->refs)
		return;
	while (*at != set)
		at = &(*at)->next;
	*at = set->next;
	set_free(set);
}

int xen_set_place(const struct xen_set *set, size_t i)
{
	for (unsigned place = 0; place < set->n; place++)
		if (set->at[place] == (int)i)
			return (int)place;
	return -1;
}

int xen_set_event(const struct xen_set *set, unsigned place)
{
	return place < set->n ? set->at[place] : -1;
}

bool xen_set_turns(const struct xen_set *set)
{
	return set->n > capacity(set->src, set->domid == XENPMU_DOMID_XEN, set->frames);
}

uint32_t xen_set_handle(const struct xen_set *set)
{
	return set->handle;
}

unsigned xen_set_frames(const struct xen_set *set)
{
	return set->frames;
}

const struct vpmu_event *xen_set_asked(const struct xen_set *set, size_t i)
{
	return &set->asked[i];
}

int xen_set_read(const struct xen_set *set, unsigned vcpu, struct xenpmu_read *out)
{
	int ret = set->handle ? -EAGAIN : -ENOENT;

	for (int i = 0; ret == -EAGAIN && i < READ_TRIES; i++) {
		*out = (struct xenpmu_read) { .handle = set->handle, .tally = vcpu };
		ret = XEN_PMU(&set->src->xen, XENPMU_READ, out);
	}
	return ret;
}
