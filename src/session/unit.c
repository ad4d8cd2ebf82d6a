/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/unit.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

/* Those of a PMU, core or uncore, share its counters by turns. */
static bool shares_counters(enum event_kind kind)
{
	return kind == EVENT_HARDWARE || kind == EVENT_UNCORE;
}

/* How many turns the kernel deals out: one per lone hardware event or group. */
static unsigned count_turns(const struct event_set *set)
{
	unsigned turns = 0;

	for (size_t i = 0; i < set->n; i++) {
		bool first = shares_counters(set->ev[i].kind);

		for (size_t k = 0; first && set->ev[i].group >= 0 && k < i; k++)
			first = set->ev[k].group != set->ev[i].group;
		turns += first;
	}
	return turns;
}

int unit_create_node(const struct source_ops *ops, struct source *src, int node,
		     const struct event_set *set, struct unit **out)
{
	struct unit *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->index = node;
	u->ops = ops;
	u->src = src;
	u->set = set;
	u->turns = count_turns(set);
	u->opened = calloc(set->n + 1, sizeof(*u->opened));
	u->cells = calloc(set->n + 1, sizeof(*u->cells));
	if (!u->opened || !u->cells) {
		unit_free(u);
		return -ENOMEM;
	}
	*out = u;
	return 0;
}

int unit_create(const struct source_ops *ops, struct source *src, const struct vcpu *vcpu,
		const struct event_set *set, struct unit **out)
{
	int ret = unit_create_node(ops, src, vcpu->index, set, out);

	if (ret)
		return ret;
	(*out)->key = vcpu_key(vcpu);
	(*out)->tid = vcpu->tid;
	return 0;
}

/* Can event @i be told to stand still? A mode left out may be the only one used. */
static bool must_move(const struct unit *u, size_t i)
{
	const struct event *ev = &u->set->ev[i];

	return ev->kind == EVENT_HARDWARE && ev->must_move && !ev->exclude_user &&
	       !ev->exclude_kernel && u->ops->vcpu_ran;
}

static void was_opened(struct unit *u)
{
	u->opened_ns = clock_now_ns();
	for (size_t i = 0; i < u->set->n; i++) {
		u->cells[i].state = u->opened[i].state;
		u->cells[i].reason = *u->opened[i].reason ? u->opened[i].reason : NULL;
	}
}

int unit_open_node(struct unit *u, struct err *err)
{
	int ret = u->ops->node_open(u->src, u->index, u->set, u->opened, &u->counters, err);

	if (!ret)
		was_opened(u);
	return ret;
}

int unit_open(struct unit *u, const struct vm *vm, const struct vcpu *vcpu, struct err *err)
{
	uint64_t guest_ns = 0;
	bool ask = false;
	int ret = u->ops->counters_open(u->src, vm, vcpu, u->set, u->opened, &u->counters,
					err);

	if (ret)
		return ret;
	was_opened(u);
	for (size_t i = 0; i < u->set->n; i++)
		ask = ask || (must_move(u, i) && u->cells[i].state == READ_COUNTED);
	if (ask && !u->ops->vcpu_ran(u->counters, &guest_ns))
		for (size_t i = 0; i < u->set->n; i++)
			u->cells[i].still_guest_ns = guest_ns;
	return 0;
}

static struct moment since(const struct moment *now, const struct moment *then)
{
	return (struct moment) { now->raw - then->raw, now->enabled_ns - then->enabled_ns,
				 now->running_ns - then->running_ns };
}

/* What a monitor says is its word of this moment; it may have another one later. */
static bool absorb_told(struct cell *cell, const struct reading *r)
{
	const struct moment now = { r->raw, r->enabled_ns, r->running_ns };

	cell->state = r->state;
	cell->reason = r->reason;
	if (reading_has_value(r->state))
		cell->now = now;
	return true;
}

/*
 * False if the counter went back, which no counter may. For events that share no
 * counters there is nothing to estimate.
 */
