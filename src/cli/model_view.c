/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/model_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/vec.h"

/* A VM, a vCPU or a node, and what was counted of it. */
struct entity {
	const char *vm_id, *vm_name; /* NULL: a node */
	int node, vcpu;
	pid_t tid;
	enum event_side side;
	double time, interval, cpus;
	struct reading *r; /* owned: of all models' events of its scope */
};

struct row {
	double time, interval;
	const char *vm, *id;
	int node, vcpu, tid;
	char which[12];
	const char *side, *model, *metric, *unit, *what;
	struct metric_cell value;
};

#define COLUMNS                                                                            \
	COLUMN(struct row, interval, "interval", "", FIELD_F64, COL_DATA_ONLY),            \
		COLUMN(struct row, vm, "vm", "VM", FIELD_STR, 0),                          \
		COLUMN(struct row, id, "vm_id", "", FIELD_STR, COL_DATA_ONLY),             \
		COLUMN(struct row, vcpu, "vcpu", "", FIELD_INT, COL_DATA_ONLY),            \
		COLUMN(struct row, tid, "tid", "", FIELD_INT, COL_DATA_ONLY),              \
		COLUMN(struct row, which, "which", "vCPU", FIELD_TEXT, COL_TEXT_ONLY),     \
		COLUMN(struct row, side, "side", "", FIELD_STR, COL_DATA_ONLY),            \
		COLUMN(struct row, model, "model", "model", FIELD_STR, 0),                 \
		COLUMN(struct row, metric, "metric", "metric", FIELD_STR, 0),              \
		COLUMN(struct row, value, "value", "value", FIELD_METRIC, 0),              \
		COLUMN(struct row, unit, "unit", "unit", FIELD_STR, 0),                    \
		COLUMN(struct row, what, "what", "what", FIELD_STR, COL_LAST)

#define NODE_COLUMNS                                                                       \
	COLUMN(struct row, interval, "interval", "", FIELD_F64, COL_DATA_ONLY),            \
		COLUMN(struct row, node, "node", "node", FIELD_INT, 0),                    \
		COLUMN(struct row, model, "model", "model", FIELD_STR, 0),                 \
		COLUMN(struct row, metric, "metric", "metric", FIELD_STR, 0),              \
		COLUMN(struct row, value, "value", "value", FIELD_METRIC, 0),              \
		COLUMN(struct row, unit, "unit", "unit", FIELD_STR, 0),                    \
		COLUMN(struct row, what, "what", "what", FIELD_STR, COL_LAST)

static const struct column metric_columns[] = {
	COLUMN(struct row, time, "time", "time", FIELD_F64, 0), COLUMNS
};
static const struct column total_columns[] = {
	COLUMN(struct row, time, "time", "", FIELD_F64, COL_DATA_ONLY), COLUMNS
};
static const struct column node_columns[] = {
	COLUMN(struct row, time, "time", "time", FIELD_F64, 0), NODE_COLUMNS
};
static const struct column node_total_columns[] = {
	COLUMN(struct row, time, "time", "", FIELD_F64, COL_DATA_ONLY), NODE_COLUMNS
};

static const struct view views[2][2] = {
	[SCOPE_VCPU] = { { "metric", metric_columns, ARRAY_SIZE(metric_columns) },
			 { "metric_total", total_columns, ARRAY_SIZE(total_columns) } },
	[SCOPE_NODE] = { { "node_metric", node_columns, ARRAY_SIZE(node_columns) },
			 { "node_metric_total", node_total_columns,
			   ARRAY_SIZE(node_total_columns) } },
};

struct model_view {
	struct out *out;
	const struct model_set *set;
	const struct machine *machine;
	bool partial;
	struct entity *entities; /* owned */
	size_t n, cap;
	char **texts; /* owned: reasons, which are valid during a call only */
	size_t ntexts, captexts;
	char **said; /* owned */
	size_t nsaid, capsaid;
	struct strbuf reasons; /* of this table, a line each */
};

struct model_view *model_view_create(struct out *out, const struct model_set *set,
				     const struct machine *machine)
{
	struct model_view *v = calloc(1, sizeof(*v));

	if (v)
		*v = (struct model_view) { .out = out, .set = set, .machine = machine };
	return v;
}

/* ---- what is counted */

