/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The questions that `vmmprof check` answers, and the facts they rest on. */
#include "source/kvm/capabilities.h"

#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static const struct question questions[] = {
	{ "pmu", "Counters", "Hardware counters", check_pmu },
	{ "counters", "Counters", "Events at once", check_counters },
	{ "nmi-watchdog", "Counters", "NMI watchdog", check_watchdog },
	{ "modes", "Counters", "User and kernel mode", check_modes },
	{ "guest-side", "Counters", "Guest side", check_guest_side },
	{ "guest-user", "Counters", "Guest user mode", check_guest_user },
	{ "sampling", "Counters", "Sampling", check_sampling },
	{ "events", "Counters", "Events of this CPU", check_events },
	{ "event-table", "Counters", "Event table", check_table },
	{ "sockets", "Counters", "Counters of sockets", check_sockets },
	{ "asked", "Counters", "What was asked for", check_asked },
	{ "paranoid", "Rights", "Perf events", check_paranoid },
	{ "processes", "Rights", "Other users' VMs", check_processes },
	{ "kptr-restrict", "Rights", "Host kernel symbols", check_symbols },
	{ "descriptors", "Rights", "File descriptors", check_descriptors },
	{ "mlock", "Rights", "Memory for samples", check_rings },
	{ "sample-rate", "Rights", "Sample rate", check_rate },
	{ "vms", "VMs", "Found", check_vms },
	{ "kvm", "VMs", "KVM", check_kvm },
	{ "vpmu", "VMs", "Guests' own vPMU", check_vpmu },
	{ "mediated-vpmu", "VMs", "Mediated vPMU", check_mediated },
	{ "kernel", "Host", "Kernel", check_kernel },
	{ "numa", "Host", "NUMA nodes", check_nodes },
	{ "tracefs", "Host", "Tracepoints", check_tracepoints },
	{ "debugfs", "Host", "debugfs", check_debugfs },
	{ "resctrl", "Host", "Cache and bandwidth", check_resctrl },
};

bool facts_may(const struct facts *f, int cap)
{
	return f->who.known && (f->who.caps >> cap & 1);
}

bool facts_param(const struct facts *f, const char *path, bool *known)
{
	char buf[16];
	bool there = rootfs_read(f->root, buf, sizeof(buf), "%s", path) > 0;

	if (known)
		*known = there;
	return there && (*buf == 'Y' || *buf == '1');
}

/* "Uid:" carries real, effective, saved and file system ids; see proc(5). */
static void read_identity(const struct rootfs *root, struct identity *who)
{
	char status[4096];
	const char *uid, *caps;

	if (rootfs_read(root, status, sizeof(status), "proc/self/status") <= 0)
		return;
	uid = strstr(status, "\nUid:\t");
	caps = strstr(status, "\nCapEff:\t");
	if (!uid || !caps || !(uid = strchr(uid + 6, '\t')))
		return;
	who->known = true;
	who->root = strtoul(uid, NULL, 10) == 0;
	who->caps = strtoull(caps + 9, NULL, 16);
}

/* A core PMU: "cpu", or a device that lists the cores it belongs to in "cpus". */
static bool core_pmu(const struct rootfs *root, const char *name)
{
	if (*name == '.')
		return false;
	return !strcmp(name, "cpu") || !strcmp(name, "cpum_cf") ||
	       rootfs_exists(root, "sys/bus/event_source/devices/%s/cpus", name);
}

static void read_pmus(const struct rootfs *root, char *pmus, size_t size)
{
	DIR *dir = rootfs_opendir(root, "sys/bus/event_source/devices");
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		char detail[80], cpus[80];
		size_t used = strlen(pmus);

		if (!core_pmu(root, d->d_name))
			continue;
		if (rootfs_read(root, detail, sizeof(detail),
				"sys/bus/event_source/devices/%s/caps/pmu_name",
				d->d_name) <= 0)
			*detail = '\0';
		if (rootfs_read(root, cpus, sizeof(cpus),
				"sys/bus/event_source/devices/%s/cpus", d->d_name) <= 0)
			*cpus = '\0';
		str_clean(detail);
		str_clean(cpus);
		snprintf(pmus + used, size - used, "%s%s%s%s%s%s%s", used ? ", " : "",
			 d->d_name, *detail ? " (" : "", detail, *detail ? ")" : "",
			 *cpus ? " on CPUs " : "", cpus);
	}
	if (dir)
		closedir(dir);
}

static struct opened soft_opens(const struct probe_ops *probe, bool user)
{
	const struct event ev = {
		.name = "task-clock",
		.kind = EVENT_SOFTWARE,
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = user,
		.exclude_hv = user,
		.group = -1,
		.scale = 1,
	};
	struct opened opened;

	probe_event(probe, &ev, SIDE_BOTH, false, &opened);
	return opened;
}

/*
 * May events be opened, and in kernel mode? Tried where that is possible, since
 * containers and patched kernels do not always follow the rule; else by the
 * rule of perf_event_open(2), "perf_event_paranoid", and, for level 3, Debian's
 * (security-perf-allow-further-restriction-of-perf_event_open.patch), where
 * CAP_PERFMON is not enough.
 */
static void learn_rights(struct facts *f)
{
	bool admin = facts_may(f, CAP_SYS_ADMIN);
	bool privileged = admin || facts_may(f, CAP_PERFMON);

	f->soft.state = READ_COUNTED;
	if (f->probe) {
		f->soft = soft_opens(f->probe, true);
		f->can_perf = f->soft.state == READ_COUNTED;
		f->can_kernel = soft_opens(f->probe, false).state == READ_COUNTED;
		return;
	}
	f->can_perf = f->paranoid != INT64_MIN && (admin || f->paranoid <= 2);
	f->can_kernel = f->can_perf && (privileged || f->paranoid <= 1);
}

static void gather(struct facts *f)
{
	if (rootfs_read_i64(f->root, &f->paranoid, "proc/sys/kernel/perf_event_paranoid"))
		f->paranoid = INT64_MIN;
	read_identity(f->root, &f->who);
	read_pmus(f->root, f->pmus, sizeof(f->pmus));
	learn_rights(f);
	if (f->probe)
		probe_counters(f->probe, !f->can_kernel, &f->counters);
	kvm_topology(f->src, TOPOLOGY_BASIC, &f->topo, &f->topo_err);
}

int kvm_capabilities_with(struct source *src, const struct probe_ops *probe,
			  const struct capability_ask *asks, size_t nasks,
			  struct capability_list *list)
{
	struct facts f = {
		.src = src,
		.root = &src->root,
		.probe = probe,
		.asks = asks,
		.nasks = nasks,
	};
	int rc = 0;

	gather(&f);
	rc = questions_ask(questions, ARRAY_SIZE(questions), &f, list);
	topology_free(&f.topo);
	return rc;
}

int kvm_capabilities(struct source *src, const struct capability_ask *asks, size_t nasks,
		     struct capability_list *list, struct err *err)
{
	int rc = kvm_capabilities_with(src, src->live ? &probe_live : NULL, asks, nasks,
				       list);

	return rc ? err_set(err, rc, "out of memory while checking this machine") : 0;
}
