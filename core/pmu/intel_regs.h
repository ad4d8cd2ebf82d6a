/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_PMU_INTEL_REGS_H
#define CORE_PMU_INTEL_REGS_H

/*
 * Intel architectural performance monitoring, versions 1 to 5: SDM vol. 3, chapter 20
 * (18 and 19 in older editions), and vol. 4 for the numbers. Counters are numbered as
 * in IA32_PERF_GLOBAL_CTRL: general-purpose ones from 0, fixed ones from 32.
 */

#include "core/pmu/x86_regs.h"

#define INTEL_GP_MAX 8
#define INTEL_FIXED_MAX 16
#define INTEL_FIXED 32 /* number of the first fixed counter */

#define INTEL_PMC(n) (0xc1u + (n))    /* writes sign-extend bit 31 (20.2.6) */
#define INTEL_A_PMC(n) (0x4c1u + (n)) /* full-width writes, where there are any */
#define INTEL_EVTSEL(n) (0x186u + (n))
#define INTEL_FIXED_CTR(n) (0x309u + (n))
#define INTEL_PERF_CAPABILITIES 0x345u
#define INTEL_FIXED_CTR_CTRL 0x38du /* v2 on, as the next three */
#define INTEL_GLOBAL_STATUS 0x38eu
#define INTEL_GLOBAL_CTRL 0x38fu
#define INTEL_GLOBAL_OVF_CTRL 0x390u   /* v4: GLOBAL_STATUS_RESET */
#define INTEL_GLOBAL_STATUS_SET 0x391u /* v4 on, as the next one */
#define INTEL_GLOBAL_INUSE 0x392u

/*
 * What VM exits load into GLOBAL_CTRL, a field of the VMCS (vol. 3, appendix B), by its
 * encoding: a pseudo-register, hardware only. GLOBAL_CTRL itself stands for what VM
 * entries load. Both are loaded where the processor can.
 */
#define INTEL_ROOT_GLOBAL_CTRL 0xc1002c04u
#define INTEL_VMX_EXIT_CTLS 0x483u

#define INTEL_CPUID_VMX (1u << 5)	   /* leaf 1 ECX: the VMX_… registers are there */
#define INTEL_CPUID_PDCM (1u << 15)	   /* leaf 1 ECX: PERF_CAPABILITIES is there */
#define INTEL_CAP_FW_WRITE (1u << 13)	   /* of PERF_CAPABILITIES: full-width writes */
#define INTEL_EXIT_LOADS_CTRL (1ULL << 44) /* of VMX_EXIT_CTLS: GLOBAL_CTRL may be */

/* What the first fixed counters count; the third has no number of its own: Linux's. */
#define INTEL_INSTRUCTIONS 0xc0u
#define INTEL_CYCLES 0x3cu
#define INTEL_REF_CYCLES 0x300u

/* A fixed counter's four bits of FIXED_CTR_CTRL (20.2.2) */
#define INTEL_FIXED_OS 1u
#define INTEL_FIXED_USR 2u
#define INTEL_FIXED_ANY 4u
#define INTEL_FIXED_PMI 8u
#define INTEL_FIXED_SHIFT(n) (4 * (n))

/* Bits of GLOBAL_STATUS that are no counter's, and what clears them (20.2.2, 20.2.4) */
#define INTEL_STATUS_LBR_FRZ (1ULL << 58)
#define INTEL_STATUS_CTR_FRZ (1ULL << 59)
#define INTEL_STATUS_ASCI (1ULL << 60)
#define INTEL_STATUS_UNCORE (1ULL << 61)
#define INTEL_STATUS_BUFFER (1ULL << 62)
#define INTEL_STATUS_CHANGED (1ULL << 63)
#define INTEL_STATUS_V2 (INTEL_STATUS_BUFFER | INTEL_STATUS_CHANGED)
#define INTEL_STATUS_V3 (INTEL_STATUS_V2 | INTEL_STATUS_UNCORE)
#define INTEL_STATUS_V4                                                                    \
	(INTEL_STATUS_V3 | INTEL_STATUS_ASCI | INTEL_STATUS_CTR_FRZ | INTEL_STATUS_LBR_FRZ)

#define INTEL_INUSE_PMI (1ULL << 63)

/* struct vpmu_caps: features, and id[0] EAX | EBX << 32 of leaf 0xa */
#define INTEL_HAS_CAPABILITIES 1u /* PERF_CAPABILITIES is there */
#define INTEL_HAS_FULL_WIDTH 2u	  /* and promises full-width writes */
#define INTEL_HAS_ROOT 4u	  /* the hypervisor has a GLOBAL_CTRL of its own */

/* Of what encode() makes, beside PERFEVTSEL's bits: counts in the hypervisor only. */
#define INTEL_SEL_ROOT (1ULL << 32)

struct vpmu_caps;
/*
 * What a guest that sees a PMU is told by CPUID: @r holds @leaf's four registers as it
 * would be told without one, and is changed where the PMU has a say.
 */
void intel_guest_cpuid(const struct vpmu_caps *caps, uint32_t leaf, uint32_t r[4]);

#endif
