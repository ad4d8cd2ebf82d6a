/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "base/str.h"

void jsonw_init(struct json *j, FILE *f)
{
	*j = (struct json) { .f = f };
}

static void put_string(FILE *f, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;

	putc('"', f);
	while (*s) {
		size_t n = str_utf8(s);

		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", f);
		else if (*s == '\t')
			fputs("\\t", f);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(f, "\\u%04x", *s);
		else if (!n)
			fputs("\\ufffd", f);
		else
			fwrite(s, 1, n, f);
		s += n ? n : 1;
	}
	putc('"', f);
}

static void before_value(struct json *j, const char *key)
{
	uint64_t bit = UINT64_C(1) << j->depth;

	if (j->depth && (j->started & bit))
		putc(',', j->f);
	j->started |= bit;
	if (key) {
		put_string(j->f, key);
		putc(':', j->f);
	}
}

static void open_level(struct json *j, const char *key, char c)
{
	before_value(j, key);
	putc(c, j->f);
	assert(j->depth < JSON_DEPTH);
	j->depth++;
	j->started &= ~(UINT64_C(1) << j->depth);
}

static void close_level(struct json *j, char c)
{
	assert(j->depth > 0);
	j->depth--;
	putc(c, j->f);
}

void jsonw_object(struct json *j, const char *key)
{
	open_level(j, key, '{');
}

void jsonw_array(struct json *j, const char *key)
{
	open_level(j, key, '[');
}

void jsonw_end_object(struct json *j)
{
	close_level(j, '}');
}

void jsonw_end_array(struct json *j)
{
	close_level(j, ']');
}

void jsonw_str(struct json *j, const char *key, const char *value)
{
	if (!value) {
		jsonw_null(j, key);
		return;
	}
	before_value(j, key);
	put_string(j->f, value);
}

void jsonw_u64(struct json *j, const char *key, uint64_t value)
{
	before_value(j, key);
	fprintf(j->f, "%" PRIu64, value);
}

void jsonw_i64(struct json *j, const char *key, int64_t value)
{
	before_value(j, key);
	fprintf(j->f, "%" PRId64, value);
}

void jsonw_f64(struct json *j, const char *key, double value)
{
	if (!isfinite(value)) {
		jsonw_null(j, key);
		return;
	}
	before_value(j, key);
	fprintf(j->f, "%.10g", value);
}

void jsonw_bool(struct json *j, const char *key, bool value)
{
	before_value(j, key);
	fputs(value ? "true" : "false", j->f);
}

void jsonw_null(struct json *j, const char *key)
{
	before_value(j, key);
	fputs("null", j->f);
}

void jsonw_newline(struct json *j)
{
	putc('\n', j->f);
}
