/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmmprof models NAME and --check: one model, explained or judged. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "cli/models.h"
#include "events/formula.h"

static const char *scope_name(enum profile_scope scope)
{
	return scope == SCOPE_NODE ? "node" : "vcpu";
}

static const char *text_or_null(const char *s)
{
	return *s ? s : NULL;
}

/* ---- the list */

struct model_row {
	const char *name, *title, *file;
	int metrics, here;
	char some[24]; /* both, for people */
	const char *why, *description;
};

static const struct column list_columns[] = {
	COLUMN(struct model_row, name, "model", "model", FIELD_STR, 0),
	COLUMN(struct model_row, some, "some", "metrics here", FIELD_TEXT, COL_TEXT_ONLY),
	COLUMN(struct model_row, metrics, "metrics", "", FIELD_INT, COL_DATA_ONLY),
	COLUMN(struct model_row, here, "here", "", FIELD_INT, COL_DATA_ONLY),
	COLUMN(struct model_row, file, "file", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct model_row, title, "title", "what it shows", FIELD_STR, COL_LAST),
	COLUMN(struct model_row, why, "why", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct model_row, description, "description", "", FIELD_STR, COL_DATA_ONLY),
};
static const struct view list_view = { "model", list_columns, ARRAY_SIZE(list_columns) };

void models_begin(struct out *out)
{
	out_table(out, &list_view);
}

void models_row(struct out *out, const struct model_use *use, const char *path,
		struct strbuf *missing)
{
	struct model_row row = {
		.name = use->model.name,
		.title = use->model.title,
		.file = path,
		.description = use->model.description,
		.metrics = (int)use->model.nmetrics,
	};

	for (size_t i = 0; i < use->model.nmetrics; i++) {
		const struct profile_input *lacks = model_use_lacks(use, i);

		row.here += !lacks;
		if (lacks && !row.why)
			row.why = model_use_why(use, lacks);
	}
	snprintf(row.some, sizeof(row.some), "%d of %d", row.here, row.metrics);
	if (row.why)
		strbuf_addf(missing, "%s: %s\n", row.name, row.why);
	out_row(out, &row);
}

/* ---- explaining */

struct input_row {
	const char *model, *input, *scope, *role, *event, *words;
	bool optional, here;
	char asks[180];
};

static const struct column input_columns[] = {
	COLUMN(struct input_row, model, "model", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct input_row, input, "input", "input", FIELD_STR, 0),
	COLUMN(struct input_row, scope, "scope", "of a", FIELD_STR, 0),
	COLUMN(struct input_row, asks, "asks", "asks for", FIELD_TEXT, COL_TEXT_ONLY),
	COLUMN(struct input_row, role, "role", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct input_row, event, "event", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct input_row, optional, "optional", "", FIELD_BOOL, COL_DATA_ONLY),
	COLUMN(struct input_row, here, "here", "here", FIELD_BOOL, 0),
	COLUMN(struct input_row, words, "words", "played by, or why not", FIELD_STR,
	       COL_LAST),
};
static const struct view input_view = { "model_input", input_columns,
					ARRAY_SIZE(input_columns) };

struct metric_row {
	const char *model, *metric, *scope, *unit, *formula, *why, *what;
	bool here;
	double warn, bad;
	char limits[48];
};

static const struct column metric_columns[] = {
	COLUMN(struct metric_row, model, "model", "", FIELD_STR, COL_DATA_ONLY),
	COLUMN(struct metric_row, metric, "metric", "metric", FIELD_STR, 0),
	COLUMN(struct metric_row, scope, "scope", "of a", FIELD_STR, 0),
	COLUMN(struct metric_row, unit, "unit", "unit", FIELD_STR, 0),
	COLUMN(struct metric_row, warn, "warn", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct metric_row, bad, "bad", "", FIELD_F64, COL_DATA_ONLY),
	COLUMN(struct metric_row, limits, "limits", "warn, bad", FIELD_TEXT, COL_TEXT_ONLY),
	COLUMN(struct metric_row, here, "here", "here", FIELD_BOOL, 0),
	COLUMN(struct metric_row, formula, "formula", "formula", FIELD_STR, 0),
	COLUMN(struct metric_row, what, "what", "what", FIELD_STR, COL_LAST),
	COLUMN(struct metric_row, why, "why", "", FIELD_STR, COL_DATA_ONLY),
};
static const struct view metric_view = { "model_metric", metric_columns,
					 ARRAY_SIZE(metric_columns) };

static void show_input(struct out *out, const struct model_use *use, size_t i)
{
	const struct profile_input *in = &use->model.inputs[i];
	struct input_row row = {
		.model = use->model.name,
		.input = in->name,
		.scope = scope_name(in->scope),
		.role = in->by_role ? role_name(in->role) : NULL,
		.event = in->by_role ? NULL : in->event,
		.optional = in->optional,
		.here = use->events.place[i].n > 0,
		.words = use->events.need[i].words,
	};

	snprintf(row.asks, sizeof(row.asks), "%s%s", in->by_role ? "role " : "",
		 in->by_role ? role_name(in->role) : in->event);
	out_row(out, &row);
}

