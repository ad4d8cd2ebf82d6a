/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_KVM_KVM_H
#define SOURCE_KVM_KVM_H

#include <sched.h>

#include "source/source.h"

/*
 * KVM guests (and TCG guests and plain processes) of this host, through /proc,
 * /sys and perf_event_open on vCPU threads: the kernel virtualizes the counters
 * per thread, hence per vCPU.
 */
extern const struct source_ops kvm_source;

/* VMs by process and descriptor, and what we call them. */
struct vm_id {
	pid_t pid;
	uint64_t start_ticks;
	int fd;
	unsigned ordinal;
	bool seen;
};

struct vm_ids {
	struct vm_id *v; /* owned */
	size_t n, cap;
};

/* The source's own state, shared by the files of this room. */
struct source {
	struct rootfs root;
	bool live;   /* root is "/": counters can be opened */
	pid_t *pids; /* owned */
	size_t npids;
	struct machine machine; /* owned; read once, at open */
	struct vm_ids ids;
	struct scan *scan;	  /* owned; scan.c's memory of processes that are no VMs */
	enum vpmu_kind host_vpmu; /* what KVM's module parameters say, read once */
	uint64_t last_birth, task_links; /* quiet.c: at the last scan; 0: not known */
	bool el0_known, el0_faulty;	 /* looked at when an event first asks */
};

/* What counters_read(), vcpu_ran() and counters_close() take: of a vCPU, or of a node. */
struct counters {
	int (*read)(struct counters *c, struct reading *out);
	int (*ran)(struct counters *c, uint64_t *guest_ns);
	void (*close)(struct counters *c);
};

/* discover.c: the kernel's traces of VMs into a topology. */
int kvm_topology(struct source *src, unsigned parts, struct topology *topo,
		 struct err *err);

/* alive.c */
/* quiet.c: source_ops.unchanged, and what it compares with, taken before a scan. */
void quiet_mark(struct source *src);
bool kvm_unchanged(struct source *src);

int kvm_vm_fd(struct source *src, const struct vm *vm);
/* How long a thread has been in guest mode. 0 or -errno. */
int kvm_thread_ran(struct source *src, pid_t pid, pid_t tid, uint64_t *guest_ns);

/* capabilities.c: one row per question. */
int kvm_capabilities(struct source *src, const struct capability_ask *asks, size_t nasks,
		     struct capability_list *list, struct err *err);

/* el0.c: arm64 kernels that get the guest's user mode wrong at times. */
bool el0_kernel_faulty(const struct rootfs *root, const struct machine *machine);
/* Would such a kernel get @ev wrong, counted on @side (never SIDE_DEFAULT)? */
bool el0_loses(struct source *src, const struct event *ev, enum event_side side,
	       enum vm_accel accel);
/* What goes wrong when events take turns, and the remedy. */
const char *el0_in_turns(enum event_side side);
/*
 * Around the enabling of a vCPU's events: if it runs and some of them would lose,
 * takes its pCPU for that moment, so that KVM loads it after. Where that cannot be
 * done, their reasons say what it costs.
 */
#define CPUS_MAX 8192
struct el0_seat {
	int cpu; /* -1: none is needed, or was to be had */
	cpu_set_t old[CPUS_MAX / CPU_SETSIZE];
};
void el0_take_seat(struct el0_seat *seat, struct source *src, const struct vm *vm,
		   const struct vcpu *vcpu, struct opened *opened, size_t n);
void el0_leave_seat(struct el0_seat *seat, struct source *src, const struct vm *vm,
		    const struct vcpu *vcpu);

/* cpl.c: x86 kernels whose guests' samples do not tell kernel from user mode. */
bool cpl_kernel_faulty(const struct machine *machine);

