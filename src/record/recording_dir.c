/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/recording_dir.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/recording_schema.h"

#define RESERVE_FILE ".reserve"
#define DIR_MODE 0700  /* addresses of kernels, as perf keeps its files to their owner */
#define NAME_BYTES 120 /* of a VM's name that a file name keeps */

bool recording_dir_is_ours(const char *path)
{
	/* https://www.sqlite.org/fileformat.html: application_id, big endian */
	unsigned char head[72] = { 0 };
	char db[PATH_MAX];
	ssize_t n;
	int fd;

	if (snprintf(db, sizeof(db), "%s/" RECORDING_DB, path) >= (int)sizeof(db))
		return false;
	fd = open(db, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return false;
	n = read(fd, head, sizeof(head));
	close(fd);
	return n == sizeof(head) && !memcmp(head, "SQLite format 3", 16) &&
	       ((uint32_t)head[68] << 24 | head[69] << 16 | head[70] << 8 | head[71]) ==
		       RECORDING_APPLICATION_ID;
}

/* A directory of this user's own, not a link to one: somebody else may have put it. */
static bool is_own(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid();
}

/* A recording is flat: no subdirectories, hence no recursion that could go astray. */
static int remove_open(const char *path, int fd, struct err *err)
{
	DIR *dir = fd >= 0 && is_own(fd) ? fdopendir(fd) : NULL;
	struct dirent *e;

	if (!dir) {
		int code = fd < 0 ? errno : EPERM;

		if (fd >= 0)
			close(fd);
		return err_set(err, code,
			       "%s: cannot delete this older recording, which is a link or "
			       "another user's: choose another name with -o",
			       path);
	}
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    unlinkat(dirfd(dir), e->d_name, 0)) {
			int code = errno;

			closedir(dir);
			return err_set(err, code, "%s/%s: cannot delete: %s", path,
				       e->d_name, err_name(code));
		}
	closedir(dir);
	if (rmdir(path))
		return err_set(err, errno, "%s: cannot delete: %s", path, err_name(errno));
	return 0;
}

static int remove_flat(const char *path, struct err *err)
{
	return remove_open(
		path, open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err);
}

void recording_dir_remove(const char *path, int dirfd)
{
	remove_open(path, dirfd, NULL);
}

static int move_away(const char *path, struct err *err)
{
	char old[PATH_MAX];
	int ret;

	if (snprintf(old, sizeof(old), "%s.old", path) >= (int)sizeof(old))
		return err_set(err, ENAMETOOLONG, "%s: the name is too long", path);
	if (recording_dir_is_ours(old)) {
		ret = remove_flat(old, err);
		if (ret)
			return ret;
	}
	if (!rename(path, old))
		return 0;
	return err_set(err, errno,
		       "%s: cannot move the older recording to %s: %s; choose another "
		       "name with -o",
		       path, old, err_name(errno));
}

int recording_dir_create(const char *path, struct err *err)
{
	char clean[PATH_MAX];
	size_t len = strlen(path);
	int ret;

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (!len || len >= sizeof(clean))
		return err_set(err, ENAMETOOLONG, "%s: not a usable name for a recording",
			       path);
	memcpy(clean, path, len);
	clean[len] = '\0';
	if (recording_dir_is_ours(clean)) {
		ret = move_away(clean, err);
		if (ret)
			return ret;
	}
	if (!mkdir(clean, DIR_MODE))
		return 0;
	if (errno != EEXIST)
		return err_set(err, errno, "%s: cannot make this directory: %s", path,
			       err_name(errno));
	/* an empty directory is welcome, anything else is somebody's */
	if (!rmdir(clean) && !mkdir(clean, DIR_MODE))
		return 0;
	return err_set(err, EEXIST,
		       "%s: exists and is not a recording of vmmprof: delete it or choose "
		       "another name with -o",
		       path);
}

int recording_dir_name(int dirfd, const char *name, const char *suffix, char *out,
		       size_t size)
{
	char safe[NAME_BYTES + 1];
	size_t n = 0;

	for (; name[n] && n < NAME_BYTES; n++) {
		unsigned char c = name[n];

		safe[n] = isalnum(c) || c >= 0x80 || strchr("._+@-", c) ? c : '_';
	}
	safe[n] = '\0';
	if (!n || safe[0] == '.' || safe[0] == '-')
		safe[0] = '_';
	safe[n ? n : 1] = '\0';
	for (unsigned i = 1; i < 100000; i++) {
		char number[16] = "";

		if (i > 1)
			snprintf(number, sizeof(number), "~%u", i);
		if (snprintf(out, size, "%s%s%s", safe, number, suffix) >= (int)size)
			return -ENAMETOOLONG;
		if (faccessat(dirfd, out, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
			return 0;
	}
	return -EEXIST;
}

static int copy_bytes(int in, int out)
{
	char buf[65536];
	ssize_t n;

	for (;;) {
		n = read(in, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		for (ssize_t done = 0; done < n;) {
			ssize_t put = write(out, buf + done, n - done);

			if (put < 0 && errno == EINTR)
				continue;
			if (put < 0)
				return -errno;
			done += put;
		}
	}
}

int recording_dir_copy(int dirfd, const char *name, const char *from, struct err *err)
{
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOCTTY), out, ret;

	if (in < 0)
		return err_set(err, errno, "%s: cannot read: %s", from, err_name(errno));
	out = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0) {
		ret = -errno;
		goto out;
	}
	ret = copy_bytes(in, out);
	if (close(out) && !ret)
		ret = -errno;
	if (ret)
		unlinkat(dirfd, name, 0);
out:
	close(in);
	return ret ? err_set(err, ret, "%s: cannot copy into the recording: %s", from,
			     err_name(ret))
		   : 0;
}

int recording_dir_reserve(int dirfd, size_t bytes, struct err *err)
{
	/* libc reads what is there where the file system cannot allocate: NFS, FUSE */
	int fd = openat(dirfd, RESERVE_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int ret;

	if (fd < 0)
		return err_set(err, errno, "cannot create a file in the recording: %s",
			       err_name(errno));
	ret = posix_fallocate(fd, 0, bytes);
	close(fd);
	if (!ret)
		return 0;
	recording_dir_release(dirfd);
	return err_set(err, ret, "no room for a recording: %s; it needs %zu KiB at least",
		       err_name(ret), bytes / 1024);
}

void recording_dir_release(int dirfd)
{
	unlinkat(dirfd, RESERVE_FILE, 0);
}
