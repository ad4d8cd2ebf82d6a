/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domU of test_xen_traps: what each form of access to a PMU register does, from EL1 and
 * from EL0, in AArch64 and in AArch32. Registers: Arm ARM DDI 0487, D17.5 and G8.4.
 */
#include "testbed/xen/bare/bare.h"

#ifdef __aarch64__
#define READ(name64, op1, crn, crm, op2) sysreg_read(name64)
#define WRITE(name64, op1, crn, crm, op2, value) sysreg_write(name64, value)
#else
#define READ(name64, op1, crn, crm, op2) cp15_read(op1, crn, crm, op2)
#define WRITE(name64, op1, crn, crm, op2, value) cp15_write(op1, crn, crm, op2, value)
#endif

#define PMCR pmcr_el0, 0, 9, 12, 0
#define PMCNTENSET pmcntenset_el0, 0, 9, 12, 1
#define PMCNTENCLR pmcntenclr_el0, 0, 9, 12, 2
#define PMSELR pmselr_el0, 0, 9, 12, 5
#define PMCEID0 pmceid0_el0, 0, 9, 12, 6
#define PMCCNTR pmccntr_el0, 0, 9, 13, 0
#define PMXEVCNTR pmxevcntr_el0, 0, 9, 13, 2
#define PMUSERENR pmuserenr_el0, 0, 9, 14, 0
#define PMINTENSET pmintenset_el1, 0, 9, 14, 1
#define PMINTENCLR pmintenclr_el1, 0, 9, 14, 2
#define PMEVCNTR1 pmevcntr1_el0, 0, 14, 8, 1
#define PMEVTYPER1 pmevtyper1_el0, 0, 14, 12, 1
#define PMCCFILTR pmccfiltr_el0, 0, 14, 15, 7
#define DFR0 id_dfr0_el1, 0, 0, 1, 2
#define GET(...) READ(__VA_ARGS__)
#define SET(...) WRITE(__VA_ARGS__)

static unsigned long read_pmccntr(unsigned long ignored)
{
	(void)ignored;
	return GET(PMCCNTR) != 0;
}

static unsigned long write_pmintenset(unsigned long value)
{
	SET(PMINTENSET, value);
	return value;
}

/* Instructions that INST_RETIRED tells of a loop of two, of so many rounds. */
static unsigned long counted(unsigned long rounds)
{
	SET(PMCNTENCLR, 2);
	SET(PMEVTYPER1, 8);
	SET(PMEVCNTR1, 0);
	SET(PMCR, GET(PMCR) | 1);
	SET(PMCNTENSET, 2);
	__asm__ volatile("1: subs %0, %0, #1\n\tbne 1b" : "+r"(rounds) : : "cc");
	return GET(PMEVCNTR1);
}

static void forms(void)
{
	SET(PMEVCNTR1, 0x1234);
	SET(PMSELR, 1);
	result("indirect_reads_direct", GET(PMXEVCNTR));
	SET(PMXEVCNTR, 0x4321);
	result("direct_reads_indirect", GET(PMEVCNTR1));
	SET(PMCCFILTR, 0x80000000);
	result("filter", GET(PMCCFILTR) & 0xf8000000);
	SET(PMCCFILTR, 0);
	SET(PMINTENSET, 0x80000002);
	SET(PMINTENCLR, 2);
	result("interrupts", GET(PMINTENSET));
	SET(PMINTENCLR, 0xffffffff);
	result("more_in_a_longer_loop", counted(1100) - counted(100));
	result("events", GET(PMCEID0) & 0xffffffff);
}

#ifndef __aarch64__
static void aarch32_only(void)
{
	uint32_t kept = 9;

	result("events_high", cp15_read(0, 9, 14, 4)); /* PMCEID2 */
	__asm__ volatile("cmp %0, %0\n\tmrcne p15, 0, %0, c9, c12, 0"
			 : "+r"(kept)
			 :
			 : "cc");
	result("condition_fails", kept);
}
#endif

static void from_el0(void)
{
	SET(PMCCNTR, 1);
	SET(PMUSERENR, 4); /* CR: reads of the cycle counter */
	result("el0_reads", at_el0(read_pmccntr, 0));
	result("el0_allowed", faults_taken());
	SET(PMUSERENR, 15);
	at_el0(write_pmintenset, 1);
	result("el0_never", faults_taken());
#ifdef __aarch64__
	SET(PMUSERENR, 0);
	at_el0(read_pmccntr, 0);
	result("el0_not_allowed", faults_taken());
#endif
}

/*
 * Whatever Xen would answer with an exception in AArch32 is left out: the emulator (QEMU
 * 7.2) does not hand SPSR_und over, so that nothing returns from it. It has no MRRC of
 * PMCCNTR either.
 */
int bare_main(void)
{
	uint64_t counters;

	faults_taken();
	result("perfmon", GET(DFR0) >> 24 & 15);
#ifdef __aarch64__
	result("pmuver", sysreg_read(id_aa64dfr0_el1) >> 8 & 15);
#endif
	counters = GET(PMCR) >> 11 & 31;
	result("counters", counters);
	result("faults_before", faults_taken());
#ifndef __aarch64__
	if (!counters)
		return 0;
	aarch32_only();
#endif
	forms();
	result("faults", faults_taken());
	from_el0();
	return 0;
}
