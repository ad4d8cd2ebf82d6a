/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_ROOTFS_H
#define BASE_ROOTFS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

/*
 * /proc and /sys of a machine, read relative to one directory descriptor, so
 * that a recorded tree of another machine stands in for this one. Paths are
 * given without a leading slash: "proc/cpuinfo".
 */
struct rootfs {
	int fd; /* O_PATH directory; owned */
};

/* Opens @path ("/" for this machine). 0 or -errno. */
int rootfs_open(struct rootfs *root, const char *path, struct err *err);
void rootfs_close(struct rootfs *root);

/*
 * Reads a small file whole (sysfs, most of procfs); a trailing newline is cut,
 * @buf is NUL-terminated. Length, or -errno; -E2BIG if it does not fit.
 */
ssize_t rootfs_read(const struct rootfs *root, char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same, but of a longer file the beginning is enough: never -E2BIG. */
ssize_t rootfs_read_head(const struct rootfs *root, char *buf, size_t size, const char *fmt,
			 ...) __attribute__((format(printf, 4, 5)));
/* Reads a file of any length, appended to @sb. 0 or -errno. */
int rootfs_slurp(const struct rootfs *root, struct strbuf *sb, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Reads a file that holds one decimal number. 0 or -errno. */
int rootfs_read_i64(const struct rootfs *root, int64_t *out, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Link target, NUL-terminated. Length or -errno. */
ssize_t rootfs_readlink(const struct rootfs *root, char *buf, size_t size, const char *fmt,
			...) __attribute__((format(printf, 4, 5)));
/* A directory to readdir(); closedir() it. NULL with errno set. */
DIR *rootfs_opendir(const struct rootfs *root, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool rootfs_exists(const struct rootfs *root, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
