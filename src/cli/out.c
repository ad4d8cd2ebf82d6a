/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/out.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *plus_minus = "+-";

/* Asks without setlocale(3): numbers and patterns stay what they are in C. */
static bool locale_is_utf8(void)
{
	locale_t user = newlocale(LC_CTYPE_MASK, "", NULL);
	bool utf8 = user && !strcmp(nl_langinfo_l(CODESET, user), "UTF-8");

	if (user)
		freelocale(user);
	return utf8;
}

void out_init(struct out *o, const struct out_ops *ops, FILE *f)
{
	const char *no_color = getenv("NO_COLOR");

	*o = (struct out) {
		.ops = ops ? ops : &out_text,
		.f = f,
		.color = isatty(fileno(f)) && !(no_color && *no_color),
	};
	plus_minus = locale_is_utf8() ? "±" : "+-";
	jsonw_init(&o->json, f);
}

void out_free(struct out *o)
{
	strbuf_free(&o->cells);
	free(o->widths);
}

void out_table(struct out *o, const struct view *v)
{
	o->view = v;
	o->nrows = 0;
	o->ops->table(o, v);
}

void out_row(struct out *o, const void *row)
{
	o->ops->row(o, row);
	o->nrows++;
}

void out_end(struct out *o)
{
	o->ops->end(o);
	fflush(o->f);
	o->view = NULL;
}

void out_note(struct out *o, const struct note *note)
{
	o->ops->note(o, note);
}

void out_line(struct out *o, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0) {
		o->ops->line(o, text);
		free(text);
	}
	va_end(ap);
}

static void format_grouped(struct strbuf *sb, uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, v);

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			strbuf_putc(sb, ',');
		strbuf_putc(sb, digits[i]);
	}
}

static void format_bytes(struct strbuf *sb, uint64_t v)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	double x = v;
	int u = 0;

	if (v == UINT64_MAX) {
		strbuf_putc(sb, '-');
		return;
	}
	while (x >= 1024 && u < 5) {
		x /= 1024;
		u++;
	}
	strbuf_addf(sb, u && x < 100 ? "%.1f %s" : "%.0f %s", x, units[u]);
}

const char *out_plus_minus(void)
{
	return plus_minus;
}

void out_percent(char *buf, size_t size, double value, double error)
{
	snprintf(buf, size, "%.1f %s %.1f %%", 100 * value, plus_minus, 100 * error);
}

void out_bar(char *buf, size_t size, double share, unsigned width)
{
	/* Eighths of a block, from the left: U+2588 is full. */
	unsigned eighths = share > 0 ? (unsigned)lround(fmin(share, 1) * width * 8) : 0;
	bool utf8 = strcmp(plus_minus, "+-");
	size_t n = 0;

	for (unsigned i = 0; i < eighths && n + 4 <= size; i += 8) {
		unsigned piece = eighths - i < 8 ? eighths - i : 8;

		if (utf8)
			n += (size_t)sprintf(buf + n, "\xe2\x96%c", 0x88 + 8 - (int)piece);
		else if (piece >= 4)
			buf[n++] = '#';
	}
	buf[n] = '\0';
}

double out_seconds(const uint64_t *ns)
{
	return *ns == UINT64_MAX ? NAN : *ns / 1e9;
}

static void format_duration(struct strbuf *sb, uint64_t ns)
{
	uint64_t s = ns / 1000000000u;

	if (ns == UINT64_MAX)
		strbuf_putc(sb, '-');
	else if (s >= 86400)
		strbuf_addf(sb, "%" PRIu64 " d %" PRIu64 " h", s / 86400, s % 86400 / 3600);
	else if (s >= 3600)
		strbuf_addf(sb, "%" PRIu64 " h %02" PRIu64 " min", s / 3600, s % 3600 / 60);
	else if (s >= 60)
		strbuf_addf(sb, "%" PRIu64 " min %02" PRIu64 " s", s / 60, s % 60);
	else
		strbuf_addf(sb, "%.3f s", ns / 1e9);
}

static void format_reading(struct strbuf *sb, const struct reading *r)
{
	if (!reading_has_value(r->state)) {
		strbuf_addf(sb, "<%s>", reading_state_name(r->state));
		return;
	}
	format_grouped(sb, r->value);
	if (r->state == READ_SUSPECT)
		strbuf_puts(sb, " <suspect>");
	if (r->state != READ_SCALED)
		return;
	strbuf_addf(sb, " %s ", plus_minus);
	if (isnan(r->error))
		strbuf_puts(sb, "unknown");
	else
		format_grouped(sb, (uint64_t)ceil(r->error));
	strbuf_addf(sb, " (%.1f %%)", 100 * reading_coverage(r));
}

/* Four digits that count. */
static void format_value(struct strbuf *sb, double value)
{
	double size = fabs(value);

	if (size >= 1e6 || (size > 0 && size < 1e-3))
		strbuf_addf(sb, "%.3e", value);
	else
		strbuf_addf(sb, "%.*f",
			    size >= 1000  ? 0
			    : size >= 100 ? 1
			    : size >= 10  ? 2
					  : 3,
			    value);
}

static void format_metric(struct strbuf *sb, const struct metric_cell *m)
{
	const char *mark = profile_mark_name(m->mark);

	if (!reading_has_value(m->v.state)) {
		strbuf_addf(sb, "<%s>", reading_state_name(m->v.state));
		return;
	}
	format_value(sb, m->v.value);
	if (isnan(m->v.error) || m->v.error > 0)
		strbuf_addf(sb, " %s ", plus_minus);
	if (isnan(m->v.error))
		strbuf_puts(sb, "unknown");
	else if (m->v.error > 0)
		strbuf_addf(sb, "%.2g", m->v.error);
	if (m->v.state == READ_SUSPECT)
		strbuf_puts(sb, " <suspect>");
	if (mark && m->mark != MARK_OK)
		strbuf_addf(sb, " %s", mark);
}

void out_format(struct strbuf *sb, enum field field, const void *p)
{
	const char *s;

	switch (field) {
	case FIELD_STR:
		s = *(const char *const *)p;
		strbuf_puts(sb, s ? s : "-");
		break;
	case FIELD_LIST:
		s = *(const char *const *)p;
		strbuf_puts(sb, s && *s ? s : "-");
		for (s = s && *s ? s + strlen(s) + 1 : NULL; s && *s; s += strlen(s) + 1)
			strbuf_addf(sb, ", %s", s);
		break;
	case FIELD_TEXT:
		s = p;
		strbuf_puts(sb, *s ? s : "-");
		break;
	case FIELD_BOOL: strbuf_puts(sb, *(const bool *)p ? "yes" : "no"); break;
	case FIELD_INT:
		if (*(const int *)p < 0)
			strbuf_putc(sb, '-');
		else
			strbuf_addf(sb, "%d", *(const int *)p);
		break;
	case FIELD_U64: format_grouped(sb, *(const uint64_t *)p); break;
	case FIELD_F64:
		if (isnan(*(const double *)p))
			strbuf_putc(sb, '-');
		else
			strbuf_addf(sb, "%.3f", *(const double *)p);
		break;
	case FIELD_BYTES: format_bytes(sb, *(const uint64_t *)p); break;
	case FIELD_DURATION: format_duration(sb, *(const uint64_t *)p); break;
	case FIELD_PERCENT:
		if (isnan(*(const double *)p))
			strbuf_putc(sb, '-');
		else
			strbuf_addf(sb, "%.2f %%", 100 * *(const double *)p);
		break;
	case FIELD_READING: format_reading(sb, p); break;
	case FIELD_METRIC: format_metric(sb, p); break;
	}
}
