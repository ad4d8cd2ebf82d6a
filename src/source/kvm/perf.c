/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One event of one thread: what perf_event_open(2) gets, and what its refusals
 * mean. Never changes what is counted: a request that the kernel refuses is
 * refused in words, and a softer one (less precise) says so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "source/kvm/kvm.h"
#include "source/words.h"

/* For readers that want every sample: perf's own default. */
#define DEFAULT_FREQ 4000

static void set_sides(const struct event *ev, const struct perf_want *want,
		      struct perf_event_attr *attr)
{
	if (ev->kind != EVENT_HARDWARE)
		return; /* the kernel counts these on the thread, whatever it runs */
	attr->exclude_host = want->side == SIDE_GUEST;
	attr->exclude_guest = want->side == SIDE_HOST;
}

static void set_sampling(const struct event *ev, const struct perf_want *want,
			 struct perf_event_attr *attr)
{
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			    PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	attr->sample_id_all = 1;
	attr->read_format |= PERF_FORMAT_ID | PERF_FORMAT_LOST;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	if (ev->period) {
		attr->sample_period = ev->period;
	} else if (want->no_freq && !ev->freq) {
		attr->sample_period = ev->must_move ? PERIOD_OF_FREQUENT : PERIOD_OF_OTHERS;
	} else if (ev->freq || ev->kind != EVENT_TRACEPOINT) {
		attr->freq = 1;
		attr->sample_freq = ev->freq ? ev->freq : DEFAULT_FREQ;
	} else {
		attr->sample_period = 1;
	}
	if (want->sideband) {
		attr->comm = 1;
		attr->comm_exec = 1;
		attr->mmap = 1;
		attr->mmap2 = 1;
		attr->task = 1;
	}
}

void kvm_perf_attr(const struct event *ev, const struct perf_want *want,
		   struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr) {
		.type = ev->type,
		.size = sizeof(*attr),
		.config = ev->config,
		.config1 = ev->config1,
		.config2 = ev->config2,
		.read_format =
			PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.pinned = ev->pinned,
		.exclude_user = ev->exclude_user,
		.exclude_kernel = ev->exclude_kernel,
		.exclude_hv = ev->exclude_hv,
		.exclude_idle = ev->exclude_idle,
		.precise_ip = ev->precise,
	};
	set_sides(ev, want, attr);
	if (want->sampling)
		set_sampling(ev, want, attr);
}

/*
 * Kernels leave events that are off out when they look whether a group fits: so
 * only the leader is. Arm's looks at that one, too, if it would be on after an exec
 * (validate_event() of drivers/perf/arm_pmu.c); that never starts it before us.
 */
void kvm_perf_group(struct perf_event_attr *attr, bool leads)
{
	attr->disabled = leads;
	attr->enable_on_exec = leads;
	if (!leads)
		attr->pinned = 0; /* the leader's word holds for all */
}

/* First bytes of a file of this machine's /proc or /sys, for a reason only. */
static bool machine_says(const char *path, char *buf, size_t size)
{
	struct rootfs root;
	ssize_t n;

	if (rootfs_open(&root, "/", NULL))
		return false;
	n = rootfs_read(&root, buf, size, "%s", path);
	rootfs_close(&root);
	return n >= 0;
}

static bool mediated_vpmu(void)
{
	static const char *const params[] = {
		"sys/module/kvm_intel/parameters/enable_mediated_pmu",
		"sys/module/kvm_amd/parameters/enable_mediated_pmu",
		"sys/module/kvm/parameters/enable_mediated_pmu",
	};
	char buf[16];

	for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++)
		if (machine_says(params[i], buf, sizeof(buf)) &&
		    (*buf == 'Y' || *buf == '1'))
			return true;
	return false;
}

static void say_denied(const struct perf_event_attr *attr, const struct event *ev,
		       struct opened *opened)
{
	char level[16];

	if (!machine_says("proc/sys/kernel/perf_event_paranoid", level, sizeof(level)))
		snprintf(level, sizeof(level), "unknown");
	if (attr->exclude_idle)
		opened_say(opened, READ_DENIED,
			   "refused: not allowed, or this PMU cannot leave out idle time: "
			   "try without modifier I");
	else if (strtol(level, NULL, 10) >= 3) /* distributions' own; 0 if unknown */
		opened_say(opened, READ_DENIED,
			   "not allowed (kernel.perf_event_paranoid is %s: root only): "
			   "run as root, or set it to 2 or less and see vmmprof check",
			   level);
	else
		opened_say(opened, READ_DENIED,
			   "not allowed (kernel.perf_event_paranoid is %s): run as root, "
			   "give vmmprof CAP_PERFMON and CAP_SYS_PTRACE%s",
			   level,
			   !attr->exclude_kernel && ev->kind != EVENT_UNCORE
				   ? ", or count user mode only (modifier u)"
				   : ", or lower that setting");
}

static void say_not_supported(const struct perf_event_attr *attr, const struct event *ev,
			      struct opened *opened)
{
	if (ev->kind == EVENT_HARDWARE && !attr->exclude_guest && mediated_vpmu())
		opened_say(opened, READ_INVISIBLE,
			   "the VMs own the counters while they run (mediated vPMU): use "
			   "--host, or load kvm_intel/kvm_amd with enable_mediated_pmu=0");
	else if (attr->sample_type)
		opened_say(opened, READ_UNSUPPORTED,
			   "the PMU cannot sample %s (no overflow interrupt): count it, "
			   "or sample cpu-clock",
			   ev->name);
	else
		opened_say(opened, READ_UNSUPPORTED,
			   "the PMU does not support %s in this form", ev->name);
}

