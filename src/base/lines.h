/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_LINES_H
#define BASE_LINES_H

/*
 * The text files that people write for us (machines, scenarios, event tables, models)
 * have one shape: a statement a line, words between blanks, "#" begins a comment,
 * "quoted words" may hold blanks. What is wrong is told with file and line.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define LINES_WORDS 64
#define LINES_LENGTH 1024

struct lines {
	const char *file; /* as messages name it */
	const char *rest; /* what is left of the text */
	const char *end;
	char separator; /* also ends a statement (','); 0: only a newline does */
	unsigned line;	/* of the statement that was read last, from 1 */
	bool indented;	/* it began with a blank: it belongs to the one before */
	size_t n;	/* its words; never 0 after lines_next() returned 1 */
	char *word[LINES_WORDS + 1]; /* NULL-terminated; valid until the next call */
	char text[LINES_LENGTH];
};

/* @text need not be terminated; it may hold anything. */
void lines_begin(struct lines *l, const char *file, const char *text, size_t size,
		 char separator);
/*
 * The next statement that is not empty. 1; 0: there is none; -EINVAL with words: a line
 * too long, too many words, a quote without an end, a byte that is not printable.
 */
int lines_next(struct lines *l, struct err *err);
/* "FILE:LINE: …" into @err; returns -EINVAL. */
int lines_bad(const struct lines *l, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Word @i as a number; -EINVAL with words that name what was expected (@what, "a number
 * of cores") where it is missing, is none or is not within @min … @max. */
int lines_u64(const struct lines *l, size_t i, const char *what, uint64_t min, uint64_t max,
	      uint64_t *out, struct err *err);
/* The same for 0.5, 12, 1e6, and 60% as 0.6. Never NaN or infinite. */
int lines_f64(const struct lines *l, size_t i, const char *what, double min, double max,
	      double *out, struct err *err);
/* The same for bytes: 64, 32K, 8M, 2G (powers of 1024). */
int lines_bytes(const struct lines *l, size_t i, const char *what, uint64_t min,
		uint64_t max, uint64_t *out, struct err *err);

#endif
