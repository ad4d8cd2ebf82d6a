/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A streaming JSON writer (jansson, which reads, has the prefix json_): nothing is kept, so
 * a million rows cost nothing.
 * @key is NULL for array elements and for the outermost value. Strings are
 * escaped; bytes that are not UTF-8 come out as U+FFFD; NaN and infinity as null.
 */
struct json {
	FILE *f;
	int depth;
	uint64_t started; /* bit d: something was written at depth d */
};

#define JSON_DEPTH 60

void jsonw_init(struct json *j, FILE *f);
void jsonw_object(struct json *j, const char *key);
void jsonw_array(struct json *j, const char *key);
void jsonw_end_object(struct json *j);
void jsonw_end_array(struct json *j);
void jsonw_str(struct json *j, const char *key, const char *value); /* NULL: null */
void jsonw_u64(struct json *j, const char *key, uint64_t value);
void jsonw_i64(struct json *j, const char *key, int64_t value);
void jsonw_f64(struct json *j, const char *key, double value);
void jsonw_bool(struct json *j, const char *key, bool value);
void jsonw_null(struct json *j, const char *key);
/* Ends a line between outermost values (JSON Lines). */
void jsonw_newline(struct json *j);

#endif