static void say_invalid(const struct perf_event_attr *attr, const struct event *ev,
			bool in_group, struct opened *opened)
{
	char rate[24];

	if (in_group)
		opened_say(opened, READ_UNSUPPORTED,
			   "%s does not fit into its group: the PMU has too few counters "
			   "to count all of it at the same time, or the group mixes PMUs; "
			   "put fewer events into {...}",
			   ev->name);
	else if (attr->freq &&
		 machine_says("proc/sys/kernel/perf_event_max_sample_rate", rate,
			      sizeof(rate)) &&
		 attr->sample_freq > strtoull(rate, NULL, 10))
		opened_say(opened, READ_UNSUPPORTED,
			   "%llu samples a second are more than "
			   "kernel.perf_event_max_sample_rate (%s) allows: lower the "
			   "frequency or raise that setting",
			   (unsigned long long)attr->sample_freq, rate);
	else if (ev->kind == EVENT_UNCORE)
		opened_say(opened, READ_UNSUPPORTED,
			   "PMU %s refuses %s: it has no such event", ev->pmu, ev->name);
	else if (attr->exclude_host || attr->exclude_guest)
		opened_say(opened, READ_UNSUPPORTED,
			   "the PMU refuses %s on the %s side alone: try --both (:GH), or "
			   "another event",
			   ev->name, attr->exclude_host ? "guest" : "host");
	else
		opened_say(opened, READ_UNSUPPORTED,
			   "the PMU refuses %s with these modifiers and terms", ev->name);
}

static void explain(int code, const struct perf_event_attr *attr, const struct event *ev,
		    bool in_group, struct opened *opened)
{
	switch (code) {
	case EACCES:
	case EPERM: say_denied(attr, ev, opened); break;
	case EBUSY:
		opened_say(opened, READ_TAKEN,
			   "another user holds the counter for itself (an exclusive or "
			   "pinned event, or the NMI watchdog): vmmprof check names it");
		break;
	case EOPNOTSUPP: say_not_supported(attr, ev, opened); break;
	case EINVAL: say_invalid(attr, ev, in_group, opened); break;
	case ESRCH:
		opened_say(opened, READ_NOT_SCHEDULED,
			   "the thread had ended before %s was opened", ev->name);
		break;
	case EMFILE:
	case ENFILE:
		opened_say(opened, READ_NOT_SCHEDULED,
			   "no file descriptor left for %s: raise ulimit -n", ev->name);
		break;
	case ENOSYS:
		opened_say(opened, READ_UNSUPPORTED,
			   "this kernel has no perf events (CONFIG_PERF_EVENTS), or a "
			   "container hides them");
		break;
	case ENOENT:
	case ENODEV:
	case ENXIO:
		opened_say(opened, READ_UNSUPPORTED,
			   ev->kind == EVENT_HARDWARE
				   ? "no PMU of this machine counts %s: vmmprof check says "
				     "what can be counted"
				   : "this kernel does not have %s",
			   ev->name);
		break;
	default: opened_say(opened, READ_UNSUPPORTED, "%s: %s", ev->name, err_name(code));
	}
}

static int sys_open(struct perf_event_attr *attr, const struct perf_want *want,
		    int group_fd)
{
	int fd = syscall(SYS_perf_event_open, attr, want->cpu ? -1 : want->tid,
			 want->cpu ? *want->cpu : -1, group_fd, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Kernels before 6.0 cannot tell lost samples: without that count then. */
static int open_with_or_without_lost(struct perf_event_attr *attr,
				     const struct perf_want *want, int group_fd)
{
	uint64_t format = attr->read_format;
	int fd = sys_open(attr, want, group_fd);

	if (fd != -EINVAL || !(format & PERF_FORMAT_LOST))
		return fd;
	attr->read_format = format & ~(uint64_t)PERF_FORMAT_LOST;
	fd = sys_open(attr, want, group_fd);
	if (fd < 0)
		attr->read_format = format;
	return fd;
}

/* From the wish to what the PMU can do, without touching what is counted. */
static int open_ladder(struct perf_event_attr *attr, const struct perf_want *want,
		       int group_fd)
{
	int fd = open_with_or_without_lost(attr, want, group_fd);

	while ((fd == -EINVAL || fd == -EOPNOTSUPP) && attr->precise_ip) {
		attr->precise_ip--;
		fd = open_with_or_without_lost(attr, want, group_fd);
	}
	return fd;
}

int kvm_perf_open(struct perf_event_attr *attr, const struct event *ev,
		  const struct perf_want *want, int group_fd, struct opened *opened)
{
	unsigned precise = attr->precise_ip;
	int fd;

	*opened = (struct opened) { .state = READ_COUNTED };
	if (!want->cpu && want->accel != ACCEL_KVM && attr->exclude_host) {
		opened_say(opened, READ_UNSUPPORTED,
			   want->accel == ACCEL_TCG
				   ? "software emulation has no guest mode: use --host"
				   : "a plain process has no guest mode: use --host");
		return -EOPNOTSUPP;
	}
	fd = open_ladder(attr, want, group_fd);
	if (fd >= 0) {
		if (attr->precise_ip < precise)
			opened_say(opened, READ_COUNTED,
				   "opened with precise level %u, the PMU refuses %u",
				   (unsigned)attr->precise_ip, precise);
		return fd;
	}
	explain(-fd, attr, ev, group_fd >= 0, opened);
	return fd;
}

ssize_t kvm_group_leader(const struct event_set *set, const struct opened *opened, size_t i)
{
	for (size_t k = 0; set->ev[i].group >= 0 && k < i; k++)
		if (set->ev[k].group == set->ev[i].group && opened[k].state == READ_COUNTED)
			return (ssize_t)k;
	return -1;
}
