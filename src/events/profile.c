/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profile models: reading their files; vmmprof-models(5) has the form. */
#include "events/profile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "base/lines.h"
#include "base/vec.h"
#include "events/formula.h"
#include "events/lookup.h"

#define INPUTS_MAX 64
#define METRICS_MAX 128

struct reader {
	struct lines l;
	struct profile_model *p;
	struct strbuf text;
	struct err *err;
};

static bool is_quoted(const struct lines *l, const char *word)
{
	return word > l->text && word[-1] == '"';
}

static int at_column(const struct reader *r, const char *where, const char *what)
{
	const char *found = where < r->l.text + sizeof(r->l.text) && *where
				    ? where
				    : "the end of the line";

	return err_set(r->err, EINVAL, "%s:%u:%zu: expected %s, found %s", r->l.file,
		       r->l.line, (size_t)(where - r->l.text) + 1, what, found);
}

/* Word @i, or where it should be. */
static const char *place(const struct reader *r, size_t i)
{
	const char *last;

	if (i < r->l.n)
		return r->l.word[i];
	last = r->l.n ? r->l.word[r->l.n - 1] : r->l.text;
	return last + strlen(last);
}

static int wants(const struct reader *r, size_t i, const char *what)
{
	return at_column(r, place(r, i), what);
}

static int no_memory(const struct reader *r)
{
	return err_set(r->err, ENOMEM, "%s: %s", r->l.file, err_name(ENOMEM));
}

/* ---- model, text */

static int read_model(struct reader *r)
{
	struct profile_model *p = r->p;

	if (*p->name)
		return lines_bad(&r->l, r->err,
				 "a second \"model\": one file is one model");
	if (r->l.n < 2 || !name_is_file(r->l.word[1]) ||
	    !str_copy(p->name, sizeof(p->name), r->l.word[1]))
		return wants(r, 1, "the model's name: at most 31 letters, digits, - and _");
	if (r->l.n != 3 || !is_quoted(&r->l, r->l.word[2]))
		return wants(r, r->l.n < 3 ? 2 : 3,
			     "a \"title\" in quotes, nothing behind it");
	if (!*r->l.word[2] || !str_copy(p->title, sizeof(p->title), r->l.word[2]))
		return lines_bad(&r->l, r->err, "a title of 1 to %zu bytes is expected",
				 sizeof(p->title) - 1);
	return 0;
}

/* Lines of one paragraph are joined; an empty one parts paragraphs. */
static int read_text(struct reader *r)
{
	const char *word = r->l.n > 1 ? r->l.word[1] : "";
	struct strbuf *sb = &r->text;

	if (r->l.n < 2 || !is_quoted(&r->l, word))
		return wants(r, 1, "\"text\" in quotes");
	if (r->l.n > 2)
		return wants(r, 2, "nothing");
	if (!*word)
		strbuf_puts(sb, sb->len ? "\n\n" : "");
	else if (sb->len && sb->data[sb->len - 1] != '\n')
		strbuf_addf(sb, " %s", word);
	else
		strbuf_puts(sb, word);
	return sb->oom ? no_memory(r) : 0;
}

/* ---- vcpu, node */

static int read_role(struct reader *r, struct profile_input *in)
{
	const char *word = r->l.n > 4 ? r->l.word[4] : "";
	struct nearest near;
	char hint[96];
	bool of_node;

	in->by_role = true;
	if (!role_find(word, &in->role)) {
		nearest_init(&near, word);
		for (int i = 0; i < ROLES; i++)
			nearest_offer(&near, role_name((enum role)i));
		if (nearest_say(&near, hint, sizeof(hint)) && *hint)
			return lines_bad(&r->l, r->err, "no role is called %s%s", word,
					 hint);
		return wants(r, 4, "the name of a role, as vmmprof-models(5) lists them");
	}
	of_node = in->role >= ROLE_OF_NODE;
	if (of_node != (in->scope == SCOPE_NODE))
		return lines_bad(&r->l, r->err,
				 "the role %s is of a %s: write \"%s %s = role %s\"", word,
				 of_node ? "node" : "vCPU", of_node ? "node" : "vcpu",
				 in->name, word);
	return 0;
}

static int read_event(struct reader *r, struct profile_input *in)
{
	if (r->l.n < 5 || !is_quoted(&r->l, r->l.word[4]) || !*r->l.word[4])
		return wants(r, 4, "an \"event\" in quotes");
	if (!str_copy(in->event, sizeof(in->event), r->l.word[4]))
		return lines_bad(&r->l, r->err, "an event of more than %zu characters",
				 sizeof(in->event) - 1);
	return 0;
}

