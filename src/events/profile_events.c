/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a profile model needs of a machine: its inputs as events, in groups that fit. */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "events/formula.h"
#include "events/lookup.h"
#include "events/parse.h"
#include "events/profile_groups.h"
#include "events/table_form.h"

/* What a CPU's core has at least, where no table knows better: Intel's four without
 * hyperthreading (SDM vol. 3, "Architectural Performance Monitoring"); AMD has six. */
#define CORE_COUNTERS 0xf

struct making {
	const struct profile_model *model;
	const struct event_table *table;
	const struct rootfs *root;
	struct parts parts[2]; /* by scope */
	struct profile_events *out;
};

/* ---- one input */

static int add_part(struct making *m, size_t input, struct part part)
{
	struct parts *parts = &m->parts[m->model->inputs[input].scope];

	part.input = input;
	part.ev.group = -1;
	if (parts->n == PARTS_MAX)
		return -E2BIG;
	return VEC_PUSH(parts->v, parts->n, parts->cap, part);
}

static int add_row(struct making *m, size_t input, const struct table_event *row,
		   struct err *why)
{
	struct part part = { .can = row->counters ? row->counters : row->of->counters,
			     .pmu = row->pmu,
			     .wish = row->group };
	int ret = table_event_make(row, m->root, &part.ev, why);

	if (ret)
		return ret;
	if (m->model->inputs[input].by_role)
		part.ev.must_move = m->model->inputs[input].role == ROLE_INSTRUCTIONS ||
				    m->model->inputs[input].role == ROLE_CYCLES;
	else
		part.ev.scale = 1; /* asked for by its name: counted as it is */
	return add_part(m, input, part);
}

/*
 * The kernel's own encodings of Intel's fixed counters and of the slots' parts, which
 * take no other counter: event 0 (Linux, arch/x86/include/asm/perf_event.h).
 */
static uint64_t fixed_counter(const struct event *ev)
{
	unsigned umask = ev->config >> 8 & 0xff;

	if (ev->type < PERF_TYPE_RAW || ev->config & 0xff || !umask)
		return 0;
	if (umask >= 0x80 && umask < 0x88)
		return UINT64_C(1) << (40 + umask - 0x80);
	return umask <= 8 ? UINT64_C(1) << (31 + umask) : 0;
}

/* What is no row of a table. */
static int add_other(struct making *m, size_t input, const struct event *ev)
{
	struct part part = { .ev = *ev, .pmu = "cpu", .wish = -1 };

	if (ev->kind == EVENT_UNCORE)
		part.pmu = m->model->inputs[input].event; /* its own: it is in no group */
	if (ev->kind == EVENT_HARDWARE || ev->kind == EVENT_UNCORE)
		part.can = CORE_COUNTERS;
	if (ev->kind == EVENT_HARDWARE && fixed_counter(ev))
		part.can = fixed_counter(ev);
	return add_part(m, input, part);
}

static int add_parsed(struct making *m, size_t input, struct err *why)
{
	const char *spec = m->model->inputs[input].event;
	struct event_set set = { 0 };
	int ret = events_parse_with(spec, m->root, m->table, &set, why);

	if (!ret && set.n != 1)
		ret = err_set(why, EINVAL, "%s: an input is one event, these are %zu", spec,
			      set.n);
	if (!ret)
		ret = add_other(m, input, &set.ev[0]);
	event_set_free(&set);
	return ret;
}

static int add_role(struct making *m, size_t input, struct err *why)
{
	const struct table_event *rows[ROLE_EVENTS];
	enum role role = m->model->inputs[input].role;
	struct event_set set = { 0 };
	const char *words;
	size_t n =
		m->table ? event_table_role(m->table, role, rows, ROLE_EVENTS, &words) : 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++)
		ret = add_row(m, input, rows[i], why);
	if (n)
		return ret;
	ret = role_events(role, m->table, m->root, &set, why);
	for (size_t i = 0; !ret && i < set.n; i++)
		ret = add_other(m, input, &set.ev[i]);
	event_set_free(&set);
	return ret;
}

/* Vendors, libpfm4 and LIKWID part the same words by ".", ":" and "_". */
static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		bool part_a = strchr(".:_", *a), part_b = strchr(".:_", *b);

		if (part_a != part_b ||
		    (!part_a && toupper((unsigned char)*a) != toupper((unsigned char)*b)))
			return false;
	}
	return !*a && !*b;
}

const struct table_event *profile_table_row(const struct event_table *table,
					    const char *name)
{
	for (size_t i = 0; i < event_table_size(table); i++)
		if (same_name(event_table_row(table, i)->name, name))
			return event_table_row(table, i);
	return NULL;
}

static int add_event(struct making *m, size_t input, struct err *why)
{
	const struct profile_input *in = &m->model->inputs[input];
	const struct table_event *row =
		m->table ? profile_table_row(m->table, in->event) : NULL;

	return row ? add_row(m, input, row, why) : add_parsed(m, input, why);
}

/* What a socket counts is for nodes, all else for vCPUs. */
static int check_scope(struct making *m, size_t input, size_t first, struct err *why)
{
	const struct profile_input *in = &m->model->inputs[input];
	const struct parts *parts = &m->parts[in->scope];

	for (size_t i = first; i < parts->n; i++) {
		bool of_node = parts->v[i].ev.kind == EVENT_UNCORE;

		if (of_node != (in->scope == SCOPE_NODE))
			return err_set(why, EINVAL,
				       "%s is counted per %s: declare it as \"%s\"",
				       parts->v[i].ev.name, of_node ? "socket" : "vCPU",
				       of_node ? "node" : "vcpu");
	}
	return 0;
}

