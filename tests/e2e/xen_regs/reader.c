/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domU that only looks: whatever others do with the PMU (owner.c), and once they are
 * gone, each register has its reset value.
 */
#include "regs.h"

#define ROUNDS 100 /* twice as many as owner.c's */

static bool constant(uint32_t reg)
{
	return reg == ARMV8_PMCEID0 || reg == ARMV8_PMCEID1 || reg == ARMV8_PMMIR ||
	       reg == REG_PMCEID2 || reg == REG_PMCEID3;
}

static uint64_t first[REGS];
static unsigned int foreign, changed, undefined;

static void look(bool at_first)
{
	for (unsigned int i = 0; i < REGS; i++) {
		uint64_t value = 0;

		if (!reg_access(i, false, false, &value)) {
			undefined += at_first;
			continue;
		}
		if (at_first)
			first[i] = value;
		if (value != first[i])
			changed++;
		if (reg_number(i) == ARMV8_PMCR)
			value &= ~(ARMV8_PMCR_ID | ARMV8_PMCR_N << ARMV8_PMCR_N_SHIFT);
		if (value && !constant(reg_number(i)) && !foreign++) {
			result("foreign_register", reg_number(i));
			result("foreign_value", value);
		}
	}
}

int bare_main(void)
{
	unsigned int others = 0;

	make_accessors();
	/* nobody's PMU is older than theirs */
	for (int i = 0; i < 5; i++)
		yield();
	for (int i = 0; i < ROUNDS; i++) {
		look(!i);
		others += yield_to_others();
	}
	result("foreign", foreign);
	result("changed", changed);
	result("undefined", undefined);
	result("others_ran", others);
	result("counters", get(ARMV8_PMCR) >> ARMV8_PMCR_N_SHIFT & ARMV8_PMCR_N);
	return 0;
}
