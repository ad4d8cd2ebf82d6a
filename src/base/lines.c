/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/lines.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

void lines_begin(struct lines *l, const char *file, const char *text, size_t size,
		 char separator)
{
	*l = (struct lines) {
		.file = file, .rest = text, .end = text + size, .separator = separator
	};
}

int lines_bad(const struct lines *l, struct err *err, const char *fmt, ...)
{
	char text[ERR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(err, EINVAL, "%s:%u: %s", l->file, l->line, text);
}

/* Takes the next statement's bytes out of the text, without its comment. */
static int take(struct lines *l, struct err *err)
{
	const char *p = l->rest;
	bool quoted = false, comment = false, newline = p == l->end;
	size_t n = 0;

	while (p < l->end) {
		char c = *p++;

		newline = c == '\n' || p == l->end;
		if (c == '\n' || (!quoted && !comment && l->separator && c == l->separator))
			break;
		quoted = quoted != (c == '"' && !comment);
		comment = comment || (c == '#' && !quoted);
		if (comment)
			continue;
		if (!isprint((unsigned char)c) && c != '\t' && c != '\r' && !(c & 0x80))
			return lines_bad(l, err, "byte 0x%02x is not text",
					 (unsigned char)c);
		if (n + 1 >= sizeof(l->text))
			return lines_bad(l, err, "longer than %zu characters",
					 sizeof(l->text) - 1);
		l->text[n++] = c;
	}
	l->text[n] = '\0';
	l->rest = p;
	if (quoted)
		return lines_bad(l, err, "a quote that does not end");
	return newline;
}

static int split(struct lines *l, struct err *err)
{
	static const char blanks[] = " \t\r";
	char *p = l->text;

	l->indented = strchr(blanks, *p) && *p;
	for (l->n = 0; *(p += strspn(p, blanks)); l->n++) {
		if (l->n == LINES_WORDS)
			return lines_bad(l, err, "more than %d words", LINES_WORDS);
		if (*p == '"') {
			l->word[l->n] = ++p;
			p = strchr(p, '"'); /* there is one: take() has counted them */
			*p++ = '\0';
		} else {
			l->word[l->n] = p;
			p += strcspn(p, " \t\r\"");
		}
		if (*p && !strchr(blanks, *p))
			return lines_bad(l, err,
					 "a quote within a word: blanks go around "
					 "quoted words");
		if (*p)
			*p++ = '\0';
	}
	l->word[l->n] = NULL;
	return 0;
}

int lines_next(struct lines *l, struct err *err)
{
	bool begins = l->rest && (l->line == 0 || l->rest[-1] == '\n');

	for (l->n = 0; !l->n;) {
		int ret;

		if (l->rest == l->end)
			return 0;
		l->line += begins;
		ret = take(l, err);
		if (ret < 0)
			return ret;
		begins = ret;
		ret = split(l, err);
		if (ret)
			return ret;
	}
	return 1;
}

int lines_u64(const struct lines *l, size_t i, const char *what, uint64_t min, uint64_t max,
	      uint64_t *out, struct err *err)
{
	if (i >= l->n)
		return lines_bad(l, err, "%s is missing", what);
	if (str_u64(l->word[i], 0, out) || *out < min || *out > max)
		return lines_bad(l, err, "\"%s\" is not %s (%llu to %llu)", l->word[i],
				 what, (unsigned long long)min, (unsigned long long)max);
	return 0;
}

int lines_f64(const struct lines *l, size_t i, const char *what, double min, double max,
	      double *out, struct err *err)
{
	char *end;

	if (i >= l->n)
		return lines_bad(l, err, "%s is missing", what);
	*out = strtod(l->word[i], &end);
	if (end != l->word[i] && !strcmp(end, "%")) {
		*out /= 100;
		end++;
	}
	if (end == l->word[i] || *end || !isfinite(*out) || *out < min || *out > max)
		return lines_bad(l, err, "\"%s\" is not %s (%g to %g)", l->word[i], what,
				 min, max);
	return 0;
}

int lines_bytes(const struct lines *l, size_t i, const char *what, uint64_t min,
		uint64_t max, uint64_t *out, struct err *err)
{
	static const char units[] = "KMGT";
	char digits[32];
	const char *unit = NULL;
	unsigned shift;
	size_t n;

	if (i >= l->n)
		return lines_bad(l, err, "%s is missing", what);
	str_copy(digits, sizeof(digits), l->word[i]);
	n = strlen(digits);
	if (n && digits[n - 1] && (unit = strchr(units, digits[n - 1])))
		digits[n - 1] = '\0';
	shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	if (str_u64(digits, 10, out) || *out > UINT64_MAX >> shift ||
	    (*out <<= shift) < min || *out > max)
		return lines_bad(l, err, "\"%s\" is not %s (bytes, as 64, 32K, 8M, 2G)",
				 l->word[i], what);
	return 0;
}
