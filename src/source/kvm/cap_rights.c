/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions about what this user may do, and the kernel's limits for him. */
#include <inttypes.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

#include "source/kvm/capabilities.h"

#define ALL_COUNTING                                                                       \
	(ABLE_HARDWARE | ABLE_GUEST | ABLE_KERNEL | ABLE_SAMPLE | ABLE_SOFTWARE)

/* What lets vmmprof do everything without being root: events of all kinds,
 * descriptors of other users' processes (ptrace, and their mode 0500). */
#define SETCAP                                                                             \
	"sudo setcap cap_perfmon,cap_sys_ptrace,cap_dac_read_search=ep "                   \
	"$(command -v vmmprof)"

static bool privileged(const struct facts *f)
{
	return facts_may(f, CAP_PERFMON) || facts_may(f, CAP_SYS_ADMIN);
}

/* No event opens at all. Level 3 and more are distributions' own, and there even
 * CAP_PERFMON may not be enough (Debian). */
static void say_refused(const struct facts *f, struct capability *c)
{
	if (f->paranoid >= 3 && !facts_may(f, CAP_SYS_ADMIN)) {
		finding(c, VERDICT_MISSING, ALL_COUNTING,
			"perf_event_paranoid is %" PRId64
			": this kernel lets %s open events",
			f->paranoid,
			privileged(f) ? "not even CAP_PERFMON" : "no ordinary user");
		remedy(c, privileged(f)
				  ? "run as root, or sudo sysctl "
				    "kernel.perf_event_paranoid=2"
				  : "run as root; or sudo sysctl "
				    "kernel.perf_event_paranoid=1 for your own VMs, =2 "
				    "and " SETCAP " for all");
	} else if (privileged(f)) {
		finding(c, VERDICT_MISSING, ALL_COUNTING,
			"refused although CAP_PERFMON is held: a container's seccomp "
			"filter or the kernel's lockdown");
		remedy(c, "run on the host itself, or the container with --privileged or "
			  "--security-opt seccomp=unconfined");
	} else {
		finding(c, VERDICT_MISSING, ALL_COUNTING,
			"refused, though perf_event_paranoid is %" PRId64
			": a container's seccomp filter or a security module",
			f->paranoid);
		remedy(c, "run on the host itself, as root");
	}
}

void check_paranoid(const struct facts *f, struct capability *c)
{
	if (f->paranoid == INT64_MIN) {
		finding(c, VERDICT_MISSING, ALL_COUNTING,
			"this kernel has no perf events, or a container hides them");
		remedy(c, "use a kernel with CONFIG_PERF_EVENTS=y, and run on the host "
			  "itself");
	} else if (!f->can_perf) {
		say_refused(f, c);
	} else if (!f->can_kernel) {
		finding(c, VERDICT_LIMITED, ABLE_KERNEL,
			"perf_event_paranoid is %" PRId64
			": user mode of your own VMs only (events with :u)",
			f->paranoid);
		remedy(c, "run as root, or " SETCAP ", or sudo sysctl "
			  "kernel.perf_event_paranoid=1");
	} else {
		finding(c, VERDICT_OK, 0,
			"user and kernel mode (perf_event_paranoid %" PRId64 ", %s)",
			f->paranoid,
			privileged(f) ? "CAP_PERFMON overrides it" : "an ordinary user");
	}
}

void check_processes(const struct facts *f, struct capability *c)
{
	bool may = facts_may(f, CAP_SYS_PTRACE) &&
		   (facts_may(f, CAP_DAC_READ_SEARCH) || facts_may(f, CAP_DAC_OVERRIDE));

	if (f->topo.unreadable) {
		finding(c, VERDICT_LIMITED, ABLE_FIND,
			"%zu processes of others cannot be looked into; VMs may hide there",
			f->topo.unreadable);
		remedy(c, "run as root, or " SETCAP);
	} else if (!f->who.known) {
		finding(c, VERDICT_UNKNOWN, 0,
			"proc/self/status does not tell capabilities");
	} else if (may) {
		finding(c, VERDICT_OK, 0, "every process can be looked into");
	} else {
		finding(c, VERDICT_LIMITED, ABLE_FIND,
			"CAP_SYS_PTRACE or CAP_DAC_READ_SEARCH is missing: only VMs of "
			"your own");
		remedy(c, "run as root, or " SETCAP);
	}
}

