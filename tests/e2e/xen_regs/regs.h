/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For domUs that try all of the PMU's registers: access by number, from EL1 and EL0, in
 * AArch64 and AArch32; and what else such programs share.
 */
#ifndef TESTS_E2E_XEN_REGS_H
#define TESTS_E2E_XEN_REGS_H

#include <stdbool.h>
#include <stddef.h>

#include "bare.h"
#include "core/pmu/armv8_regs.h"

/* What is in 9, and 2 x 32 of event counters; some of the encodings are no register. */
#define REGS_OF_CRN9 23
#define REGS (REGS_OF_CRN9 + 64)
#define ABSENT_9_12 ARMV8_REG(3, 3, 9, 12, 7)
#define ABSENT_9_13 ARMV8_REG(3, 3, 9, 13, 3)
/* AArch32 only: the upper halves of PMCEID0_EL0 and PMCEID1_EL0 */
#define REG_PMCEID2 ARMV8_REG(3, 3, 9, 14, 4)
#define REG_PMCEID3 ARMV8_REG(3, 3, 9, 14, 5)
/* AArch32 only, by our own number: all of PMCCNTR, by MRRC and MCRR */
#define REG_PMCCNTR_64 ARMV8_REG(3, 3, 9, 13, 7)
#define COUNTERS_OF_ALL 32

static const uint32_t crn9[REGS_OF_CRN9] = {
	ARMV8_PMINTENSET, ARMV8_PMINTENCLR, ARMV8_PMMIR,     ARMV8_PMCR,
	ARMV8_PMCNTENSET, ARMV8_PMCNTENCLR, ARMV8_PMOVSCLR,  ARMV8_PMSWINC,
	ARMV8_PMSELR,	  ARMV8_PMCEID0,    ARMV8_PMCEID1,   ARMV8_PMCCNTR,
	ARMV8_PMXEVTYPER, ARMV8_PMXEVCNTR,  ARMV8_PMUSERENR, ARMV8_PMOVSSET,
	ABSENT_9_12,	  ABSENT_9_13,	    REG_PMCEID2,     REG_PMCEID3,
	ARMV8_PMSELR,	  ARMV8_PMUSERENR, /* twice as often */
	REG_PMCCNTR_64,
};

static inline uint32_t reg_number(unsigned int i)
{
	return i < REGS_OF_CRN9 ? crn9[i] : ARMV8_PMEVCNTR(0) + i - REGS_OF_CRN9;
}

/* ---- access: one small function per register, made at the start */

typedef uint64_t access_fn(uint64_t value);
static uint32_t accessors[REGS][2][4] __attribute__((aligned(64)));

#ifdef __aarch64__
#define ISB 0xd5033fdf
#define RET 0xd65f03c0
static inline uint32_t instruction(uint32_t reg, bool write)
{
	return (write ? 0xd5000000 : 0xd5200000) | reg << 5; /* MSR, MRS: C6.2 */
}
#else
#define ISB 0xf57ff06f
#define RET 0xe12fff1e
/* MCR, MRC, MCRR, MRRC: F5.1; op1 is 0 */
static inline uint32_t instruction(uint32_t reg, bool write)
{
	if (reg == REG_PMCCNTR_64)
		return write ? 0xec410f09 : 0xec510f09;
	return (write ? 0xee000f10 : 0xee100f10) | (reg >> 7 & 15) << 16 | (reg & 7) << 5 |
	       (reg >> 3 & 15);
}
#endif

static inline void make_accessors(void)
{
	for (unsigned int i = 0; i < REGS; i++)
		for (int write = 0; write < 2; write++) {
			accessors[i][write][0] = instruction(reg_number(i), write);
			accessors[i][write][1] = ISB;
			accessors[i][write][2] = RET;
		}
#ifdef __aarch64__
	__asm__ volatile("dsb sy\n\tic iallu\n\tdsb sy\n\tisb" : : : "memory");
#else
	__asm__ volatile("dsb sy" : : : "memory");
	cp15_write(0, 7, 5, 0, 0); /* ICIALLU */
#endif
}

/* The bits of a register that an access moves. */
static inline uint64_t width(uint32_t reg)
{
	return sizeof(long) == 4 && reg != REG_PMCCNTR_64 ? 0xffffffff : ~0ull;
}

/*
 * Reads or writes the register of place @i; false: it was undefined. In AArch32
 * REG_PMCCNTR_64 is for EL1 only.
 */
static inline bool reg_access(unsigned int i, bool write, bool user, uint64_t *value)
{
	void *code = accessors[i][write];
	uint64_t got;

	faults_taken();
	if (user)
		got = at_el0((unsigned long (*)(unsigned long))code, (unsigned long)*value);
	else
		got = ((access_fn *)code)(*value);
	if (faults_taken())
		return false;
	if (!write)
		*value = got & width(reg_number(i));
	return true;
}

static inline unsigned int place_of(uint32_t reg)
{
	unsigned int i = 0;

	while (reg_number(i) != reg)
		i++;
	return i;
}

static inline uint64_t get(uint32_t reg)
{
	uint64_t value = 0;

	reg_access(place_of(reg), false, false, &value);
	return value;
}

static inline void set(uint32_t reg, uint64_t value)
{
	reg_access(place_of(reg), true, false, &value);
}

/* ---- chance */

static uint64_t chance_state = 88172645463325252u;

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" */
static inline uint64_t draw(void)
{
	chance_state ^= chance_state >> 12;
	chance_state ^= chance_state << 25;
	chance_state ^= chance_state >> 27;
	return chance_state * 0x2545f4914f6cdd1d;
}

/* By shifts: there is no library for a division. */
static inline unsigned int below(unsigned int n)
{
	return ((draw() >> 32) * n) >> 32;
}

/* ---- time, and the other domains */

static inline uint64_t ticks(void)
{
#ifdef __aarch64__
	return sysreg_read(cntvct_el0);
#else
	uint32_t low, high;

	__asm__ volatile("isb\n\tmrrc p15, 1, %0, %1, c14" : "=r"(low), "=r"(high));
	return (uint64_t)high << 32 | low;
#endif
}

/* SCHEDOP_yield (xen/include/public/sched.h): whoever else wants to run does. */
static inline void yield(void)
{
#ifdef __aarch64__
	register unsigned long x0 __asm__("x0") = 0;
	register unsigned long x1 __asm__("x1") = 0;
	register unsigned long x16 __asm__("x16") = 29;

	__asm__ volatile("hvc #0xea1" : "+r"(x0), "+r"(x1), "+r"(x16) : : "memory");
#else
	register unsigned long r0 __asm__("r0") = 0;
	register unsigned long r1 __asm__("r1") = 0;
	register unsigned long r12 __asm__("r12") = 29;

	__asm__ volatile(".arch_extension virt\n\thvc #0xea1"
			 : "+r"(r0), "+r"(r1), "+r"(r12)
			 :
			 : "memory");
#endif
}

/*
 * Others ran meanwhile: a yield alone takes a tenth of that (62.5 MHz), and whoever
 * yields has worked longer before, so that it is not the one with the most credit.
 */
#define TICKS_OF_OTHERS 1000

static inline bool yield_to_others(void)
{
	uint64_t before = ticks();

	while (ticks() - before < 2 * TICKS_OF_OTHERS)
		;
	before = ticks();
	yield();
	return ticks() - before > TICKS_OF_OTHERS;
}

#endif
