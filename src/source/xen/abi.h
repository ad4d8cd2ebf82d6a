/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_XEN_ABI_H
#define SOURCE_XEN_ABI_H

/*
 * What of Xen's hypercalls is used here, written out from xen/include/public of Xen
 * 4.17: xen.h, version.h, domctl.h, sysctl.h, pmu.h. The toolstack's part of
 * it (domctl, sysctl) carries a version that must be Xen's own:
 *
 *            4.17   4.18   4.19 to 4.21
 *   sysctl   0x15   0x15   0x15
 *   domctl   0x15   0x16   0x17
 *
 * What is used is laid out alike in all of them, on Arm and on x86: the versions
 * differ in what follows the fields of getdomaininfo named here.
 */

#include <stddef.h>
#include <stdint.h>

#define XEN_HYPERCALL_VERSION 17
#define XEN_HYPERCALL_SYSCTL 35
#define XEN_HYPERCALL_DOMCTL 36

#define XEN_VERSION_NUMBER 0 /* returns major << 16 | minor */
#define XEN_VERSION_EXTRA 1  /* char[16] */
#define XEN_VERSION_EXTRA_LEN 16

#define XEN_SYSCTL_PHYSINFO 3
#define XEN_SYSCTL_DOMAINS 6
#define XEN_DOMCTL_GETVCPUINFO 14
#define XEN_DOMCTL_GETVCPUAFFINITY 25

/* Sub-operations of hypercall 40 on x86, where Xen has a virtual PMU of its own. */
#define XEN_PMU_MODE_GET 0
#define XEN_PMU_FEATURE_GET 2

#define XEN_PMU_MODE_SELF 1u /* each domain measures itself */
#define XEN_PMU_MODE_HV 2u   /* and dom0 also Xen */
#define XEN_PMU_MODE_ALL 4u  /* dom0 measures everybody at once, the others nothing */
#define XEN_PMU_IPC_ONLY 2u  /* features: vpmu=ipc */
#define XEN_PMU_ARCH_ONLY 4u /* vpmu=arch */

#define XEN_DOMID_RESERVED 0x7ff0u /* domains' numbers are below */
#define XEN_PAGE_BYTES 4096

/* struct xen_sysctl_physinfo */
struct xen_physinfo {
	uint32_t threads_per_core, cores_per_socket;
	uint32_t nr_cpus, max_cpu_id; /* pCPUs that are up; the highest number */
	uint32_t nr_nodes, max_node_id;
	uint32_t cpu_khz, capabilities, arch_capabilities, pad;
	uint64_t total_pages, free_pages, scrub_pages, outstanding_pages, max_mfn;
	uint32_t hw_cap[8];
};

/* struct xen_domctl_getdomaininfo, up to where versions and architectures differ */
struct xen_domain {
	uint16_t domain, pad1;
	uint32_t flags; /* XEN_DOMINF_… */
	uint64_t tot_pages, max_pages, outstanding_pages, shr_pages, paged_pages;
	uint64_t shared_info_frame;
	uint64_t cpu_time; /* ns */
	uint32_t nr_online_vcpus;
	uint32_t max_vcpu_id; /* the highest number of a vCPU; ~0: it has none */
	uint32_t ssidref;
	uint8_t handle[16]; /* its UUID */
	uint32_t cpupool;
};
_Static_assert(offsetof(struct xen_domain, cpupool) == 92, "as Xen lays it out");
#define XEN_DOMAIN_ROOM 512 /* more than what Xen writes of one domain */

#define XEN_DOMINF_DYING 1u
#define XEN_DOMINF_SHUTDOWN 4u
#define XEN_DOMINF_PAUSED 8u
#define XEN_DOMINF_REASON(flags) ((flags) >> 16 & 0xff) /* of the shutdown */
#define XEN_SHUTDOWN_SUSPEND 2u				/* it may be resumed */

/* struct xen_pmu_params */
struct xen_pmu_params {
	uint32_t version[2]; /* major, minor */
	uint64_t val;
	uint32_t vcpu, pad;
};

/* struct xen_sysctl */
struct xen_sysctl {
	uint32_t cmd, interface_version;
	union {
		struct xen_physinfo physinfo;
		struct {
			uint16_t first_domain;
			uint32_t max_domains;
			uint64_t buffer;
			uint32_t num_domains; /* out */
		} domains;
		uint8_t pad[128];
	} u;
};
_Static_assert(sizeof(struct xen_sysctl) == 136, "as Xen lays it out");

/* struct xenctl_bitmap */
struct xen_bitmap {
	uint64_t bitmap;
	uint32_t nr_bits;
};

/* struct xen_domctl_getvcpuinfo */
struct xen_vcpuinfo {
	uint32_t vcpu;
	uint8_t online, blocked, running;
	uint64_t cpu_time; /* ns */
	uint32_t cpu;	   /* where it runs or ran last */
};

#define XEN_VCPUAFFINITY_HARD 1u

/* struct xen_domctl */
struct xen_domctl {
	uint32_t cmd, interface_version;
	uint16_t domain, pad[3];
	union {
		struct xen_vcpuinfo vcpuinfo;
		struct {
			uint32_t vcpu, flags;
			struct xen_bitmap hard, soft;
		} affinity;
		uint8_t pad[128];
	} u;
};
_Static_assert(sizeof(struct xen_domctl) == 144, "as Xen lays it out");

#endif
