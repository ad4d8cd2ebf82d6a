/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_DATA_H
#define BASE_DATA_H

/*
 * The files of data/: machines, scenarios, event tables,
 * models, data sheets. They are compiled into
 * the program (data/embed.py), so that it is whole wherever it is put; a user's own
 * in ~/.config/vmmprof/KIND/ (or $XDG_CONFIG_HOME) come before them.
 */

#include <stddef.h>

#include "base/err.h"

struct data_file {
	const char *kind; /* "machines", "scenarios", "events", "models", "sheets" */
	const char *name; /* "nehalem-ep": the file's without its ending */
	const char *text;
	size_t size;
};

/* All that are compiled in; the last one's name is NULL. */
extern const struct data_file data_files[];

/* Text read from a file, or compiled in. */
struct data_text {
	char file[256]; /* as messages name it: a path, or "NAME.ending" */
	const char *text;
	size_t size;
	char *owned; /* NULL: compiled in */
};

/*
 * The file that @what means: a path if it has a slash or names an existing file, else a
 * name of that kind, the user's own first. 0; -ENOENT with words that list the names;
 * -errno. data_text_free() it.
 */
int data_load(const char *kind, const char *what, struct data_text *out, struct err *err);
/* The file at @path, whatever kind it is of. */
int data_read(const char *path, struct data_text *out, struct err *err);
void data_text_free(struct data_text *text);
/*
 * Calls @cb with each name of a kind once, in order, and the path of the user's own file
 * (NULL: it is compiled in). A callback's nonzero return ends it and is returned.
 */
int data_each(const char *kind, int (*cb)(void *ctx, const char *name, const char *path),
	      void *ctx);

#endif