static const struct event_set *events_of(const struct model_view *v, bool node)
{
	return node ? &v->set->node : &v->set->vcpu;
}

static double cpus_of(const struct model_view *v, int node)
{
	size_t n = 0;
	int *cpus = NULL;

	for (size_t i = 0; i < v->machine->nnodes; i++)
		if (v->machine->nodes[i].id == node &&
		    !cpulist_parse(v->machine->nodes[i].cpus, &cpus, &n))
			free(cpus);
	return n;
}

static struct entity *find(struct model_view *v, const struct count *count)
{
	for (size_t i = v->n; i-- > 0;) {
		struct entity *e = &v->entities[i];

		if (e->vm_id == count->vm_id && e->node == count->node &&
		    e->vcpu == count->vcpu && e->tid == count->tid)
			return e;
	}
	return NULL;
}

static struct entity *add(struct model_view *v, const struct count *count)
{
	const struct event_set *events = events_of(v, count->node >= 0);
	struct entity e = {
		.vm_id = count->vm_id,
		.vm_name = count->vm_name,
		.node = count->node,
		.vcpu = count->vcpu,
		.tid = count->tid,
		.side = count->side,
		.time = count->time_ns / 1e9,
		.interval = count->interval_ns / 1e9,
		.cpus = count->node >= 0 ? cpus_of(v, count->node) : count->cpus,
		.r = calloc(events->n + 1, sizeof(*e.r)),
	};

	if (!e.r || VEC_PUSH(v->entities, v->n, v->cap, e)) {
		free(e.r);
		return NULL;
	}
	return &v->entities[v->n - 1];
}

/* A copy that lives until the table is shown. */
static const char *keep(struct model_view *v, const char *text)
{
	char *copy;

	for (size_t i = v->ntexts; text && i-- > 0;)
		if (!strcmp(v->texts[i], text))
			return v->texts[i];
	copy = text ? strdup(text) : NULL;
	if (!copy || VEC_PUSH(v->texts, v->ntexts, v->captexts, copy)) {
		free(copy);
		return NULL;
	}
	return copy;
}

bool model_view_count(struct model_view *v, const struct count *count)
{
	const struct event_set *events = events_of(v, count->node >= 0);
	struct entity *e;

	if (count->index >= events->n)
		return false;
	e = find(v, count);
	if (!e)
		e = add(v, count);
	if (!e)
		return true;
	e->r[count->index] = count->reading;
	e->r[count->index].reason = keep(v, count->reading.reason);
	if (count->event->kind == EVENT_HARDWARE)
		e->side = count->side;
	return true;
}

/* ---- what is shown */

static bool was_said(struct model_view *v, const char *what)
{
	char *copy;

	for (size_t i = 0; i < v->nsaid; i++)
		if (!strcmp(v->said[i], what))
			return true;
	copy = strdup(what);
	if (!copy || VEC_PUSH(v->said, v->nsaid, v->capsaid, copy))
		free(copy);
	return false;
}

static void keep_reason(struct model_view *v, const struct profile_metric *m,
			const struct metric_value *value)
{
	char line[400];

	if (!value->reason)
		return;
	if (reading_has_value(value->state) && value->state != READ_SUSPECT)
		snprintf(line, sizeof(line), "%s: %s", value->of, value->reason);
	else
		snprintf(line, sizeof(line), "<%s> %s: %s",
			 reading_state_name(value->state), value->of ? value->of : m->name,
			 value->reason);
	/* A suspect's figures differ from interval to interval. */
	if (!was_said(v, value->state == READ_SUSPECT ? m->name : line))
		strbuf_addf(&v->reasons, "%s\n", line);
}

static void show_metric(struct model_view *v, const struct entity *e,
			const struct model_use *use, size_t i,
			const struct profile_values *values)
{
	const struct profile_metric *m = &use->model.metrics[i];
	struct row row = {
		.time = e->time,
		.interval = e->interval,
		.vm = e->vm_name,
		.id = e->vm_id,
		.node = e->node,
		.vcpu = e->vcpu,
		.tid = e->tid ? e->tid : -1,
		.which = "all",
		.side = event_side_name(e->side),
		.model = use->model.name,
		.metric = m->name,
		.unit = *m->unit ? m->unit : NULL,
		.what = *m->what ? m->what : NULL,
		.value.v = profile_metric_value(&use->model, i, values),
	};

	row.value.mark = profile_metric_mark(m, row.value.v.value);
	v->partial = v->partial || !reading_has_value(row.value.v.state);
	if (e->vcpu >= 0)
		snprintf(row.which, sizeof(row.which), "%d", e->vcpu);
	out_row(v->out, &row);
	keep_reason(v, m, &row.value.v);
}

