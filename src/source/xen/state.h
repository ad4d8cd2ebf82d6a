/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_XEN_STATE_H
#define SOURCE_XEN_STATE_H

/* What the files of this room share. */

#include "source/hosted/hosted.h"
#include "source/xen/call.h"

/* The virtual PMU that an x86 Xen has of itself: no graft is for it. */
enum own_vpmu {
	OWN_NONE,   /* it is not there: Xen on Arm */
	OWN_UNTOLD, /* it is told of to a PV dom0 only */
	OWN_OFF,
	OWN_ON,
};

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
	enum own_vpmu own;
	uint64_t own_mode, own_features; /* XEN_PMU_MODE_…, XEN_PMU_…_ONLY */
	int store;			 /* xenstore's descriptor; -1 */
	struct hosted hosted;
	bool tidied;	  /* sets that killed tools left were looked for */
	int wake;	  /* descriptor of the virtual interrupt; < 0: none */
	bool wake_wanted; /* it was asked for */
	bool clock_known;
	uint64_t clock_offset; /* CLOCK_MONOTONIC minus Xen's clock, in ns, modulo 2^64 */
	uint64_t clock_bound;  /* it is off by so much at most */
};

/* Asks the graft anew: source.graft, source.info, and source.own with what follows. */
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

/* event.c, host.c */
bool xen_event(void *ctx, const struct hosted_target *t, const struct event *ev,
	       bool sampling, struct vpmu_event *out, struct opened *opened);
extern const struct hosted_ops xen_hosted;

/* capabilities.c */
int xen_capabilities(struct source *src, const struct capability_ask *asks, size_t nasks,
		     struct capability_list *list, struct err *err);

#endif