static void say_limits(const struct profile_metric *m, char *buf, size_t size)
{
	const char *sign = m->warn > m->bad ? "<=" : ">=";

	*buf = '\0';
	if (!isnan(m->warn) && !isnan(m->bad))
		snprintf(buf, size, "%s %g, %g", sign, m->warn, m->bad);
	else if (!isnan(m->warn))
		snprintf(buf, size, ">= %g, -", m->warn);
	else if (!isnan(m->bad))
		snprintf(buf, size, "-, >= %g", m->bad);
}

static void show_metric(struct out *out, const struct model_use *use, size_t i)
{
	const struct profile_metric *m = &use->model.metrics[i];
	const struct profile_input *lacks = model_use_lacks(use, i);
	struct metric_row row = {
		.model = use->model.name,
		.metric = m->name,
		.scope = scope_name(m->scope),
		.unit = text_or_null(m->unit),
		.warn = m->warn,
		.bad = m->bad,
		.formula = formula_text(m->formula),
		.here = !lacks,
		.why = lacks ? model_use_why(use, lacks) : NULL,
		.what = text_or_null(m->what),
	};

	say_limits(m, row.limits, sizeof(row.limits));
	out_row(out, &row);
}

/* Paragraphs of at most 80 columns. */
static void show_description(struct out *out, const char *text)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n");

		if (n > 80)
			for (n = 80; n && text[n] != ' '; n--)
				;
		if (!n)
			n = strcspn(text, " \n");
		out_line(out, "%.*s", (int)n, text);
		text += n;
		text += *text == ' ' || *text == '\n';
	}
}

/* People get the model's words as text. */
static void show_model(struct out *out, const struct model_use *use, const char *what)
{
	const struct profile_model *p = &use->model;
	struct strbuf missing = { 0 };

	out_line(out, "%s: %s\n", p->name, p->title);
	show_description(out, p->description);
	if (out->ops != &out_text) {
		models_begin(out);
		models_row(out, use, strchr(what, '/') ? what : NULL, &missing);
		out_end(out);
	}
	strbuf_free(&missing);
}

void models_explain(struct out *out, const struct model_use *use, const char *what)
{
	const struct profile_model *p = &use->model;

	show_model(out, use, what);
	out_line(out, "%s", "");
	out_table(out, &input_view);
	for (size_t i = 0; i < p->ninputs; i++)
		show_input(out, use, i);
	out_end(out);
	out_line(out, "%s", "");
	out_table(out, &metric_view);
	for (size_t i = 0; i < p->nmetrics; i++)
		show_metric(out, use, i);
	out_end(out);
	for (size_t i = 0; i < p->nmetrics; i++)
		if (*use->events.split[i])
			out_line(out, "%s: %s", p->metrics[i].name, use->events.split[i]);
}

/* ---- checking */

struct check_row {
	const char *file, *verdict, *of, *finding;
};

static const struct column check_columns[] = {
	COLUMN(struct check_row, file, "model", "model", FIELD_STR, 0),
	COLUMN(struct check_row, verdict, "verdict", "verdict", FIELD_STR, 0),
	COLUMN(struct check_row, of, "of", "of", FIELD_STR, 0),
	COLUMN(struct check_row, finding, "finding", "finding", FIELD_STR, COL_LAST),
};
static const struct view check_view = { "model_check", check_columns,
					ARRAY_SIZE(check_columns) };

void models_check_begin(struct out *out)
{
	out_table(out, &check_view);
}

static void found(struct out *out, const char *file, const char *verdict, const char *of,
		  const char *finding)
{
	const struct check_row row = { file, verdict, of, finding };

	out_row(out, &row);
}

static bool is_used(const struct profile_model *p, size_t input)
{
	for (size_t i = 0; i < p->nmetrics; i++)
		if (formula_uses(p->metrics[i].formula, input))
			return true;
	return false;
}

/* The number of events that are needed and cannot be had. */
static unsigned check_inputs(struct out *out, const char *what, const struct model_use *use)
{
	unsigned missing = 0;

	for (size_t i = 0; i < use->model.ninputs; i++) {
		const struct profile_input *in = &use->model.inputs[i];

		if (!is_used(&use->model, i))
			found(out, what, "warning", in->name, "no metric uses this input");
		if (use->events.place[i].n)
			continue;
		missing += !in->optional;
		found(out, what, in->optional ? "not-here" : "missing", in->name,
		      use->events.need[i].words);
	}
	return missing;
}

static void check_metric(struct out *out, const char *what, const struct model_use *use,
			 size_t i)
{
	const struct profile_metric *m = &use->model.metrics[i];
	char words[200];

	for (size_t k = 0; k < formula_divisors(m->formula); k++) {
		snprintf(words, sizeof(words),
			 "divides by %.120s, which can be zero: then it has no value",
			 formula_divisor(m->formula, k));
		found(out, what, "warning", m->name, words);
	}
	if (*use->events.split[i])
		found(out, what, "warning", m->name, use->events.split[i]);
}

int models_check(struct out *out, const struct model_cpu *cpu, const char *what)
{
	struct model_use use;
	struct err err = { 0 };
	unsigned missing;
	int status = STATUS_FAILED;

	if (model_use_open(cpu, what, &use, &err)) {
		found(out, what, "error", NULL, err.text);
	} else {
		missing = check_inputs(out, what, &use);
		for (size_t i = 0; i < use.model.nmetrics; i++)
			check_metric(out, what, &use, i);
		if (!missing)
			found(out, what, "ok", NULL, use.model.title);
		status = missing ? STATUS_PARTIAL : STATUS_OK;
	}
	model_use_close(&use);
	return status;
}
