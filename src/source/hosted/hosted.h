/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_HOSTED_HOSTED_H
#define SOURCE_HOSTED_HOSTED_H

/*
 * What the sources of hypervisors with core/ in them share. Such a hypervisor counts and
 * samples a VM by an event set of its own; here that set serves the counters, or the
 * samplers, of all the VM's vCPUs. What differs between hypervisors is one ops struct.
 */

#include "core/abi/xenpmu.h"
#include "source/words.h"

struct hosted_set; /* set.h */

#define HOSTED_SETS_MAX 16 /* of a hypervisor's, that are one here */

/* Whose events a set counts. */
enum hosted_kind {
	HOSTED_VM,
	HOSTED_HYPERVISOR, /* itself: its pCPUs stand in for vCPUs */
	HOSTED_NODE,	   /* a socket: one count, no vCPUs */
};

struct hosted_target {
	enum hosted_kind kind;
	unsigned id;	  /* as the hypervisor knows it */
	const char *name; /* for messages */
};

/* What the hypervisor tells of a vCPU without any counter. */
enum hosted_told {
	TOLD_NOTHING,
	TOLD_RAN,    /* ns on a pCPU */
	TOLD_WAITED, /* ns that it could have been on one, and was not */
};

struct hosted_ops {
	const char *who;   /* "Xen" */
	const char *vm;	   /* what it calls a VM: "domain" */
	const char *self;  /* the target that is itself: "xen"; NULL: there is none */
	unsigned sets_max; /* a counting VM may have so many, of VPMU_SET_EVENTS each;
			    * at most HOSTED_SETS_MAX */
	bool together; /* events of one set are counted at the same time, if all can be */
	uint64_t period_frequent, period_others; /* where none is said */
	bool own_clock; /* its samples' times are not CLOCK_MONOTONIC's */
	bool rings_end; /* with their set, which is closed when nobody has them any more */

	void (*target)(const struct vm *vm, struct hosted_target *out);
	/* What it takes for @ev; false: it takes nothing, @opened says why. */
	bool (*event)(void *ctx, const struct hosted_target *t, const struct event *ev,
		      bool sampling, struct vpmu_event *out, struct opened *opened);
	/* So many events of @t can be on counters at the same time. */
	unsigned (*capacity)(void *ctx, const struct hosted_target *t, bool sampling);
	/*
	 * Opens a set; @ring_bytes for each vCPU, 0: it only counts. -ESRCH and -ENOMEM
	 * with words; -EOPNOTSUPP and -EINVAL with the event at fault in *@bad, if it is
	 * one; other errors are explained by explain().
	 */
	int (*open)(void *ctx, const struct hosted_target *t,
		    const struct vpmu_event *events, unsigned n, size_t ring_bytes,
		    uint32_t *handle, unsigned *bad, struct err *err);
	/* Fills @opened for what open() returned. */
	void (*explain)(void *ctx, const struct hosted_target *t, int code,
			struct opened *opened);
	int (*read)(void *ctx, const struct hosted_target *t, uint32_t handle,
		    unsigned vcpu, struct xenpmu_count out[VPMU_SET_EVENTS]);
	void (*close)(void *ctx, const struct hosted_target *t, uint32_t handle);
	enum hosted_told (*told)(const struct hosted_target *t, const struct event *ev);
	int (*tell)(void *ctx, const struct hosted_target *t, unsigned vcpu,
		    enum hosted_told what, uint64_t *ns);

	/* ---- sampling */
	/* A ring for @vm's vCPUs of about @bytes (0: as it likes), as open() takes it. */
	size_t (*ring_bytes)(const struct vm *vm, size_t bytes);
	/* One vCPU's ring; NULL with errno set. */
	void *(*map)(void *ctx, uint32_t handle, unsigned vcpu, size_t ring_bytes,
		     size_t *bytes);
	void (*unmap)(void *ctx, void *ring, size_t bytes);
	/* What is added to times in rings to have clock_now_ns(); a remark on it. */
	uint64_t (*clock_offset)(void *ctx, struct opened *remark);
	/* A descriptor that polls readable when a ring is half full; < 0: none. */
	int (*wake)(void *ctx);
	void (*rearm)(void *ctx);
};

/* A hypervisor that is open: part of its source. */
struct hosted {
	const struct hosted_ops *ops;
	void *ctx;
	struct hosted_set *sets; /* open now */
	uint64_t last_id;	 /* given to an event of a sampler */
};

/* ---- events */
/* A row of what perf's generic events are on a PMU. */
struct hosted_generic {
	uint32_t type;
	uint64_t config;
	uint16_t number;
};
#define HOSTED_HW(id, number)                                                              \
	{                                                                                  \
		PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, number                             \
	}
#define HOSTED_CACHE(id, op, result, number)                                               \
	{                                                                                  \
		PERF_TYPE_HW_CACHE,                                                        \
			PERF_COUNT_HW_CACHE_##id | PERF_COUNT_HW_CACHE_OP_##op << 8 |      \
				PERF_COUNT_HW_CACHE_RESULT_##result << 16,                 \
			number                                                             \
	}
/* The number of @ev in a table of @n rows; false: it is not there. */
bool hosted_number(const struct hosted_generic *table, size_t n, const struct event *ev,
		   uint64_t *number);

/* The modes that @ev counts, as flags of a vpmu_event; false: they cannot be had. */
bool hosted_modes(const struct hosted_ops *ops, const struct hosted_target *t,
		  const struct event *ev, uint32_t *flags, struct opened *opened);
/* Its period, where it samples. */
bool hosted_period(const struct hosted_ops *ops, const struct event *ev, uint64_t *period,
		   struct opened *opened);

/* ---- as the operations of struct source_ops */
int hosted_counters_open(struct hosted *h, const struct vm *vm, const struct vcpu *vcpu,
			 const struct event_set *set, struct opened *opened,
			 struct counters **out, struct err *err);
int hosted_node_open(struct hosted *h, const struct hosted_target *node,
		     const struct event_set *set, struct opened *opened,
		     struct counters **out, struct err *err);
int hosted_counters_read(struct counters *c, struct reading *out);
int hosted_vcpu_ran(struct counters *c, uint64_t *guest_ns);
void hosted_counters_close(struct counters *c);

int hosted_sampler_open(struct hosted *h, const struct vm *vm, const struct vcpu *vcpu,
			const struct event_set *set, size_t ring_bytes,
			struct opened *opened, struct sampler **out, struct err *err);
int hosted_sampler_fd(const struct sampler *s);
bool hosted_sampler_event(const struct sampler *s, size_t i, struct perf_event_attr *attr,
			  uint64_t *id);
int hosted_sampler_peek(struct sampler *s, struct iovec spans[2],
			struct sampler_tally *tally);
void hosted_sampler_release(struct sampler *s);
void hosted_sampler_stop(struct sampler *s);
int hosted_sampler_read(struct sampler *s, struct reading *out, uint64_t *lost);
void hosted_sampler_close(struct sampler *s);

/*
 * Answers "what was asked for" by opening it all for a moment on the VMs of @topo that
 * answer to it; nothing where nothing was asked.
 */
void hosted_check_asked(struct hosted *h, const struct topology *topo,
			const struct capability_ask *asks, size_t nasks,
			struct capability *c);

#endif
