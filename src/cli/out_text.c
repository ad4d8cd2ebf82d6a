/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables for people: columns as wide as their widest cell, numbers to the right. */
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"

static bool shown(const struct column *c)
{
	return !(c->flags & COL_DATA_ONLY);
}

static bool is_number(const struct column *c)
{
	return c->field != FIELD_STR && c->field != FIELD_TEXT;
}

/* Characters, not bytes: UTF-8 continuation bytes and colours take no room. */
static size_t display_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++) {
		if (*s == '\033')
			s += strcspn(s, "m");
		else
			n += ((unsigned char)*s & 0xc0) != 0x80;
	}
	return n;
}

static const char *color_of(const struct out *o, const struct column *c, const void *p)
{
	static const char *const colors[] = { [MARK_NONE] = "",
					      [MARK_OK] = "",
					      [MARK_WARN] = "\033[33m",
					      [MARK_BAD] = "\033[31m" };

	return o->color && c->field == FIELD_METRIC
		       ? colors[((const struct metric_cell *)p)->mark]
		       : "";
}

static void text_table(struct out *o, const struct view *v)
{
	(void)v;
	strbuf_reset(&o->cells);
}

/* Cells are kept as NUL-terminated strings, row after row. */
static void text_row(struct out *o, const void *row)
{
	for (size_t i = 0; i < o->view->ncols; i++) {
		const struct column *c = &o->view->cols[i];
		const void *p = (const char *)row + c->offset;
		const char *color = color_of(o, c, p);

		if (!shown(c))
			continue;
		strbuf_puts(&o->cells, color);
		out_format(&o->cells, c->field, p);
		strbuf_puts(&o->cells, *color ? "\033[0m" : "");
		strbuf_putc(&o->cells, '\0');
	}
}

static void put_cell(struct out *o, const struct column *c, const char *cell, size_t width,
		     bool first)
{
	size_t w = display_width(cell), pad = width > w ? width - w : 0;

	if (!first)
		fputs("  ", o->f);
	if (is_number(c))
		fprintf(o->f, "%*s%s", (int)pad, "", cell);
	else
		fprintf(o->f, "%s%*s", cell, c->flags & COL_LAST ? 0 : (int)pad, "");
}

static void put_headings(struct out *o, const size_t *width)
{
	const char *on = o->color ? "\033[1m" : "", *off = o->color ? "\033[0m" : "";

	fputs(on, o->f);
	for (size_t i = 0, k = 0; i < o->view->ncols; i++) {
		if (!shown(&o->view->cols[i]))
			continue;
		put_cell(o, &o->view->cols[i], o->view->cols[i].head, width[k], k == 0);
		k++;
	}
	fprintf(o->f, "%s\n", off);
}

/* Widths of the shown columns, at least those of @width. */
static void measure(const struct out *o, size_t *width)
{
	const struct view *v = o->view;
	const char *cell = o->cells.data;

	for (size_t i = 0, k = 0; i < v->ncols; i++) {
		size_t w = shown(&v->cols[i]) ? display_width(v->cols[i].head) : 0;

		if (shown(&v->cols[i]) && w > width[k++])
			width[k - 1] = w;
	}
	for (size_t r = 0; r < o->nrows; r++)
		for (size_t i = 0, k = 0; i < v->ncols; i++) {
			size_t w;

			if (!shown(&v->cols[i]))
				continue;
			w = display_width(cell);
			if (w > width[k] && !(v->cols[i].flags & COL_LAST))
				width[k] = w;
			k++;
			cell += strlen(cell) + 1;
		}
}

static void put_rows(struct out *o, const size_t *width)
{
	const struct view *v = o->view;
	const char *cell = o->cells.data;

	for (size_t r = 0; r < o->nrows; r++) {
		for (size_t i = 0, k = 0; i < v->ncols; i++) {
			if (!shown(&v->cols[i]))
				continue;
			put_cell(o, &v->cols[i], cell, width[k], k == 0);
			k++;
			cell += strlen(cell) + 1;
		}
		putc('\n', o->f);
	}
}

/* A table that goes on with the one before it needs no headings while it fits. */
static void text_end(struct out *o)
{
	size_t *width = calloc(o->view->ncols + 1, sizeof(*width));
	size_t size = (o->view->ncols + 1) * sizeof(*width);

	if (!width || o->cells.oom || !o->cells.len) {
		free(width);
		return;
	}
	if (o->last_view == o->view)
		memcpy(width, o->widths, size);
	measure(o, width);
	if (o->last_view != o->view || memcmp(width, o->widths, size))
		put_headings(o, width);
	put_rows(o, width);
	o->last_view = o->view;
	free(o->widths);
	o->widths = width;
}

static void text_note(struct out *o, const struct note *note)
{
	fflush(o->f);
	fprintf(stderr, "vmmprof: %s%s%s\n", note->vm, *note->vm ? ": " : "", note->text);
}

static void text_line(struct out *o, const char *text)
{
	o->last_view = NULL;
	fprintf(o->f, "%s\n", text);
}

const struct out_ops out_text = {
	.name = "text",
	.table = text_table,
	.row = text_row,
	.end = text_end,
	.note = text_note,
	.line = text_line,
};
