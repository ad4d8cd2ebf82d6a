/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which VM gets which lanes, and when they are drained. Rings are drained all
 * together, by a clock rather than one by one as they fill: a wake-up costs more
 * than the samples it brings.
 */
#include "session/sampling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/vec.h"
#include "session/lane.h"

#define SERIES_PERIOD_NS 1000000000u
#define FDS_FIXED 3

struct sampling {
	struct sampling_config config;
	struct watch *watch;
	struct lane **lanes;
	size_t nlanes, caplanes;
	struct pollfd *fds; /* the watch's, the caller's, then one per stream */
	size_t nfds, capfds;
	bool fds_stale;
	struct sampling_totals ended; /* of lanes that are closed */
	uint64_t series_due_ns;
	bool partial, stopped;
	struct err failed; /* the sink's first error: nothing more is written */
	struct err why;	   /* why the last event could not be opened */
};

/* Keeps the first failure of the sink. */
static void check(struct sampling *s, int ret, const struct err *err)
{
	if (ret && !s->failed.code)
		s->failed = *err;
}

/* The side that an event is opened with where a VM has one view only. */
static enum event_side only_side(const struct sampling_config *c, enum vm_accel accel,
				 enum event_side said)
{
	/* of a hypervisor's own VMs the inside, which --host does not ask for */
	if (accel == ACCEL_XEN || accel == ACCEL_SIM)
		return said != SIDE_DEFAULT ? said : c->guest ? SIDE_GUEST : SIDE_HOST;
	if (said == SIDE_GUEST)
		return said;
	return accel == ACCEL_NONE ? SIDE_BOTH : SIDE_HOST;
}

/*
 * Does event @ev belong into this view of @vm, and with which side? Events that
 * know no sides are in every view that is asked for.
 */
static bool event_in_view(const struct sampling_config *c, const struct vm *vm, bool inside,
			  struct event *ev)
{
	bool sided = ev->kind == EVENT_HARDWARE;
	enum event_side side = sided ? ev->side : SIDE_DEFAULT;

	/* one view only: what asks for another side is refused in words */
	if (vm->accel != ACCEL_KVM) {
		ev->side = only_side(c, vm->accel, side);
		return inside == (vm->accel != ACCEL_TCG);
	}
	ev->side = !sided ? SIDE_BOTH : inside ? SIDE_GUEST : SIDE_HOST;
	if (side == SIDE_BOTH)
		return true;
	if (side == SIDE_DEFAULT)
		return inside ? c->guest : c->host;
	return inside == (side == SIDE_GUEST);
}

static int view_events(const struct sampling_config *c, const struct vm *vm, bool inside,
		       const struct event_set *events, struct event_set *out)
{
	for (size_t i = 0; i < events->n; i++) {
		struct event ev = events->ev[i];

		if (event_in_view(c, vm, inside, &ev) &&
		    VEC_PUSH(out->ev, out->n, out->cap, ev)) {
			event_set_free(out);
			return -ENOMEM;
		}
	}
	return 0;
}

static struct lane *find_lane(struct sampling *s, const char *vm_id, bool inside)
{
	for (size_t i = 0; i < s->nlanes; i++)
		if (s->lanes[i]->inside == inside && !strcmp(s->lanes[i]->vm_id, vm_id))
			return s->lanes[i];
	return NULL;
}

static void say_no_guest_mode(struct sampling *s, const struct vm *vm)
{
	struct note note;

	if (vm->accel != ACCEL_TCG || s->config.host)
		return;
	note = note_make(NOTE_INFO, vm->name, 0,
			 "software emulation has no guest mode: the host side of its vCPU "
			 "threads is recorded");
	s->config.sink->note(s->config.ctx, &note);
}

