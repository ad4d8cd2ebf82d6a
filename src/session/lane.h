/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SESSION_LANE_H
#define SESSION_LANE_H

/*
 * One file's worth of sampling: one view of one VM, with a sampler per vCPU.
 * What opening, draining and closing it takes; when, is sampling.c's.
 */

#include "session/sampling.h"

struct stream {
	int key;   /* vcpu_key() */
	int label; /* the vCPU's index; a plain process's thread id */
	struct sampler *sampler;
	struct opened *opened; /* owned */
	bool ended;	       /* its thread is gone: its descriptor polls no more */
	uint64_t lost_records; /* as the ring told */
	uint64_t lost;	       /* as the kernel counts it where it does, else the ring's */
};

/* What is known of one event on all vCPUs. */
struct lane_event {
	bool missing;	  /* it was said that it is not measured */
	bool doubted;	  /* it was said that taking turns spoils it */
	bool wanted, ran; /* its vCPUs ran; it was on a counter */
};

struct lane {
	const struct sampling_config *config;
	char vm_id[32], vm_name[80];
	bool inside;
	struct event_set events;
	struct lane_event *seen; /* one per event */
	void *handle;		 /* the sink's; NULL: nothing was opened yet */
	struct stream *streams;
	size_t nstreams, capstreams;
	struct sampling_totals totals;
	uint64_t lost_closed; /* of vCPUs that are gone */
	uint64_t lost_said, throttled_said, corrupt, corrupt_said;
	struct reading *readings; /* room for one stream */
	uint64_t *lost;
	size_t refused; /* vCPUs that could not be opened at all */
	bool partial;
};

/* @events becomes the lane's. */
struct lane *lane_new(const struct sampling_config *config, const struct vm *vm,
		      bool inside, struct event_set *events);
/*
 * Opens one vCPU. 0 also where no event could be opened: the lane is partial
 * then, and @why has the reason. The sink's error, or the source's.
 */
int lane_add(struct lane *l, const struct vm *vm, const struct vcpu *vcpu, struct err *why);
/* Writes what waits in all rings, then marks the round. 0 or the sink's error. */
int lane_drain(struct lane *l, struct err *err);
/* Brings lost counts up to date; with @series, hands readings to the sink. */
int lane_account(struct lane *l, bool series, struct err *err);
/* Drains and closes one vCPU; nothing if the lane has none with @key. */
int lane_drop(struct lane *l, int key, struct err *err);
/* Stops all events. */
void lane_stop(struct lane *l);
/*
 * Drains (unless @failed: the sink takes no more), says what was lost, closes the
 * sink's lane, frees. Adds the lane's account to @totals; sets @partial if not all
 * that was asked for was sampled.
 */
int lane_end(struct lane *l, bool failed, struct sampling_totals *totals, bool *partial,
	     struct err *err);

void totals_add(struct sampling_totals *sum, const struct sampling_totals *t);

#endif
