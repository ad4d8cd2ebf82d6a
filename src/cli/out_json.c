/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON Lines: one object per row, each with its "type". */
#include <math.h>
#include <string.h>

#include "cli/out.h"

static void put_reading(struct json *j, const struct reading *r)
{
	if (reading_has_value(r->state))
		jsonw_u64(j, "value", r->value);
	else
		jsonw_null(j, "value");
	jsonw_str(j, "state", reading_state_name(r->state));
	jsonw_str(j, "reason", r->reason);
	jsonw_u64(j, "raw", r->raw);
	jsonw_u64(j, "enabled_ns", r->enabled_ns);
	jsonw_u64(j, "running_ns", r->running_ns);
	jsonw_f64(j, "coverage", reading_coverage(r));
	jsonw_f64(j, "error", reading_has_value(r->state) ? r->error : NAN);
}

static void put_metric(struct json *j, const struct metric_cell *m)
{
	jsonw_f64(j, "value", m->v.value);
	jsonw_f64(j, "error", m->v.error);
	jsonw_str(j, "state", reading_state_name(m->v.state));
	jsonw_str(j, "reason", m->v.reason);
	jsonw_str(j, "input", m->v.of);
	jsonw_str(j, "mark", profile_mark_name(m->mark));
}

static void put_field(struct json *j, const struct column *c, const void *p)
{
	const char *s;

	switch (c->field) {
	case FIELD_STR: jsonw_str(j, c->key, *(const char *const *)p); break;
	case FIELD_LIST:
		jsonw_array(j, c->key);
		for (s = *(const char *const *)p; s && *s; s += strlen(s) + 1)
			jsonw_str(j, NULL, s);
		jsonw_end_array(j);
		break;
	case FIELD_TEXT:
		s = p;
		jsonw_str(j, c->key, *s ? s : NULL);
		break;
	case FIELD_BOOL: jsonw_bool(j, c->key, *(const bool *)p); break;
	case FIELD_INT:
		if (*(const int *)p < 0)
			jsonw_null(j, c->key);
		else
			jsonw_i64(j, c->key, *(const int *)p);
		break;
	case FIELD_U64: jsonw_u64(j, c->key, *(const uint64_t *)p); break;
	case FIELD_BYTES:
		if (*(const uint64_t *)p == UINT64_MAX)
			jsonw_null(j, c->key);
		else
			jsonw_u64(j, c->key, *(const uint64_t *)p);
		break;
	case FIELD_DURATION: jsonw_f64(j, c->key, out_seconds(p)); break;
	case FIELD_F64:
	case FIELD_PERCENT: jsonw_f64(j, c->key, *(const double *)p); break;
	case FIELD_READING: put_reading(j, p); break;
	case FIELD_METRIC: put_metric(j, p); break;
	}
}

static void json_table(struct out *o, const struct view *v)
{
	(void)o;
	(void)v;
}

static void json_row(struct out *o, const void *row)
{
	struct json *j = &o->json;

	jsonw_object(j, NULL);
	jsonw_str(j, "type", o->view->type);
	for (size_t i = 0; i < o->view->ncols; i++)
		if (!(o->view->cols[i].flags & COL_TEXT_ONLY))
			put_field(j, &o->view->cols[i],
				  (const char *)row + o->view->cols[i].offset);
	jsonw_end_object(j);
	jsonw_newline(j);
}

static void json_end(struct out *o)
{
	(void)o;
}

static void json_note(struct out *o, const struct note *note)
{
	struct json *j = &o->json;

	jsonw_object(j, NULL);
	jsonw_str(j, "type", "note");
	jsonw_str(j, "kind", note_kind_name(note->kind));
	jsonw_f64(j, "time", note->time_ns / 1e9);
	jsonw_str(j, "vm", *note->vm ? note->vm : NULL);
	jsonw_u64(j, "count", note->count);
	jsonw_str(j, "text", note->text);
	jsonw_end_object(j);
	jsonw_newline(j);
	fflush(o->f);
}

static void json_line(struct out *o, const char *text)
{
	(void)o;
	(void)text;
}

const struct out_ops out_json = {
	.name = "json",
	.table = json_table,
	.row = json_row,
	.end = json_end,
	.note = json_note,
	.line = json_line,
};