static bool absorb(struct cell *cell, const struct reading *r, enum event_kind kind)
{
	const struct moment now = { r->raw, r->enabled_ns, r->running_ns };
	struct moment d;

	if (kind == EVENT_MONITOR)
		return absorb_told(cell, r);
	if (r->state != READ_COUNTED) {
		cell->state = r->state;
		cell->reason = r->reason;
		return true;
	}
	if (now.raw < cell->now.raw || now.enabled_ns < cell->now.enabled_ns ||
	    now.running_ns < cell->now.running_ns) {
		cell->faulty = "the counter went back: what it counted meanwhile is left "
			       "out";
		return false;
	}
	cell->now = now;
	if (!shares_counters(kind))
		return true;
	d = since(&now, &cell->tick);
	estimate_add(&cell->interval, d.raw, d.running_ns);
	estimate_add(&cell->total, d.raw, d.running_ns);
	cell->tick = now;
	return true;
}

int unit_read(struct unit *u, struct reading *scratch)
{
	int ret;

	if (!u->counters)
		return 0;
	ret = u->ops->counters_read(u->counters, scratch);
	for (size_t i = 0; ret < 0 && i < u->set->n; i++)
		u->cells[i].faulty = "the kernel did not let it be read at times";
	for (size_t i = 0; ret >= 0 && i < u->set->n; i++) {
		u->cells[i].interval.turn_ns = u->cells[i].total.turn_ns = u->ops->turn_ns;
		if (!absorb(&u->cells[i], &scratch[i], u->set->ev[i].kind))
			ret = -ERANGE;
		if (scratch[i].enabled_ns > scratch[i].running_ns + MISSED_NOTHING_NS)
			u->multiplexed = true;
	}
	return ret;
}

void unit_begin(struct unit *u)
{
	for (size_t i = 0; i < u->set->n; i++) {
		struct cell *cell = &u->cells[i];

		cell->first = cell->mark = cell->now;
		cell->interval = cell->total = (struct estimate) { 0 };
	}
}