static int read_input_name(struct reader *r, struct profile_input *in)
{
	if (r->l.n < 2 || !formula_is_name(r->l.word[1]))
		return wants(r, 1, "a name of letters, digits and _, at most 31");
	if (formula_reserved(r->l.word[1]))
		return lines_bad(&r->l, r->err,
				 "%s has a meaning of its own in formulas: "
				 "choose another name",
				 r->l.word[1]);
	str_copy(in->name, sizeof(in->name), r->l.word[1]);
	for (size_t i = 0; i < r->p->ninputs; i++)
		if (!strcmp(r->p->inputs[i].name, in->name))
			return lines_bad(&r->l, r->err, "%s is declared already", in->name);
	return 0;
}

static int read_input(struct reader *r)
{
	struct profile_input in = { .scope = !strcmp(r->l.word[0], "node") ? SCOPE_NODE
									   : SCOPE_VCPU };
	const char *kind = r->l.n > 3 ? r->l.word[3] : "";
	int ret = read_input_name(r, &in);

	if (ret)
		return ret;
	if (r->l.n < 3 || strcmp(r->l.word[2], "="))
		return wants(r, 2, "=");
	if (!strcmp(kind, "role"))
		ret = read_role(r, &in);
	else if (!strcmp(kind, "event"))
		ret = read_event(r, &in);
	else
		return wants(r, 3, "role or event");
	if (ret)
		return ret;
	in.optional = r->l.n > 5 && !strcmp(r->l.word[5], "optional");
	if (r->l.n > (in.optional ? 6 : 5))
		return wants(r, in.optional ? 6 : 5, in.optional ? "nothing" : "optional");
	if (r->p->ninputs == INPUTS_MAX)
		return lines_bad(&r->l, r->err, "more than %d inputs", INPUTS_MAX);
	return VEC_PUSH(r->p->inputs, r->p->ninputs, r->p->capinputs, in) ? no_memory(r)
									  : 0;
}

/* ---- metric */

static bool ends_formula(const struct reader *r, size_t i)
{
	const char *word = r->l.word[i];

	return is_quoted(&r->l, word) || !strcmp(word, "unit") || !strcmp(word, "warn") ||
	       !strcmp(word, "bad");
}

/* All its inputs are of vCPUs, or all of nodes. */
static int find_scope(struct reader *r, struct profile_metric *m)
{
	const struct profile_input *of[2] = { NULL };

	for (size_t i = 0; i < r->p->ninputs; i++)
		if (formula_uses(m->formula, i))
			of[r->p->inputs[i].scope] = &r->p->inputs[i];
	if (of[SCOPE_VCPU] && of[SCOPE_NODE])
		return lines_bad(
			&r->l, r->err,
			"%s is counted per vCPU and %s per node: one formula is of "
			"vCPUs or of nodes",
			of[SCOPE_VCPU]->name, of[SCOPE_NODE]->name);
	if (!of[SCOPE_VCPU] && !of[SCOPE_NODE])
		return lines_bad(&r->l, r->err,
				 "a formula without an input: nothing is "
				 "measured");
	m->scope = of[SCOPE_NODE] ? SCOPE_NODE : SCOPE_VCPU;
	return 0;
}

/* The words from @first to before @end, as they stood in the line. */
static int read_formula(struct reader *r, size_t first, size_t end,
			struct profile_metric *m)
{
	const char *from = r->l.word[first];
	const char *last = r->l.word[end - 1];
	size_t n = (size_t)(last - from) + strlen(last), at;
	struct err why = { 0 };
	char text[LINES_LENGTH];
	int ret;

	for (size_t i = 0; i < n; i++)
		text[i] = from[i] ? from[i] : ' ';
	text[n] = '\0';
	ret = formula_compile(text, r->p->inputs, r->p->ninputs, &m->formula, &at, &why);
	if (ret == -EINVAL)
		return err_set(r->err, EINVAL, "%s:%u:%zu: %s", r->l.file, r->l.line,
			       (size_t)(from - r->l.text) + at + 1, why.text);
	return ret ? no_memory(r) : find_scope(r, m);
}

static int read_threshold(struct reader *r, size_t i, double *out)
{
	if (i < r->l.n && strchr(r->l.word[i], '%'))
		return wants(r, i, "a number in the metric's unit, without %");
	return lines_f64(&r->l, i, "a threshold", -1e300, 1e300, out, r->err);
}

/* What follows the formula. */
static int read_options(struct reader *r, size_t i, struct profile_metric *m)
{
	int ret = 0;

	for (; !ret && i < r->l.n; i++) {
		const char *word = r->l.word[i];

		if (is_quoted(&r->l, word)) {
			if (!str_copy(m->what, sizeof(m->what), word))
				return lines_bad(&r->l, r->err,
						 "words of more than %zu bytes",
						 sizeof(m->what) - 1);
		} else if (!strcmp(word, "unit")) {
			if (++i >= r->l.n || !*r->l.word[i] ||
			    !str_copy(m->unit, sizeof(m->unit), r->l.word[i]))
				return wants(r, i, "a unit of at most 23 bytes");
		} else if (!strcmp(word, "warn")) {
			ret = read_threshold(r, ++i, &m->warn);
		} else if (!strcmp(word, "bad")) {
			ret = read_threshold(r, ++i, &m->bad);
		} else {
			return wants(r, i, "unit, warn, bad or \"words\" in quotes");
		}
	}
	return ret;
}

