/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_PMU_AMD_REGS_H
#define CORE_PMU_AMD_REGS_H

/*
 * AMD core performance counters: the four of K8 and K10, the core extension (Fam15h
 * on), PerfMonV2 (Zen 4 on). APM vol. 2, 13.2, and the PPRs for the numbers.
 */

#include "core/pmu/x86_regs.h"

#define AMD_LEGACY 4   /* counters with a legacy register */
#define AMD_EXTENDED 6 /* counters of the core extension without PerfMonV2 */
#define AMD_MAX 16
#define AMD_WIDTH 48

#define AMD_LEGACY_CTL(n) (0xc0010000u + (n))
#define AMD_LEGACY_CTR(n) (0xc0010004u + (n))
/* With the extension; counters 0 to 3 are the same ones as the legacy registers'. */
#define AMD_CTL(n) (0xc0010200u + 2 * (n))
#define AMD_CTR(n) (0xc0010201u + 2 * (n))
/* PerfMonV2 */
#define AMD_GLOBAL_STATUS 0xc0000300u /* read-only: writes do nothing */
#define AMD_GLOBAL_CTL 0xc0000301u
#define AMD_GLOBAL_STATUS_CLR 0xc0000302u
#define AMD_GLOBAL_STATUS_SET 0xc0000303u

/* PERF_CTLn beyond X86_SEL_…; reserved bits read as zero and ignore writes */
#define AMD_SEL_EVENT_HIGH (0xfULL << 32)
#define AMD_SEL_GUEST_ONLY (1ULL << 40) /* both: with EFER.SVME only */
#define AMD_SEL_HOST_ONLY (1ULL << 41)
#define AMD_SEL_CONFIG (X86_SEL_CONFIG | AMD_SEL_EVENT_HIGH)
#define AMD_SEL_GUEST (AMD_SEL_CONFIG | X86_SEL_USR | X86_SEL_OS | X86_SEL_INT | X86_SEL_EN)
#define AMD_SEL_KNOWN (AMD_SEL_GUEST | AMD_SEL_GUEST_ONLY | AMD_SEL_HOST_ONLY)

/* CPUID 8000_0001 ECX */
#define AMD_CPUID_EXT_CORE (1u << 23)
#define AMD_CPUID_EXT_NB (1u << 24)
#define AMD_CPUID_EXT_LLC (1u << 28)
/* CPUID 8000_0022 */
#define AMD_CPUID_V2 1u		/* EAX */
#define AMD_CPUID_COUNTERS 0xfu /* EBX */

/* struct vpmu_caps: version */
enum { AMD_K10 = 1, AMD_EXT = 2, AMD_V2 = 3 };

struct vpmu_caps;
/* As intel_guest_cpuid(), for leaves 8000_0001 and 8000_0022. */
void amd_guest_cpuid(const struct vpmu_caps *caps, uint32_t leaf, uint32_t r[4]);

#endif
