/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/lane.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/vec.h"
#include "session/provenance.h"

#define SPANS_MAX 1024 /* IOV_MAX */

static void tell(const struct lane *l, struct note note)
{
	l->config->sink->note(l->config->ctx, &note);
}

static void lane_free(struct lane *l)
{
	event_set_free(&l->events);
	free(l->seen);
	free(l->readings);
	free(l->lost);
	free(l->streams);
	free(l);
}

struct lane *lane_new(const struct sampling_config *config, const struct vm *vm,
		      bool inside, struct event_set *events)
{
	struct lane *l = calloc(1, sizeof(*l));

	if (!l) {
		event_set_free(events);
		return NULL;
	}
	l->config = config;
	l->inside = inside;
	l->events = *events;
	str_copy(l->vm_id, sizeof(l->vm_id), vm->id);
	str_copy(l->vm_name, sizeof(l->vm_name), vm->name);
	l->seen = calloc(l->events.n, sizeof(*l->seen));
	l->readings = calloc(l->events.n, sizeof(*l->readings));
	l->lost = calloc(l->events.n, sizeof(*l->lost));
	if (l->seen && l->readings && l->lost)
		return l;
	lane_free(l);
	return NULL;
}

/* So much memory per vCPU that a VM of any width stays within some 64 MiB. */
static size_t ring_bytes(const struct lane *l, const struct vm *vm)
{
	if (l->config->ring_bytes)
		return l->config->ring_bytes;
	return vm->nvcpus <= 128 ? 512 * 1024 : vm->nvcpus <= 1024 ? 64 * 1024 : 16 * 1024;
}

/* Says once per event what is not measured, or how; the number that is open. */
static size_t judge(struct lane *l, const struct stream *st, struct err *why)
{
	size_t open = 0;

	for (size_t i = 0; i < l->events.n; i++) {
		const struct opened *o = &st->opened[i];
		bool is_open = o->state == READ_COUNTED;

		open += is_open;
		if (!is_open) {
			l->partial = true;
			err_set(why, EOPNOTSUPP, "%s: %s", l->events.ev[i].name, o->reason);
		}
		if (!*o->reason || l->seen[i].missing)
			continue;
		l->seen[i].missing = true;
		tell(l, note_make(is_open ? NOTE_INFO : NOTE_PROBLEM, l->vm_name, 0,
				  "%s%s: %s", l->events.ev[i].name,
				  is_open ? "" : " is not sampled", o->reason));
	}
	return open;
}

/* Makes the stream known to the sink: the lane with its first, then its ids. */
static int announce(struct lane *l, const struct vm *vm, const struct vcpu *vcpu,
		    struct sampler *sampler, struct err *err)
{
	const struct sampling_config *c = l->config;
	struct perf_event_attr *attrs = calloc(l->events.n, sizeof(*attrs));
	int ret = 0;

	if (!attrs)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < l->events.n; i++)
		c->ops->sampler_event(sampler, i, &attrs[i], &l->lost[i]);
	if (!l->handle)
		ret = c->sink->lane_open(c->ctx, vm, l->inside, &l->events, attrs,
					 &l->handle, err);
	if (!ret)
		ret = c->sink->lane_vcpu(c->ctx, l->handle, vm, vcpu, l->lost, err);
	free(attrs);
	return ret;
}

int lane_add(struct lane *l, const struct vm *vm, const struct vcpu *vcpu, struct err *why)
{
	const struct sampling_config *c = l->config;
	struct stream st = { .key = vcpu_key(vcpu),
			     .label = vm->accel == ACCEL_NONE ? vcpu->tid : vcpu->index };
	bool any;
	int ret;

	st.opened = calloc(l->events.n, sizeof(*st.opened));
	if (!st.opened || vec_reserve((void **)&l->streams, &l->capstreams, l->nstreams + 1,
				      sizeof(*l->streams))) {
		free(st.opened);
		return err_set(why, ENOMEM, "out of memory");
	}
	ret = c->ops->sampler_open(c->src, vm, vcpu, &l->events, l->inside,
				   ring_bytes(l, vm), st.opened, &st.sampler, why);
	if (ret) {
		free(st.opened);
		if (ret == -ESRCH)
			return 0; /* it ended before we came: the watch will say so */
		l->partial = true;
		if (!l->refused++)
			tell(l, note_make(NOTE_PROBLEM, l->vm_name, 0,
					  "%s %d is not sampled: %s",
					  vm->accel == ACCEL_NONE ? "thread" : "vCPU",
					  st.label, why->text));
		return 0;
	}
	any = judge(l, &st, why) > 0;
	if (any)
		ret = announce(l, vm, vcpu, st.sampler, why);
	if (any && !ret) {
		l->streams[l->nstreams++] = st;
		return 0;
	}
	c->ops->sampler_close(st.sampler);
	free(st.opened);
	return ret;
}

