/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The METRICS of a group of LIKWID: its formulas as a model has them. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "events/formula.h"
#include "events/likwid.h"

#define MODEL_METRICS 128
#define FORMULA_LONGEST 800 /* a line of a model has its limit */

struct translation {
	struct likwid *k;
	struct strbuf out;
	bool *used;    /* owned; one per counter */
	char why[160]; /* "": it can be had */
};

static const struct likwid_counter *find_counter(struct translation *t, const char *name)
{
	for (size_t i = 0; i < t->k->ncounters; i++)
		if (!strcmp(t->k->counters[i].name, name)) {
			t->used[i] = true;
			return &t->k->counters[i];
		}
	return NULL;
}

static void put_name(struct translation *t, const char *name)
{
	const struct likwid_counter *c = find_counter(t, name);
	struct strbuf *out = &t->out;

	if (c && c->input < 0)
		snprintf(t->why, sizeof(t->why), "%s is not carried over", name);
	else if (c && !c->more)
		strbuf_puts(out, name);
	else if (c && out->len && out->data[out->len - 1] == '+')
		out->data[--out->len] = '\0'; /* the other box's sum has it */
	else if (c)
		strbuf_putc(out, '0');
	else if (!strcmp(name, "time"))
		strbuf_puts(out, "seconds");
	else if (!strcmp(name, "inverseClock"))
		snprintf(t->why, sizeof(t->why), "the nominal clock is not known here");
	else
		snprintf(t->why, sizeof(t->why), "%.60s is none of its counters", name);
}

static void translate(struct translation *t, const char *p)
{
	char name[64];
	char *end;

	while (*p && !*t->why) {
		size_t n = 0;

		if (isdigit((unsigned char)*p) || *p == '.') {
			strtod(p, &end);
			n = end > p ? (size_t)(end - p) : 1;
			strbuf_add(&t->out, p, n);
		} else if (isalpha((unsigned char)*p)) {
			while (isalnum((unsigned char)p[n]) || p[n] == '_')
				n++;
			snprintf(name, sizeof(name), "%.*s", (int)n, p);
			put_name(t, name);
		} else {
			strbuf_putc(&t->out, p[n++]);
		}
		p += n;
	}
}

/* A sum over some boxes only is nothing that all boxes together tell. */
static void check_boxes(struct translation *t)
{
	const struct likwid *k = t->k;

	for (size_t i = 0; i < k->ncounters && !*t->why; i++)
		for (size_t j = 0; j < k->ncounters && t->used[i]; j++)
			if (!t->used[j] && k->counters[j].input >= 0 &&
			    k->counters[j].input == k->counters[i].input)
				snprintf(t->why, sizeof(t->why),
					 "it takes %s without %s, and only all boxes "
					 "together are counted",
					 k->counters[i].name, k->counters[j].name);
}

static void check_scope(struct translation *t, struct profile_metric *m)
{
	const struct profile_model *p = t->k->p;
	bool of[2] = { false };

	for (size_t i = 0; i < p->ninputs; i++)
		if (formula_uses(m->formula, i))
			of[p->inputs[i].scope] = true;
	if (of[SCOPE_VCPU] && of[SCOPE_NODE])
		snprintf(t->why, sizeof(t->why),
			 "it mixes counters of cores and of sockets");
	else if (!of[SCOPE_VCPU] && !of[SCOPE_NODE])
		snprintf(t->why, sizeof(t->why), "nothing is counted for it");
	m->scope = of[SCOPE_NODE] ? SCOPE_NODE : SCOPE_VCPU;
}