static int read_metric_name(struct reader *r, struct profile_metric *m)
{
	if (r->l.n < 2 || !*r->l.word[1] ||
	    !str_copy(m->name, sizeof(m->name), r->l.word[1]))
		return wants(r, 1, "the metric's name, at most 63 bytes");
	for (size_t i = 0; i < r->p->nmetrics; i++)
		if (!strcmp(r->p->metrics[i].name, m->name))
			return lines_bad(&r->l, r->err, "the metric %s is there already",
					 m->name);
	if (r->l.n < 3 || strcmp(r->l.word[2], "="))
		return wants(r, 2, "=");
	return 0;
}

static int read_metric(struct reader *r)
{
	struct profile_metric m = { .warn = NAN, .bad = NAN };
	size_t end = 3;
	int ret = read_metric_name(r, &m);

	if (ret)
		return ret;
	while (end < r->l.n && !ends_formula(r, end))
		end++;
	if (end == 3)
		return wants(r, 3, "a formula");
	ret = read_formula(r, 3, end, &m);
	if (!ret)
		ret = read_options(r, end, &m);
	if (!ret && r->p->nmetrics == METRICS_MAX)
		ret = lines_bad(&r->l, r->err, "more than %d metrics", METRICS_MAX);
	if (!ret && VEC_PUSH(r->p->metrics, r->p->nmetrics, r->p->capmetrics, m))
		ret = no_memory(r);
	if (ret)
		formula_free(m.formula);
	return ret;
}

/* ---- the file */

static const struct {
	const char *word;
	int (*read)(struct reader *r);
} statements[] = {
	{ "model", read_model }, { "text", read_text },	    { "vcpu", read_input },
	{ "node", read_input },	 { "metric", read_metric },
};

static int read_statement(struct reader *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
		if (strcmp(statements[i].word, r->l.word[0]))
			continue;
		if (!*r->p->name && statements[i].read != read_model)
			break;
		return statements[i].read(r);
	}
	return wants(r, 0,
		     *r->p->name ? "text, vcpu, node or metric"
				 : "model NAME \"title\" first");
}

int profile_model_parse(const char *file, const char *text, size_t size,
			struct profile_model *out, struct err *err)
{
	struct reader r = { .p = out, .err = err };
	int ret;

	*out = (struct profile_model) { 0 };
	lines_begin(&r.l, file, text, size, 0);
	while ((ret = lines_next(&r.l, err)) > 0) {
		ret = read_statement(&r);
		if (ret)
			break;
	}
	out->description = r.text.data;
	if (ret)
		return ret;
	if (!*out->name)
		return err_set(err, EINVAL,
			       "%s: expected model NAME \"title\", found nothing", file);
	if (!out->nmetrics)
		return err_set(err, EINVAL, "%s: expected a metric, found none", file);
	return 0;
}

int profile_model_load(const char *what, struct profile_model *out, struct err *err)
{
	struct data_text text;
	int ret = data_load("models", what, &text, err);

	*out = (struct profile_model) { 0 };
	if (ret)
		return ret;
	ret = profile_model_parse(text.file, text.text, text.size, out, err);
	data_text_free(&text);
	return ret;
}

void profile_model_free(struct profile_model *p)
{
	for (size_t i = 0; i < p->nmetrics; i++)
		formula_free(p->metrics[i].formula);
	free(p->metrics);
	free(p->inputs);
	free(p->description);
	free(p->remarks);
	*p = (struct profile_model) { 0 };
}

/* ---- values */

struct metric_value profile_metric_value(const struct profile_model *p, size_t metric,
					 const struct profile_values *values)
{
	return formula_value(p->metrics[metric].formula, p->inputs, values);
}

enum profile_mark profile_metric_mark(const struct profile_metric *m, double value)
{
	bool little = m->warn > m->bad; /* false where one is missing */

	if (isnan(value) || (isnan(m->warn) && isnan(m->bad)))
		return MARK_NONE;
	if (little ? value <= m->bad : value >= m->bad)
		return MARK_BAD;
	if (little ? value <= m->warn : value >= m->warn)
		return MARK_WARN;
	return MARK_OK;
}

const char *profile_mark_name(enum profile_mark mark)
{
	static const char *const names[] = { NULL, "ok", "warn", "bad" };

	return names[mark];
}