/* Rings that were peeked at together, to be written with one call. */
struct batch {
	struct iovec spans[SPANS_MAX];
	int n;
	size_t from; /* first stream in it */
	struct sampler_tally tally;
};

static int flush(struct lane *l, struct batch *b, size_t until, struct err *err)
{
	const struct sampling_config *c = l->config;
	int ret = 0;

	if (b->n)
		ret = c->sink->lane_write(c->ctx, l->handle, b->spans, b->n, err);
	if (ret)
		return ret;
	for (; b->from < until; b->from++)
		c->ops->sampler_release(l->streams[b->from].sampler);
	l->totals.samples += b->tally.samples;
	l->totals.bytes += b->tally.bytes;
	l->totals.throttled += b->tally.throttled;
	l->corrupt += b->tally.corrupt;
	b->tally = (struct sampler_tally) { 0 };
	b->n = 0;
	return 0;
}

/* Drains streams [from, until). */
static int drain(struct lane *l, size_t from, size_t until, struct err *err)
{
	struct batch b;
	int ret;

	b.n = 0;
	b.from = from;
	b.tally = (struct sampler_tally) { 0 };
	for (size_t i = from; i < until; i++) {
		uint64_t lost = b.tally.lost;

		b.n += l->config->ops->sampler_peek(l->streams[i].sampler, &b.spans[b.n],
						    &b.tally);
		l->streams[i].lost_records += b.tally.lost - lost;
		if (b.n <= SPANS_MAX - 2)
			continue;
		ret = flush(l, &b, i + 1, err);
		if (ret)
			return ret;
	}
	return flush(l, &b, until, err);
}

int lane_drain(struct lane *l, struct err *err)
{
	const struct sampling_config *c = l->config;
	uint64_t before = l->totals.bytes;
	int ret = drain(l, 0, l->nstreams, err);

	if (ret || l->totals.bytes == before)
		return ret;
	return c->sink->lane_round(c->ctx, l->handle, err);
}

/*
 * Says once per event that its samples are not to be relied on: taking turns, and
 * going on after a pause, program it anew.
 */
static void doubt_anew(struct lane *l, const struct stream *st)
{
	for (size_t i = 0; i < l->events.n; i++) {
		const struct reading *r = &l->readings[i];
		const char *why = st->opened[i].wrong_in_turns;
		bool turns = r->enabled_ns > r->running_ns + MISSED_NOTHING_NS;

		if (!why || l->seen[i].doubted || (!turns && !l->totals.throttled))
			continue;
		l->seen[i].doubted = true;
		tell(l, note_make(NOTE_PROBLEM, l->vm_name, 0, "%s %s: %s",
				  l->events.ev[i].name,
				  turns ? "took turns" : "was throttled, which is as bad",
				  why));
	}
}

static int account_stream(struct lane *l, struct stream *st, bool series, uint64_t now,
			  struct err *err)
{
	const struct sampling_config *c = l->config;
	uint64_t lost = 0;

	if (c->ops->sampler_read(st->sampler, l->readings, l->lost))
		return 0; /* the next one may work */
	doubt_anew(l, st);
	for (size_t i = 0; i < l->events.n; i++) {
		l->seen[i].wanted =
			l->seen[i].wanted || l->readings[i].enabled_ns > MISSED_NOTHING_NS;
		l->seen[i].ran = l->seen[i].ran || l->readings[i].running_ns;
	}
	for (size_t i = 0; i < l->events.n; i++)
		lost += l->lost[i];
	st->lost = lost > st->lost_records ? lost : st->lost_records;
	return series ? c->sink->lane_series(c->ctx, l->handle, now, st->label, l->readings,
					     l->lost, err)
		      : 0;
}