void unit_close(struct unit *u)
{
	if (u->counters)
		u->ops->counters_close(u->counters);
	u->counters = NULL;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* For how long the event should have counted, of @d: its side of the vCPU's time. */
static uint64_t side_ran(enum event_side side, const struct moment *d, uint64_t guest_ns)
{
	uint64_t guest = smaller(guest_ns, d->enabled_ns), ran = d->enabled_ns;

	if (side == SIDE_GUEST)
		ran = guest;
	else if (side == SIDE_HOST)
		ran -= guest;
	/* Only what fell into its turns could be counted. */
	return d->enabled_ns ? (double)ran * d->running_ns / d->enabled_ns : 0;
}

static void say_suspect(struct cell *cell, enum event_side side, uint64_t raw, uint64_t ran)
{
	static const char *const where[] = { [SIDE_GUEST] = " in guest mode",
					     [SIDE_HOST] = " in the host",
					     [SIDE_BOTH] = "" };

	free(cell->suspect);
	if (asprintf(&cell->suspect,
		     "counted %" PRIu64
		     " while the vCPU ran %.2f s%s: someone else may hold the counter "
		     "(another vPMU, the host's own tools; see vmmprof check), or the "
		     "guest sleeps without leaving guest mode",
		     raw, ran / 1e9, where[side]) < 0)
		cell->suspect = NULL;
	cell->suspect_now = cell->suspect;
}

/*
 * Holds a counter that hardly moved against the time its vCPU ran since that
 * was asked last. Asked only on suspicion: it costs a look at procfs.
 */
static void check_still(struct unit *u, size_t i, const struct reading *r)
{
	struct cell *cell = &u->cells[i];
	enum event_side side = u->set->ev[i].side;
	struct moment d = since(&cell->now, &cell->still);
	uint64_t guest_ns, ran;

	cell->suspect_now = false;
	if (!must_move(u, i) || !r->running_ns || !reading_has_value(r->state) ||
	    !provenance_stands_still(r->raw, r->enabled_ns) || u->gone)
		return;
	if (u->ops->vcpu_ran(u->counters, &guest_ns))
		return;
	ran = side_ran(side, &d, guest_ns - smaller(guest_ns, cell->still_guest_ns));
	cell->still = cell->now;
	cell->still_guest_ns = guest_ns;
	if (provenance_stands_still(d.raw, ran))
		say_suspect(cell, side, d.raw, ran);
}

static struct reading as_reading(const struct cell *cell, const struct moment *d)
{
	bool suspect = cell->state == READ_SUSPECT; /* by the source's own word */

	return (struct reading) { .value = suspect ? d->raw : 0,
				  .raw = d->raw,
				  .enabled_ns = d->enabled_ns,
				  .running_ns = d->running_ns,
				  .error = suspect ? NAN : 0,
				  .state = cell->state,
				  .reason = cell->reason };
}

/* Pinned events take no turns; a group is pinned with its leader. */
static bool is_pinned(const struct unit *u, size_t i)
{
	const struct event *ev = u->set->ev;

	for (size_t k = 0; ev[i].group >= 0 && k < u->set->n; k++)
		if (ev[k].group == ev[i].group && ev[k].pinned)
			return true;
	return ev[i].pinned;
}

/*
 * A value that the kernel spoils is not one to rely on. Each turn programs all
 * counters anew, also those of events that were never off.
 */
static void doubt(const struct unit *u, size_t i, struct reading *r)
{
	const char *why = u->cells[i].faulty;

	if (!why && u->multiplexed && r->enabled_ns && !is_pinned(u, i))
		why = u->opened[i].wrong_in_turns;
	if (!why || !reading_has_value(r->state))
		return;
	r->state = READ_SUSPECT;
	r->reason = why;
	r->error = NAN;
}

/* A group comes on together or not at all. */
static void say_why_unscheduled(const struct unit *u, size_t i, struct reading *r)
{
	if (r->state == READ_NOT_SCHEDULED && u->cells[i].state == READ_COUNTED &&
	    u->set->ev[i].group >= 0)
		r->reason = "its group never had all its counters at the same time: others "
			    "hold some (vmmprof check names them); put fewer events into "
			    "{...}";
}

struct reading unit_interval(struct unit *u, size_t i)
{
	struct cell *cell = &u->cells[i];
	bool level = event_is_level(&u->set->ev[i]);
	struct moment d = since(&cell->now, &cell->mark);
	struct reading r;

	if (level)
		d.raw = cell->now.raw;
	r = as_reading(cell, &d);

	provenance_judge(&r, &cell->interval, u->turns);
	cell->missed = cell->missed || r.state == READ_NOT_SCHEDULED;
	say_why_unscheduled(u, i, &r);
	check_still(u, i, &r);
	doubt(u, i, &r);
	if (cell->suspect_now) {
		r.state = READ_SUSPECT;
		r.reason = cell->suspect;
	}
	if (reading_has_value(r.state))
		cell->sum = level ? r.value : cell->sum + r.value;
	cell->mark = cell->now;
	cell->interval = (struct estimate) { 0 };
	return r;
}

struct reading unit_total(const struct unit *u, size_t i)
{
	const struct cell *cell = &u->cells[i];
	struct moment d = since(&cell->now, &cell->first);
	struct reading r;

	if (event_is_level(&u->set->ev[i]))
		d.raw = cell->now.raw;
	r = as_reading(cell, &d);

	if (cell->missed)
		provenance_judge(&r, &cell->total, u->turns);
	else
		provenance_judge_total(&r, &cell->total, u->turns, cell->sum);
	say_why_unscheduled(u, i, &r);
	doubt(u, i, &r);
	if (cell->suspect && reading_has_value(r.state)) {
		r.state = READ_SUSPECT;
		r.reason = cell->suspect;
	}
	return r;
}

void unit_free(struct unit *u)
{
	if (!u)
		return;
	unit_close(u);
	for (size_t i = 0; u->cells && i < u->set->n; i++)
		free(u->cells[i].suspect);
	free(u->cells);
	free(u->opened);
	free(u);
}
