/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int strbuf_reserve(struct strbuf *sb, size_t extra)
{
	size_t need = sb->len + extra + 1;
	size_t cap = sb->cap ? sb->cap : 64;
	char *data;

	if (need <= sb->cap)
		return 0;
	while (cap < need)
		cap *= 2;
	data = realloc(sb->data, cap);
	if (!data) {
		sb->oom = true;
		return -ENOMEM;
	}
	sb->data = data;
	sb->cap = cap;
	return 0;
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
	if (strbuf_reserve(sb, len))
		return;
	if (len)
		memcpy(sb->data + sb->len, data, len);
	sb->len += len;
	sb->data[sb->len] = '\0';
}

void strbuf_puts(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

void strbuf_putc(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_quote(struct strbuf *sb, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./:,+=@";

	if (*word && !word[strspn(word, plain)]) {
		strbuf_puts(sb, word);
		return;
	}
	strbuf_putc(sb, '\'');
	for (; *word; word++)
		if (*word == '\'')
			strbuf_puts(sb, "'\\''");
		else
			strbuf_putc(sb, *word);
	strbuf_putc(sb, '\'');
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || strbuf_reserve(sb, n))
		return;
	va_start(ap, fmt);
	vsnprintf(sb->data + sb->len, n + 1, fmt, ap);
	va_end(ap);
	sb->len += n;
}

void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	sb->oom = false;
	if (sb->data)
		sb->data[0] = '\0';
}

void strbuf_free(struct strbuf *sb)
{
	free(sb->data);
	*sb = (struct strbuf) { 0 };
}

bool str_copy(char *dst, size_t size, const char *src)
{
	size_t len = strlen(src);
	bool fits = len < size;

	if (!size)
		return false;
	if (!fits)
		len = size - 1;
	memcpy(dst, src, len);
	dst[len] = '\0';
	return fits;
}

bool str_copy_list(char *dst, size_t size, const char *src)
{
	static const char more[] = ",...";
	char *comma;

	if (str_copy(dst, size, src))
		return true;
	if (size < sizeof(more))
		return false;
	dst[size - sizeof(more)] = '\0';
	/* The last element may be a part of one, unless the cut was at its end. */
	if (src[size - sizeof(more)] != ',' && (comma = strrchr(dst, ',')))
		*comma = '\0';
	strcat(dst, more);
	return false;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static int parse_u64(const char *s, int base, uint64_t *out, const char **rest)
{
	char *end;

	if (!isxdigit((unsigned char)*s))
		return -EINVAL;
	errno = 0;
	*out = strtoull(s, &end, base);
	if (end == s)
		return -EINVAL;
	*rest = end;
	return -errno;
}

int str_u64(const char *s, int base, uint64_t *out)
{
	const char *rest = s;
	int ret = parse_u64(s, base, out, &rest);

	return ret ? ret : *rest ? -EINVAL : 0;
}

int str_count(const char *s, uint64_t *out)
{
	const char *rest = s;
	uint64_t unit = 1;
	int ret = parse_u64(s, 10, out, &rest);

	if (ret)
		return ret;
	switch (*rest) {
	case 'g':
	case 'G': unit *= 1000; /* fall through */
	case 'm':
	case 'M': unit *= 1000; /* fall through */
	case 'k':
	case 'K':
		unit *= 1000;
		rest++;
		break;
	}
	if (*rest)
		return -EINVAL;
	return __builtin_mul_overflow(*out, unit, out) ? -ERANGE : 0;
}

size_t str_utf8(const unsigned char *s)
{
	size_t n;
	uint32_t c;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	c = s[0] & (0xff >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if ((n == 3 && (c < 0x800 || (c >= 0xd800 && c < 0xe000))) ||
	    (n == 4 && (c < 0x10000 || c > 0x10ffff)))
		return 0;
	return n;
}

void str_clean(char *s)
{
	for (; *s; s++) {
		unsigned char c = *s;

		if (c < 0x20 || c == 0x7f)
			*s = '?';
		else if (c == 0xc2 && ((unsigned char)s[1] & 0xe0) == 0x80)
			s[0] = s[1] = '?';
	}
}
