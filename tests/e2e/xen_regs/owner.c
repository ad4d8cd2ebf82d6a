/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domU that has all of its PMU in use, each time differently, and finds it as it left
 * it, whatever others do with theirs. It ends in the middle of it: its counters run on.
 */
#include "regs.h"

#ifndef SEED
#define SEED 1
#endif
#define ROUNDS 50
#define LOOKS 3

/* A count that is enabled only grows, and not by more than ran meanwhile. */
#define MOST_EVENTS (1u << 24)

static uint64_t left[REGS];
static bool readable[REGS];
static unsigned int changed, backwards;

static bool is_count(uint32_t reg)
{
	return reg == ARMV8_PMCCNTR || reg == REG_PMCCNTR_64 || reg == ARMV8_PMXEVCNTR ||
	       (reg >= ARMV8_PMEVCNTR(0) && reg <= ARMV8_PMEVCNTR(30));
}

static bool is_overflow(uint32_t reg)
{
	return reg == ARMV8_PMOVSSET || reg == ARMV8_PMOVSCLR;
}

/* Cycles and instructions, some not at EL0 or EL1, from anywhere; E last. */
static void use(void)
{
	static const uint32_t events[] = { ARMV8_EVENT_CPU_CYCLES,
					   ARMV8_EVENT_INST_RETIRED };

	for (unsigned int c = 0; c < ARMV8_EVENT_COUNTERS; c++) {
		set(ARMV8_PMEVTYPER(c), events[below(2)] | (draw() & ARMV8_TYPE_U) |
						(draw() & draw() & ARMV8_TYPE_P));
		set(ARMV8_PMEVCNTR(c), draw() | 1);
	}
	set(ARMV8_PMCCFILTR, draw() & ARMV8_TYPE_U);
	set(ARMV8_PMCCNTR, draw() >> 1);
	set(ARMV8_PMSELR, 1 + below(3));
	set(ARMV8_PMUSERENR, 1 + below(15));
	set(ARMV8_PMINTENSET, draw() | 1);
	set(ARMV8_PMINTENCLR, draw() & draw() & ~1ull);
	set(ARMV8_PMOVSSET, draw() | 1);
	set(ARMV8_PMCNTENSET, draw() | 1);
	set(ARMV8_PMCNTENCLR, draw() & draw() & ~1ull);
	set(ARMV8_PMCR,
	    ARMV8_PMCR_E | (draw() & (ARMV8_PMCR_DP | ARMV8_PMCR_LP)) | ARMV8_PMCR_LC);
}

static void remember(void)
{
	for (unsigned int i = 0; i < REGS; i++) {
		left[i] = 0;
		readable[i] = reg_access(i, false, false, &left[i]);
	}
}

static void compare(void)
{
	for (unsigned int i = 0; i < REGS; i++) {
		uint32_t reg = reg_number(i);
		uint64_t value = 0;

		if (reg_access(i, false, false, &value) != readable[i])
			changed++;
		if (is_count(reg)) {
			/* in AArch32 the lower half of it may wrap */
			value = (value - left[i]) & width(reg);
			if (value > MOST_EVENTS && !backwards++)
				result("backwards_register", reg);
		} else if (is_overflow(reg) ? left[i] & ~value : value != left[i]) {
			if (!changed++) {
				result("changed_register", reg);
				result("changed_from", left[i]);
				result("changed_to", value);
			}
		}
	}
}

int bare_main(void)
{
	unsigned int others = 0;

	make_accessors();
	chance_state += SEED;
	for (int i = 0; i < ROUNDS; i++) {
		use();
		remember();
		for (int look = 0; look < LOOKS; look++) {
			others += yield_to_others();
			compare();
		}
	}
	result("changed", changed);
	result("backwards", backwards);
	result("others_ran", others);
	return 0;
}
