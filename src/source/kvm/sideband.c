/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process was before its events were opened: names of its threads, files
 * mapped for execution, and the host kernel's own text. Formats: proc(5).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/kvm/kvm.h"

/* More than any kernel's text, less than the distance to what follows it. */
#define KERNEL_TEXT_MAX (128ULL << 20)

static FILE *open_lines(struct source *src, const char *path)
{
	int fd = openat(src->root.fd, path, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "re");

	if (fd >= 0 && !f)
		close(fd);
	return f;
}

static int comms(struct source *src, pid_t pid, const struct sideband_ops *cb, void *ctx)
{
	DIR *dir = rootfs_opendir(&src->root, "proc/%d/task", pid);
	struct dirent *e;
	char comm[64];
	int ret = 0;

	if (!dir)
		return -errno;
	while (!ret && (e = readdir(dir))) {
		pid_t tid = atoi(e->d_name);

		/* a thread that ended meanwhile needs no name */
		if (tid > 0 && rootfs_read(&src->root, comm, sizeof(comm),
					   "proc/%d/task/%d/comm", pid, tid) >= 0)
			ret = cb->comm(ctx, pid, tid, comm);
	}
	closedir(dir);
	return ret;
}

/* "start-end rwxp offset major:minor inode   path" */
static int map_line(char *line, pid_t pid, const struct sideband_ops *cb, void *ctx)
{
	uint64_t start, end, offset;
	char perms[8];
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &start, &end,
		   perms, &offset, &path) < 4 ||
	    !path || end <= start || strlen(perms) < 4 || perms[2] != 'x')
		return 0;
	return cb->mmap(ctx, false, pid, pid, start, end - start, offset,
			line[path] ? line + path : "//anon");
}

static int maps(struct source *src, pid_t pid, const struct sideband_ops *cb, void *ctx)
{
	char path[48], *line = NULL;
	size_t cap = 0;
	int ret = 0;
	FILE *f;

	snprintf(path, sizeof(path), "proc/%d/maps", pid);
	f = open_lines(src, path);
	if (!f)
		return -errno;
	while (!ret && getline(&line, &cap, f) > 0)
		ret = map_line(line, pid, cb, ctx);
	free(line);
	fclose(f);
	return ret;
}

/* Only as much of kallsyms as it takes: the text starts near its beginning. */
static int kernel(struct source *src, const struct sideband_ops *cb, void *ctx)
{
	FILE *f = open_lines(src, "proc/kallsyms");
	char name[256], type, line[512];
	uint64_t addr = 0;
	bool found = false;

	if (!f)
		return 0;
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%" SCNx64 " %c %255s", &addr, &type, name) == 3 &&
			(!strcmp(name, "_text") || !strcmp(name, "_stext"));
	fclose(f);
	if (!found || !addr) /* 0: kptr_restrict */
		return 0;
	snprintf(line, sizeof(line), "[kernel.kallsyms]%s", name);
	return cb->mmap(ctx, true, -1, 0, addr, KERNEL_TEXT_MAX, addr, line);
}

int kvm_sideband(struct source *src, const struct vm *vm, const struct sideband_ops *cb,
		 void *ctx)
{
	int ret = kernel(src, cb, ctx);

	if (!ret)
		ret = comms(src, vm->pid, cb, ctx);
	return ret ? ret : maps(src, vm->pid, cb, ctx);
}
