/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Formats the path of a variadic function; returns from it when too long. */
#define FORMAT_PATH(path, fmt, fail)                                                       \
	char path[PATH_MAX];                                                               \
	do {                                                                               \
		va_list ap;                                                                \
		int len_;                                                                  \
		va_start(ap, fmt);                                                         \
		len_ = vsnprintf(path, sizeof(path), fmt, ap);                             \
		va_end(ap);                                                                \
		if (len_ < 0 || (size_t)len_ >= sizeof(path))                              \
			fail;                                                              \
	} while (0)

int rootfs_open(struct rootfs *root, const char *path, struct err *err)
{
	root->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root->fd < 0)
		return err_set(err, errno, "%s: cannot open this directory: %s", path,
			       err_name(errno));
	return 0;
}

void rootfs_close(struct rootfs *root)
{
	if (root->fd >= 0)
		close(root->fd);
	root->fd = -1;
}

static int open_ro(const struct rootfs *root, const char *path)
{
	int fd = openat(root->fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

static ssize_t read_some(int fd, char *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t read_path(const struct rootfs *root, const char *path, char *buf,
			 size_t size)
{
	int fd = open_ro(root, path);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	while ((n = read_some(fd, buf + len, size - len)) > 0) {
		len += n;
		if (len == size) {
			n = -E2BIG;
			break;
		}
	}
	close(fd);
	if (n < 0)
		return n;
	if (len && buf[len - 1] == '\n')
		len--;
	buf[len] = '\0';
	return len;
}

ssize_t rootfs_read(const struct rootfs *root, char *buf, size_t size, const char *fmt, ...)
{
	FORMAT_PATH(path, fmt, return -ENAMETOOLONG);

	return read_path(root, path, buf, size);
}

ssize_t rootfs_read_head(const struct rootfs *root, char *buf, size_t size, const char *fmt,
			 ...)
{
	ssize_t n;
	int fd;
	FORMAT_PATH(path, fmt, return -ENAMETOOLONG);

	fd = open_ro(root, path);
	if (fd < 0)
		return fd;
	n = read_some(fd, buf, size - 1);
	close(fd);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

int rootfs_slurp(const struct rootfs *root, struct strbuf *sb, const char *fmt, ...)
{
	ssize_t n = 0;
	int fd;
	FORMAT_PATH(path, fmt, return -ENAMETOOLONG);

	fd = open_ro(root, path);
	if (fd < 0)
		return fd;
	for (;;) {
		n = strbuf_reserve(sb, 16384);
		if (n)
			break;
		n = read_some(fd, sb->data + sb->len, 16384);
		if (n <= 0)
			break;
		sb->len += n;
	}
	if (sb->data)
		sb->data[sb->len] = '\0';
	close(fd);
	return n;
}

int rootfs_read_i64(const struct rootfs *root, int64_t *out, const char *fmt, ...)
{
	char buf[32], *end;
	ssize_t n;
	FORMAT_PATH(path, fmt, return -ENAMETOOLONG);

	n = read_path(root, path, buf, sizeof(buf));
	if (n < 0)
		return n;
	errno = 0;
	*out = strtoll(buf, &end, 10);
	return end == buf || *end || errno ? -EINVAL : 0;
}

ssize_t rootfs_readlink(const struct rootfs *root, char *buf, size_t size, const char *fmt,
			...)
{
	ssize_t n;
	FORMAT_PATH(path, fmt, return -ENAMETOOLONG);

	n = readlinkat(root->fd, path, buf, size);
	if (n < 0)
		return -errno;
	if ((size_t)n >= size)
		return -E2BIG;
	buf[n] = '\0';
	return n;
}

DIR *rootfs_opendir(const struct rootfs *root, const char *fmt, ...)
{
	DIR *dir;
	int fd;
	FORMAT_PATH(path, fmt, {
		errno = ENAMETOOLONG;
		return NULL;
	});

	fd = openat(root->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	dir = fdopendir(fd);
	if (!dir)
		close(fd);
	return dir;
}

bool rootfs_exists(const struct rootfs *root, const char *fmt, ...)
{
	FORMAT_PATH(path, fmt, return false);

	return faccessat(root->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}
