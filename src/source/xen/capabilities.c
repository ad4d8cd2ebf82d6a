/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The questions that `vmmprof check` answers on Xen. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "source/xen/state.h"

#define BY_HARDWARE (ABLE_HARDWARE | ABLE_GUEST | ABLE_SAMPLE)
#define BY_ANYTHING (BY_HARDWARE | ABLE_FIND | ABLE_SOFTWARE)

struct facts {
	struct source *src;
	const struct capability_ask *asks;
	size_t nasks;
	struct topology topo; /* empty where there is no way into Xen */
	struct err topo_err;
};

/* ---- Xen */

static bool file_says(const struct facts *f, const char *path, char *text, size_t size)
{
	return rootfs_read(&f->src->root, text, size, "%s", path) > 0;
}

static void check_xen(const struct facts *f, struct capability *c)
{
	char text[64];

	if (!f->src->closed.code) {
		xen_version(&f->src->xen, text, sizeof(text));
		finding(c, VERDICT_OK, 0, "Xen %s", text);
	} else if (f->src->closed.code == -EPROTONOSUPPORT) {
		finding(c, VERDICT_MISSING, BY_ANYTHING, "%s", f->src->closed.text);
		remedy(c, "use a vmmprof that knows this Xen");
	} else if (file_says(f, "sys/hypervisor/type", text, sizeof(text)) &&
		   !strcmp(text, "xen")) {
		finding(c, VERDICT_OK, 0, "this is a domain of Xen");
	} else {
		finding(c, VERDICT_MISSING, BY_ANYTHING,
			"this machine does not run under Xen");
		remedy(c, "VMs of KVM are measured with --source kvm");
	}
}

static void check_dom0(const struct facts *f, struct capability *c)
{
	char text[64];
	bool told = file_says(f, "proc/xen/capabilities", text, sizeof(text));

	if (!f->src->closed.code || (told && strstr(text, "control_d"))) {
		finding(c, VERDICT_OK, 0, "this is the control domain, dom0");
	} else if (told || f->src->closed.code == -EPERM) {
		finding(c, VERDICT_MISSING, BY_ANYTHING,
			"this is not the control domain: it sees no other domain");
		remedy(c, "run vmmprof in dom0");
	} else {
		finding(c, VERDICT_UNKNOWN, 0,
			"/proc/xen/capabilities is not there to tell");
		remedy(c, "mount -t xenfs xenfs /proc/xen");
	}
}

static void check_privcmd(const struct facts *f, struct capability *c)
{
	int code = f->src->closed.code;

	if (!code || code == -EPROTONOSUPPORT || code == -EPERM) {
		finding(c, VERDICT_OK, 0, "/dev/xen/privcmd lets us call Xen");
		return;
	}
	finding(c, VERDICT_MISSING, BY_ANYTHING, "%s", f->src->closed.text);
	if (code == -ENOENT)
		remedy(c, "modprobe xen-privcmd, in dom0");
	else if (code == -EACCES)
		remedy(c, "run as root");
}

static void check_domains(const struct facts *f, struct capability *c)
{
	size_t domains = 0, named = 0, vcpus = 0;

	if (f->src->closed.code)
		return;
	if (f->topo_err.code) {
		finding(c, VERDICT_MISSING, ABLE_FIND, "%s", f->topo_err.text);
		return;
	}
	for (size_t i = 0; i < f->topo.nvms; i++) {
		const struct vm *vm = &f->topo.vms[i];

		if (vm->accel != ACCEL_XEN)
			continue;
		domains++;
		vcpus += vm->nvcpus;
		named += strcmp(vm->name, vm->id) != 0;
	}
	finding(c, VERDICT_OK, 0, "%zu, with %zu vCPUs, on %d pCPUs; %s", domains, vcpus,
		f->topo.machine.ncpus,
		named ? "xenstore names them"
		: f->src->store < 0
			? "no xenstore runs here: they are called by their numbers"
			: "xenstore has no names for them");
}

/* ---- counters */

static void check_graft(const struct facts *f, struct capability *c)
{
	const struct source *src = f->src;

	if (src->closed.code)
		return;
	if (!src->graft) {
		finding(c, VERDICT_OK, 0, "vmmprof's graft, version %u", src->info.version);
		return;
	}
	if (src->own != OWN_NONE) {
		finding(c, VERDICT_MISSING, BY_HARDWARE,
			"on x86 Xen counts no domain for dom0: vmmprof's graft is for Arm");
		remedy(c, "count in the domain itself: perf there, or vmmprof --source kvm "
			  "with -p for its processes");
		return;
	}
	if (src->graft == -ENOSYS) {
		finding(c, VERDICT_MISSING, BY_HARDWARE,
			"this Xen has no virtual PMU that domains could be counted by");
		remedy(c,
		       "build it with vmmprof's graft: xen/graft XEN_TREE, then Xen with "
		       "CONFIG_VPMU=y, and boot that with vpmu=1");
		return;
	}
	finding(c, VERDICT_MISSING, BY_HARDWARE, "%s", "");
	xen_why_not(src, c->finding, sizeof(c->finding));
}

