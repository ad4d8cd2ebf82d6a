/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CORE_ABI_XENPMU_H
#define CORE_ABI_XENPMU_H

/*
 * HYPERVISOR_xenpmu_op (40) as vmmprof's graft extends it: sub-operations from 0x100.
 * Each takes one struct, which begins with the version that the caller speaks and is
 * copied in once and out once. An ungrafted Xen answers -ENOSYS. Errors are Xen's:
 * -EPERM: not privileged; -ESRCH: no such domain; -ENOENT: no such handle of the
 * caller's; -EOPNOTSUPP: this PMU cannot; -ENOSYS: no usable PMU or vpmu= is off, see
 * xenpmu_info; -EINVAL: another version, a field out of range or not zero.
 * XENPMU_OPEN also: -EBUSY: no counters left for it; -ENOSPC: too many events on that
 * target; -EMFILE: too many sets are open; -E2BIG: rings too large; -ENOMEM.
 * XENPMU_READ also: -EAGAIN: it kept changing, read again.
 */

#include <stdint.h>

#include "core/abi/event.h"
#include "core/abi/ring.h"

#define XENPMU_OP_HYPERCALL 40
#define XENPMU_VERSION 1

enum xenpmu_sub_op {
	XENPMU_INFO = 0x100, /* struct xenpmu_info */
	XENPMU_DOMAIN,	     /* struct xenpmu_domain */
	XENPMU_OPEN,	     /* struct xenpmu_open */
	XENPMU_READ,	     /* struct xenpmu_read */
	XENPMU_CLOSE,	     /* struct xenpmu_close */
	XENPMU_NEXT,	     /* struct xenpmu_next */
};

/* VIRQ_XENPMU (13) of the caller's vCPU 0 says that a ring is half full. */
#define XENPMU_VIRQ 13

#define XENPMU_DOMID_XEN 0x7ff2u  /* DOMID_XEN: the hypervisor itself as the target */
#define XENPMU_DOMID_SELF 0x7ff0u /* DOMID_SELF */

/* Type of a sample ring for XENMEM_acquire_resource (16 bits); domid DOMID_XEN, id the
 * handle, frame vCPU * ring_frames …; a mapping outlives XENPMU_CLOSE, and shows what
 * was sampled until then. */
#define XENPMU_RESOURCE_RING 0x7670u

#define XENPMU_INFO_ON 1u	   /* there is a PMU and vpmu= is on */
#define XENPMU_INFO_DIRECT 2u	   /* guests reach the registers directly */
#define XENPMU_INFO_KICK 4u	   /* a sampled event takes two counters */
#define XENPMU_INFO_SELF 8u	   /* domains may open sets on themselves */
#define XENPMU_INFO_PRIVILEGED 16u /* the caller may open sets on others */

struct xenpmu_info {
	uint32_t version;	 /* in: the caller's; out: Xen's */
	uint32_t flags;		 /* XENPMU_INFO_… */
	uint32_t guest_counters; /* programmable ones that domains see, cycles aside */
	uint32_t host_counters;	 /* that Xen keeps */
	uint32_t hyp_counters;	 /* of those, taken by events on Xen itself */
	uint32_t pcpus;		 /* highest number of a pCPU that is up, plus one; 0 unless
				    privileged */
	uint64_t now_ns;	 /* the clock of samples and times */
	uint64_t events[2];	 /* PMCEID0_EL0, PMCEID1_EL0 of the hardware */
	char family[32];	 /* "armv8-pmuv3" */
	char why[128];		 /* in words, where XENPMU_INFO_ON is missing */
};

#define XENPMU_DOMAIN_PMU 1u  /* it has a PMU of its own */
#define XENPMU_DOMAIN_USED 2u /* and has used it */

struct xenpmu_domain {
	uint32_t version;
	uint16_t domid;
	uint16_t zero;
	uint32_t vcpus; /* out: the most it can have */
	uint32_t flags; /* out: XENPMU_DOMAIN_… */
	uint32_t sets;	/* out: open on it; for a caller that is not privileged, its own */
	uint32_t zero2;
};

struct xenpmu_open {
	uint32_t version;
	uint16_t domid; /* or XENPMU_DOMID_XEN, XENPMU_DOMID_SELF */
	uint16_t zero;
	uint32_t nevents;
	uint32_t ring_frames; /* of 4096 bytes, per vCPU; 0 where nothing samples; a power
			       * of two plus one is used best */
	struct vpmu_event event[VPMU_SET_EVENTS];
	uint64_t owner;	  /* the caller's own mark, shown by XENPMU_NEXT: who opened it */
	uint32_t handle;  /* out; never 0 */
	uint32_t tallies; /* out: vCPUs (pCPUs for Xen), each with its counts and ring */
	uint32_t bad;	  /* out, on failure: the event at fault; nevents: none of them */
	uint32_t zero2;
};

#define XENPMU_RING_FRAMES_MAX 257  /* per vCPU */
#define XENPMU_RING_FRAMES_ALL 1028 /* of all vCPUs of a set together */

struct xenpmu_count {
	uint64_t value;
	uint64_t enabled_ns, running_ns;
	uint64_t taken, lost; /* samples */
};

#define XENPMU_READ_GONE 1u /* the domain is gone, these are its last values */

struct xenpmu_read {
	uint32_t version;
	uint32_t handle;
	uint32_t tally;	  /* vCPU, or pCPU for Xen */
	uint32_t nevents; /* out */
	uint32_t flags;	  /* out: XENPMU_READ_… */
	uint32_t zero;
	uint64_t now_ns;			    /* out */
	struct xenpmu_count count[VPMU_SET_EVENTS]; /* out */
};

struct xenpmu_close {
	uint32_t version;
	uint32_t handle;
};

/* Walks the sets that the caller's domain has open, so that a tool can close those
 * that a killed one left. */
struct xenpmu_next {
	uint32_t version;
	uint32_t handle; /* in: the last one seen, 0 to begin; out: the next (-ENOENT: none)
			  */
	uint16_t domid;	 /* out: its target */
	uint16_t zero;
	uint32_t nevents; /* out */
	uint64_t owner;	  /* out: as given at open */
};

#endif
