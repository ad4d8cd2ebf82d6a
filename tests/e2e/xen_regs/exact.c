/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domU that counts a loop of known length again and again, others running in the middle
 * of it: always the same, to the instruction, and to the cycle, which is one.
 */
#include "regs.h"

#define ROUNDS 100
#define LOOPS 50000
#define INSTRUCTIONS (4 * LOOPS)

/* Enabled by the first instruction's end, disabled by the last one's beginning. */
#ifdef __aarch64__
#define LOOP "mov x9, %0\n1:\n\tsubs x9, x9, #1\n\tb.ne 1b\n\t"
#define LOOP_USES "x9", "cc", "memory"
#define ENABLE(which) sysreg_write(pmcntenset_el0, which)
#define DISABLE(which) sysreg_write(pmcntenclr_el0, which)
#else
#define LOOP "mov r4, %0\n1:\n\tsubs r4, r4, #1\n\tbne 1b\n\t"
#define LOOP_USES "r4", "cc", "memory"
#define ENABLE(which) cp15_write(0, 9, 12, 1, which)
#define DISABLE(which) cp15_write(0, 9, 12, 2, which)
#endif

static unsigned int turns;

static void __attribute__((noinline)) loop(void)
{
	__asm__ volatile(LOOP : : "r"(LOOPS) : LOOP_USES);
}

static void round_of(uint64_t *instructions, uint64_t *cycles)
{
	const uint32_t both = 1 | 1u << ARMV8_CYCLES;
	uint64_t before;

	set(ARMV8_PMCR, ARMV8_PMCR_E | ARMV8_PMCR_P | ARMV8_PMCR_C | ARMV8_PMCR_LC);
	ENABLE(both);
	loop();
	before = ticks();
	yield();
	turns += ticks() - before > TICKS_OF_OTHERS;
	loop();
	DISABLE(both);
	*instructions = get(ARMV8_PMEVCNTR(0));
	*cycles = get(ARMV8_PMCCNTR);
}

int bare_main(void)
{
	uint64_t first = 0, instructions, cycles;
	unsigned int wrong = 0;

	make_accessors();
	set(ARMV8_PMEVTYPER(0), ARMV8_EVENT_INST_RETIRED);
	for (int i = 0; i < ROUNDS; i++) {
		round_of(&instructions, &cycles);
		if (!i)
			first = instructions;
		if ((instructions != first || cycles != first) && !wrong++) {
			result("wrong_round", i);
			result("wrong_instructions", instructions);
			result("wrong_cycles", cycles);
		}
	}
	result("rounds", ROUNDS);
	result("wrong_rounds", wrong);
	result("around_the_loop", first - INSTRUCTIONS);
	result("others_ran", turns);
	return 0;
}
