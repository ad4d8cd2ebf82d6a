/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/stat_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"

struct row {
	double time;	 /* end of the interval, s since the start */
	double interval; /* its measured length, s */
	const char *vm, *id;
	int vcpu, tid, node;
	char which[12]; /* the vCPU, or all */
	const char *side, *event;
	struct reading reading;
	double rate; /* per second of the interval */
	const char *unit;
	char rate_text[48];
};

#define COUNT_COLUMNS                                                                      \
	COLUMN(struct row, event, "event", "event", FIELD_STR, 0),                         \
		COLUMN(struct row, reading, "reading", "count", FIELD_READING, 0),         \
		COLUMN(struct row, rate, "rate", "", FIELD_F64, COL_DATA_ONLY),            \
		COLUMN(struct row, unit, "unit", "", FIELD_STR, COL_DATA_ONLY),            \
		COLUMN(struct row, rate_text, "rate_text", "rate", FIELD_TEXT,             \
		       COL_TEXT_ONLY | COL_LAST)

#define COLUMNS                                                                            \
	COLUMN(struct row, interval, "interval", "", FIELD_F64, COL_DATA_ONLY),            \
		COLUMN(struct row, vm, "vm", "VM", FIELD_STR, 0),                          \
		COLUMN(struct row, id, "vm_id", "", FIELD_STR, COL_DATA_ONLY),             \
		COLUMN(struct row, vcpu, "vcpu", "", FIELD_INT, COL_DATA_ONLY),            \
		COLUMN(struct row, tid, "tid", "", FIELD_INT, COL_DATA_ONLY),              \
		COLUMN(struct row, which, "which", "vCPU", FIELD_TEXT, COL_TEXT_ONLY),     \
		COLUMN(struct row, side, "side", "side", FIELD_STR, 0), COUNT_COLUMNS

/* Of a node: what counts in a socket knows no VM, no vCPU and no side. */
#define NODE_COLUMNS                                                                       \
	COLUMN(struct row, interval, "interval", "", FIELD_F64, COL_DATA_ONLY),            \
		COLUMN(struct row, node, "node", "node", FIELD_INT, 0), COUNT_COLUMNS

static const struct column interval_columns[] = {
	COLUMN(struct row, time, "time", "time", FIELD_F64, 0), COLUMNS
};
static const struct column total_columns[] = {
	COLUMN(struct row, time, "time", "", FIELD_F64, COL_DATA_ONLY), COLUMNS
};

static const struct column node_interval_columns[] = {
	COLUMN(struct row, time, "time", "time", FIELD_F64, 0), NODE_COLUMNS
};
static const struct column node_total_columns[] = {
	COLUMN(struct row, time, "time", "", FIELD_F64, COL_DATA_ONLY), NODE_COLUMNS
};
static const struct view node_interval = { "node_count", node_interval_columns,
					   ARRAY_SIZE(node_interval_columns) };
static const struct view node_total = { "node_total", node_total_columns,
					ARRAY_SIZE(node_total_columns) };

/* A reason that was said, by what makes it worth saying again. */
struct said {
	enum reading_state state;
	char *what;
};

struct stat_view {
	struct out *out;
	struct view interval, total;
	struct column *cols[2];	 /* owned copies: the vCPU's column is shown or not */
	bool wanted, totals;	 /* counts are shown; they are totals */
	const struct view *open; /* whose table has begun; NULL: none has */
	bool after_nodes;	 /* the last table was one of nodes */
	struct said *said;
	size_t nsaid, capsaid;
	struct strbuf reasons; /* of this table, a line each */
};

static struct column *copy_columns(const struct column *from, size_t n, bool per_vcpu)
{
	struct column *cols = malloc(n * sizeof(*cols));

	if (!cols)
		return NULL;
	memcpy(cols, from, n * sizeof(*cols));
	for (size_t i = 0; i < n && !per_vcpu; i++)
		if (cols[i].offset == offsetof(struct row, which))
			cols[i].flags |= COL_DATA_ONLY; /* both: nowhere */
	return cols;
}

struct stat_view *stat_view_create(struct out *out, bool per_vcpu)
{
	struct stat_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->out = out;
	v->cols[0] = copy_columns(interval_columns, ARRAY_SIZE(interval_columns), per_vcpu);
	v->cols[1] = copy_columns(total_columns, ARRAY_SIZE(total_columns), per_vcpu);
	v->interval = (struct view) { "count", v->cols[0], ARRAY_SIZE(interval_columns) };
	v->total = (struct view) { "total", v->cols[1], ARRAY_SIZE(total_columns) };
	if (v->cols[0] && v->cols[1])
		return v;
	stat_view_free(v);
	return NULL;
}