/* Who measures what by an x86 Xen's own vPMU (Xen, docs/misc/xen-command-line, vpmu). */
static void check_own_vpmu(const struct source *src, struct capability *c)
{
	uint64_t mode = src->own_mode;
	const char *few = src->own_features & XEN_PMU_IPC_ONLY
				  ? "cycles and instructions only (vpmu=ipc)"
			  : src->own_features & XEN_PMU_ARCH_ONLY
				  ? "Intel's architectural events only (vpmu=arch)"
				  : NULL;

	if (src->own == OWN_UNTOLD) {
		finding(c, VERDICT_UNKNOWN, 0,
			"Xen tells only a PV dom0 whether vpmu= is on");
		remedy(c, "perf stat -e cycles true, in a domain, shows whether it counts");
		return;
	}
	if (src->own == OWN_OFF) {
		finding(c, VERDICT_MISSING, 0, "off: no domain has any, dom0 neither");
		remedy(c, "boot Xen with vpmu=1 on its command line");
		return;
	}
	if (!(mode & (XEN_PMU_MODE_SELF | XEN_PMU_MODE_HV))) {
		finding(c, VERDICT_LIMITED, 0,
			mode & XEN_PMU_MODE_ALL
				? "dom0's perf counts the whole machine, other domains none"
				: "on, but no domain may use them");
		remedy(c, "echo self >/sys/hypervisor/pmu/pmu_mode lets each count itself");
		return;
	}
	finding(c, few ? VERDICT_LIMITED : VERDICT_OK, 0, "each domain counts itself%s%s%s",
		mode & XEN_PMU_MODE_HV ? ", dom0 also Xen" : "", few ? "; " : "",
		few ? few : "");
	if (few)
		remedy(c, "boot Xen with vpmu=1 for all events");
}

static void check_pmu(const struct facts *f, struct capability *c)
{
	const struct xenpmu_info *info = &f->src->info;

	if (f->src->own != OWN_NONE)
		return check_own_vpmu(f->src, c);
	if (f->src->graft)
		return;
	if (info->flags & XENPMU_INFO_ON) {
		finding(c, VERDICT_OK, 0, "%s; domains reach it %s", info->family,
			info->flags & XENPMU_INFO_DIRECT
				? "directly once they use it (vpmu=1,direct)"
				: "by traps, each access of a register through Xen");
		return;
	}
	finding(c, VERDICT_MISSING, BY_HARDWARE, "off: %s",
		*info->why ? info->why : "vpmu= is not given at boot");
	remedy(c, "boot Xen with vpmu=1 on its command line, where the machine has a PMU");
}

static void check_counters(const struct facts *f, struct capability *c)
{
	const struct xenpmu_info *info = &f->src->info;
	unsigned host = info->host_counters, hyp = info->hyp_counters;

	if (!xen_can_count(f->src))
		return;
	if (!host) {
		finding(c, VERDICT_MISSING, BY_HARDWARE,
			"%u for domains, none for the host: the PMU has too few",
			info->guest_counters);
		remedy(c, "vpmu=host=2 on Xen's command line gives the host more");
		return;
	}
	finding(c, hyp < host ? VERDICT_OK : VERDICT_LIMITED, 0,
		"%u for domains (and cycles), %u for the host%s; with more, events take "
		"turns and are scaled",
		info->guest_counters, host,
		!hyp	     ? ""
		: hyp < host ? ", some of them taken by events on Xen itself"
			     : ", all of them taken by events on Xen itself");
	if (hyp >= host)
		remedy(c, "end other users of the target xen");
}

static void check_sampling(const struct facts *f, struct capability *c)
{
	const struct xenpmu_info *info = &f->src->info;
	bool kick = info->flags & XENPMU_INFO_KICK;
	bool wakes = rootfs_exists(&f->src->root, "dev/xen/evtchn");

	if (!xen_can_count(f->src) || !info->host_counters)
		return;
	if (kick && info->host_counters < 2) {
		finding(c, VERDICT_MISSING, ABLE_SAMPLE,
			"a sampled event takes two counters of this PMU, the host has one");
		remedy(c, "vpmu=host=2 on Xen's command line gives the host more");
		return;
	}
	finding(c, wakes ? VERDICT_OK : VERDICT_LIMITED, 0, "every N events (-c)%s; %s",
		kick ? "; a sampled event takes two counters here, so that the PMU misses "
		       "none"
		     : "",
		wakes ? "Xen wakes the reader" : "samples are looked for by the clock");
	if (!wakes)
		remedy(c, "modprobe xen-evtchn, so that no buffer overflows unnoticed");
}

