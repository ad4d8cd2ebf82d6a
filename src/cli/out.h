/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_OUT_H
#define CLI_OUT_H

/*
 * What commands print. A command describes its rows once, as a view: columns
 * over a plain struct. Each format (text, JSON, CSV) is one out_ops in one file
 * that can print any view; a new format is one file and one row in out.c.
 *
 * JSON is JSON Lines: one object per line, each with "type" (the view's name),
 * so that a run that is cut short is still whole lines. Keys are the columns'.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/json.h"
#include "base/str.h"
#include "events/profile.h"
#include "model/note.h"
#include "model/reading.h"

enum field {
	FIELD_STR,	/* const char *; NULL: null, shown as "-" */
	FIELD_LIST,	/* const char *: strings, then an empty one; NULL: none */
	FIELD_TEXT,	/* char[]; "" shown as "-", null in JSON */
	FIELD_BOOL,	/* bool; text and CSV "yes" or "no" */
	FIELD_INT,	/* int; negative: null, shown as "-" */
	FIELD_U64,	/* uint64_t */
	FIELD_F64,	/* double; NaN: null, "-" */
	FIELD_BYTES,	/* uint64_t; UINT64_MAX: null; text scales to KiB, MiB … */
	FIELD_DURATION, /* uint64_t ns; UINT64_MAX: null; text "3 d 4 h", "1.50 s"; JSON in
			 * seconds */
	FIELD_PERCENT,	/* double 0..1; text "12.34 %"; JSON as 0..1 */
	FIELD_READING,	/* struct reading: value or the state's word; JSON and CSV
			 * expand it to value, state, reason, raw, enabled_ns,
			 * running_ns, coverage, error */
	FIELD_METRIC,	/* struct metric_cell: value and bound or the state's word, and its
			 * mark; JSON and CSV expand it to value, error, state, reason,
			 * input, mark */
};

/* What a formula yields, held against its thresholds. */
struct metric_cell {
	struct metric_value v;
	enum profile_mark mark;
};

enum column_flags {
	COL_TEXT_ONLY = 1, /* people need it, scripts do not */
	COL_DATA_ONLY = 2, /* JSON and CSV only */
	COL_LAST = 4,	   /* free text: not padded, may be long */
};

struct column {
	const char *key;  /* JSON key and CSV heading: lower_case */
	const char *head; /* heading in text */
	enum field field;
	unsigned flags;
	size_t offset; /* of the field in the row struct */
};

#define COLUMN(row, member, key, head, field, flags)                                       \
	{                                                                                  \
		key, head, field, flags, offsetof(row, member)                             \
	}

struct view {
	const char *type; /* JSON's "type" */
	const struct column *cols;
	size_t ncols;
};

struct out;

struct out_ops {
	const char *name; /* --json, --csv */
	void (*table)(struct out *o, const struct view *v);
	void (*row)(struct out *o, const void *row);
	void (*end)(struct out *o);
	void (*note)(struct out *o, const struct note *note);
	void (*line)(struct out *o, const char *text); /* a sentence for people */
};

extern const struct out_ops out_text, out_json, out_csv;

struct out {
	const struct out_ops *ops;
	FILE *f;
	bool color; /* f is a terminal and NO_COLOR is not set */
	const struct view *view;
	struct json json;
	/* text only: cells of the table under construction */
	struct strbuf cells;
	size_t nrows;
	size_t *widths;		      /* text: of the last table's columns; owned */
	const struct view *last_view; /* text, csv: whose heading was printed last */
};

/* @ops NULL: text. */
void out_init(struct out *o, const struct out_ops *ops, FILE *f);
void out_free(struct out *o);
/* Starts a table of rows of @v; rows follow, then out_end() (which flushes). */
void out_table(struct out *o, const struct view *v);
void out_row(struct out *o, const void *row);
void out_end(struct out *o);
/* Notes go between tables: text and CSV send them to stderr, JSON as type "note". */
void out_note(struct out *o, const struct note *note);
/* A sentence for people; formats for machines leave it out. */
void out_line(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A bar of @share (0 … 1) of @width characters, in at most 3 * @width bytes and a NUL. */
void out_bar(char *buf, size_t size, double share, unsigned width);
const char *out_plus_minus(void); /* "±", or "+-" where that cannot be shown */
/* A share and its half width: "38.8 ± 7.1 %". */
void out_percent(char *buf, size_t size, double value, double error);
/* A FIELD_DURATION in seconds; NaN: null. */
double out_seconds(const uint64_t *ns);
/* Formats a field as text shows it (numbers grouped in threes). */
void out_format(struct strbuf *sb, enum field field, const void *p);

#endif