static void say_unscheduled(struct lane *l)
{
	for (size_t i = 0; i < l->events.n; i++) {
		if (!l->seen[i].wanted || l->seen[i].ran)
			continue;
		l->partial = true;
		tell(l, note_make(NOTE_PROBLEM, l->vm_name, 0,
				  "%s was never on a counter: others hold them, or %s; see "
				  "vmmprof check",
				  l->events.ev[i].name,
				  l->events.ev[i].group < 0
					  ? "too many events share them"
					  : "not all that its group needs were free at the "
					    "same time"));
	}
}

/* Each loss is told when it begins and, for the rest, at the end: the counts of
 * all notes add up to what was lost. */
static void say_losses(struct lane *l, bool last)
{
	const struct sampling_totals *t = &l->totals;

	if (t->lost > l->lost_said && (last || !l->lost_said)) {
		tell(l, note_make(NOTE_LOST, l->vm_name, t->lost - l->lost_said,
				  "%" PRIu64
				  " samples lost: the ring was full; sample less often or "
				  "give it more room with --ring",
				  t->lost - l->lost_said));
		l->lost_said = t->lost;
	}
	if (t->throttled > l->throttled_said && (last || !l->throttled_said)) {
		tell(l,
		     note_make(NOTE_THROTTLED, l->vm_name, t->throttled - l->throttled_said,
			       "throttled %" PRIu64
			       " times: the kernel paused sampling because it "
			       "took too much time; sample less often",
			       t->throttled - l->throttled_said));
		l->throttled_said = t->throttled;
	}
	if (l->corrupt > l->corrupt_said && (last || !l->corrupt_said)) {
		tell(l, note_make(NOTE_PROBLEM, l->vm_name, l->corrupt - l->corrupt_said,
				  "%" PRIu64
				  " bytes of a ring made no sense and were left out",
				  l->corrupt - l->corrupt_said));
		l->corrupt_said = l->corrupt;
	}
}

int lane_account(struct lane *l, bool series, struct err *err)
{
	uint64_t now = clock_now_ns(), lost = l->lost_closed;
	int ret = 0;

	for (size_t i = 0; !ret && i < l->nstreams; i++) {
		ret = account_stream(l, &l->streams[i], series, now, err);
		lost += l->streams[i].lost;
	}
	l->totals.lost = lost > l->totals.lost ? lost : l->totals.lost;
	say_losses(l, false);
	if (ret || !series || !l->handle)
		return ret;
	return l->config->sink->lane_totals(l->config->ctx, l->handle, &l->totals, err);
}

static void close_stream(struct lane *l, size_t i)
{
	struct stream *st = &l->streams[i];

	l->lost_closed += st->lost;
	l->config->ops->sampler_close(st->sampler);
	free(st->opened);
	*st = l->streams[--l->nstreams];
}

int lane_drop(struct lane *l, int key, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < l->nstreams; i++) {
		if (l->streams[i].key != key)
			continue;
		ret = drain(l, i, i + 1, err);
		if (!ret)
			ret = account_stream(l, &l->streams[i], true, clock_now_ns(), err);
		close_stream(l, i);
		break;
	}
	return ret;
}

void lane_stop(struct lane *l)
{
	for (size_t i = 0; i < l->nstreams; i++)
		l->config->ops->sampler_stop(l->streams[i].sampler);
}

void totals_add(struct sampling_totals *sum, const struct sampling_totals *t)
{
	sum->samples += t->samples;
	sum->lost += t->lost;
	sum->throttled += t->throttled;
	sum->bytes += t->bytes;
}

int lane_end(struct lane *l, bool failed, struct sampling_totals *totals, bool *partial,
	     struct err *err)
{
	const struct sampling_config *c = l->config;
	int ret = 0, closed;

	if (l->refused > 1)
		tell(l,
		     note_make(NOTE_PROBLEM, l->vm_name, 0,
			       "%zu vCPUs or threads were not sampled at all", l->refused));
	if (!failed)
		ret = lane_drain(l, err);
	if (l->nstreams) {
		int ret2 = lane_account(l, !failed && !ret, err);

		ret = ret ? ret : ret2;
	}
	say_losses(l, true);
	say_unscheduled(l);
	*partial = *partial || l->partial;
	while (l->nstreams)
		close_stream(l, l->nstreams - 1);
	if (l->handle) {
		struct err second;

		closed = c->sink->lane_close(c->ctx, l->handle, &l->totals,
					     ret ? &second : err);
		ret = ret ? ret : closed;
	}
	totals_add(totals, &l->totals);
	lane_free(l);
	return ret;
}
