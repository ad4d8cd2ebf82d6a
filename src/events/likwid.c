/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Performance groups of LIKWID, groups/ARCH/NAME.txt: sections SHORT, EVENTSET (COUNTER
 * EVENT), METRICS (name [unit] formula, which has no blanks) and LONG, as its wiki has
 * them under "Creating own performance groups".
 */
#include "events/likwid.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 900

enum section { NOWHERE, EVENTSET, METRICS, LONG };

int likwid_bad(struct likwid *k, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(k->err, EINVAL, "%s:%u: %s", k->file, k->line, text);
}

void likwid_remark(struct likwid *k, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	strbuf_addf(&k->remarks, "%s\n", text);
}

/* The file's name without folders and ending, in small letters. */
static void take_name(struct likwid *k)
{
	const char *slash = strrchr(k->file, '/');
	char *name = k->p->name;
	size_t n = 0;

	for (const char *p = slash ? slash + 1 : k->file; *p && *p != '.'; p++)
		if (isalnum((unsigned char)*p) && n + 1 < sizeof(k->p->name))
			name[n++] = (char)tolower((unsigned char)*p);
	if (!n)
		str_copy(name, sizeof(k->p->name), "imported");
}

static int take_title(struct likwid *k, const char *words)
{
	words += strspn(words, " \t");
	if (!*words)
		return likwid_bad(k, "expected words after SHORT");
	str_copy(k->p->title, sizeof(k->p->title), words);
	for (char *p = k->p->title; *p; p++)
		*p = *p == '"' ? '\'' : *p;
	return 0;
}

/* What stands before a line with "-" says the formulas again. */
static void take_text(struct likwid *k, const char *line)
{
	if (!strcmp(line, "-"))
		strbuf_reset(&k->text);
	else
		strbuf_addf(&k->text, "%s%s", k->text.len ? " " : "", line);
}

static int take_line(struct likwid *k, char *line, enum section *in)
{
	static const char *const names[] = { "", "EVENTSET", "METRICS", "LONG" };

	for (int i = EVENTSET; i <= LONG; i++)
		if (!strcmp(line, names[i])) {
			*in = (enum section)i;
			return 0;
		}
	switch (*in) {
	case NOWHERE:
		if (str_starts(line, "SHORT"))
			return take_title(k, line + strlen("SHORT"));
		return likwid_bad(k, "expected SHORT, EVENTSET, METRICS or LONG, found %s",
				  line);
	case EVENTSET: return likwid_counter(k, line);
	case METRICS: return likwid_metric(k, line);
	case LONG: take_text(k, line); break;
	}
	return 0;
}

/* Cuts the next line out, without blanks around it; -EINVAL: it is no text. */
static int next_line(struct likwid *k, const char **p, const char *end,
		     char line[static LINE_BYTES])
{
	const char *newline = memchr(*p, '\n', (size_t)(end - *p));
	const char *from = *p, *to = newline ? newline : end;

	k->line++;
	*p = newline ? newline + 1 : end;
	while (from < to && isspace((unsigned char)*from))
		from++;
	while (to > from && isspace((unsigned char)to[-1]))
		to--;
	if (to - from >= LINE_BYTES)
		return likwid_bad(k, "longer than %d characters", LINE_BYTES - 1);
	for (const char *c = from; c < to; c++)
		if (!isprint((unsigned char)*c) && *c != '\t' && !(*c & 0x80))
			return likwid_bad(k, "byte 0x%02x is not text", (unsigned char)*c);
	memcpy(line, from, (size_t)(to - from));
	line[to - from] = '\0';
	return 0;
}

static int finish(struct likwid *k)
{
	struct profile_model *p = k->p;

	p->description = k->text.data;
	p->remarks = k->remarks.data;
	k->text = k->remarks = (struct strbuf) { .oom = k->text.oom || k->remarks.oom };
	if (k->text.oom)
		return -ENOMEM;
	if (!*p->title)
		str_copy(p->title, sizeof(p->title), p->name);
	if (!p->ninputs)
		return err_set(k->err, EINVAL,
			       "%s: expected a performance group of LIKWID, with SHORT, "
			       "EVENTSET and METRICS; found no counter",
			       k->file);
	if (!p->nmetrics)
		return err_set(k->err, EINVAL, "%s: none of its metrics can be had%s%s",
			       k->file, *k->why ? ": " : "", k->why);
	return 0;
}

int profile_model_import_likwid(const char *file, const char *text, size_t size,
				struct profile_model *out, struct err *err)
{
	struct likwid k = { .file = file, .p = out, .err = err };
	const char *p = text, *end = text + size;
	enum section in = NOWHERE;
	char line[LINE_BYTES];
	int ret = 0;

	*out = (struct profile_model) { 0 };
	take_name(&k);
	likwid_remark(&k, "Imported from %s, a performance group of LIKWID.", out->name);
	while (!ret && p < end) {
		ret = next_line(&k, &p, end, line);
		if (!ret && *line)
			ret = take_line(&k, line, &in);
	}
	if (!ret)
		ret = finish(&k);
	strbuf_free(&k.text);
	strbuf_free(&k.remarks);
	for (size_t i = 0; i < k.ntables; i++)
		event_table_free(k.tables[i]);
	free(k.tables);
	free(k.counters);
	if (ret == -ENOMEM)
		err_set(err, ENOMEM, "%s: %s", file, err_name(ENOMEM));
	return ret;
}