/* kernel.kptr_restrict, and who may still see addresses: proc(5), kallsyms_show_value(). */
void check_symbols(const struct facts *f, struct capability *c)
{
	int64_t level;

	if (rootfs_read_i64(f->root, &level, "proc/sys/kernel/kptr_restrict"))
		return;
	if (level >= 2) {
		finding(c, VERDICT_LIMITED, 0,
			"kptr_restrict is %" PRId64
			": addresses in kallsyms are zeros, host "
			"kernel samples stay addresses",
			level);
		remedy(c, "sudo sysctl kernel.kptr_restrict=1");
	} else if (facts_may(f, CAP_SYSLOG) || (level == 0 && f->paranoid <= 1)) {
		finding(c, VERDICT_OK, 0,
			"kallsyms is readable (kptr_restrict %" PRId64 ")", level);
	} else {
		finding(c, VERDICT_LIMITED, 0,
			"kallsyms shows zeros without CAP_SYSLOG (kptr_restrict %" PRId64
			")",
			level);
		remedy(c, "run as root; guest symbols do not need it: --symbols VM=PATH");
	}
}

/* A limit in proc/self/limits: "Max open files  1024  1048576  files"; proc(5). */
static bool read_limits(const struct facts *f, const char *name, uint64_t *soft,
			uint64_t *hard)
{
	char text[4096], *line, *end;

	if (rootfs_read(f->root, text, sizeof(text), "proc/self/limits") <= 0)
		return false;
	line = strstr(text, name);
	if (!line)
		return false;
	line += strlen(name);
	for (int i = 0; i < 2; i++) {
		uint64_t value = strtoull(line, &end, 10);

		line += strspn(line, " ");
		if (!strncmp(line, "unlimited", 9)) {
			value = UINT64_MAX;
			end = line + 9;
		}
		if (end == line)
			return false;
		line = end;
		*(i ? hard : soft) = value;
	}
	return true;
}

/* What is open besides events: standard streams, directories, a recording. */
#define OTHER_FDS 32
/* What stat counts when nothing is said, for the estimate. */
#define DEFAULT_EVENTS 4

static uint64_t descriptors(const struct facts *f, uint64_t *vcpus)
{
	uint64_t need = OTHER_FDS;

	*vcpus = 0;
	for (size_t v = 0; v < f->topo.nvms; v++) {
		const struct vm *vm = &f->topo.vms[v];
		uint64_t events = f->nasks ? 0 : DEFAULT_EVENTS;

		for (size_t i = 0; i < f->nasks; i++)
			if (!f->asks[i].pattern || vm_matches(vm, f->asks[i].pattern))
				events += f->asks[i].events->n;
		need += events * vm->nvcpus;
		if (events)
			*vcpus += vm->nvcpus;
	}
	return need;
}

