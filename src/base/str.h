/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A growing string. Zero-initialise it; data stays NUL-terminated once
 * anything was added. Running out of memory is remembered in @oom, so that a
 * caller may add many times and check once.
 */
struct strbuf {
	char *data;
	size_t len;
	size_t cap;
	bool oom;
};

void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void strbuf_puts(struct strbuf *sb, const char *s);
void strbuf_putc(struct strbuf *sb, char c);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* @word as one word of a POSIX shell, in quotes if it needs any. */
void strbuf_quote(struct strbuf *sb, const char *word);
/* Makes room for @extra more bytes and the NUL; 0 or -ENOMEM. */
int strbuf_reserve(struct strbuf *sb, size_t extra);
/* Empties it and keeps the memory. */
void strbuf_reset(struct strbuf *sb);
void strbuf_free(struct strbuf *sb);

/* Copies at most size-1 bytes and terminates; true if all of @src fitted. */
bool str_copy(char *dst, size_t size, const char *src);
/* The same for a comma-separated list: cut after an element, it ends in ",...". */
bool str_copy_list(char *dst, size_t size, const char *src);
bool str_starts(const char *s, const char *prefix);

/*
 * Parses a whole string as a number; no sign, no blanks, nothing after it.
 * @base 10 or 16 or 0 (as strtoull). 0, -EINVAL or -ERANGE.
 */
int str_u64(const char *s, int base, uint64_t *out);

/*
 * Parses a count with an optional suffix K, M or G (powers of 1000):
 * "100k" = 100000. Same errors as str_u64().
 */
int str_count(const char *s, uint64_t *out);

/* Length of the valid UTF-8 sequence at @s, 0 if it is none (RFC 3629). */
size_t str_utf8(const unsigned char *s);

/*
 * Replaces control characters (C0, DEL, and C1 in UTF-8) by "?": names that come
 * from a guest or another user's process end on terminals.
 */
void str_clean(char *s);

#endif
