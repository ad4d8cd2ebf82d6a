/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions about the host around the counters: VMs, KVM, kernel, nodes. */
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "source/kvm/capabilities.h"

static bool has_lost_vcpu(const struct vm *vm)
{
	for (size_t k = 0; k < vm->nvcpus; k++)
		if (!vm->vcpus[k].tid)
			return true;
	return false;
}

void check_vms(const struct facts *f, struct capability *c)
{
	size_t kvm = 0, tcg = 0, vcpus = 0;
	const struct vm *lost = NULL;

	if (f->topo_err.code) {
		finding(c, VERDICT_UNKNOWN, ABLE_FIND, "%s", f->topo_err.text);
		return;
	}
	for (size_t i = 0; i < f->topo.nvms; i++) {
		const struct vm *vm = &f->topo.vms[i];

		kvm += vm->accel == ACCEL_KVM;
		tcg += vm->accel == ACCEL_TCG;
		vcpus += vm->nvcpus;
		if (!lost && has_lost_vcpu(vm))
			lost = vm;
	}
	if (!kvm && !tcg) {
		finding(c, VERDICT_OK, 0, "no VM runs now");
		return;
	}
	finding(c, lost ? VERDICT_LIMITED : VERDICT_OK, lost ? ABLE_FIND : 0,
		"%zu under KVM, %zu under TCG, %zu vCPUs%s", kvm, tcg, vcpus,
		lost ? ", not all with a known thread" : "");
	if (lost)
		remedy(c, "%s: %s", lost->name, lost->problem);
}

static bool has_kvm_vm(const struct facts *f)
{
	for (size_t i = 0; i < f->topo.nvms; i++)
		if (f->topo.vms[i].accel == ACCEL_KVM)
			return true;
	return false;
}

/* In long mode Xen has ring 0 for itself alone: a PV kernel runs at CPL 3. */
void check_modes(const struct facts *f, struct capability *c)
{
	char type[16];

	if (!*f->pmus || strcmp(f->topo.machine.arch, "x86_64") ||
	    rootfs_read(f->root, type, sizeof(type), "sys/hypervisor/guest_type") <= 0 ||
	    strcmp(type, "PV"))
		return;
	finding(c, VERDICT_LIMITED, 0,
		"a PV domain of Xen: its kernel runs in user mode, so u counts both, and k "
		"what Xen does for it");
	remedy(c, "a PVH or HVM domain tells its modes apart");
}

/* vmmprof never opens /dev/kvm: that there are KVM guests is all that counts. */
void check_kvm(const struct facts *f, struct capability *c)
{
	bool module = rootfs_exists(f->root, "sys/module/kvm");

	if (rootfs_exists(f->root, "dev/kvm") || has_kvm_vm(f)) {
		finding(c, VERDICT_OK, 0,
			"/dev/kvm is there (vmmprof itself needs no access)");
		return;
	}
	finding(c, VERDICT_MISSING, ABLE_GUEST,
		module ? "the kvm module is loaded, but there is no /dev/kvm"
		       : "no /dev/kvm and no kvm module: no VM here can run in guest mode");
	remedy(c,
	       module ? "modprobe kvm_intel or kvm_amd; switch virtualization on in the "
			"firmware, or nested virtualization on in the hypervisor; in a "
			"container look from the host"
		      : "modprobe kvm_intel or kvm_amd (on Arm KVM is built in and needs a "
			"kernel started at EL2); VMs under TCG have a host side only: "
			"--host");
}

/* Before Linux 5.17 the vPMU had no switch of its own on x86. */
void check_vpmu(const struct facts *f, struct capability *c)
{
	bool known;
	bool on = facts_param(f, "sys/module/kvm/parameters/enable_pmu", &known);

	if (!known)
		return;
	if (on) {
		finding(c, VERDICT_OK, 0,
			"allowed; guests that use it compete for counters");
		return;
	}
	finding(c, VERDICT_LIMITED, 0,
		"off (kvm.enable_pmu=N): no tool inside a guest can count; the host still "
		"can");
	remedy(c, "boot with kvm.enable_pmu=1, or reload the kvm modules with it");
}

void check_mediated(const struct facts *f, struct capability *c)
{
	static const char *const modules[] = { "kvm_intel", "kvm_amd", "kvm" };
	char path[80];
	bool known;

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		snprintf(path, sizeof(path), "sys/module/%s/parameters/enable_mediated_pmu",
			 modules[i]);
		if (!facts_param(f, path, &known)) {
			if (known)
				finding(c, VERDICT_OK, 0,
					"off: the host sees guests' counts");
			continue;
		}
		finding(c, VERDICT_MISSING, ABLE_GUEST,
			"on: a guest owns the counters while it runs, the host cannot see "
			"them");
		remedy(c,
		       "reload %s with enable_mediated_pmu=0 (no VM may run), or start the "
		       "VMs without a vPMU (qemu -cpu host,pmu=off)",
		       modules[i]);
		return;
	}
}

