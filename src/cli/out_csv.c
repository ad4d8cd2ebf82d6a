/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CSV (RFC 4180): a heading line per kind of table, empty cells for no value. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/out.h"

static const char reading_heads[] =
	"value,state,reason,raw,enabled_ns,running_ns,coverage,error";
static const char metric_heads[] = "value,error,state,reason,input,mark";

static const char *heads(const struct column *c)
{
	return c->field == FIELD_READING  ? reading_heads
	       : c->field == FIELD_METRIC ? metric_heads
					  : c->key;
}

static void put_quoted(FILE *f, const char *s)
{
	if (!s)
		return;
	if (!strpbrk(s, ",\"\r\n")) {
		fputs(s, f);
		return;
	}
	putc('"', f);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', f);
		putc(*s, f);
	}
	putc('"', f);
}

static void put_f64(FILE *f, double v)
{
	if (isfinite(v))
		fprintf(f, "%.10g", v);
}

static void put_reading(FILE *f, const struct reading *r)
{
	bool has = reading_has_value(r->state);

	if (has)
		fprintf(f, "%" PRIu64, r->value);
	fprintf(f, ",%s,", reading_state_name(r->state));
	put_quoted(f, r->reason);
	fprintf(f, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", r->raw, r->enabled_ns,
		r->running_ns);
	put_f64(f, reading_coverage(r));
	putc(',', f);
	put_f64(f, has ? r->error : NAN);
}

static void put_metric(FILE *f, const struct metric_cell *m)
{
	put_f64(f, m->v.value);
	putc(',', f);
	put_f64(f, m->v.error);
	fprintf(f, ",%s,", reading_state_name(m->v.state));
	put_quoted(f, m->v.reason);
	putc(',', f);
	put_quoted(f, m->v.of);
	putc(',', f);
	put_quoted(f, profile_mark_name(m->mark));
}

static void put_field(FILE *f, enum field field, const void *p)
{
	switch (field) {
	case FIELD_LIST: /* a cell is one value: the first */
	case FIELD_STR: put_quoted(f, *(const char *const *)p); break;
	case FIELD_TEXT: put_quoted(f, p); break;
	case FIELD_BOOL: fputs(*(const bool *)p ? "yes" : "no", f); break;
	case FIELD_INT:
		if (*(const int *)p >= 0)
			fprintf(f, "%d", *(const int *)p);
		break;
	case FIELD_U64: fprintf(f, "%" PRIu64, *(const uint64_t *)p); break;
	case FIELD_BYTES:
		if (*(const uint64_t *)p != UINT64_MAX)
			fprintf(f, "%" PRIu64, *(const uint64_t *)p);
		break;
	case FIELD_DURATION: put_f64(f, out_seconds(p)); break;
	case FIELD_F64:
	case FIELD_PERCENT: put_f64(f, *(const double *)p); break;
	case FIELD_READING: put_reading(f, p); break;
	case FIELD_METRIC: put_metric(f, p); break;
	}
}

static void csv_table(struct out *o, const struct view *v)
{
	const char *sep = "";

	if (o->last_view == v)
		return;
	o->last_view = v;
	for (size_t i = 0; i < v->ncols; i++) {
		if (v->cols[i].flags & COL_TEXT_ONLY)
			continue;
		fprintf(o->f, "%s%s", sep, heads(&v->cols[i]));
		sep = ",";
	}
	putc('\n', o->f);
}

static void csv_row(struct out *o, const void *row)
{
	const char *sep = "";

	for (size_t i = 0; i < o->view->ncols; i++) {
		const struct column *c = &o->view->cols[i];

		if (c->flags & COL_TEXT_ONLY)
			continue;
		fputs(sep, o->f);
		put_field(o->f, c->field, (const char *)row + c->offset);
		sep = ",";
	}
	putc('\n', o->f);
}

static void csv_end(struct out *o)
{
	(void)o;
}

static void csv_note(struct out *o, const struct note *note)
{
	out_text.note(o, note);
}

static void csv_line(struct out *o, const char *text)
{
	(void)o;
	(void)text;
}

const struct out_ops out_csv = {
	.name = "csv",
	.table = csv_table,
	.row = csv_row,
	.end = csv_end,
	.note = csv_note,
	.line = csv_line,
};
