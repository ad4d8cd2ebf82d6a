/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steal from schedstat (Documentation/scheduler/sched-stats.rst), the rest by resctrl. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/vec.h"
#include "source/kvm/kvm.h"

static const struct {
	enum role role;
	const char *file; /* of mon_data */
	bool held;	  /* what is held now: nothing to subtract */
} files[] = {
	{ ROLE_LLC_OCCUPANCY, "llc_occupancy", true },
	{ ROLE_MEM_BYTES, "mbm_total_bytes", false },
	{ ROLE_MEM_BYTES_LOCAL, "mbm_local_bytes", false },
};

struct monitor {
	int file; /* of files[]; -1: schedstat */
	uint64_t base, opened_ns;
};

struct monitors {
	struct source *src;
	pid_t pid, tid;
	struct resctrl *group;
	struct opened no_group; /* why there is none */
	struct monitor *v;
	size_t n, cap;
};

int monitors_create(struct source *src, pid_t pid, pid_t tid, struct monitors **out)
{
	struct monitors *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->src = src;
	m->pid = pid;
	m->tid = tid;
	*out = m;
	return 0;
}

/* The second number: ns on a run queue. */
static int read_waited(const struct monitors *m, uint64_t *ns)
{
	unsigned long long ran, waited;
	char text[128];
	ssize_t len = rootfs_read(&m->src->root, text, sizeof(text),
				  "proc/%d/task/%d/schedstat", m->pid, m->tid);

	if (len < 0)
		return (int)len;
	if (sscanf(text, "%llu %llu", &ran, &waited) != 2)
		return -EINVAL;
	*ns = waited;
	return 0;
}

static int read_now(const struct monitors *m, const struct monitor *mon, uint64_t *value,
		    bool *some_unavailable)
{
	*some_unavailable = false;
	return mon->file < 0 ? read_waited(m, value)
			     : resctrl_read(m->group, files[mon->file].file, value,
					    some_unavailable);
}

static int need_group(struct monitors *m, const char *file, struct opened *opened)
{
	char features[200];

	if (!m->group && m->no_group.state == READ_COUNTED &&
	    resctrl_open(&m->src->root, m->pid, m->tid, &m->group, &m->no_group) &&
	    m->no_group.state == READ_COUNTED)
		m->no_group.state = READ_UNSUPPORTED;
	if (!m->group) {
		*opened = m->no_group;
		return -1;
	}
	if (rootfs_read(&m->src->root, features, sizeof(features),
			"sys/fs/resctrl/info/L3_MON/mon_features") > 0 &&
	    strstr(features, file))
		return 0;
	opened->state = READ_UNSUPPORTED;
	snprintf(opened->reason, sizeof(opened->reason),
		 "this CPU's resctrl does not tell %s", file);
	return -1;
}

int monitors_add(struct monitors *m, enum role role, struct opened *opened)
{
	struct monitor mon = { .file = -1, .opened_ns = clock_now_ns() };
	bool some;
	int ret;

	*opened = (struct opened) { .state = READ_COUNTED };
	for (int i = 0; i < (int)ARRAY_SIZE(files); i++)
		if (files[i].role == role)
			mon.file = i;
	if (mon.file >= 0 && need_group(m, files[mon.file].file, opened))
		return -1;
	ret = read_now(m, &mon, &mon.base, &some);
	if (ret == -ENODATA)
		ret = 0; /* it has not run on any cache yet */
	else if (!ret && mon.file >= 0 && files[mon.file].held)
		mon.base = 0;
	if (!ret && VEC_PUSH(m->v, m->n, m->cap, mon))
		ret = -ENOMEM;
	if (!ret)
		return (int)m->n - 1;
	opened->state = READ_UNSUPPORTED;
	snprintf(opened->reason, sizeof(opened->reason), "%s: %s",
		 mon.file < 0 ? "the kernel tells no waiting time (schedstat)"
			      : files[mon.file].file,
		 err_name(ret));
	return -1;
}

void monitors_read(struct monitors *m, int number, struct reading *out)
{
	const struct monitor *mon = &m->v[number];
	uint64_t value = 0, ns = clock_now_ns() - mon->opened_ns;
	bool some;
	int ret = read_now(m, mon, &value, &some);

	if (ret) {
		*out = (struct reading) {
			.state = READ_NOT_SCHEDULED,
			.reason = ret == -ENODATA
					  ? "resctrl says \"Unavailable\""
					  : "it could not be read: its thread ended, "
					    "or its group was removed"
		};
		return;
	}
	out->raw = value > mon->base ? value - mon->base : 0;
	out->enabled_ns = out->running_ns = ns;
	if (some) {
		out->state = READ_SUSPECT;
		out->reason = "resctrl says \"Unavailable\" for some of the caches";
	}
}

void monitors_free(struct monitors *m)
{
	if (!m)
		return;
	resctrl_close(m->group);
	free(m->v);
	free(m);
}
