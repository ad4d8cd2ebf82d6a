/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SESSION_SAMPLING_H
#define SESSION_SAMPLING_H

/* Sampling many VMs into one recording. */

#include "session/watch.h"

struct sampling_totals {
	uint64_t samples, lost, throttled, bytes;
};

/*
 * Where the samples go: src/record behind an interface, since session and
 * record do not know each other; src/cli joins them. A "lane" is one file of
 * one VM: its inside view, or the host side of its vCPU threads.
 */
struct sample_sink {
	/* A VM's first vCPU was opened; @lane is the sink's own handle. 0 or -errno. */
	int (*lane_open)(void *ctx, const struct vm *vm, bool inside,
			 const struct event_set *events,
			 const struct perf_event_attr *attrs, void **lane, struct err *err);
	/* A vCPU joined the lane; ids[events->n], 0 where an event is not open. */
	int (*lane_vcpu)(void *ctx, void *lane, const struct vm *vm,
			 const struct vcpu *vcpu, const uint64_t *ids, struct err *err);
	/* Whole records, straight from the rings; written before it returns. */
	int (*lane_write)(void *ctx, void *lane, const struct iovec *spans, int n,
			  struct err *err);
	/* All rings of the lane were visited once: order up to here is known. */
	int (*lane_round)(void *ctx, void *lane, struct err *err);
	/*
	 * Counts of one vCPU for the series, about once a second; @lost per event,
	 * cumulative. @vcpu is its index, or the thread of a plain process.
	 */
	int (*lane_series)(void *ctx, void *lane, uint64_t time_ns, int vcpu,
			   const struct reading *readings, const uint64_t *lost,
			   struct err *err);
	/* After a round of lane_series: the lane's account so far. */
	int (*lane_totals)(void *ctx, void *lane, const struct sampling_totals *so_far,
			   struct err *err);
	/* The lane's VM is gone or the run is over. @lane is not used again. */
	int (*lane_close)(void *ctx, void *lane, const struct sampling_totals *totals,
			  struct err *err);
	void (*note)(void *ctx, const struct note *note);
};

struct sampling_config {
	const struct source_ops *ops;
	struct source *src;
	const struct target *targets;
	size_t ntargets;
	bool guest, host;  /* which views; at least one */
	size_t ring_bytes; /* per vCPU and view; 0: chosen by number of vCPUs */
	int wake_fd[2];	   /* end sampling_poll()'s wait when they poll readable; or -1 */
	const struct sample_sink *sink;
	void *ctx;
};

struct sampling;

int sampling_start(const struct sampling_config *config, struct sampling **out,
		   struct err *err);
/*
 * Waits until @deadline_ns for rings to fill, drains them into the sink, scans
 * for VMs that came or went once a second. 0, or the sink's error (a full disk).
 * A signal ends the wait early and returns 0.
 */
int sampling_poll(struct sampling *s, uint64_t deadline_ns, struct err *err);
/* Stops the events, drains what is left, closes the lanes. */
int sampling_stop(struct sampling *s, struct err *err);
struct sampling_totals sampling_totals(const struct sampling *s);
bool sampling_partial(const struct sampling *s);
size_t sampling_alive(const struct sampling *s);
void sampling_free(struct sampling *s);

#endif
