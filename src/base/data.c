/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/data.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "base/vec.h"

#define FILE_MAX (1u << 20)

/* Files are named after one of a kind: x.model; a table of events holds many: x.events. */
static int ending(const char *kind)
{
	return (int)strlen(kind) - !!strcmp(kind, "events");
}

static bool user_folder(const char *kind, char *out, size_t size)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n = 0;

	if (xdg && *xdg == '/')
		n = snprintf(out, size, "%s/vmmprof/%s", xdg, kind);
	else if (home && *home == '/')
		n = snprintf(out, size, "%s/.config/vmmprof/%s", home, kind);
	return n > 0 && (size_t)n < size;
}

static const struct data_file *compiled_in(const char *kind, const char *name)
{
	for (const struct data_file *f = data_files; f->name; f++)
		if (!strcmp(f->kind, kind) && !strcmp(f->name, name))
			return f;
	return NULL;
}

int data_read(const char *path, struct data_text *out, struct err *err)
{
	struct strbuf sb = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;
	ssize_t n;

	*out = (struct data_text) { 0 };
	if (fd < 0)
		return err_set(err, errno, "%s: %s", path, err_name(errno));
	do {
		ret = strbuf_reserve(&sb, 65536);
		if (ret)
			break;
		n = read(fd, sb.data + sb.len, 65536);
		if (n < 0)
			ret = -errno;
		else
			sb.len += (size_t)n;
		if (sb.len > FILE_MAX)
			ret = -E2BIG;
	} while (!ret && n > 0);
	close(fd);
	if (ret) {
		strbuf_free(&sb);
		return err_set(err, ret, "%s: %s", path,
			       ret == -E2BIG ? "larger than 1 MiB" : err_name(ret));
	}
	str_copy(out->file, sizeof(out->file), path);
	out->text = out->owned = sb.data;
	out->size = sb.len;
	return 0;
}

struct names {
	char **v;
	size_t n, cap;
};

static int add_name(void *ctx, const char *name, const char *path)
{
	struct strbuf *sb = ctx;

	(void)path;
	strbuf_addf(sb, "%s%s", sb->len ? ", " : "", name);
	return 0;
}

static int not_there(const char *kind, const char *what, struct err *err)
{
	struct strbuf sb = { 0 };

	data_each(kind, add_name, &sb);
	err_set(err, ENOENT, "%s: no such file, and none of %s: %s", what, kind,
		sb.data ? sb.data : "there are none");
	strbuf_free(&sb);
	return -ENOENT;
}

int data_load(const char *kind, const char *what, struct data_text *out, struct err *err)
{
	const struct data_file *f;
	char folder[PATH_MAX / 2], path[PATH_MAX];

	*out = (struct data_text) { 0 };
	if (strchr(what, '/'))
		return data_read(what, out, err);
	if (user_folder(kind, folder, sizeof(folder))) {
		snprintf(path, sizeof(path), "%s/%s.%.*s", folder, what, ending(kind),
			 kind);
		if (!access(path, F_OK))
			return data_read(path, out, err);
	}
	f = compiled_in(kind, what);
	if (f) {
		snprintf(out->file, sizeof(out->file), "%s.%.*s", what, ending(kind), kind);
		out->text = f->text;
		out->size = f->size;
		return 0;
	}
	if (!access(what, F_OK))
		return data_read(what, out, err);
	return not_there(kind, what, err);
}

void data_text_free(struct data_text *text)
{
	free(text->owned);
	*text = (struct data_text) { 0 };
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the user's own files of a kind, without their endings. */
static int own_names(const char *folder, const char *kind, struct names *names)
{
	const size_t len = (size_t)ending(kind) + 1; /* with its dot */
	struct dirent *e;
	DIR *d = opendir(folder);
	int ret = 0;

	while (d && !ret && (e = readdir(d))) {
		size_t n = strlen(e->d_name);
		char *name;

		if (e->d_name[0] == '.' || n <= len || e->d_name[n - len] != '.' ||
		    strncmp(e->d_name + n - len + 1, kind, len - 1))
			continue;
		name = strndup(e->d_name, n - len);
		ret = name ? VEC_PUSH(names->v, names->n, names->cap, name) : -ENOMEM;
		if (ret)
			free(name);
	}
	if (d)
		closedir(d);
	return ret;
}

int data_each(const char *kind, int (*cb)(void *ctx, const char *name, const char *path),
	      void *ctx)
{
	char folder[PATH_MAX / 2], path[PATH_MAX];
	struct names own = { 0 }, all = { 0 };
	bool has_folder = user_folder(kind, folder, sizeof(folder));
	int ret = has_folder ? own_names(folder, kind, &own) : 0;

	for (const struct data_file *f = data_files; !ret && f->name; f++)
		if (!strcmp(f->kind, kind))
			ret = VEC_PUSH(all.v, all.n, all.cap, (char *)f->name);
	for (size_t i = 0; !ret && i < own.n; i++)
		if (!compiled_in(kind, own.v[i]))
			ret = VEC_PUSH(all.v, all.n, all.cap, own.v[i]);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_name);
	for (size_t i = 0; !ret && i < all.n; i++) {
		bool is_own = has_folder;

		if (is_own) {
			snprintf(path, sizeof(path), "%s/%s.%.*s", folder, all.v[i],
				 ending(kind), kind);
			is_own = !access(path, F_OK);
		}
		ret = cb(ctx, all.v[i], is_own ? path : NULL);
	}
	for (size_t i = 0; i < own.n; i++)
		free(own.v[i]);
	free(own.v);
	free(all.v);
	return ret;
}
