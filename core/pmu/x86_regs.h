/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_PMU_X86_REGS_H
#define CORE_PMU_X86_REGS_H

/*
 * What Intel and AMD have in common: registers are numbered as MSRs; what is read by
 * another instruction has pseudo-registers where no MSR is.
 */

#include <stdint.h>

/* Register @r (0 … 3: EAX … EDX) of CPUID leaf @leaf, read-only, hardware only. */
#define X86_CPUID(leaf, r)                                                                 \
	(0xe0000000u | ((uint32_t)(leaf)&0x80000000u) >> 8 | ((leaf)&0xffffu) << 2 | (r))
enum { X86_EAX, X86_EBX, X86_ECX, X86_EDX };

/*
 * RDPMC with @ecx, for guests: read-only. Whoever emulates it has checked CR4.PCE for
 * ring 3. Whatever does not fit is a number that no PMU knows.
 */
#define X86_RDPMC 0xd0000000u
#define X86_RDPMC_FIXED (1u << 30) /* of ECX, Intel only: a fixed counter */
static inline uint32_t x86_rdpmc(uint32_t ecx)
{
	if (ecx & 0xbfff0000u)
		return X86_RDPMC | 0xfffffffu;
	return X86_RDPMC | (ecx & X86_RDPMC_FIXED) >> 6 | (ecx & 0xffffu);
}

/* How many bits @mask has; the compiler's own may need a library where there is none. */
static inline unsigned x86_bits(uint64_t mask)
{
	unsigned n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

/* IA32_PERFEVTSELx, PERF_CTLn (SDM vol. 3, 20.2.1.1; APM vol. 2, 13.2.1) */
#define X86_SEL_EVENT 0xffffu /* event and unit mask */
#define X86_SEL_USR (1u << 16)
#define X86_SEL_OS (1u << 17)
#define X86_SEL_EDGE (1u << 18)
#define X86_SEL_PC (1u << 19) /* Intel only: toggles a pin */
#define X86_SEL_INT (1u << 20)
#define X86_SEL_ANY (1u << 21) /* Intel only, v3 on: of both hardware threads */
#define X86_SEL_EN (1u << 22)
#define X86_SEL_INV (1u << 23)
#define X86_SEL_CMASK 0xff000000u
/* What a host's event may say of it; the rest is made of its flags. */
#define X86_SEL_CONFIG (X86_SEL_EVENT | X86_SEL_EDGE | X86_SEL_INV | X86_SEL_CMASK)

#endif