/* perf.c: one event of one thread. */
struct perf_want {
	pid_t tid;
	const int
		*cpu; /* NULL: of the thread, wherever it runs; else of this CPU: a socket's
		       */
	bool sampling;
	bool no_freq;  /* a fixed period where the event names neither that nor a rate */
	bool sideband; /* COMM, MMAP2, FORK, EXIT of a plain process */
	enum event_side side; /* never SIDE_DEFAULT */
	enum vm_accel accel;
};
/*
 * Makes @attr the leader (@leads) or a member of a group that starts with its
 * leader, and that the kernel refuses if it could never be on the counters.
 */
void kvm_perf_group(struct perf_event_attr *attr, bool leads);
/* Builds what perf_event_open(2) gets. */
void kvm_perf_attr(const struct event *ev, const struct perf_want *want,
		   struct perf_event_attr *attr);
/*
 * Opens it; a descriptor, or -errno with @opened saying what that means:
 * unsupported, denied, taken, invisible; and the remedy.
 */
int kvm_perf_open(struct perf_event_attr *attr, const struct event *ev,
		  const struct perf_want *want, int group_fd, struct opened *opened);

/*
 * The event that leads the group of event @i: the first before it that is open; -1 if
 * there is none. @opened holds what became of all before it.
 */
ssize_t kvm_group_leader(const struct event_set *set, const struct opened *opened,
			 size_t i);

/* nodes.c: source_ops.node_open */
int kvm_node_open(struct source *src, int node, const struct event_set *set,
		  struct opened *opened, struct counters **out, struct err *err);

/*
 * monitors.c: what is told of a thread by other means than a counter. A set of them
 * belongs to one thread. monitors_add() says in @opened what became of @role and returns
 * its number, or -1; monitors_read() fills one reading, cumulative since it was added
 * (of what is held now, as it is now).
 */
struct monitors;
int monitors_create(struct source *src, pid_t pid, pid_t tid, struct monitors **out);
int monitors_add(struct monitors *m, enum role role, struct opened *opened);
void monitors_read(struct monitors *m, int number, struct reading *out);
void monitors_free(struct monitors *m);

/*
 * resctrl.c: a thread's monitoring group, of our own name, made below the group that
 * allots it its cache. 0; -errno with words in @opened.
 */
struct resctrl;
int resctrl_open(const struct rootfs *root, pid_t pid, pid_t tid, struct resctrl **out,
		 struct opened *opened);
/* Sums a file of mon_data over all caches: llc_occupancy, mbm_total_bytes … */
int resctrl_read(const struct resctrl *r, const char *file, uint64_t *sum,
		 bool *some_unavailable);
void resctrl_close(struct resctrl *r);

/* counters.c */
int kvm_counters_open(struct source *src, const struct vm *vm, const struct vcpu *vcpu,
		      const struct event_set *set, struct opened *opened,
		      struct counters **out, struct err *err);
int kvm_counters_read(struct counters *c, struct reading *out);
int kvm_vcpu_ran(struct counters *c, uint64_t *guest_ns);
void kvm_counters_close(struct counters *c);

/* move.c */
int kvm_move(struct source *src, const struct vm *vm, const struct move *move,
	     struct err *err);
void kvm_say_move(struct source *src, const struct vm *vm, const struct move *move,
		  struct strbuf *out);

/* sampler.c */
int kvm_sampler_open(struct source *src, const struct vm *vm, const struct vcpu *vcpu,
		     const struct event_set *set, bool inside, size_t ring_bytes,
		     struct opened *opened, struct sampler **out, struct err *err);
int kvm_sampler_fd(const struct sampler *s);
bool kvm_sampler_event(const struct sampler *s, size_t i, struct perf_event_attr *attr,
		       uint64_t *id);
int kvm_sampler_peek(struct sampler *s, struct iovec spans[2], struct sampler_tally *tally);
void kvm_sampler_release(struct sampler *s);
void kvm_sampler_stop(struct sampler *s);
int kvm_sampler_read(struct sampler *s, struct reading *out, uint64_t *lost);
void kvm_sampler_close(struct sampler *s);

/* sideband.c */
int kvm_sideband(struct source *src, const struct vm *vm, const struct sideband_ops *cb,
		 void *ctx);

#endif
