/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domU whose second vCPU is turned on, uses all of its PMU, and goes off in the middle of
 * it: the next time its PMU is as after a reset. The first one counts on all the while,
 * exactly, and ends the domain while the second one's counters run.
 */
#include "regs.h"

#define TURNS 20
#define LOOPS 20000

/* PSCI 1.1 (Arm DEN 0022) */
#define CPU_OFF 0x84000002
#define CPU_ON 0xc4000003
#define AFFINITY_INFO 0xc4000004
#define OFF 1

void second_start(void);
void second_main(void);

static uint64_t stack[512] __attribute__((aligned(16)));
static volatile unsigned int came, not_reset, miscounted;
static volatile bool last;
static uint64_t first_count;

/* The context that CPU_ON hands over is the stack. */
__asm__("second_start: mov sp, x0\n\tb second_main");

static long psci(unsigned long function, unsigned long a1, unsigned long a2,
		 unsigned long a3)
{
	register unsigned long x0 __asm__("x0") = function;
	register unsigned long x1 __asm__("x1") = a1;
	register unsigned long x2 __asm__("x2") = a2;
	register unsigned long x3 __asm__("x3") = a3;

	__asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) : : "memory");
	return x0;
}

/* A loop's instructions by counter 0; the same for whoever counts. */
static uint64_t __attribute__((noinline)) count(void)
{
	set(ARMV8_PMEVTYPER(0), ARMV8_EVENT_INST_RETIRED);
	set(ARMV8_PMEVCNTR(0), 0);
	set(ARMV8_PMCR, ARMV8_PMCR_E | ARMV8_PMCR_LC);
	sysreg_write(pmcntenset_el0, 1);
	__asm__ volatile("mov x9, %0\n1:\n\tsubs x9, x9, #1\n\tb.ne 1b"
			 :
			 : "r"(LOOPS)
			 : "x9", "cc", "memory");
	sysreg_write(pmcntenclr_el0, 1);
	return get(ARMV8_PMEVCNTR(0));
}

static bool is_reset(void)
{
	static const uint32_t zero[] = {
		ARMV8_PMCNTENSET,  ARMV8_PMINTENSET,   ARMV8_PMOVSSET,	  ARMV8_PMSELR,
		ARMV8_PMUSERENR,   ARMV8_PMCCNTR,      ARMV8_PMCCFILTR,	  ARMV8_PMEVCNTR(0),
		ARMV8_PMEVCNTR(3), ARMV8_PMEVTYPER(0), ARMV8_PMEVTYPER(3)
	};

	for (size_t i = 0; i < sizeof(zero) / sizeof(*zero); i++)
		if (get(zero[i]))
			return false;
	return !(get(ARMV8_PMCR) & (ARMV8_PMCR_E | ARMV8_PMCR_LC | ARMV8_PMCR_LP));
}

void second_main(void)
{
	not_reset += !is_reset();
	miscounted += count() != first_count;
	for (unsigned int c = 0; c < 4; c++) {
		set(ARMV8_PMEVTYPER(c), ARMV8_EVENT_CPU_CYCLES);
		set(ARMV8_PMEVCNTR(c), 0xfffffff0);
	}
	set(ARMV8_PMCCFILTR, ARMV8_TYPE_U);
	set(ARMV8_PMSELR, 3);
	set(ARMV8_PMUSERENR, ARMV8_PMUSERENR_ALL);
	set(ARMV8_PMINTENSET, ~0u);
	set(ARMV8_PMCNTENSET, ~0u);
	came++;
	while (last)
		;
	psci(CPU_OFF, 0, 0, 0);
}

int bare_main(void)
{
	unsigned int refused = 0;

	make_accessors();
	first_count = count();
	for (unsigned int i = 0; i < TURNS; i++) {
		last = i == TURNS - 1;
		refused += psci(CPU_ON, 1, (unsigned long)second_start,
				(unsigned long)(stack + 512)) != 0;
		do {
			miscounted += count() != first_count;
			yield();
		} while (came == i || (!last && psci(AFFINITY_INFO, 1, 0, 0) != OFF));
	}
	result("around_the_loop", first_count - 2 * LOOPS);
	result("refused", refused);
	result("came", came);
	result("not_reset", not_reset);
	result("miscounted", miscounted);
	return 0;
}
