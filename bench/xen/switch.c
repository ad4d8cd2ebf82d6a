/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two domains with this program, on one pCPU, yield to each other, so that each yield is
 * one switch to the other. Both go through the same phases, in which one of them, or
 * both, use a PMU; they know where they are by counting their yields. A phase's result
 * is the ticks of a block: STEPS times there and back. FIRST says which of the two.
 */
#include "measure.h"

#define STEPS 64
/* To both sides of what is measured, for the other one to be in the same phase. */
#define MARGIN 32
#define SCHEDOP_YIELD 0

static uint32_t set;

static void yield(void)
{
	hypercall(HYPERCALL_SCHED, SCHEDOP_YIELD, NULL);
}

static void yields(unsigned n)
{
	while (n--)
		yield();
}

static void nothing(void)
{
}

static void one(void)
{
	pmu_use(1, false);
}

static void all(void)
{
	pmu_use(pmu_counters(), true);
}

static void instructions(void)
{
	set = set_open(INST_RETIRED);
}

static void cycles(void)
{
	set_close(set);
	set = set_open(CPU_CYCLES);
}

static void close(void)
{
	set_close(set);
}

static const struct phase {
	const char *name;
	void (*first)(void), (*second)(void);
	bool set; /* of those that need one of the host's */
} phases[] = {
	{ "unused", nothing, nothing, false },
	{ "one_1", one, nothing, false },
	{ "one_all", all, nothing, false },
	{ "both_1", one, one, false },
	{ "both_all", all, all, false },
	{ "stopped", pmu_leave, pmu_leave, false },
	{ "host_one", instructions, nothing, true },
	{ "host_equal", nothing, instructions, true },
	{ "host_different", nothing, cycles, true },
	{ "host_closed", close, close, true },
};

#define PHASES (sizeof(phases) / sizeof(*phases))

static uint64_t measured[PHASES], spread[PHASES];

static void measure(unsigned phase)
{
	uint64_t block[BLOCKS];

	for (unsigned b = 0; b < BLOCKS; b++) {
		uint64_t before = ticks();

		yields(STEPS);
		block[b] = ticks() - before;
	}
	measured[phase] = median(block);
	spread[phase] = block[3 * BLOCKS / 4] - block[BLOCKS / 4];
}

int bare_main(void)
{
	yields(MARGIN);
	for (unsigned i = 0; i < PHASES; i++) {
		if (FIRST)
			phases[i].first();
		else
			phases[i].second();
		yields(MARGIN);
		measure(i);
		yields(MARGIN);
	}
	result("faults", faults_taken());
	result("set", set);
	for (unsigned i = 0; i < PHASES; i++) {
		if (phases[i].set && !set)
			continue;
		result(phases[i].name, measured[i]);
		print(phases[i].name);
		result("_spread", spread[i]);
	}
	return 0;
}
