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
/* Is @tid in the ascending @tids? */
bool proc_has_thread(const pid_t *tids, size_t n, pid_t tid);
/* Ids of all threads, ascending, into a malloc()ed array. 0 or -errno (-ESRCH: it is gone).
 */
int proc_threads(const struct rootfs *root, pid_t pid, pid_t **tids, size_t *n);
/* Time since a process started. */
uint64_t proc_uptime_ns(const struct source *src, uint64_t start_ticks);
/* Fills what TOPOLOGY_THREADS asks for: state, last pCPU, affinity, name. */
void proc_vcpu_fill(const struct rootfs *root, pid_t pid, struct vcpu *vcpu);

/* ---- plain.c: a process that is no VM; every thread one "vCPU" */

/* 0; -ESRCH if it is gone; -ENOMEM. */
int plain_read(const struct source *src, pid_t pid, unsigned parts, struct vm *vm);

/* ---- fds.c: the descriptors by which a process holds its VMs */

#define FD_IS_VM (-1)

struct kvm_fd {
	int fd;
	int vcpu; /* the N of kvm-vcpu:N, or FD_IS_VM */
};

struct kvm_fds {
	struct kvm_fd *v; /* owned; ascending fd */
	size_t n, cap;
};

/* 0 (also when there are none), -EACCES (for whatever reason), -ESRCH (gone), -ENOMEM. */
int kvm_fds_read(const struct rootfs *root, pid_t pid, struct kvm_fds *fds);

/* ---- debugfs.c: sys/kernel/debug/kvm/TID-FD/vcpuN/pid */

struct debug_vcpu {
	int index;
	pid_t tid; /* 0: it has not run yet */
};

struct debug_vm {
	pid_t creator;		  /* thread that created it; it may have ended */
	int fd;			  /* number of the VM's descriptor then */
	struct debug_vcpu *vcpus; /* owned; empty before Linux 5.19 */
	size_t n, cap;
};

struct debug_vms {
	struct debug_vm *v; /* owned */
	size_t n, cap;
};

/* Empty where debugfs is not mounted or may not be read. 0 or -ENOMEM. */
int debug_vms_read(const struct rootfs *root, struct debug_vms *vms);
void debug_vms_free(struct debug_vms *vms);

/* ---- scan.c: which processes hold VMs */

struct process {
	pid_t pid;
	enum vm_accel accel; /* ACCEL_KVM or ACCEL_TCG */
	struct kvm_fds fds;  /* none for ACCEL_TCG */
};

struct processes {
	struct process *v; /* owned; ascending pid */
	size_t n, cap;
	size_t unreadable;
};

/* Looks through /proc; *@scan remembers between calls, NULL at first. 0 or -errno. */
int scan_processes(const struct rootfs *root, struct scan **scan,
		   const struct debug_vms *debug, struct processes *out);
void processes_free(struct processes *p);
void scan_free(struct scan *scan);

/* ---- split.c: the VMs of one process */

struct kvm_vm {
	int fd;			      /* its lowest descriptor, -1 if it was closed */
	const struct debug_vm *debug; /* NULL: none that is known to be this one */
	struct kvm_fd *vcpus;	      /* owned; ascending index, one per descriptor */
	size_t n, cap;
};

struct kvm_vms {
	struct kvm_vm *v; /* owned; ascending fd */
	size_t n, cap;
	bool guessed; /* only the order of descriptors told whose the vCPUs are */
};

/*
 * Divides a process's descriptors among its VMs. @tids: its threads, ascending.
 * @live: kcmp(2) may be asked. 0 or -ENOMEM.
 */
int split_vms(const struct process *p, const struct debug_vms *debug, const pid_t *tids,
	      size_t ntids, bool live, struct kvm_vms *out);
void kvm_vms_free(struct kvm_vms *vms);

/* ---- vcpus.c: which thread runs which vCPU */

struct thread {
	pid_t tid;
	bool taken; /* it is some vCPU's */
};

struct threads {
	struct thread *v; /* owned; ascending tid */
	size_t n;
};

