/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_FAKE_XEN_H
#define TESTS_UNIT_FAKE_XEN_H

/*
 * A Xen whose domains and answers are what a test says. Tests change the plain structs
 * below between two calls of the source.
 */

#include "core/ring.h"
#include "source/xen/call.h"

#define FAKE_DOMAINS 8
#define FAKE_XEN_VCPUS 4
#define FAKE_SETS 8
#define FAKE_FRAMES 9 /* at most, of a ring */

struct fake_domain {
	bool there;
	uint16_t id;
	uint32_t flags; /* XEN_DOMINF_… */
	uint64_t pages;
	uint32_t nvcpus; /* what Xen says; only the first FAKE_XEN_VCPUS can be asked for */
	uint64_t handle; /* half of it */
	uint32_t pmu;	 /* XENPMU_DOMAIN_… */
	struct xen_vcpuinfo vcpu[FAKE_XEN_VCPUS];
	uint64_t affinity[FAKE_XEN_VCPUS]; /* a bit per pCPU */
};

struct fake_set {
	uint32_t handle; /* 0: this place is empty, or closed */
	struct xenpmu_open open;
	struct xenpmu_count count[FAKE_XEN_VCPUS][VPMU_SET_EVENTS];
	uint32_t read_flags;
	struct vpmu_ring ring[FAKE_XEN_VCPUS];
	uint64_t memory[FAKE_XEN_VCPUS][FAKE_FRAMES * VPMU_RING_PAGE / 8];
};

struct fake_xen {
	int no_way_in;		 /* -errno of the open; 0: it works */
	uint32_t sysctl, domctl; /* versions that it speaks */
	long version;		 /* major << 16 | minor */
	const char *extra;	 /* ".5" */
	struct xen_physinfo phys;
	struct fake_domain domain[FAKE_DOMAINS];
	bool graft;
	bool x86;	     /* a Xen that no graft is for */
	int own_fails;	     /* -errno of its own vPMU; 0: it is on */
	uint64_t own_val[3]; /* what XEN_PMU_MODE_GET and _FEATURE_GET give */
	struct xenpmu_info info;
	int open_fails; /* -errno of XENPMU_OPEN; 0: as the PMU and rings allow */
	uint32_t bad;	/* where it fails: xenpmu_open.bad */
	int read_fails, map_fails, bind_fails;
	bool wrong_ring; /* what is mapped is none */
	struct fake_set set[FAKE_SETS];
	unsigned opens, closes, reads, maps; /* seen; maps: those that stand */
	unsigned rearmed;
	int wake[2]; /* a pipe: its reading end is what bind() gives */
	/* Called with each answer before the caller gets it. */
	void (*spoil)(unsigned hypercall, uint64_t op, void *arg, long *ret);
};

extern struct fake_xen fake_xen;
extern const struct xen_ops fake_xen_ops;

/* Xen 4.17 on four pCPUs with vmmprof's graft, its PMU on, dom0 and nothing else. */
void fake_xen_reset(void);
/* One more domain, of vCPUs that may run anywhere. */
struct fake_domain *fake_domain_add(uint16_t id, uint32_t nvcpus);
/* Opens a set as another tool would. */
void fake_set_open(const struct xenpmu_open *open);
/* The open set on a domain; NULL: there is none. */
struct fake_set *fake_set_on(uint16_t domid);

#endif