static void say_events(const struct parts *parts, size_t first, char *words, size_t size)
{
	size_t n = 0;

	for (size_t i = first; i < parts->n && n < size; i++)
		n += (size_t)snprintf(words + n, size - n, "%s%s", i > first ? " + " : "",
				      parts->v[i].ev.name);
}

static int resolve(struct making *m, size_t input)
{
	const struct profile_input *in = &m->model->inputs[input];
	struct parts *parts = &m->parts[in->scope];
	struct profile_need *need = &m->out->need[input];
	size_t first = parts->n;
	struct err why = { 0 };

	need->code = in->by_role ? add_role(m, input, &why) : add_event(m, input, &why);
	if (!need->code)
		need->code = check_scope(m, input, first, &why);
	if (need->code == -ENOMEM)
		return -ENOMEM;
	if (need->code) {
		parts->n = first;
		str_copy(need->words, sizeof(need->words),
			 *why.text ? why.text : err_name(need->code));
		return 0;
	}
	m->out->place[input] = (struct profile_place) { first, parts->n - first };
	say_events(parts, first, need->words, sizeof(need->words));
	return 0;
}

/* ---- groups */

static void join_wishes(struct parts *p)
{
	for (size_t i = 0; i < p->n; i++) {
		bool wanted[PARTS_MAX] = { false };

		for (size_t k = 0; p->v[i].wish >= 0 && k < p->n; k++)
			wanted[k] = p->v[k].wish == p->v[i].wish &&
				    !strcmp(p->v[k].pmu, p->v[i].pmu);
		groups_join(p, wanted);
	}
}

static void parts_of_metric(const struct making *m, const struct profile_metric *metric,
			    bool wanted[static PARTS_MAX])
{
	const struct parts *p = &m->parts[metric->scope];

	for (size_t i = 0; i < p->n; i++)
		wanted[i] = formula_uses(metric->formula, p->v[i].input);
}

static void say_split(const struct parts *p, size_t a, size_t b, char *words, size_t size)
{
	bool pair[PARTS_MAX] = { false };

	pair[a] = pair[b] = true;
	snprintf(words, size, "%.64s and %.64s cannot be scheduled together: %s",
		 p->v[a].ev.name, p->v[b].ev.name,
		 groups_fit(p, pair) ? "more events than counters"
				     : "both want the same counter");
}

static void group(struct making *m)
{
	for (int scope = 0; scope < 2; scope++)
		join_wishes(&m->parts[scope]);
	for (size_t i = 0; i < m->model->nmetrics; i++) {
		bool wanted[PARTS_MAX] = { false };

		parts_of_metric(m, &m->model->metrics[i], wanted);
		groups_join(&m->parts[m->model->metrics[i].scope], wanted);
	}
	for (size_t i = 0; i < m->model->nmetrics; i++) {
		const struct parts *p = &m->parts[m->model->metrics[i].scope];
		bool wanted[PARTS_MAX] = { false };
		size_t a, b;

		parts_of_metric(m, &m->model->metrics[i], wanted);
		if (groups_split(p, wanted, &a, &b))
			say_split(p, a, b, m->out->split[i], sizeof(*m->out->split));
	}
	for (int scope = 0; scope < 2; scope++)
		groups_finish(&m->parts[scope]);
}

static int hand_over(const struct parts *p, struct event_set *set)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < p->n; i++)
		ret = VEC_PUSH(set->ev, set->n, set->cap, p->v[i].ev);
	return ret;
}

int profile_events_make(const struct profile_model *p, const struct event_table *table,
			const struct rootfs *root, struct profile_events *out,
			struct err *err)
{
	struct making m = { .model = p, .table = table, .root = root, .out = out };
	int ret = 0;

	*out = (struct profile_events) {
		.place = calloc(p->ninputs + 1, sizeof(*out->place)),
		.need = calloc(p->ninputs + 1, sizeof(*out->need)),
		.split = calloc(p->nmetrics + 1, sizeof(*out->split)),
	};
	if (!out->place || !out->need || !out->split)
		ret = -ENOMEM;
	for (size_t i = 0; !ret && i < p->ninputs; i++)
		ret = resolve(&m, i);
	if (!ret)
		group(&m);
	if (!ret)
		ret = hand_over(&m.parts[SCOPE_VCPU], &out->vcpu);
	if (!ret)
		ret = hand_over(&m.parts[SCOPE_NODE], &out->node);
	free(m.parts[0].v);
	free(m.parts[1].v);
	if (!ret)
		return 0;
	profile_events_free(out);
	return err_set(err, ret, "%s: %s", p->name, err_name(ret));
}

void profile_events_free(struct profile_events *e)
{
	event_set_free(&e->vcpu);
	event_set_free(&e->node);
	free(e->place);
	free(e->need);
	free(e->split);
	*e = (struct profile_events) { 0 };
}

struct metric_value profile_input_value(const struct event *ev, const struct reading *r,
					size_t n)
{
	struct metric_value out = { .state = READ_COUNTED };

	for (size_t i = 0; i < n; i++) {
		double scale = ev[i].scale > 0 ? ev[i].scale : 1;

		out.value += (double)r[i].value * scale;
		out.error += r[i].error * scale;
		if (r[i].state > out.state || (r[i].state == out.state && !out.reason))
			out.reason = r[i].reason;
		if (r[i].state > out.state)
			out.state = r[i].state;
	}
	if (!reading_has_value(out.state))
		out.value = out.error = NAN;
	return out;
}
