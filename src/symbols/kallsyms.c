/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A copy of a guest's /proc/kallsyms: "ADDRESS TYPE NAME[\t[MODULE]]", lines by
 * address within the image and within each module (kernel/kallsyms.c).
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/build.h"

#define LINE_LIMIT 4096 /* KSYM_NAME_LEN is 512; no line comes near */

struct loader {
	struct symtab *tab;
	const char *path;
	struct err *err;
	uint64_t line;
	uint32_t module; /* of the line before: lines of a module stand together */
	bool all_zero;
};

static int bad_line(const struct loader *l)
{
	return err_set(l->err, EINVAL,
		       "%s: line %" PRIu64 " is not of a kallsyms file; expected a copy of "
		       "the guest's /proc/kallsyms (\"ffffffff81000000 T _text\"), or ELF",
		       l->path, l->line);
}

static const char *parse_hex(const char *p, const char *end, uint64_t *out)
{
	const char *first = p;
	uint64_t v = 0;

	for (; p < end && p - first < 17; p++) {
		unsigned char c = *p, lower = c | 0x20;

		if (c >= '0' && c <= '9')
			v = v << 4 | (c - '0');
		else if (lower >= 'a' && lower <= 'f')
			v = v << 4 | (lower - 'a' + 10);
		else
			break;
	}
	*out = v;
	return p == first || p - first > 16 ? NULL : p;
}

static int take_module(struct loader *l, const char *p, const char *end, uint32_t *module)
{
	const char *last = l->tab->pool + l->module;
	size_t len;
	int ret;

	while (p < end && (*p == ' ' || *p == '\t' || *p == '['))
		p++;
	while (end > p && (end[-1] == ']' || end[-1] == ' '))
		end--;
	len = end - p;
	if (strlen(last) != len || memcmp(last, p, len) != 0) {
		ret = symtab_add_name(l->tab, p, len, &l->module);
		if (ret)
			return ret;
	}
	*module = l->module;
	return 0;
}

/* Arm's mapping symbols ($x, $d) and labels of the assembler are no functions. */
static bool is_function(char type, const char *name)
{
	return strchr("tTwW", type) && *name != '$' && *name != '.';
}

static int take_line(struct loader *l, const char *p, const char *end)
{
	struct symbol_draft d = { .limit = UINT64_MAX };
	const char *name;
	char type;
	int ret;

	if (p == end)
		return 0;
	p = parse_hex(p, end, &d.start);
	if (!p || end - p < 4 || p[0] != ' ' || !isalpha((unsigned char)p[1]) ||
	    p[2] != ' ')
		return bad_line(l);
	type = p[1];
	if (d.start)
		l->all_zero = false;
	name = p + 3;
	if (!is_function(type, name))
		return 0;
	for (p = name; p < end && *p != '\t' && *p != ' '; p++)
		;
	d.rank = type == 't' ? RANK_LOCAL : type == 'T' ? RANK_GLOBAL : RANK_WEAK;
	ret = symtab_add_name(l->tab, name, p - name, &d.name);
	if (!ret && p < end)
		ret = take_module(l, p, end, &d.module);
	if (!ret)
		ret = symtab_add(l->tab, &d);
	return ret ? err_set(l->err, ret, "%s: cannot keep its symbols: %s", l->path,
			     err_name(ret))
		   : 0;
}

/* Whole lines of @buf; *used tells how many bytes they were. */
static int take_lines(struct loader *l, char *buf, size_t len, bool last, size_t *used)
{
	char *p = buf, *end = buf + len;
	int ret = 0;

	while (p < end && !ret) {
		char *nl = memchr(p, '\n', end - p);

		if (!nl && !last) {
			l->line += end - p > LINE_LIMIT;
			if (end - p > LINE_LIMIT)
				return bad_line(l);
			break;
		}
		l->line++;
		if (!nl)
			nl = end;
		ret = memchr(p, '\0', nl - p) ? bad_line(l) : take_line(l, p, nl);
		p = nl < end ? nl + 1 : end;
	}
	*used = p - buf;
	return ret;
}

static int read_lines(struct loader *l, int fd)
{
	const size_t size = 256 * 1024;
	char *buf = malloc(size);
	size_t len = 0, total = 0, used = 0;
	ssize_t n = 1;
	int ret = buf ? 0 : err_set(l->err, ENOMEM, "%s: out of memory", l->path);

	while (!ret && n > 0) {
		n = pread(fd, buf + len, size - len, total);
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n < 0) {
			ret = err_set(l->err, errno, "%s: cannot read: %s", l->path,
				      err_name(errno));
			break;
		}
		total += n;
		len += n;
		if (total > SYMBOLS_FILE_MAX)
			ret = err_set(l->err, EFBIG, "%s: longer than any kallsyms file",
				      l->path);
		else
			ret = take_lines(l, buf, len, n == 0, &used);
		if (!ret) {
			len -= used;
			memmove(buf, buf + used, len);
		}
	}
	free(buf);
	return ret;
}

int symtab_load_kallsyms(struct symtab *tab, int fd, const char *path, struct err *err)
{
	struct loader l = { .tab = tab, .path = path, .err = err, .all_zero = true };
	int ret = read_lines(&l, fd);

	if (ret)
		return ret;
	if (!l.line || !tab->ndraft)
		return err_set(err, EINVAL,
			       "%s: has no text symbols; expected a copy of the guest's "
			       "/proc/kallsyms, or an ELF file such as vmlinux",
			       path);
	if (l.all_zero)
		return err_set(
			err, EINVAL,
			"%s: all its addresses are 0: the guest hid them when it was "
			"copied; copy it as root after sysctl kernel.kptr_restrict=0",
			path);
	return 0;
}