/*
 * Fills @vm->vcpus from @kv. @alone: the process holds no other VM. 0 or -ENOMEM;
 * what cannot be told is left to @vm->problem.
 */
int vcpus_match(const struct source *src, const struct kvm_vm *kv, struct threads *threads,
		bool alone, struct vm *vm);
/* The same for an emulated guest, with @n vCPUs by its command line. */
int vcpus_match_tcg(const struct source *src, struct threads *threads, size_t n,
		    struct vm *vm);

/* ---- vmm.c: what the table of VMMs knows of a process */

enum name_form {
	NAME_WHOLE,  /* the option's value is the name */
	NAME_QEMU,   /* guest=NAME,key=value...; a comma is written twice */
	NAME_SOCKET, /* path=FILE or FILE: the name is FILE without folder and ending */
};

struct vmm_row {
	const char *vmm;
	const char *programs[4]; /* shell patterns of the executable's name */
	const char *name_option;
	enum name_form form;
	const char *pmu_off;	/* flag that takes the guest's PMU away */
	const char *pmu_on_arm; /* flag without which an arm64 guest has none */
};

struct program {
	char base[64];		   /* name of the executable, cleaned */
	const struct vmm_row *row; /* NULL: not a VMM that we know */
	char args[65536];	   /* the words of cmdline, a NUL after each */
	size_t len;		   /* 0: not read */
};

/*
 * Fills base and row, and args where only they tell. -ENOENT: there is no
 * executable: a kernel thread, a zombie, or gone.
 */
int program_find(const struct rootfs *root, pid_t pid, struct program *prog);
/* Fills args. */
void program_args(const struct rootfs *root, pid_t pid, struct program *prog);
/* The word after @word, the first if NULL; NULL at the end. */
const char *program_word(const struct program *prog, const char *word);
/* Is "-name" or "--name" given, as a flag or with its value in the next word? */
bool program_flag(const struct program *prog, const char *name);
/* The value of the last "-name V", "--name V", "-name=V" or "--name=V"; NULL: not given. */
const char *program_option(const struct program *prog, const char *name);
/* Fills name and vmm. */
void program_name(const struct program *prog, const char *comm, struct vm *vm);
/* N of a vCPU thread's name such as "CPU 3/KVM"; -1 if it is none. */
int vcpu_name_index(const char *comm, bool tcg);

/* ---- qemu.c: QEMU's command line */

bool qemu_runs(const struct program *prog);
/*
 * The value of @key in "first,key=value,..." (a comma in a value is written
 * twice). @implied: a first element without "=" is this key's value.
 */
bool qemu_value(const char *options, const char *key, bool implied, char *out, size_t size);
/* Does a QEMU that holds no VM of the kernel's emulate one? */
bool qemu_emulates(const struct program *prog);
/* QEMU's -smp; 1 if not given. */
size_t qemu_cpus(const struct program *prog);
/* Does the command line give the guest a PMU? VPMU_PERF: yes. *@why: how it says so. */
enum vpmu_kind qemu_vpmu(const struct program *prog, const char **why);

/* ---- vpmu.c */

/* What KVM's module parameters leave to guests: VPMU_NONE, VPMU_PERF or VPMU_MEDIATED. */
enum vpmu_kind vpmu_of_host(const struct rootfs *root);
/* Fills vpmu and vpmu_why; accel and vmm are filled already. */
void vpmu_tell(const struct source *src, const struct program *prog, struct vm *vm);

/* ---- ids.c */

/* Fills @vm->id; @fd: its VM's descriptor. 0 or -ENOMEM. */
int vm_id_give(struct vm_ids *ids, int fd, struct vm *vm);
/* At the end of a scan: forgets the VMs that were not seen in it. */
void vm_ids_forget(struct vm_ids *ids);

/* ---- numa.c */

/* Fills mem_node; or problem. 0 or -ENOMEM. */
int numa_read(const struct source *src, struct vm *vm);

/* Sets @vm->problem unless there is one already. */
void vm_problem(struct vm *vm, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
