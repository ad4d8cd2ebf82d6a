/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of programs whose length is known, to the instruction. */
#include "counters.h"
#include "programs.h"
#include "tests.h"

#define DEFINE(NAME, ...)                                                                  \
	const struct program NAME##_program = { #NAME,	      #NAME ", by cycles",         \
						NAME,	      NAME##_user,                 \
						NAME##_table, NAME##_table_end,            \
						__VA_ARGS__ }
DEFINE(mixed, .branches = 5);
DEFINE(tight, .branches = 1);
DEFINE(strings, .branches = 1);
DEFINE(calls, .kernel_insns = 1, .branches = 2, .kernel_branches = 1);
DEFINE(crossing, .branches = 4);

const struct program *const programs[PROGRAMS] = { &mixed_program, &tight_program,
						   &strings_program, &calls_program,
						   &crossing_program };

static const uint64_t laps[] = { 1, 2, 3, 10, 1000, 4321 };
#define LAPS (sizeof(laps) / sizeof(laps[0]))

static uint64_t count_user(int counter, uint64_t select, const struct program *program,
			   uint64_t n)
{
	counter_start(counter, select, 0);
	run_user(program->user, n, scratch());
	return counter_stop(counter);
}

static uint64_t count_kernel(uint64_t select, const struct program *program, uint64_t n)
{
	uint64_t count;

	counter_start(0, select, 12345);
	count = count_call(0, program->kernel, n, scratch());
	counter_stop(0);
	return count;
}

static void counts_the_user(const struct program *program, uint64_t select)
{
	bool ok = true;

	for (int c = 0; c < find_pmu()->counters; c++) {
		for (unsigned int i = 0; i < LAPS; i++) {
			uint64_t n = laps[i];

			ok &= check("a counter", count_user(c, select | USER, program, n),
				    user_length(program, n));
		}
	}
	expect("counts the user exactly, on each counter", ok, true);
}

/* 5 more are count_call()'s own. */
static void counts_the_kernel(const struct program *program, uint64_t select)
{
	bool ok = true;

	for (unsigned int i = 0; i < LAPS; i++)
		ok &= check("a length", count_kernel(select | OS, program, laps[i]),
			    kernel_length(program, laps[i]) + 5);
	expect("counts the kernel exactly", ok, true);
}

static void counts_one_side(const struct program *program, uint64_t select)
{
	uint64_t some, more;

	expect("CPL 0 is not counted as CPL 3", count_kernel(select | USER, program, 1000),
	       0);
	expect("nothing is counted without a side", count_kernel(select, program, 1000), 0);
	some = count_user(0, select | OS, program, 10); /* its start and its end */
	more = count_user(0, select | OS, program, 1010);
	expect("CPL 3 is not counted as CPL 0", more - some, 1000 * program->kernel_insns);
}

/* What three counters at once count of both sides, less what each should; a constant. */
static uint64_t surplus(const struct program *program, uint64_t select, uint64_t n)
{
	uint64_t user, both, kernel;

	counter_start(0, select | USER, 0);
	counter_start(1, select | USER | OS, 0);
	counter_start(2, select | OS, 0);
	run_user(program->user, n, scratch());
	kernel = counter_stop(2);
	both = counter_stop(1);
	user = counter_stop(0);
	check("user", user, user_length(program, n));
	return both - user - kernel;
}

static void sides_add_up(const struct program *program, uint64_t select)
{
	expect("both sides are the sum of each, whatever ran",
	       surplus(program, select, 12345) - surplus(program, select, 1), 0);
}

static void counts(const struct program *program, uint64_t select)
{
	counts_the_user(program, select);
	counts_the_kernel(program, select);
	counts_one_side(program, select);
	sides_add_up(program, select);
}

void test_counting(void)
{
	const struct pmu *pmu = find_pmu();

	for (int i = 0; i < PROGRAMS; i++) {
		this_cpu()->subject = programs[i]->name;
		counts(programs[i], pmu->instructions);
		this_cpu()->subject = programs[i]->by_cycles;
		counts(programs[i], pmu->cycles);
	}
}

static void counts_branches(const struct program *program)
{
	const struct pmu *pmu = find_pmu();
	uint64_t user, kernel;

	user = count_user(0, pmu->branches | USER, program, 1234);
	expect("counts the user's branches exactly", user, 1234 * program->branches + 3);
	kernel = count_kernel(pmu->branches | OS, program, 1234);
	/* a call, and the return of what is called */
	expect("counts the kernel's branches exactly", kernel,
	       1234 * (program->branches + program->kernel_branches) + 2);
}

static void counts_as_selected(const char *name, uint64_t select, uint64_t wanted)
{
	expect(name, count_user(0, select | USER, &mixed_program, 100), wanted);
}

void test_events(void)
{
	const struct pmu *pmu = find_pmu();
	uint64_t all = user_length(&mixed_program, 100), some = pmu->instructions;

	for (int i = 0; i < PROGRAMS; i++) {
		this_cpu()->subject = programs[i]->name;
		counts_branches(programs[i]);
	}
	this_cpu()->subject = "event selects";
	counts_as_selected("an unknown event counts 0", pmu->unknown, 0);
	counts_as_selected("a mask of 1 counts all cycles", some | AT_LEAST(1), all);
	counts_as_selected("a mask of 2 counts no cycle", some | AT_LEAST(2), 0);
	counts_as_selected("an inverted mask of 1 counts no cycle",
			   some | AT_LEAST(1) | INVERT, 0);
	counts_as_selected("an inverted mask of 16 counts all cycles",
			   some | AT_LEAST(16) | INVERT, all);
	counts_as_selected("inversion without a mask is nothing", some | INVERT, all);
	counts_as_selected("a mask of 1 counts all branches", pmu->branches | AT_LEAST(1),
			   100 * mixed_program.branches + 3);
	counts_as_selected("a mask of 2 counts no branch", pmu->branches | AT_LEAST(2), 0);
	counts_as_selected("edges are not counted", some | EDGE, 0);
}