/* The inputs of a model whose events are in the set from @first on. */
static void fill(const struct entity *e, const struct model_use *use, size_t first,
		 enum profile_scope scope, struct metric_value *in)
{
	const struct event_set *events =
		scope == SCOPE_NODE ? &use->events.node : &use->events.vcpu;

	for (size_t i = 0; i < use->model.ninputs; i++) {
		const struct profile_place *p = &use->events.place[i];

		in[i] = (struct metric_value) { NAN, NAN, READ_UNSUPPORTED,
						use->events.need[i].words, NULL };
		if (p->n && use->model.inputs[i].scope == scope)
			in[i] = profile_input_value(&events->ev[p->first],
						    &e->r[first + p->first], p->n);
	}
}

static void show_entity(struct model_view *v, const struct entity *e)
{
	enum profile_scope scope = e->node >= 0 ? SCOPE_NODE : SCOPE_VCPU;
	size_t first = 0;

	for (size_t k = 0; k < v->set->n; k++) {
		const struct model_use *use = &v->set->use[k];
		struct metric_value *in = calloc(use->model.ninputs + 1, sizeof(*in));
		const struct profile_values values = {
			.input = in,
			.seconds = e->interval,
			.nodes = v->machine->nnodes,
			.cpus = e->cpus,
		};

		if (in)
			fill(e, use, first, scope, in);
		for (size_t i = 0; in && i < use->model.nmetrics; i++)
			if (use->model.metrics[i].scope == scope)
				show_metric(v, e, use, i, &values);
		free(in);
		first += scope == SCOPE_NODE ? use->events.node.n : use->events.vcpu.n;
	}
}

static bool show_scope(struct model_view *v, enum profile_scope scope, bool totals,
		       bool after)
{
	bool any = false;

	for (size_t i = 0; i < v->n; i++) {
		if ((v->entities[i].node >= 0) != (scope == SCOPE_NODE))
			continue;
		if (!any && after)
			out_line(v->out, "%s", "");
		if (!any)
			out_table(v->out, &views[scope][totals]);
		any = true;
		show_entity(v, &v->entities[i]);
	}
	if (any)
		out_end(v->out);
	return any;
}

/* Metrics that nothing is counted for here: there is no row to show them in. */
static void tell_uncounted(struct model_view *v, const struct model_use *use)
{
	for (size_t i = 0; i < use->model.nmetrics; i++) {
		const struct profile_metric *m = &use->model.metrics[i];
		const struct profile_input *lacks = model_use_lacks(use, i);
		struct metric_value none = { NAN, NAN, READ_UNSUPPORTED, NULL, m->name };

		if (!lacks || events_of(v, m->scope == SCOPE_NODE)->n)
			continue;
		none.reason = model_use_why(use, lacks);
		v->partial = true;
		keep_reason(v, m, &none);
	}
}

void model_view_end(struct model_view *v, bool totals, bool show)
{
	if (show) {
		v->partial = false;
		show_scope(v, SCOPE_NODE, totals, show_scope(v, SCOPE_VCPU, totals, false));
		for (size_t i = 0; i < v->set->n; i++)
			tell_uncounted(v, &v->set->use[i]);
	}
	if (v->reasons.len) {
		v->reasons.data[v->reasons.len - 1] = '\0';
		out_line(v->out, "%s", v->reasons.data);
	}
	strbuf_reset(&v->reasons);
	for (size_t i = 0; i < v->n; i++)
		free(v->entities[i].r);
	for (size_t i = 0; i < v->ntexts; i++)
		free(v->texts[i]);
	v->n = v->ntexts = 0;
}

bool model_view_partial(const struct model_view *v)
{
	return v->partial;
}

void model_view_free(struct model_view *v)
{
	if (!v)
		return;
	model_view_end(v, false, false);
	for (size_t i = 0; i < v->nsaid; i++)
		free(v->said[i]);
	free(v->said);
	free(v->texts);
	free(v->entities);
	strbuf_free(&v->reasons);
	free(v);
}
