/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What procfs says about processes and threads; layouts from proc(5). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "source/kvm/discover.h"

/* Fields of stat, counted as proc(5) does. */
enum {
	STAT_STATE = 3,
	STAT_PPID = 4,
	STAT_START = 22,
	STAT_PROCESSOR = 39,
	STAT_GUEST_TIME = 43,
};

static void stat_field(struct proc_stat *out, int field, const char *s)
{
	switch (field) {
	case STAT_STATE: out->state = *s; break;
	case STAT_PPID: out->ppid = strtol(s, NULL, 10); break;
	case STAT_START: out->start_ticks = strtoull(s, NULL, 10); break;
	case STAT_PROCESSOR: out->last_cpu = strtol(s, NULL, 10); break;
	case STAT_GUEST_TIME: out->guest_ticks = strtoull(s, NULL, 10); break;
	}
}

int proc_stat_read(const struct rootfs *root, pid_t pid, pid_t tid, struct proc_stat *out)
{
	char buf[1024], *name, *end, *s;
	ssize_t n;

	*out = (struct proc_stat) { .state = '?', .last_cpu = -1 };
	n = tid ? rootfs_read(root, buf, sizeof(buf), "proc/%d/task/%d/stat", pid, tid)
		: rootfs_read(root, buf, sizeof(buf), "proc/%d/stat", pid);
	if (n < 0)
		return n;
	/* The name may hold anything, ") " included: it ends at the last one. */
	name = strchr(buf, '(');
	end = strrchr(buf, ')');
	if (!name || !end || end < name)
		return -EINVAL;
	*end++ = '\0';
	str_copy(out->comm, sizeof(out->comm), name + 1);
	str_clean(out->comm);
	for (int field = STAT_STATE; (s = strtok_r(end, " ", &end)); field++)
		stat_field(out, field, s);
	return out->start_ticks ? 0 : -EINVAL;
}

pid_t proc_id(const char *name)
{
	uint64_t v;

	/* Most names in /proc are words: do not ask strtoull() about them. */
	if (*name < '1' || *name > '9' || str_u64(name, 10, &v) || v > INT32_MAX)
		return 0;
	return v;
}

static int by_id(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

bool proc_has_thread(const pid_t *tids, size_t n, pid_t tid)
{
	return n && bsearch(&tid, tids, n, sizeof(*tids), by_id);
}

int proc_threads(const struct rootfs *root, pid_t pid, pid_t **tids, size_t *n)
{
	size_t cap = 0;
	pid_t *v = NULL;
	struct dirent *ent;
	DIR *dir = rootfs_opendir(root, "proc/%d/task", pid);
	bool sorted = true;

	*tids = NULL;
	*n = 0;
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((ent = readdir(dir))) {
		pid_t tid = proc_id(ent->d_name);

		if (!tid)
			continue;
		sorted = sorted && (!*n || v[*n - 1] < tid);
		if (VEC_PUSH(v, *n, cap, tid)) {
			free(v);
			closedir(dir);
			return -ENOMEM;
		}
	}
	closedir(dir);
	if (!*n)
		return -ESRCH;
	if (!sorted)
		qsort(v, *n, sizeof(*v), by_id);
	*tids = v;
	return 0;
}

/* The kernel scales stat's times to USER_HZ, which is 100 on the machines we record. */
static uint64_t ticks_per_second(const struct source *src)
{
	long hz = src->live ? sysconf(_SC_CLK_TCK) : 100;

	return hz > 0 ? hz : 100;
}

uint64_t proc_uptime_ns(const struct source *src, uint64_t start_ticks)
{
	char buf[64];
	double up, started;

	if (rootfs_read(&src->root, buf, sizeof(buf), "proc/uptime") < 0)
		return 0;
	up = strtod(buf, NULL);
	started = (double)start_ticks / ticks_per_second(src);
	return up > started ? (up - started) * 1e9 : 0;
}

static void read_affinity(const struct rootfs *root, pid_t pid, struct vcpu *vcpu)
{
	static const char key[] = "\nCpus_allowed_list:";
	struct strbuf sb = { 0 };
	char *s;

	/* status is a page or two; the list alone may be longer on big machines. */
	if (!rootfs_slurp(root, &sb, "proc/%d/task/%d/status", pid, vcpu->tid) && sb.data &&
	    (s = strstr(sb.data, key))) {
		s += strlen(key);
		s += strspn(s, " \t");
		s[strspn(s, "0123456789,-")] = '\0';
		str_copy_list(vcpu->affinity, sizeof(vcpu->affinity), s);
	}
	strbuf_free(&sb);
}

void proc_vcpu_fill(const struct rootfs *root, pid_t pid, struct vcpu *vcpu)
{
	struct proc_stat st;

	if (!vcpu->tid || proc_stat_read(root, pid, vcpu->tid, &st))
		return;
	vcpu->state = st.state;
	vcpu->last_cpu = st.last_cpu;
	str_copy(vcpu->comm, sizeof(vcpu->comm), st.comm);
	read_affinity(root, pid, vcpu);
}