/* What vmmprof does less well on older kernels; the commit that brought it. */
static const struct {
	unsigned major, minor;
	const char *arch; /* NULL: any */
	const char *lacks;
} since[] = {
	/* 119a784c8127 perf/core: Add a new read format to get a number of lost samples */
	{ 6, 0, NULL, "lost samples are told per ring only" },
	/* 980737282232 capabilities: Introduce CAP_PERFMON */
	{ 5, 8, NULL, "CAP_PERFMON is unknown, it takes CAP_SYS_ADMIN" },
	/* d1947bc4bc63 arm64: arm_pmu: Add !VHE support for exclude_host/exclude_guest */
	{ 5, 2, "aarch64", "guest and host side are not told apart" },
};

void check_kernel(const struct facts *f, struct capability *c)
{
	char release[80], lacks[240] = "";
	unsigned major, minor, wanted_major = 0, wanted_minor = 0;

	if (rootfs_read(f->root, release, sizeof(release), "proc/sys/kernel/osrelease") <=
		    0 ||
	    sscanf(release, "%u.%u", &major, &minor) != 2) {
		finding(c, VERDICT_UNKNOWN, 0,
			"proc/sys/kernel/osrelease tells no version");
		return;
	}
	str_clean(release);
	for (size_t i = 0; i < sizeof(since) / sizeof(since[0]); i++) {
		size_t used = strlen(lacks);

		if (major > since[i].major ||
		    (major == since[i].major && minor >= since[i].minor) ||
		    (since[i].arch && strcmp(since[i].arch, f->topo.machine.arch)))
			continue;
		snprintf(lacks + used, sizeof(lacks) - used, "; before %u.%u %s",
			 since[i].major, since[i].minor, since[i].lacks);
		if (!wanted_major) {
			wanted_major = since[i].major;
			wanted_minor = since[i].minor;
		}
	}
	finding(c, *lacks ? VERDICT_LIMITED : VERDICT_OK, 0, "Linux %s%s", release, lacks);
	if (*lacks)
		remedy(c, "Linux %u.%u or newer has all that vmmprof uses", wanted_major,
		       wanted_minor);
}

void check_nodes(const struct facts *f, struct capability *c)
{
	const struct machine *m = &f->topo.machine;

	if (!m->nnodes)
		finding(c, VERDICT_UNKNOWN, 0, "the kernel tells no NUMA nodes; %d CPUs",
			m->ncpus);
	else
		finding(c, VERDICT_OK, 0, "%zu node%s, %d CPUs", m->nnodes,
			m->nnodes == 1 ? "" : "s", m->ncpus);
}

void check_tracepoints(const struct facts *f, struct capability *c)
{
	if (rootfs_exists(f->root, "sys/kernel/tracing/events/kvm") ||
	    rootfs_exists(f->root, "sys/kernel/debug/tracing/events/kvm")) {
		finding(c, VERDICT_OK, 0, "kvm:kvm_exit and others can be counted");
	} else if (rootfs_exists(f->root, "sys/kernel/tracing/events") ||
		   rootfs_exists(f->root, "sys/kernel/debug/tracing/events")) {
		finding(c, VERDICT_OK, 0, "readable; none of KVM's, as KVM is not loaded");
	} else {
		finding(c, VERDICT_LIMITED, 0,
			"tracefs is not mounted or not readable: no kvm:kvm_exit");
		remedy(c, "mount -t tracefs nodev /sys/kernel/tracing (as root)");
	}
}

void check_debugfs(const struct facts *f, struct capability *c)
{
	if (rootfs_exists(f->root, "sys/kernel/debug/kvm")) {
		finding(c, VERDICT_OK, 0, "tells which thread runs which vCPU");
		return;
	}
	finding(c, VERDICT_LIMITED, 0,
		"no kvm folder in debugfs: vCPU threads are told by name or by watching "
		"them");
	remedy(c, "mount -t debugfs none /sys/kernel/debug (as root)");
}

/* The kernel's files of Documentation/arch/x86/resctrl.rst. */
void check_resctrl(const struct facts *f, struct capability *c)
{
	struct strbuf systems = { 0 };
	char features[200];
	bool supported = !rootfs_slurp(f->root, &systems, "proc/filesystems") &&
			 systems.data && strstr(systems.data, "resctrl");

	strbuf_free(&systems);
	if (rootfs_read(f->root, features, sizeof(features),
			"sys/fs/resctrl/info/L3_MON/mon_features") > 0) {
		for (char *p = features; (p = strchr(p, '\n'));)
			*p = ' ';
		str_clean(features);
		finding(c, VERDICT_OK, 0, "resctrl monitors %s", features);
	} else if (rootfs_exists(f->root, "sys/fs/resctrl/info")) {
		finding(c, VERDICT_LIMITED, 0,
			"resctrl is mounted, but this CPU monitors nothing");
	} else if (supported) {
		finding(c, VERDICT_LIMITED, 0, "resctrl is there but not mounted");
		remedy(c, "mount -t resctrl resctrl /sys/fs/resctrl (as root)");
	} else {
		finding(c, VERDICT_LIMITED, 0,
			"no resctrl: this CPU or kernel has no cache and bandwidth "
			"monitoring");
	}
}