/* The lane of this view of @vm, made if need be; NULL in *out if it has no events. */
static int get_lane(struct sampling *s, const struct vm *vm, bool inside,
		    const struct event_set *events, struct lane **out)
{
	struct event_set set = { 0 };
	int ret;

	*out = find_lane(s, vm->id, inside);
	if (*out)
		return 0;
	ret = view_events(&s->config, vm, inside, events, &set);
	if (ret || !set.n)
		return ret;
	*out = lane_new(&s->config, vm, inside, &set);
	if (!*out)
		return -ENOMEM;
	if (VEC_PUSH(s->lanes, s->nlanes, s->caplanes, *out)) {
		lane_end(*out, true, &s->ended, &s->partial, NULL);
		return -ENOMEM;
	}
	say_no_guest_mode(s, vm);
	return 0;
}

static int vcpu_appeared(void *ctx, const struct vm *vm, const struct vcpu *vcpu,
			 const struct event_set *events)
{
	struct sampling *s = ctx;

	for (int inside = 1; inside >= 0 && !s->failed.code; inside--) {
		struct lane *lane;
		int ret = get_lane(s, vm, inside, events, &lane);

		if (ret) {
			err_set(&s->failed, ret, "out of memory");
			return ret;
		}
		if (lane)
			check(s, lane_add(lane, vm, vcpu, &s->why), &s->why);
	}
	s->fds_stale = true;
	return s->failed.code;
}

static void vcpu_gone(void *ctx, const char *vm_id, int key)
{
	struct sampling *s = ctx;
	struct err err = { 0 };

	for (int inside = 0; inside < 2; inside++) {
		struct lane *lane = find_lane(s, vm_id, inside);

		if (lane && !s->failed.code)
			check(s, lane_drop(lane, key, &err), &err);
	}
	s->fds_stale = true;
}

static void end_lane(struct sampling *s, size_t i)
{
	struct lane *lane = s->lanes[i];
	struct err err = { 0 };

	s->lanes[i] = s->lanes[--s->nlanes];
	check(s, lane_end(lane, s->failed.code != 0, &s->ended, &s->partial, &err), &err);
	s->fds_stale = true;
}

static void vm_gone(void *ctx, const char *vm_id)
{
	struct sampling *s = ctx;

	for (size_t i = s->nlanes; i-- > 0;)
		if (!strcmp(s->lanes[i]->vm_id, vm_id))
			end_lane(s, i);
}

static void pass_note(void *ctx, const struct note *note)
{
	struct sampling *s = ctx;

	s->config.sink->note(s->config.ctx, note);
}

static const struct watch_ops watch_cb = {
	.vcpu_appeared = vcpu_appeared,
	.vcpu_gone = vcpu_gone,
	.vm_gone = vm_gone,
	.note = pass_note,
};

static size_t streams(const struct sampling *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nlanes; i++)
		n += s->lanes[i]->nstreams;
	return n;
}

/* Nothing runs after the first scan: say why. */
static int nothing_opened(struct sampling *s, struct err *err)
{
	if (s->failed.code) {
		*err = s->failed;
		return err->code;
	}
	if (s->why.code) {
		*err = s->why;
		return err->code;
	}
	return watch_say_nothing(s->watch, err);
}

static void say_unmatched(struct sampling *s)
{
	const char *missing = watch_unmatched(s->watch);
	struct note note;

	if (!missing)
		return;
	note = note_make(NOTE_PROBLEM, "", 0,
			 "no VM answers to %s so far: it is sampled once it starts",
			 missing);
	pass_note(s, &note);
}

int sampling_start(const struct sampling_config *config, struct sampling **out,
		   struct err *err)
{
	struct sampling *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return err_set(err, ENOMEM, "out of memory");
	s->config = *config;
	s->series_due_ns = clock_now_ns() + SERIES_PERIOD_NS;
	ret = watch_create(config->ops, config->src, config->targets, config->ntargets,
			   &watch_cb, s, &s->watch, err);
	if (!ret)
		ret = watch_scan(s->watch, err);
	if (!ret &&
	    (s->failed.code || (!streams(s) && (s->why.code || !watch_vms(s->watch)))))
		ret = nothing_opened(s, err);
	if (ret) {
		sampling_free(s);
		return ret;
	}
	say_unmatched(s);
	*out = s;
	return 0;
}

