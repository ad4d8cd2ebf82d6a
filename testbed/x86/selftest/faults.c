/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions that fault are not counted. */
#include "counters.h"
#include "programs.h"
#include "tests.h"

#define FAULTS 500

struct faulting {
	const char *name;
	char *program;
	int skip;		  /* the length of what faults; 0 if it is a trap */
	int others;		  /* instructions of a lap that do not fault */
	int before, lap_branches; /* instructions before the first lap; its branches */
};

static void counts(const struct faulting *fault)
{
	const struct pmu *pmu = find_pmu();
	struct cpu *cpu = this_cpu();

	cpu->subject = fault->name;
	cpu->skip = fault->skip;
	cpu->faults = 0;
	cpu->may_trap = true;
	counter_start(0, pmu->instructions | USER, 0);
	counter_start(1, pmu->branches | USER, 0);
	run_user(fault->program, FAULTS, scratch(), UNMAPPED);
	expect("it is not counted, all else is", counter_stop(0),
	       FAULTS * fault->others + fault->before + 1);
	expect("nor as a branch", counter_stop(1), FAULTS * fault->lap_branches + 1);
	expect("each trapped", cpu->faults, FAULTS);
	cpu->may_trap = false;
}

void test_faults(void)
{
	const struct faulting faults[] = {
		{ "an undefined instruction", undefined_user, 3, 3, 0, 1 },
		{ "a page fault", unmapped_user, 3, 3, 0, 1 },
		{ "a division by 0", divided_user, 3, 3, 0, 1 },
		{ "RDMSR at CPL 3", privileged_user, 3, 3, 0, 1 },
		{ "RDPMC at CPL 3 without CR4.PCE", forbidden_user, 3, 3, 0, 1 },
		{ "a call that faults", call_fault_user, 2, 4, 1, 1 },
	};
	const struct faulting breakpoint = {
		"INT3, which does not fault", breakpoints_user, 0, 3, 0, 2
	};

	for (unsigned int i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		counts(&faults[i]);
	counts(&breakpoint);
}
