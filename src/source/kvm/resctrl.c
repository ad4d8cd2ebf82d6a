/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cache and bandwidth monitoring by thread: the kernel's
 * Documentation/arch/x86/resctrl.rst. Groups of other users are left alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "source/kvm/kvm.h"

#define TOP "sys/fs/resctrl"
#define OURS "vmmprof."

struct resctrl {
	const struct rootfs *root;
	char path[512]; /* of the group */
};

__attribute__((format(printf, 4, 5))) static int
refuse(struct opened *opened, enum reading_state state, int code, const char *fmt, ...)
{
	va_list ap;

	opened->state = state;
	va_start(ap, fmt);
	vsnprintf(opened->reason, sizeof(opened->reason), fmt, ap);
	va_end(ap);
	return -code;
}

/* The word behind "res:" or "mon:" of a thread's cpu_resctrl_groups. */
static void group_of(const char *text, const char *key, char *out, size_t size)
{
	const char *at = strstr(text, key);

	*out = '\0';
	if (at && (at == text || at[-1] == '\n')) {
		at += strlen(key);
		snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
	}
}

/* A killed vmmprof leaves its groups; those of one that lives are not touched. */
static bool clear_stale(const struct rootfs *root, const char *parent, const char *group)
{
	unsigned long pid = strtoul(group + strlen(OURS), NULL, 10);
	char path[768];

	if (!str_starts(group, OURS) || rootfs_exists(root, "proc/%lu/stat", pid))
		return false;
	snprintf(path, sizeof(path), "%s/mon_groups/%s", parent, group);
	return !unlinkat(root->fd, path, AT_REMOVEDIR);
}

static bool clear_all_stale(const struct rootfs *root, const char *parent)
{
	DIR *dir = rootfs_opendir(root, "%s/mon_groups", parent);
	struct dirent *e;
	bool any = false;

	while (dir && (e = readdir(dir)))
		any = clear_stale(root, parent, e->d_name) || any;
	if (dir)
		closedir(dir);
	return any;
}

/* Below which group the thread's is to be made; others' monitoring of it is respected. */
static int find_parent(const struct rootfs *root, pid_t pid, pid_t tid, char *parent,
		       size_t size, struct opened *opened)
{
	char text[512], res[128], mon[128];

	if (rootfs_read(root, text, sizeof(text), "proc/%d/task/%d/cpu_resctrl_groups", pid,
			tid) < 0)
		*text = '\0'; /* kernels before 5.6: taken for the default group */
	group_of(text, "res:", res, sizeof(res));
	group_of(text, "mon:", mon, sizeof(mon));
	if (!*res || !strcmp(res, "/"))
		snprintf(parent, size, TOP);
	else if (strchr(res, '/') || *res == '.')
		return refuse(opened, READ_UNSUPPORTED, EINVAL,
			      "resctrl group \"%.60s\" of its thread has no plain name",
			      res);
	else
		snprintf(parent, size, TOP "/%s", res);
	if (!*mon || clear_stale(root, parent, mon))
		return 0;
	return refuse(opened, READ_TAKEN, EBUSY,
		      "its thread is in the resctrl monitoring group \"%.60s\" of another "
		      "user: remove that group, or read its mon_data",
		      mon);
}

static int say_mkdir(int code, const char *path, struct opened *opened)
{
	if (code == ENOSPC)
		return refuse(opened, READ_TAKEN, code,
			      "no resctrl monitoring id (RMID) is left: other groups hold "
			      "all of info/L3_MON/num_rmids");
	if (code == EACCES || code == EPERM || code == EROFS)
		return refuse(opened, READ_DENIED, code,
			      "not allowed to make groups in /" TOP ": run as root");
	return refuse(opened, READ_UNSUPPORTED, code, "/%.120s: %s", path, err_name(code));
}

static int make_group(struct resctrl *r, const char *parent, struct opened *opened)
{
	int ret = mkdirat(r->root->fd, r->path, 0700) ? errno : 0;

	if (ret == ENOSPC && clear_all_stale(r->root, parent))
		ret = mkdirat(r->root->fd, r->path, 0700) ? errno : 0;
	return !ret || ret == EEXIST ? 0 : say_mkdir(ret, r->path, opened);
}

static int put_thread(struct resctrl *r, pid_t tid, struct opened *opened)
{
	char path[sizeof(r->path) + 8], text[16];
	int len = snprintf(text, sizeof(text), "%d\n", tid), fd, ret = 0;

	snprintf(path, sizeof(path), "%s/tasks", r->path);
	fd = openat(r->root->fd, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, (size_t)len) != len)
		ret = refuse(opened, READ_UNSUPPORTED, errno ? errno : EIO,
			     "cannot put its thread into /%.120s: %s", path,
			     err_name(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

int resctrl_open(const struct rootfs *root, pid_t pid, pid_t tid, struct resctrl **out,
		 struct opened *opened)
{
	struct resctrl *r;
	char parent[256];
	int ret;

	*out = NULL;
	if (!rootfs_exists(root, TOP "/info"))
		return refuse(opened, READ_UNSUPPORTED, ENOENT,
			      "resctrl is not mounted: vmmprof check says whether this "
			      "CPU has it");
	if (!rootfs_exists(root, TOP "/info/L3_MON"))
		return refuse(opened, READ_UNSUPPORTED, ENOENT,
			      "this CPU or kernel monitors no cache and no bandwidth");
	ret = find_parent(root, pid, tid, parent, sizeof(parent), opened);
	r = ret ? NULL : calloc(1, sizeof(*r));
	if (!r)
		return ret ? ret : refuse(opened, READ_NOT_SCHEDULED, ENOMEM, "no memory");
	r->root = root;
	snprintf(r->path, sizeof(r->path), "%s/mon_groups/" OURS "%d.%d", parent, getpid(),
		 tid);
	ret = make_group(r, parent, opened);
	if (ret) {
		free(r);
		return ret;
	}
	ret = put_thread(r, tid, opened);
	if (ret)
		resctrl_close(r);
	else
		*out = r;
	return ret;
}

int resctrl_read(const struct resctrl *r, const char *file, uint64_t *sum,
		 bool *some_unavailable)
{
	DIR *dir = rootfs_opendir(r->root, "%s/mon_data", r->path);
	struct dirent *e;
	unsigned n = 0;

	*sum = 0;
	*some_unavailable = false;
	if (!dir)
		return -errno;
	while ((e = readdir(dir))) {
		char text[64];
		uint64_t value;

		if (!str_starts(e->d_name, "mon_L3_"))
			continue;
		if (rootfs_read(r->root, text, sizeof(text), "%s/mon_data/%s/%s", r->path,
				e->d_name, file) < 0 ||
		    str_u64(text, 10, &value)) {
			*some_unavailable = true; /* "Unavailable", "Error" */
			continue;
		}
		*sum += value;
		n++;
	}
	closedir(dir);
	return n ? 0 : -ENODATA;
}

void resctrl_close(struct resctrl *r)
{
	if (!r)
		return;
	unlinkat(r->root->fd, r->path, AT_REMOVEDIR);
	free(r);
}