void check_descriptors(const struct facts *f, struct capability *c)
{
	uint64_t soft, hard, vcpus, need = descriptors(f, &vcpus);
	int64_t most;

	if (!read_limits(f, "Max open files", &soft, &hard)) {
		finding(c, VERDICT_UNKNOWN, 0, "proc/self/limits cannot be read");
		return;
	}
	/* Who may, raises the hard limit too, up to fs.nr_open: setrlimit(2). */
	if (facts_may(f, CAP_SYS_RESOURCE) &&
	    !rootfs_read_i64(f->root, &most, "proc/sys/fs/nr_open") && most > 0 &&
	    (uint64_t)most > hard)
		hard = (uint64_t)most;
	if (need > hard) {
		finding(c, VERDICT_LIMITED, ABLE_ASKED,
			"%" PRIu64 " vCPUs need %" PRIu64 " descriptors, at most %" PRIu64
			" are allowed: the last vCPUs would fail with EMFILE",
			vcpus, need, hard);
		remedy(c,
		       "ulimit -n %" PRIu64 " as root, or LimitNOFILE=%" PRIu64
		       " in the service's unit; or fewer events or VMs",
		       need, need);
	} else if (vcpus) {
		finding(c, VERDICT_OK, 0,
			"%" PRIu64 " vCPUs need %" PRIu64 " of at most %" PRIu64 "%s",
			vcpus, need, hard,
			need > soft ? "; the soft limit will be raised" : "");
	} else {
		finding(c, VERDICT_OK, 0, "room for %" PRIu64 " vCPUs with %d events each",
			hard > OTHER_FDS ? (hard - OTHER_FDS) / DEFAULT_EVENTS : 0,
			DEFAULT_EVENTS);
	}
}

static uint64_t online_cpus(const struct facts *f)
{
	return f->topo.machine.ncpus > 0 ? (uint64_t)f->topo.machine.ncpus : 1;
}

/* What a vCPU's ring takes, its first page included; see sampler.c. */
#define RING_KIB 516

/*
 * perf_mmap() of the kernel allows all of a user's rings perf_event_mlock_kb for
 * each online CPU, then RLIMIT_MEMLOCK.
 */
void check_rings(const struct facts *f, struct capability *c)
{
	uint64_t vcpus, allowed, soft, hard;
	int64_t kb;

	if (rootfs_read_i64(f->root, &kb, "proc/sys/kernel/perf_event_mlock_kb") || kb < 0)
		return;
	if (!read_limits(f, "Max locked memory", &soft, &hard))
		soft = 0;
	if (facts_may(f, CAP_IPC_LOCK) || f->paranoid == -1 || soft == UINT64_MAX) {
		finding(c, VERDICT_OK, 0, "no limit for this user");
		return;
	}
	allowed = (uint64_t)kb * online_cpus(f) + soft / 1024;
	descriptors(f, &vcpus);
	if (vcpus * RING_KIB <= allowed) {
		finding(c, VERDICT_OK, 0,
			"%" PRIu64 " KiB: full rings for %" PRIu64 " vCPUs", allowed,
			allowed / RING_KIB);
		return;
	}
	finding(c, VERDICT_LIMITED, 0,
		"%" PRIu64 " KiB for the rings of %" PRIu64
		" vCPUs: they will be smaller, and full sooner",
		allowed, vcpus);
	remedy(c,
	       "sudo sysctl kernel.perf_event_mlock_kb=%" PRIu64 ", or ulimit -l unlimited "
	       "as root",
	       vcpus * RING_KIB / online_cpus(f) + 1);
}

void check_rate(const struct facts *f, struct capability *c)
{
	int64_t rate, percent = -1;

	if (rootfs_read_i64(f->root, &rate, "proc/sys/kernel/perf_event_max_sample_rate"))
		return;
	if (rootfs_read_i64(f->root, &percent, "proc/sys/kernel/perf_cpu_time_max_percent"))
		percent = -1;
	if (rate < 4000) {
		finding(c, VERDICT_LIMITED, 0,
			"%" PRId64
			" a second and CPU: the kernel lowered it, as samples took "
			"more than %" PRId64 " %% of a CPU",
			rate, percent);
		remedy(c,
		       "sudo sysctl kernel.perf_event_max_sample_rate=100000; or sample "
		       "less often: -F %" PRId64,
		       rate);
	} else if (percent <= 0 || percent >= 100) {
		finding(c, VERDICT_OK, 0,
			"%" PRId64 " a second and CPU, not throttled by time", rate);
	} else {
		finding(c, VERDICT_OK, 0,
			"%" PRId64 " a second and CPU, lowered beyond %" PRId64
			" %% of a CPU",
			rate, percent);
	}
}
