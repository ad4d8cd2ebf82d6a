/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes hold VMs. Hosts have thousands of processes and few VMs, and
 * we look once a second: what was found to hold none is looked at again after
 * 1, 2, 4, then every 8 scans. A process is known by its number and by the inode
 * of its /proc directory, which comes with the directory entry, and which a
 * reused number does not share.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "source/kvm/discover.h"

#define PAUSE_MAX 8

enum scan_verdict {
	HOLDS_VM,
	HOLDS_NONE,
	NO_PROGRAM, /* kernel threads and zombies cannot come to hold one */
	UNREADABLE,
};

struct seen {
	pid_t pid;
	ino_t ino;
	enum scan_verdict verdict;
	unsigned char pause; /* scans between two looks */
	unsigned char left;  /* scans until the next look */
};

struct scan {
	struct seen *v; /* ascending pid */
	size_t n, cap;
};

/* What a scan works with. */
struct look {
	const struct rootfs *root;
	const struct scan *before;
	const struct debug_vms *debug;
	struct program *prog;
	struct processes *out;
};

static int by_pid(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static bool has_tcg_threads(const struct rootfs *root, pid_t pid)
{
	pid_t *tids;
	size_t n;
	bool found = false;

	if (proc_threads(root, pid, &tids, &n))
		return false;
	for (size_t i = 0; i < n && !found; i++) {
		char comm[64];

		found = rootfs_read(root, comm, sizeof(comm), "proc/%d/task/%d/comm", pid,
				    tids[i]) > 0 &&
			vcpu_name_index(comm, true) >= 0;
	}
	free(tids);
	return found;
}

/* Is this a guest under software emulation? Only QEMU has such. */
static bool is_tcg(const struct look *look, pid_t pid, bool readable)
{
	if (!qemu_runs(look->prog))
		return false;
	program_args(look->root, pid, look->prog);
	if (readable && qemu_emulates(look->prog))
		return true;
	return has_tcg_threads(look->root, pid);
}

static int add(struct look *look, struct process *p, enum vm_accel accel,
	       enum scan_verdict *verdict)
{
	p->accel = accel;
	*verdict = HOLDS_VM;
	return VEC_PUSH(look->out->v, look->out->n, look->out->cap, *p);
}

/* Looks at one process. 0, or -ENOMEM. */
static int examine(struct look *look, pid_t pid, enum scan_verdict *verdict)
{
	struct process p = { .pid = pid };
	int ret;

	*verdict = NO_PROGRAM;
	if (program_find(look->root, pid, look->prog))
		return 0;
	ret = kvm_fds_read(look->root, pid, &p.fds);
	if (ret == -ENOMEM)
		goto out;
	if (p.fds.n) {
		ret = add(look, &p, ACCEL_KVM, verdict);
		if (!ret)
			return 0;
		goto out;
	}
	*verdict = ret == -EACCES ? UNREADABLE : HOLDS_NONE;
	ret = is_tcg(look, pid, !ret) ? add(look, &p, ACCEL_TCG, verdict) : 0;
out:
	if (ret)
		free(p.fds.v);
	return ret;
}

/* A VM that the kernel lists and that this process created deserves a look at once. */
static bool listed(const struct debug_vms *debug, pid_t pid)
{
	for (size_t i = 0; i < debug->n; i++)
		if (debug->v[i].creator == pid)
			return true;
	return false;
}

static int visit(struct look *look, pid_t pid, ino_t ino, struct seen *now)
{
	const struct seen *old = look->before->n
					 ? bsearch(&pid, look->before->v, look->before->n,
						   sizeof(*old), by_pid)
					 : NULL;
	int ret;

	if (old && old->ino != ino)
		old = NULL;
	if (old && old->verdict != HOLDS_VM && old->left && !listed(look->debug, pid)) {
		*now = *old;
		now->left--;
		return 0;
	}
	*now = (struct seen) { .pid = pid, .ino = ino, .pause = 1 };
	ret = examine(look, pid, &now->verdict);
	if (old && old->verdict == now->verdict && old->pause)
		now->pause = old->pause < PAUSE_MAX ? old->pause * 2 : PAUSE_MAX;
	now->left = now->pause - 1;
	/* Those that were new together are from now on looked at one part a scan. */
	if (old && now->pause == PAUSE_MAX && old->pause < PAUSE_MAX)
		now->left = pid % PAUSE_MAX;
	return ret;
}

static int walk(struct look *look, struct scan *now)
{
	DIR *dir = rootfs_opendir(look->root, "proc");
	struct dirent *ent;
	int ret = 0;

	if (!dir)
		return -errno;
	while (!ret && (ent = readdir(dir))) {
		pid_t pid = proc_id(ent->d_name);
		struct seen seen;

		if (!pid)
			continue;
		ret = visit(look, pid, ent->d_ino, &seen);
		if (!ret)
			ret = VEC_PUSH(now->v, now->n, now->cap, seen);
		look->out->unreadable += seen.verdict == UNREADABLE;
	}
	closedir(dir);
	return ret;
}

int scan_processes(const struct rootfs *root, struct scan **scan,
		   const struct debug_vms *debug, struct processes *out)
{
	static const struct scan nothing;
	struct scan *now = calloc(1, sizeof(*now));
	struct look look = { root, *scan ? *scan : &nothing, debug, NULL, out };
	int ret = -ENOMEM;

	look.prog = malloc(sizeof(*look.prog));
	if (now && look.prog)
		ret = walk(&look, now);
	free(look.prog);
	if (ret) {
		scan_free(now);
		return ret;
	}
	/* /proc is in order already; a recorded tree need not be. */
	if (now->n)
		qsort(now->v, now->n, sizeof(*now->v), by_pid);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_pid);
	scan_free(*scan);
	*scan = now;
	return 0;
}

void processes_free(struct processes *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i].fds.v);
	free(p->v);
	*p = (struct processes) { 0 };
}

void scan_free(struct scan *scan)
{
	if (scan)
		free(scan->v);
	free(scan);
}
