/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check_host.h"

#include "test.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

struct file {
	const char *path, *text;
};

/* A host on which all is well. */
static const struct file well[] = {
	{ "dev/kvm", "" },
	{ "proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 26\n"
			  "model name\t: Fast CPU\nstepping\t: 5\nflags\t\t: fpu\n" },
	{ "proc/filesystems", "nodev\tresctrl\n" },
	{ "proc/self/limits", LIMITS },
	{ "proc/self/status", ROOT_CAPS },
	{ "proc/sys/fs/nr_open", "1048576" },
	{ "proc/sys/kernel/arch", "x86_64" },
	{ "proc/sys/kernel/kptr_restrict", "0" },
	{ "proc/sys/kernel/nmi_watchdog", "0" },
	{ "proc/sys/kernel/osrelease", "6.1.0-30-amd64" },
	{ "proc/sys/kernel/perf_cpu_time_max_percent", "25" },
	{ "proc/sys/kernel/perf_event_max_sample_rate", "100000" },
	{ "proc/sys/kernel/perf_event_mlock_kb", "516" },
	{ "proc/sys/kernel/perf_event_paranoid", "2" },
	{ "sys/bus/event_source/devices/cpu/caps/pmu_name", "skylake" },
	{ "sys/bus/event_source/devices/cpu/type", "4" },
	{ "sys/bus/event_source/devices/uncore/cpumask", "0,2" },
	{ "sys/bus/event_source/devices/uncore/type", "10" },
	{ "sys/devices/system/cpu/online", "0-3" },
	{ "sys/devices/system/node/online", "0-1" },
	{ "sys/fs/resctrl/info/L3_MON/mon_features", "llc_occupancy\nmbm_total_bytes" },
	{ "sys/kernel/debug/kvm/exits", "0" },
	{ "sys/kernel/tracing/events/kvm/enable", "0" },
	{ "sys/module/kvm/parameters/enable_pmu", "Y" },
	{ "sys/module/kvm_intel/parameters/enable_mediated_pmu", "N" },
};

static char top[] = "/tmp/vmmprof-check-XXXXXX";
struct source *host_src;
struct capability_list host_list;

void host_put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", top, path);
	for (char *p = full + strlen(top) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(full, 0755);
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

void host_drop(const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", top, path);
	assert_int_equal(remove(full), 0);
}

void host_empty(void)
{
	strcpy(strrchr(top, '-'), "-XXXXXX");
	assert_non_null(mkdtemp(top));
}

int host_make(void **state)
{
	(void)state;
	host_empty();
	for (size_t i = 0; i < ARRAY_SIZE(well); i++)
		host_put(well[i].path, well[i].text);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

int host_remove(void **state)
{
	(void)state;
	capability_list_free(&host_list);
	if (host_src)
		kvm_source.close(host_src);
	host_src = NULL;
	return nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

unsigned host_look(const struct probe_ops *probe, const struct capability_ask *asks,
		   size_t nasks, pid_t pid)
{
	const struct source_config config = { .root = top,
					      .pids = &pid,
					      .npids = pid != 0 };

	assert_int_equal(kvm_source.open(&config, &host_src, NULL), 0);
	assert_int_equal(kvm_capabilities_with(host_src, probe, asks, nasks, &host_list),
			 0);
	return capability_list_takes(&host_list);
}

const struct capability *host_find(const char *id)
{
	for (size_t i = 0; i < host_list.n; i++)
		if (!strcmp(host_list.v[i].id, id))
			return &host_list.v[i];
	return NULL;
}

void host_expect(const char *id, enum verdict verdict, const char *finding_has,
		 const char *remedy_has)
{
	const struct capability *c = host_find(id);

	assert_non_null(c);
	if (c->verdict != verdict || !strstr(c->finding, finding_has) ||
	    !strstr(c->remedy, remedy_has))
		fail_msg("%s: %s: %s | %s", id, verdict_name(c->verdict), c->finding,
			 c->remedy);
}

/* ---- PMUs to play */

struct play play;
static int in_group;

static int play_event(const struct perf_event_attr *attr, int group_fd)
{
	if (play.refuse)
		return -play.refuse;
	if (play.refuse_kernel && !attr->exclude_kernel)
		return -play.refuse_kernel;
	if (attr->type == PERF_TYPE_SOFTWARE)
		return 0;
	if (attr->config > PERF_COUNT_HW_INSTRUCTIONS || !play.fit)
		return -ENOENT;
	if (play.refuse_guest && attr->exclude_host)
		return -play.refuse_guest;
	if (play.refuse_samples && attr->sample_period)
		return -play.refuse_samples;
	/* As kernels do: an event that is off does not count when a group is judged. */
	in_group = (group_fd < 0 ? 0 : in_group) + !attr->disabled;
	return in_group > play.fit ? -EINVAL : 0;
}

static int play_open(struct perf_event_attr *attr, const struct event *ev,
		     const struct perf_want *want, int group_fd, struct opened *opened)
{
	int rc = play_event(attr, group_fd);

	(void)ev;
	(void)want;
	*opened = (struct opened) { .state = READ_COUNTED };
	if (!rc)
		return open("/dev/null", O_RDONLY);
	opened->state = rc == -EACCES ? READ_DENIED : READ_UNSUPPORTED;
	strcpy(opened->reason, "because");
	return rc;
}

/* The group that was opened last shrinks by one at each try. */
static bool play_runs(int leader)
{
	(void)leader;
	if (in_group > play.fit)
		in_group = play.fit;
	return in_group-- <= play.fit - play.taken;
}

const struct probe_ops played = { play_open, play_runs };

int host_well(void **state)
{
	play = (struct play) { .fit = 7 };
	in_group = 0;
	return host_make(state);
}
