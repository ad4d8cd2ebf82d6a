/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profile models in the form that profile.c reads. */
#include <math.h>
#include <string.h>

#include "events/formula.h"
#include "events/profile.h"

#define TEXT_WIDTH 76
#define TEXT_LONGEST 500 /* a word of more is cut: a line has its limit */

static void write_quoted(struct strbuf *out, const char *text, size_t n)
{
	strbuf_putc(out, '"');
	for (size_t i = 0; i < n; i++)
		strbuf_putc(out, text[i] == '"' ? '\'' : text[i]);
	strbuf_putc(out, '"');
}

/* How much of the text goes into one line: whole words, as many as fit. */
static size_t line_of(const char *text, size_t n)
{
	size_t len = TEXT_WIDTH;

	if (n <= TEXT_WIDTH)
		return n;
	while (len && text[len] != ' ')
		len--;
	if (len)
		return len;
	while (len < n && len < TEXT_LONGEST && text[len] != ' ')
		len++;
	return len;
}

static void write_paragraph(struct strbuf *out, const char *text, size_t n)
{
	while (n) {
		size_t len = line_of(text, n);

		strbuf_puts(out, "text ");
		write_quoted(out, text, len);
		strbuf_putc(out, '\n');
		len += strspn(text + len, " ");
		text += len;
		n -= len;
	}
}

/* Paragraphs have an empty line between them. */
static void write_text(struct strbuf *out, const char *text)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n");

		write_paragraph(out, text, n);
		text += n;
		if (*text && !strncmp(text, "\n\n", 2))
			strbuf_puts(out, "text \"\"\n");
		text += strspn(text, "\n");
	}
}

static void write_input(struct strbuf *out, const struct profile_input *in)
{
	strbuf_addf(out, "%s %s = ", in->scope == SCOPE_NODE ? "node" : "vcpu", in->name);
	if (in->by_role)
		strbuf_addf(out, "role %s", role_name(in->role));
	else
		strbuf_addf(out, "event \"%s\"", in->event);
	strbuf_puts(out, in->optional ? " optional\n" : "\n");
}

static void write_metric(struct strbuf *out, const struct profile_metric *m)
{
	strbuf_puts(out, "metric ");
	write_quoted(out, m->name, strlen(m->name));
	strbuf_addf(out, " = %s", formula_text(m->formula));
	if (*m->unit) {
		strbuf_puts(out, " unit ");
		write_quoted(out, m->unit, strlen(m->unit));
	}
	if (!isnan(m->warn))
		strbuf_addf(out, " warn %.15g", m->warn);
	if (!isnan(m->bad))
		strbuf_addf(out, " bad %.15g", m->bad);
	if (*m->what) {
		strbuf_putc(out, ' ');
		write_quoted(out, m->what, strlen(m->what));
	}
	strbuf_putc(out, '\n');
}

void profile_model_write(const struct profile_model *p, struct strbuf *out)
{
	for (const char *s = p->remarks; s && *s; s += strspn(s, "\n")) {
		size_t n = strcspn(s, "\n");

		strbuf_addf(out, "# %.*s\n", (int)n, s);
		s += n;
	}
	strbuf_addf(out, "model %s ", p->name);
	write_quoted(out, p->title, strlen(p->title));
	strbuf_putc(out, '\n');
	write_text(out, p->description);
	for (size_t i = 0; i < p->ninputs; i++)
		write_input(out, &p->inputs[i]);
	for (size_t i = 0; i < p->nmetrics; i++)
		write_metric(out, &p->metrics[i]);
}
