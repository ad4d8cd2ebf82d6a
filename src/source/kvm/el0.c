/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fault of arm64 kernels before 6.6 (b1f778a223a2 "KVM: arm64: pmu: Resync EL0
 * state on counter rotation"). With VHE, host and guest user mode are both EL0:
 * an event of one side only is switched at EL0 when KVM loads and puts the vCPU.
 * One that is programmed while the vCPU is loaded keeps the host's setting until
 * then: an event of the guest's side misses user mode, one of the host's side
 * counts the guest's as well.
 */
#include <stdio.h>
#include <string.h>

#include "source/kvm/discover.h"

#define FIXED_BY "kvm_vcpu_pmu_resync_el0"

static bool has_word(const struct rootfs *root, const char *path, const char *word)
{
	struct strbuf text = { 0 };
	bool has = !rootfs_slurp(root, &text, "%s", path) && text.data &&
		   strstr(text.data, word);

	strbuf_free(&text);
	return has;
}

/* VHE came with Armv8.1, as the atomics did; the command line can forgo it. */
static bool may_use_vhe(const struct rootfs *root)
{
	return has_word(root, "proc/cpuinfo", " atomics") &&
	       !has_word(root, "proc/cmdline", "kvm-arm.mode=nvhe") &&
	       !has_word(root, "proc/cmdline", "kvm-arm.mode=protected");
}

/* Symbols' names can be read by everybody; distributions patch older kernels. */
bool el0_kernel_faulty(const struct rootfs *root, const struct machine *machine)
{
	unsigned major = 0, minor = 0;

	if (strcmp(machine->arch, "aarch64") ||
	    sscanf(machine->release, "%u.%u", &major, &minor) != 2 || major > 6 ||
	    (major == 6 && minor >= 6))
		return false;
	return may_use_vhe(root) && !has_word(root, "proc/kallsyms", " " FIXED_BY "\n");
}

bool el0_loses(struct source *src, const struct event *ev, enum event_side side,
	       enum vm_accel accel)
{
	if (ev->kind != EVENT_HARDWARE || ev->exclude_user || accel != ACCEL_KVM ||
	    (side != SIDE_GUEST && side != SIDE_HOST))
		return false;
	if (!src->el0_known)
		src->el0_faulty = el0_kernel_faulty(&src->root, &src->machine);
	src->el0_known = true;
	return src->el0_faulty;
}

const char *el0_in_turns(enum event_side side)
{
	if (side == SIDE_HOST)
		return "this kernel (arm64 before Linux 6.6) counts the guest's user mode "
		       "as the host's when events take turns: ask for no more events than "
		       "there are counters, or for kernel mode only (modifier k)";
	return "this kernel (arm64 before Linux 6.6) loses the guest's user mode when "
	       "events take turns: ask for no more events than there are counters, or for "
	       "kernel mode only (modifier k)";
}

/* The pCPU on which the vCPU runs now; -1: it is not loaded. */
static int runs_on(struct source *src, const struct vm *vm, const struct vcpu *vcpu)
{
	struct proc_stat st;

	/* One that sleeps or waits for its pCPU is loaded anew when it runs. */
	return proc_stat_read(&src->root, vm->pid, vcpu->tid, &st) || st.state != 'R'
		       ? -1
		       : st.last_cpu;
}

/* A real-time thread would not make room for us. */
static bool makes_room(pid_t tid)
{
	int policy = sched_getscheduler(tid);

	return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

static bool go_to(int cpu)
{
	cpu_set_t there[CPUS_MAX / CPU_SETSIZE];

	if (cpu >= CPUS_MAX)
		return false;
	CPU_ZERO_S(sizeof(there), there);
	CPU_SET_S(cpu, sizeof(there), there);
	/* When this returns we run there, so the vCPU does not. */
	return !sched_setaffinity(0, sizeof(there), there);
}

void el0_take_seat(struct el0_seat *seat, struct source *src, const struct vm *vm,
		   const struct vcpu *vcpu, struct opened *opened, size_t n)
{
	size_t i = 0;

	seat->cpu = -1;
	while (i < n && !opened[i].wrong_in_turns)
		i++;
	if (i < n)
		seat->cpu = runs_on(src, vm, vcpu);
	if (seat->cpu < 0)
		return;
	if (!sched_getaffinity(0, sizeof(seat->old), seat->old) && makes_room(vcpu->tid) &&
	    go_to(seat->cpu))
		return;
	seat->cpu = -1;
	for (; i < n; i++)
		if (opened[i].wrong_in_turns && !*opened[i].reason)
			snprintf(opened[i].reason, sizeof(opened[i].reason),
				 "this kernel (arm64 before Linux 6.6) gets the guest's "
				 "user mode wrong until the vCPU, which ran at the start, "
				 "is scheduled again");
}

void el0_leave_seat(struct el0_seat *seat, struct source *src, const struct vm *vm,
		    const struct vcpu *vcpu)
{
	int now = seat->cpu < 0 ? -1 : runs_on(src, vm, vcpu);

	/* Moved meanwhile, it was perhaps loaded when its events were enabled. */
	if (now >= 0 && now != seat->cpu)
		go_to(now);
	if (seat->cpu >= 0)
		sched_setaffinity(0, sizeof(seat->old), seat->old);
}