/* LIKWID's groups zen3 and zen4 NUMA call remote fills per local fill so. */
static void warn_of_label(struct likwid *k, struct profile_metric *m)
{
	bool per_instruction = false;

	if (strcmp(m->name, "CPI"))
		return;
	for (size_t i = 0; i < k->p->ninputs; i++)
		per_instruction =
			per_instruction || (k->p->inputs[i].by_role &&
					    k->p->inputs[i].role == ROLE_INSTRUCTIONS &&
					    formula_uses(m->formula, i));
	if (per_instruction)
		return;
	likwid_remark(k,
		      "WARNING: what the group calls CPI is %s, which has no instructions "
		      "in it: the label is wrong",
		      formula_text(m->formula));
	str_copy(m->what, sizeof(m->what),
		 "mislabelled by the group: no instructions in it");
}

static void make_unique(const struct profile_model *p, struct profile_metric *m)
{
	char plain[sizeof(m->name) - 6];
	unsigned n = 1;

	str_copy(plain, sizeof(plain), m->name);
	for (size_t i = 0; i < p->nmetrics;) {
		if (strcmp(p->metrics[i++].name, m->name))
			continue;
		snprintf(m->name, sizeof(m->name), "%s (%u)", plain, ++n);
		i = 0;
	}
}

/* Cuts "name [unit] formula" up; false: it is nothing like that. */
static bool cut(char *line, struct profile_metric *m, const char **formula)
{
	char *last = line + strlen(line), *open, *close;

	while (last > line && !strchr(" \t", last[-1]))
		last--;
	if (last == line)
		return false;
	*formula = last;
	while (last > line && strchr(" \t", last[-1]))
		last--;
	*last = '\0';
	open = strrchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close && !close[1]) {
		*close = '\0';
		str_copy(m->unit, sizeof(m->unit), open + 1);
		while (open > line && strchr(" \t", open[-1]))
			open--;
		*open = '\0';
	}
	for (char *c = line; *c; c++)
		*c = *c == '"' ? '\'' : *c;
	str_copy(m->name, sizeof(m->name), line);
	return m->name[0] && !strchr(m->unit, '"');
}

static int compile(struct translation *t, struct profile_metric *m)
{
	struct err why = { 0 };
	size_t at;
	int ret;

	if (t->out.oom)
		return -ENOMEM;
	if (t->out.len > FORMULA_LONGEST) {
		snprintf(t->why, sizeof(t->why), "its formula is longer than %d characters",
			 FORMULA_LONGEST);
		return 0;
	}
	ret = formula_compile(t->out.data ? t->out.data : "", t->k->p->inputs,
			      t->k->p->ninputs, &m->formula, &at, &why);
	if (ret == -EINVAL)
		snprintf(t->why, sizeof(t->why), "%.*s", (int)sizeof(t->why) - 1, why.text);
	return ret == -EINVAL ? 0 : ret;
}

int likwid_metric(struct likwid *k, char *line)
{
	struct profile_metric m = { .warn = NAN, .bad = NAN };
	struct translation t = { .k = k, .used = calloc(k->ncounters + 1, sizeof(bool)) };
	const char *formula = NULL;
	int ret = t.used ? 0 : -ENOMEM;

	if (!ret && !cut(line, &m, &formula))
		ret = likwid_bad(k, "expected NAME [UNIT] FORMULA, found %s", line);
	if (!ret && k->p->nmetrics == MODEL_METRICS)
		ret = likwid_bad(k, "more than %d metrics", MODEL_METRICS);
	if (!ret) {
		translate(&t, formula);
		check_boxes(&t);
		ret = *t.why ? 0 : compile(&t, &m);
	}
	if (!ret && !*t.why)
		check_scope(&t, &m);
	if (!ret && *t.why) {
		snprintf(k->why, sizeof(k->why), "%s: %s", m.name, t.why);
		likwid_remark(k, "left out: %s", k->why);
	} else if (!ret) {
		warn_of_label(k, &m);
		make_unique(k->p, &m);
		ret = VEC_PUSH(k->p->metrics, k->p->nmetrics, k->p->capmetrics, m);
		if (!ret)
			m.formula = NULL;
	}
	formula_free(m.formula);
	strbuf_free(&t.out);
	free(t.used);
	return ret;
}
