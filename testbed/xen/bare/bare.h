/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domU that is one small program: no kernel, no interrupt, MMU off. For tests that want
 * to see what a register does, and what happens at an access that is refused. The same
 * source runs as an AArch64 or an AArch32 guest.
 */
#ifndef TESTBED_XEN_BARE_H
#define TESTBED_XEN_BARE_H

#include <stdint.h>

/* The program. What it returns, up to 99, is the domU's status. */
int bare_main(void);

/* To the domU's console. A line is at most 120 characters. */
void print(const char *text);

/* One line "@@ NAME 0xVALUE", which comes out of `run` as "@@ NAME@domN 0xVALUE". */
void result(const char *name, uint64_t value);

/* Waits for dom0's scenario to say domu_go of this domU, or for a line typed into it. */
void until_go(void);

/* Whether that has been said; then it is taken: the next call waits for the next. */
_Bool told_to_go(void);

/*
 * How many instructions were refused as undefined since the last call; execution went on
 * behind each of them. Any other exception ends the domU with status 99.
 */
unsigned int faults_taken(void);

/* Calls @fn(@arg) at EL0 (AArch32: in user mode) and gives what it returns. */
unsigned long at_el0(unsigned long (*fn)(unsigned long), unsigned long arg);

#ifdef __aarch64__
#define sysreg_read(name)                                                                  \
	({                                                                                 \
		uint64_t value_ = 0;                                                       \
		__asm__ volatile("mrs %0, " #name : "+r"(value_) : : "memory");            \
		value_;                                                                    \
	})
#define sysreg_write(name, value)                                                          \
	__asm__ volatile("msr " #name ", %0\n\tisb" : : "r"((uint64_t)(value)) : "memory")
#else
/* By the numbers of the instruction: MRC p15, op1, Rt, CRn, CRm, op2. */
#define cp15_read(op1, crn, crm, op2)                                                      \
	({                                                                                 \
		uint32_t value_ = 0;                                                       \
		__asm__ volatile("mrc p15, " #op1 ", %0, c" #crn ", c" #crm ", " #op2      \
				 : "+r"(value_)                                            \
				 :                                                         \
				 : "cc", "memory");                                        \
		value_;                                                                    \
	})
#define cp15_write(op1, crn, crm, op2, value)                                              \
	__asm__ volatile("mcr p15, " #op1 ", %0, c" #crn ", c" #crm ", " #op2 "\n\tisb"    \
			 :                                                                 \
			 : "r"((uint32_t)(value))                                          \
			 : "cc", "memory")
#endif

#endif