/* PMCEID0_EL0, PMCEID1_EL0 (DDI 0487): bit n is event n, bit 32 + n event 0x4000 + n. */
static bool has_event(const struct xenpmu_info *info, unsigned number)
{
	return info->events[number / 32] >> number % 32 & 1;
}

static void check_events(const struct facts *f, struct capability *c)
{
	static const struct {
		const char *name;
		unsigned number;
	} common[] = {
		{ "cycles", 0x11 },	     { "instructions", 0x08 },
		{ "cache-misses", 0x03 },    { "cache-references", 0x04 },
		{ "branches", 0x0c },	     { "branch-misses", 0x10 },
		{ "LLC-load-misses", 0x37 }, { "dTLB-load-misses", 0x05 },
	};
	const struct xenpmu_info *info = &f->src->info;
	struct strbuf has = { 0 }, lacks = { 0 };

	if (!xen_can_count(f->src) || strcmp(info->family, "armv8-pmuv3"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(common); i++) {
		struct strbuf *sb = has_event(info, common[i].number) ? &has : &lacks;

		strbuf_addf(sb, "%s%s", sb->len ? ", " : "", common[i].name);
	}
	finding(c, lacks.len ? VERDICT_LIMITED : VERDICT_OK, 0, "%s%s%s",
		has.len ? has.data : "none of perf's", lacks.len ? "; not: " : "",
		lacks.len ? lacks.data : "");
	if (lacks.len)
		remedy(c, "this PMU's own events can be given by their numbers, rNN");
	strbuf_free(&has);
	strbuf_free(&lacks);
}

static void check_rights(const struct facts *f, struct capability *c)
{
	const struct xenpmu_info *info = &f->src->info;

	if (f->src->graft)
		return;
	if (info->flags & XENPMU_INFO_PRIVILEGED)
		finding(c, VERDICT_OK, 0, "this domain may count others, and Xen itself");
	else if (info->flags & XENPMU_INFO_SELF)
		finding(c, VERDICT_LIMITED, ABLE_FIND, "this domain may count itself only");
	else
		finding(c, VERDICT_MISSING, BY_HARDWARE, "this domain may count nobody");
	if (!(info->flags & XENPMU_INFO_PRIVILEGED))
		remedy(c, "run vmmprof in dom0");
}

static void check_vpmu(const struct facts *f, struct capability *c)
{
	size_t n[VPMU_USED + 1] = { 0 };

	if (!xen_can_count(f->src))
		return;
	for (size_t i = 0; i < f->topo.nvms; i++)
		if (f->topo.vms[i].accel == ACCEL_XEN)
			n[f->topo.vms[i].vpmu]++;
	finding(c, VERDICT_OK, 0,
		"%zu of %zu domains have one, %zu of these have used it; all can be "
		"measured from here",
		n[VPMU_USED] + n[VPMU_UNUSED],
		n[VPMU_USED] + n[VPMU_UNUSED] + n[VPMU_NONE] + n[VPMU_UNKNOWN],
		n[VPMU_USED]);
}

static void check_asked(const struct facts *f, struct capability *c)
{
	if (!f->src->closed.code)
		hosted_check_asked(&f->src->hosted, &f->topo, f->asks, f->nasks, c);
}

static const struct question questions[] = {
	{ "xen", "Xen", "Hypervisor", check_xen },
	{ "dom0", "Xen", "Control domain", check_dom0 },
	{ "privcmd", "Xen", "Hypercalls", check_privcmd },
	{ "domains", "Xen", "Domains", check_domains },
	{ "graft", "Counters", "Virtual PMU", check_graft },
	{ "pmu", "Counters", "Hardware counters", check_pmu },
	{ "counters", "Counters", "Events at once", check_counters },
	{ "sampling", "Counters", "Sampling", check_sampling },
	{ "events", "Counters", "Events of this CPU", check_events },
	{ "rights", "Counters", "Rights", check_rights },
	{ "vpmu", "Counters", "Domains' own vPMU", check_vpmu },
	{ "asked", "Counters", "What was asked for", check_asked },
};

int xen_capabilities(struct source *src, const struct capability_ask *asks, size_t nasks,
		     struct capability_list *list, struct err *err)
{
	struct facts f = { .src = src, .asks = asks, .nasks = nasks };
	int ret = 0;

	xen_topology(src, TOPOLOGY_THREADS, &f.topo, &f.topo_err);
	ret = questions_ask(questions, ARRAY_SIZE(questions), &f, list);
	topology_free(&f.topo);
	return ret ? err_set(err, ret, "out of memory while checking this machine") : 0;
}
