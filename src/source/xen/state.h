/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_XEN_STATE_H
#define SOURCE_XEN_STATE_H

/* What the files of this room share. */

#include "source/source.h"
#include "source/xen/call.h"

struct xen_set;

/* The source's own state, shared by the files of this room. */
struct source {
	struct rootfs root;
	bool live; /* root is "/" */
	struct xen xen;
	struct err closed;	/* code != 0: why there is no way into Xen */
	struct machine machine; /* owned; dom0's view, with Xen's pCPUs */
	unsigned pcpus;		/* highest number of a pCPU, plus one */
	int graft;		/* 0: there is one; else what its absence was told by */
	struct xenpmu_info info;
	int store;	      /* xenstore's descriptor; -1 */
	struct xen_set *sets; /* open now */
	bool tidied;	      /* sets that killed tools left were looked for */
	uint64_t last_id;     /* given to an event of a sampler */
	int wake;	      /* descriptor of the virtual interrupt; < 0: none */
	bool wake_wanted;     /* it was asked for */
	bool clock_known;
	uint64_t clock_offset; /* CLOCK_MONOTONIC minus Xen's clock, in ns, modulo 2^64 */
	uint64_t clock_bound;  /* it is off by so much at most */
};

/* Asks the graft anew: source.graft and source.info. */
void xen_ask_graft(struct source *src);
/* Is there a graft whose PMU is on? */
bool xen_can_count(const struct source *src);
/* Why not, in words; else "". */
void xen_why_not(const struct source *src, char *why, size_t size);

/* topology.c */
int xen_topology(struct source *src, unsigned parts, struct topology *topo,
		 struct err *err);
/* The number of a VM that xen_topology() made. */
unsigned xen_domid(const struct vm *vm);

/* event.c: what Xen takes for @ev; false: it takes nothing, @opened says why. */
bool xen_event(const struct source *src, const struct event *ev, enum vm_accel accel,
	       bool sampling, struct vpmu_event *out, struct opened *opened);

/* counters.c */
int xen_counters_open(struct source *src, const struct vm *vm, const struct vcpu *vcpu,
		      const struct event_set *set, struct opened *opened,
		      struct counters **out, struct err *err);
int xen_counters_read(struct counters *c, struct reading *out);
int xen_vcpu_ran(struct counters *c, uint64_t *guest_ns);
void xen_counters_close(struct counters *c);

/* sampler.c */
int xen_sampler_open(struct source *src, const struct vm *vm, const struct vcpu *vcpu,
		     const struct event_set *set, bool inside, size_t ring_bytes,
		     struct opened *opened, struct sampler **out, struct err *err);
int xen_sampler_fd(const struct sampler *s);
bool xen_sampler_event(const struct sampler *s, size_t i, struct perf_event_attr *attr,
		       uint64_t *id);
int xen_sampler_peek(struct sampler *s, struct iovec spans[2], struct sampler_tally *tally);
void xen_sampler_release(struct sampler *s);
void xen_sampler_stop(struct sampler *s);
int xen_sampler_read(struct sampler *s, struct reading *out, uint64_t *lost);
void xen_sampler_close(struct sampler *s);

/* capabilities.c */
int xen_capabilities(struct source *src, const struct capability_ask *asks, size_t nasks,
		     struct capability_list *list, struct err *err);

#endif
