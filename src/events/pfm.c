/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that libpfm4 knows: those of the vendors' manuals, PMU::EVENT:UMASK. */
#include <errno.h>
#include <linux/perf_event.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "events/lookup.h"

/* libpfm4's state is global and costs milliseconds to build: once, when needed. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int initialized;

static void initialize(void)
{
	initialized = pfm_initialize();
}

/* libpfm4 looks at the CPU it runs on; a recorded tree is of another machine. */
static bool is_this_machine(const struct rootfs *root)
{
	struct stat ours, real;

	return root && !fstat(root->fd, &ours) && !stat("/", &real) &&
	       ours.st_dev == real.st_dev && ours.st_ino == real.st_ino;
}

static enum event_kind kind_of(uint32_t type)
{
	return type == PERF_TYPE_SOFTWARE     ? EVENT_SOFTWARE
	       : type == PERF_TYPE_TRACEPOINT ? EVENT_TRACEPOINT
					      : EVENT_HARDWARE;
}

/* Uncore events have no thread; their PMU says so. */
static int check_pmu(int index, const char *name, struct err *err)
{
	pfm_event_info_t event = { .size = sizeof(event) };
	pfm_pmu_info_t pmu = { .size = sizeof(pmu) };

	if (pfm_get_event_info(index, PFM_OS_PERF_EVENT, &event) ||
	    pfm_get_pmu_info(event.pmu, &pmu) || pmu.type != PFM_PMU_TYPE_UNCORE)
		return 0;
	return err_set(err, EINVAL,
		       "%.80s: libpfm4's PMU %s counts for a whole socket and knows "
		       "no threads, so its events cannot be counted per VM",
		       name, pmu.name);
}

/* 0, one of libpfm4's errors (positive), or -EINVAL with words. */
static int encode(const char *name, struct event *ev, struct err *err)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	int ret = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3 | PFM_PLMH,
					    PFM_OS_PERF_EVENT, &arg);

	if (ret != PFM_SUCCESS)
		return -ret;
	if (check_pmu(arg.idx, name, err))
		return -EINVAL;
	ev->type = attr.type;
	ev->config = attr.config;
	ev->config1 = attr.config1;
	ev->config2 = attr.config2;
	ev->kind = kind_of(attr.type);
	ev->exclude_user = attr.exclude_user;
	ev->exclude_kernel = attr.exclude_kernel;
	/* Without mg and mh libpfm4 means the host; here that is for others to decide. */
	if (!attr.exclude_guest)
		ev->side = attr.exclude_host ? SIDE_GUEST : SIDE_BOTH;
	return 0;
}

int pfm_resolve(const struct rootfs *root, char *head, struct event *ev, char **mods,
		struct err *err)
{
	char *last = strrchr(head, ':');
	struct mods ignored;
	int ret;

	*mods = NULL;
	if (!is_this_machine(root) || pthread_once(&once, initialize) ||
	    initialized != PFM_SUCCESS)
		return NOT_MINE;
	/* Umasks first: L2_LINES_IN:I is one, though I is a modifier, too. */
	ret = encode(head, ev, err);
	if (ret > 0 && last && last > head && last[-1] != ':' &&
	    !mods_parse(last + 1, &ignored, NULL)) {
		*last = '\0';
		ret = encode(head, ev, err);
		if (!ret)
			*mods = last + 1;
		else
			*last = ':';
	}
	if (ret <= 0)
		return ret;
	if (-ret == PFM_ERR_NOTFOUND && !strstr(head, "::"))
		return NOT_MINE;
	return err_set(err, ENOENT,
		       "%.80s: libpfm4: %s; showevtinfo of its tools lists what "
		       "this CPU has",
		       head, pfm_strerror(-ret));
}
