/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RECORDING_DIR_H
#define RECORD_RECORDING_DIR_H

/* The directory of a recording: making room for it, names in it, its reserve. */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Does directory @path hold a recording (its database carries our mark)? */
bool recording_dir_is_ours(const char *path);
/*
 * Makes an empty directory @path. A recording that is there moves to "@path.old",
 * whose own predecessor is deleted; -EEXIST for anything else.
 */
int recording_dir_create(const char *path, struct err *err);
/*
 * Deletes the directory that recording_dir_create() made, with what is in it; closes
 * @dirfd, which is it: where descriptors have run out, none can be opened for this.
 */
void recording_dir_remove(const char *path, int dirfd);
/*
 * A file name that no file in directory @dirfd has: @name made harmless for file
 * systems, then "~2", "~3" … where needed, then @suffix. 0 or -EEXIST.
 */
int recording_dir_name(int dirfd, const char *name, const char *suffix, char *out,
		       size_t size);
/* Copies file @from to @name in @dirfd, which must not exist. */
int recording_dir_copy(int dirfd, const char *name, const char *from, struct err *err);
/* Sets space aside in @dirfd, to @bytes altogether. */
int recording_dir_reserve(int dirfd, size_t bytes, struct err *err);
/* Gives it back. */
void recording_dir_release(int dirfd);

#endif
