/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON Lines: one object per row, each with its "type". */
#include <math.h>
#include <string.h>

#include "cli/out.h"

static void put_reading(struct json *j, const struct reading *r)
{
	if (reading_has_value(r->state))
		json_u64(j, "value", r->value);
	else
		json_null(j, "value");
	json_str(j, "state", reading_state_name(r->state));
	json_str(j, "reason", r->reason);
	json_u64(j, "raw", r->raw);
	json_u64(j, "enabled_ns", r->enabled_ns);
	json_u64(j, "running_ns", r->running_ns);
	json_f64(j, "coverage", reading_coverage(r));
	json_f64(j, "error", reading_has_value(r->state) ? r->error : NAN);
}

static void put_field(struct json *j, const struct column *c, const void *p)
{
	const char *s;

	switch (c->field) {
	case FIELD_STR: json_str(j, c->key, *(const char *const *)p); break;
	case FIELD_LIST:
		json_array(j, c->key);
		for (s = *(const char *const *)p; s && *s; s += strlen(s) + 1)
			json_str(j, NULL, s);
		json_end_array(j);
		break;
	case FIELD_TEXT:
		s = p;
		json_str(j, c->key, *s ? s : NULL);
		break;
	case FIELD_INT:
		if (*(const int *)p < 0)
			json_null(j, c->key);
		else
			json_i64(j, c->key, *(const int *)p);
		break;
	case FIELD_U64: json_u64(j, c->key, *(const uint64_t *)p); break;
	case FIELD_BYTES:
		if (*(const uint64_t *)p == UINT64_MAX)
			json_null(j, c->key);
		else
			json_u64(j, c->key, *(const uint64_t *)p);
		break;
	case FIELD_DURATION: json_f64(j, c->key, *(const uint64_t *)p / 1e9); break;
	case FIELD_F64:
	case FIELD_PERCENT: json_f64(j, c->key, *(const double *)p); break;
	case FIELD_READING: put_reading(j, p); break;
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

	json_object(j, NULL);
	json_str(j, "type", o->view->type);
	for (size_t i = 0; i < o->view->ncols; i++)
		if (!(o->view->cols[i].flags & COL_TEXT_ONLY))
			put_field(j, &o->view->cols[i],
				  (const char *)row + o->view->cols[i].offset);
	json_end_object(j);
	json_newline(j);
}

static void json_end(struct out *o)
{
	(void)o;
}

static void json_note(struct out *o, const struct note *note)
{
	struct json *j = &o->json;

	json_object(j, NULL);
	json_str(j, "type", "note");
	json_str(j, "kind", note_kind_name(note->kind));
	json_f64(j, "time", note->time_ns / 1e9);
	json_str(j, "vm", *note->vm ? note->vm : NULL);
	json_u64(j, "count", note->count);
	json_str(j, "text", note->text);
	json_end_object(j);
	json_newline(j);
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
