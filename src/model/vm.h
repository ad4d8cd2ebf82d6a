/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MODEL_VM_H
#define MODEL_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum vm_accel {
	ACCEL_KVM,
	ACCEL_TCG,	  /* software emulation: no guest mode, host side only */
	ACCEL_NONE,	  /* not a VM: a plain process whose threads stand in for vCPUs */
	ACCEL_XEN,	  /* a domain of Xen: no process stands behind it */
	ACCEL_SIM,	  /* a VM of the built-in host */
	ACCEL_HYPERVISOR, /* the hypervisor itself, its pCPUs standing in for vCPUs */
};

/* How a vCPU was matched with its thread, best first. */
enum vcpu_found {
	FOUND_NOT,	  /* the vCPU exists, its thread is unknown (tid is 0) */
	FOUND_DEBUGFS,	  /* the kernel says so */
	FOUND_SYSCALL,	  /* the thread stands in KVM_RUN on that vCPU's descriptor */
	FOUND_NAME,	  /* the thread carries a vCPU's name */
	FOUND_OBSERVED,	  /* the thread has run in guest mode, or is the only one */
	FOUND_THREAD,	  /* a thread of a plain process */
	FOUND_HYPERVISOR, /* the hypervisor says so: there is no thread, and no need of one
			   */
};

enum vpmu_kind {
	VPMU_UNKNOWN,
	VPMU_NONE,     /* the guest has none: the VMM or the host switched it off */
	VPMU_PERF,     /* emulated on host perf events: shares counters with the host */
	VPMU_MEDIATED, /* owns the counters while the guest runs: invisible to the host */
	VPMU_UNUSED,   /* of Xen: the guest has one and has not touched it so far */
	VPMU_USED,     /* of Xen: the guest has used it */
};

/* state, last_cpu, affinity and comm: only if TOPOLOGY_THREADS was asked for. */
struct vcpu {
	int index; /* as the hypervisor numbers it (kvm-vcpu:N) */
	pid_t tid; /* 0: not known, or there is none */
	enum vcpu_found found;
	char state;	    /* R, S, D … of /proc/TID/stat; of Xen: r runs, b is blocked,
			     * w waits for a pCPU, p is paused, o is offline,
			     * s has shut down; '?' unknown */
	int last_cpu;	    /* pCPU it ran on last, -1 unknown */
	char affinity[256]; /* pCPUs it may run on, "" unknown; ends in ",..." if cut */
	char comm[32];	    /* the thread's own name, "" unknown */
};

struct vm {
	char id[32];	    /* unique on this host, stable while it lives: "1234", and
			     * "1234.2" for a second VM of the process; "dom1" on Xen */
	char name[80];	    /* what people call it; never empty */
	char vmm[32];	    /* qemu, firecracker, … or the program's name */
	pid_t pid;	    /* 0: there is none (Xen) */
	uint64_t birth;	    /* tells a reused pid, field 22 of /proc/PID/stat; or domain */
	uint64_t uptime_ns; /* UINT64_MAX: unknown */
	bool ended;	    /* it has shut down and is only still listed: it runs no more */
	enum vm_accel accel;
	enum vpmu_kind vpmu;
	const char *vpmu_why; /* static text: how the vpmu field was told; never NULL */
	struct vcpu *vcpus;   /* owned; ascending index */
	size_t nvcpus;
	uint64_t *mem_node; /* owned; bytes on machine.nodes[i]; NULL: not read */
	size_t nmem_node;
	char problem[160]; /* what could not be read, in words; "" if all was */
};

/*
 * What tells a vCPU from its VM's others while it lives: its thread or, where the
 * hypervisor told of it, its number plus one; 0: its thread is not known, so that it
 * cannot be measured. Samples carry it as their thread, and vm_key() as their process.
 */
int vcpu_key(const struct vcpu *vcpu);
/* The vCPU of @vm with this key; NULL: there is none, or no VM. */
const struct vcpu *vm_vcpu(const struct vm *vm, int key);
/* A VM's process; 1 where there is none. */
int vm_key(const struct vm *vm);

const char *vm_accel_name(enum vm_accel accel); /* "kvm", "tcg", "process", … */
const char *vcpu_found_name(enum vcpu_found found);
const char *vpmu_kind_name(enum vpmu_kind kind);

#endif