static void build_fds(struct sampling *s)
{
	size_t want = streams(s) + FDS_FIXED, n = FDS_FIXED;

	s->nfds = 0; /* without memory: the clock alone */
	if (vec_reserve((void **)&s->fds, &s->capfds, want, sizeof(*s->fds)))
		return;
	s->fds[0] = (struct pollfd) { watch_fd(s->watch), POLLIN, 0 };
	s->fds[1] = (struct pollfd) { s->config.wake_fd[0], POLLIN, 0 };
	s->fds[2] = (struct pollfd) { s->config.wake_fd[1], POLLIN, 0 };
	for (size_t i = 0; i < s->nlanes; i++)
		for (size_t k = 0; k < s->lanes[i]->nstreams; k++) {
			const struct stream *st = &s->lanes[i]->streams[k];

			/* an ended thread's descriptor would wake us for ever */
			s->fds[n++] = (struct pollfd) {
				st->ended ? -1 : s->config.ops->sampler_fd(st->sampler),
				POLLIN, 0
			};
		}
	s->nfds = n;
	s->fds_stale = false;
}

static void mark_ended(struct sampling *s)
{
	size_t n = FDS_FIXED;

	for (size_t i = 0; i < s->nlanes; i++)
		for (size_t k = 0; k < s->lanes[i]->nstreams; k++, n++)
			if (s->fds[n].revents & (POLLHUP | POLLERR | POLLNVAL)) {
				s->lanes[i]->streams[k].ended = true;
				s->fds[n].fd = -1;
			}
}

static void drain_all(struct sampling *s)
{
	bool series = clock_now_ns() >= s->series_due_ns;
	struct err err = { 0 };

	for (size_t i = 0; i < s->nlanes && !s->failed.code; i++) {
		check(s, lane_drain(s->lanes[i], &err), &err);
		if (series && !s->failed.code)
			check(s, lane_account(s->lanes[i], true, &err), &err);
	}
	if (series)
		s->series_due_ns = clock_now_ns() + SERIES_PERIOD_NS;
}

int sampling_poll(struct sampling *s, uint64_t deadline_ns, struct err *err)
{
	int ret;

	if (s->fds_stale || !s->nfds)
		build_fds(s);
	ret = clock_wait(s->fds, s->nfds, deadline_ns);
	if (ret > 0)
		mark_ended(s);
	drain_all(s);
	if (!s->failed.code) {
		ret = watch_poll(s->watch, err);
		if (ret)
			return ret;
	}
	if (!s->failed.code)
		return 0;
	*err = s->failed;
	return err->code;
}

int sampling_stop(struct sampling *s, struct err *err)
{
	s->stopped = true;
	for (size_t i = 0; i < s->nlanes; i++)
		lane_stop(s->lanes[i]);
	while (s->nlanes)
		end_lane(s, s->nlanes - 1);
	if (!s->failed.code)
		return 0;
	*err = s->failed;
	return err->code;
}

struct sampling_totals sampling_totals(const struct sampling *s)
{
	struct sampling_totals sum = s->ended;

	for (size_t i = 0; i < s->nlanes; i++)
		totals_add(&sum, &s->lanes[i]->totals);
	return sum;
}

bool sampling_partial(const struct sampling *s)
{
	bool partial = s->partial || watch_unmatched(s->watch) || watch_unknown(s->watch);

	for (size_t i = 0; i < s->nlanes; i++)
		partial = partial || s->lanes[i]->partial;
	return partial;
}

size_t sampling_alive(const struct sampling *s)
{
	/* a VM whose threads are not known yet is waited for */
	return s->nlanes ? s->nlanes : watch_vms(s->watch);
}

void sampling_free(struct sampling *s)
{
	struct err err;

	if (!s)
		return;
	if (s->watch && !s->stopped)
		sampling_stop(s, &err);
	watch_free(s->watch);
	free(s->lanes);
	free(s->fds);
	free(s);
}