void stat_view_begin(struct stat_view *v, bool totals)
{
	v->wanted = true;
	v->totals = totals;
}

static bool was_said(struct stat_view *v, enum reading_state state, const char *what)
{
	struct said new = { state, NULL };

	for (size_t i = 0; i < v->nsaid; i++)
		if (v->said[i].state == state && !strcmp(v->said[i].what, what))
			return true;
	new.what = strdup(what);
	if (!new.what || VEC_PUSH(v->said, v->nsaid, v->capsaid, new))
		free(new.what);
	return false;
}

/* Once per reason; a suspect's has figures that differ from interval to interval. */
static void keep_reason(struct stat_view *v, const struct count *count)
{
	const struct reading *r = &count->reading;
	bool suspect = r->state == READ_SUSPECT;

	if (!r->reason || was_said(v, r->state, r->reason) ||
	    (suspect && was_said(v, r->state, count->event->name)))
		return;
	if (r->state == READ_COUNTED || r->state == READ_SCALED)
		strbuf_addf(&v->reasons, "%s: %s\n", count->event->name, r->reason);
	else if (suspect)
		strbuf_addf(&v->reasons, "<suspect> %s of %s: %s\n", count->event->name,
			    count->vm_name ? count->vm_name : "a node", r->reason);
	else
		strbuf_addf(&v->reasons, "<%s> %s\n", reading_state_name(r->state),
			    r->reason);
}

/* Three significant digits with a prefix of the SI. */
static void rate_in_words(char *buf, size_t size, double rate, const char *unit)
{
	static const char prefixes[] = " kMGT";
	int p = 0;

	if (!isfinite(rate)) {
		*buf = '\0';
		return;
	}
	if (!strcmp(unit, "ns")) { /* ns per s: how many CPUs were kept busy */
		snprintf(buf, size, "%.3f CPUs", rate / 1e9);
		return;
	}
	while (rate >= 999.5 && p < 4) {
		rate /= 1000;
		p++;
	}
	snprintf(buf, size, "%.*f %.*s%s/s",
		 rate >= 99.95	 ? 0
		 : rate >= 9.995 ? 1
				 : 2,
		 rate, p > 0, &prefixes[p], unit);
}

static void open_table(struct stat_view *v, bool node)
{
	const struct view *view = node ? (v->totals ? &node_total : &node_interval)
				       : (v->totals ? &v->total : &v->interval);

	if (v->open == view)
		return;
	if (v->open)
		out_end(v->out);
	if (v->open || (v->after_nodes && !v->totals))
		out_line(v->out, "%s", "");
	out_table(v->out, view);
	v->open = view;
	v->after_nodes = node;
}

void stat_view_count(struct stat_view *v, const struct count *count)
{
	const struct reading *r = &count->reading;
	double scale = count->event->scale > 0 ? count->event->scale : 1;
	struct row row = {
		.time = count->time_ns / 1e9,
		.interval = count->interval_ns / 1e9,
		.vm = count->vm_name,
		.id = count->vm_id,
		.vcpu = count->vcpu,
		.tid = count->tid ? count->tid : -1,
		.node = count->node,
		.side = event_side_name(count->side),
		.event = count->event->name,
		.reading = *r,
		.rate = NAN,
		.unit = *count->event->unit ? count->event->unit : NULL,
	};

	if (!v->wanted)
		return;
	open_table(v, count->node >= 0);
	if (count->vcpu < 0)
		str_copy(row.which, sizeof(row.which), "all");
	else
		snprintf(row.which, sizeof(row.which), "%d", count->vcpu);
	if (reading_has_value(r->state) && count->interval_ns &&
	    !event_is_level(count->event))
		row.rate = r->value * scale / row.interval;
	rate_in_words(row.rate_text, sizeof(row.rate_text), row.rate, count->event->unit);
	out_row(v->out, &row);
	keep_reason(v, count);
}

void stat_view_end(struct stat_view *v)
{
	if (v->open)
		out_end(v->out);
	v->wanted = false;
	v->open = NULL;
	if (v->reasons.len) {
		v->reasons.data[v->reasons.len - 1] = '\0';
		out_line(v->out, "%s", v->reasons.data);
	}
	strbuf_reset(&v->reasons);
}

void stat_view_free(struct stat_view *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->nsaid; i++)
		free(v->said[i].what);
	free(v->said);
	free(v->cols[0]);
	free(v->cols[1]);
	strbuf_free(&v->reasons);
	free(v);
}
