/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_KVM_DISCOVER_H
#define SOURCE_KVM_DISCOVER_H

/* How the files that find VMs share the work; nobody else includes this. */

#include "source/kvm/kvm.h"

/* ---- proc.c: what procfs says about a process or a thread (proc(5)) */

struct proc_stat {
	char comm[32]; /* cleaned */
	char state;
	pid_t ppid;
	uint64_t start_ticks; /* since boot */
	int last_cpu;	      /* -1 unknown */
	uint64_t guest_ticks; /* time in guest mode */
};

/* Reads proc/PID/stat, or proc/PID/task/TID/stat if @tid is not 0. 0 or -errno. */
int proc_stat_read(const struct rootfs *root, pid_t pid, pid_t tid, struct proc_stat *out);
/* A directory entry's name as a process or thread id; 0 if it is none. */
pid_t proc_id(const char *name);
/* Ids of all threads, ascending, into a malloc()ed array. 0 or -errno (-ESRCH: it is gone).
 */
int proc_threads(const struct rootfs *root, pid_t pid, pid_t **tids, size_t *n);
/* Time since a process started. */
uint64_t proc_uptime_ns(const struct source *src, uint64_t start_ticks);
/* Fills what TOPOLOGY_THREADS asks for: state, last pCPU, affinity, name. */
void proc_vcpu_fill(const struct rootfs *root, pid_t pid, struct vcpu *vcpu);

/* ---- machine.c */

/* What cannot be read stays empty. @live: uname(2) may be asked. 0 or -ENOMEM. */
int machine_read(const struct rootfs *root, bool live, struct machine *machine);
int machine_copy(struct machine *dst, const struct machine *src);

/* ---- plain.c: a process that is no VM; every thread one "vCPU" */

/* 0; -ESRCH if it is gone; -ENOMEM. */
int plain_read(const struct source *src, pid_t pid, unsigned parts, struct vm *vm);

#endif
