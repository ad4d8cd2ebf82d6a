/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SESSION_WATCH_H
#define SESSION_WATCH_H

/*
 * Which VMs a run is about, and what becomes of them: the comparison of two
 * topologies as a list of arrivals and departures. No counters here.
 */

#include "model/event.h"
#include "model/note.h"
#include "source/source.h"

/* One --vm PATTERN:EVENTS of the command line, or "all VMs" with pattern NULL. */
struct target {
	const char *pattern;	 /* NULL: every VM */
	struct event_set events; /* owned by whoever made the target */
};

struct watch_ops {
	/*
	 * A vCPU of a wanted VM (with a vcpu_key()) has appeared. Its events are
	 * the union of all targets that match. Returning an error abandons that
	 * vCPU only. @vm and @vcpu are valid during the call: copy what is kept.
	 */
	int (*vcpu_appeared)(void *ctx, const struct vm *vm, const struct vcpu *vcpu,
			     const struct event_set *events);
	void (*vcpu_gone)(void *ctx, const char *vm_id, int key);
	void (*vm_gone)(void *ctx, const char *vm_id);
	void (*note)(void *ctx, const struct note *note);
};

struct watch;

/* @targets stay the caller's and must outlive the watch. 0 or -errno. */
int watch_create(const struct source_ops *ops, struct source *src,
		 const struct target *targets, size_t ntargets, const struct watch_ops *cb,
		 void *ctx, struct watch **out, struct err *err);
/*
 * Takes a fresh topology and reports what changed since the last call; the
 * first call reports everything as appeared, without notes for it.
 */
int watch_scan(struct watch *w, struct err *err);
/*
 * The same where it is worth its cost: when a VM has ended, or when the time of
 * watch_due_ns() has come. Else it only looks at watch_fd().
 */
int watch_poll(struct watch *w, struct err *err);
/*
 * When the next scan is due (clock_now_ns()): a second after the last one (a
 * tenth while a vCPU's thread is not known), or later where scans are so dear
 * that they would take more than 1/200 of a CPU.
 */
uint64_t watch_due_ns(const struct watch *w);
/* A descriptor that polls readable when a VM has ended; -1 if there is none. */
int watch_fd(const struct watch *w);
/* The topology of the last scan. */
const struct topology *watch_topology(const struct watch *w);
/* VMs that are watched now, and vCPUs of theirs whose thread is not known. */
size_t watch_vms(const struct watch *w);
size_t watch_unknown(const struct watch *w);
/* Those of one VM. */
size_t watch_unknown_of(const struct watch *w, const char *vm_id);
/* A target's pattern that no VM has matched so far, or NULL. */
const char *watch_unmatched(const struct watch *w);
/* Why a run has nothing to work on, after the first scan: -ENOENT with words. */
int watch_say_nothing(const struct watch *w, struct err *err);
void watch_free(struct watch *w);

#endif
