/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether anything can have come or gone, for one small read instead of a scan.
 * A VM, a vCPU's thread or a process's thread that comes is a task that is born,
 * and the kernel says which pid it gave out last: the fifth word of /proc/loadavg,
 * proc(5). Threads that end are missed by that: a plain process's are counted by
 * the links of its task folder (two more than threads), a VM's are left to the
 * next full scan.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "source/kvm/discover.h"

static uint64_t last_birth(const struct rootfs *root)
{
	char text[128];
	uint64_t pid = 0;
	ssize_t n = rootfs_read(root, text, sizeof(text), "proc/loadavg");
	const char *word = n > 0 ? strrchr(text, ' ') : NULL;

	return word && !str_u64(word + 1, 10, &pid) ? pid : 0;
}

static uint64_t count_links(const struct source *src)
{
	uint64_t links = 0;

	for (size_t i = 0; i < src->npids; i++) {
		char path[32];
		struct stat st;

		snprintf(path, sizeof(path), "proc/%d/task", src->pids[i]);
		if (!fstatat(src->root.fd, path, &st, 0))
			links += st.st_nlink;
	}
	return links;
}

void quiet_mark(struct source *src)
{
	src->last_birth = src->live ? last_birth(&src->root) : 0;
	src->task_links = count_links(src);
}

bool kvm_unchanged(struct source *src)
{
	return src->last_birth && last_birth(&src->root) == src->last_birth &&
	       count_links(src) == src->task_links;
}
