/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_KVM_CAPABILITIES_H
#define SOURCE_KVM_CAPABILITIES_H

/*
 * How `vmmprof check` finds out what can be measured. One row per question in
 * capabilities.c names a function that looks at the facts and fills a
 * capability; a question that does not arise here leaves the finding empty.
 */

#include <stdbool.h>

#include "model/capability.h"
#include "source/kvm/kvm.h"
#include "source/words.h"

/* Counters are tried through this, so that tests can stand in for a PMU. */
struct probe_ops {
	/* As kvm_perf_open(); want->tid is 0, the calling thread. */
	int (*open)(struct perf_event_attr *attr, const struct event *ev,
		    const struct perf_want *want, int group_fd, struct opened *opened);
	/* Runs a group for a moment; true if it was on the counters all that time. */
	bool (*runs)(int leader);
};

extern const struct probe_ops probe_live;

/* How many events the PMU takes at the same time. */
struct probe_counters {
	int fit;	     /* the kernel accepts so many as one group */
	int free;	     /* so many really get onto the counters now */
	struct opened first; /* what became of the first event: READ_COUNTED if it opened */
};

/*
 * Grows a group of cycles and instructions until the kernel refuses it, then
 * shrinks it until it runs: the rest is held by someone else. @user counts user
 * mode only, which needs fewer rights.
 */
void probe_counters(const struct probe_ops *ops, bool user, struct probe_counters *out);
/* Opens @ev on the calling thread and closes it again. */
void probe_event(const struct probe_ops *ops, const struct event *ev, enum event_side side,
		 bool sampling, struct opened *opened);

/* Who asks: from proc/self/status. */
struct identity {
	bool known;
	bool root;     /* effective uid 0 */
	uint64_t caps; /* effective capabilities, 1 << CAP_… of capabilities(7) */
};

/* Everything the checks look at, gathered once. */
struct facts {
	struct source *src;
	const struct rootfs *root;
	const struct probe_ops *probe; /* NULL: a recorded tree, nothing can be tried */
	const struct capability_ask *asks;
	size_t nasks;
	struct topology topo;
	struct err topo_err; /* code != 0: the VMs could not be looked for */
	struct identity who;
	char pmus[200];		   /* core PMUs in words; "" if there is none */
	int64_t paranoid;	   /* kernel.perf_event_paranoid; INT64_MIN: no such file */
	bool can_perf, can_kernel; /* any event opens; kernel mode too */
	struct opened soft;	   /* what became of task-clock */
	struct probe_counters counters; /* only with probe and pmus */
};

/* Is capability number @cap (CAP_PERFMON is 38) effective? */
bool facts_may(const struct facts *f, int cap);
/* "Y", "1": a module parameter that is switched on; @known false if it is not there. */
bool facts_param(const struct facts *f, const char *path, bool *known);

/* cap_counters.c */
void check_pmu(const struct facts *f, struct capability *c);
void check_counters(const struct facts *f, struct capability *c);
void check_watchdog(const struct facts *f, struct capability *c);
void check_guest_side(const struct facts *f, struct capability *c);
void check_guest_user(const struct facts *f, struct capability *c);
void check_sampling(const struct facts *f, struct capability *c);
void check_events(const struct facts *f, struct capability *c);
void check_asked(const struct facts *f, struct capability *c);
/* cap_sockets.c */
void check_table(const struct facts *f, struct capability *c);
void check_sockets(const struct facts *f, struct capability *c);
/* cap_rights.c */
void check_paranoid(const struct facts *f, struct capability *c);
void check_processes(const struct facts *f, struct capability *c);
void check_symbols(const struct facts *f, struct capability *c);
void check_descriptors(const struct facts *f, struct capability *c);
void check_rings(const struct facts *f, struct capability *c);
void check_rate(const struct facts *f, struct capability *c);
/* cap_host.c */
void check_vms(const struct facts *f, struct capability *c);
void check_modes(const struct facts *f, struct capability *c);
void check_kvm(const struct facts *f, struct capability *c);
void check_vpmu(const struct facts *f, struct capability *c);
void check_mediated(const struct facts *f, struct capability *c);
void check_kernel(const struct facts *f, struct capability *c);
void check_nodes(const struct facts *f, struct capability *c);
void check_tracepoints(const struct facts *f, struct capability *c);
void check_debugfs(const struct facts *f, struct capability *c);
void check_resctrl(const struct facts *f, struct capability *c);

/* The whole of kvm_capabilities(), with a PMU of the caller's. */
int kvm_capabilities_with(struct source *src, const struct probe_ops *probe,
			  const struct capability_ask *asks, size_t nasks,
			  struct capability_list *list);

#endif
