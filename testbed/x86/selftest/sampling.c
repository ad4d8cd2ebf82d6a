/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples: all that are due, each where it must be. */
#include "counters.h"
#include "programs.h"
#include "tests.h"

#define INTERRUPTS_ON 0x200

/* The address of a program's instruction number @n at CPL 3, where none is CPL 0's. */
static uint64_t user_address(const struct program *program, uint64_t n)
{
	return n ? program->table[(n - 1) % lap_of(program)] : (uint64_t)program->user;
}

/* Laps enough for so many samples, and not quite one more. */
static uint64_t laps_for(const struct program *program, uint64_t period, uint64_t samples)
{
	return (samples * period + period / 2) / lap_of(program) + 1;
}

static bool samples_the_user(const struct program *program, uint64_t select,
			     uint64_t period, bool nmi)
{
	struct cpu *cpu = this_cpu();
	uint64_t laps = laps_for(program, period, 250), length = user_length(program, laps);
	uint64_t rest, late = 0, astray = 0, due = length / period;
	struct samples *samples;

	cpu->user_flags = nmi ? 0 : INTERRUPTS_ON;
	samples = samples_start(find_pmu()->counters - 1, select | USER, period, nmi);
	run_user(program->user, laps, scratch());
	if (!nmi) /* one may be due from the program's last instruction, which led here */
		__asm__ volatile("sti; nop; cli" : : : "memory");
	rest = samples_stop();
	cpu->user_flags = 0;
	for (int i = 0; i < samples->count && i < MOST_SAMPLES; i++) {
		late += samples->value[i] != 0;
		/* the last ones may be of what ends the program */
		if ((i + 1) * period <= laps * lap_of(program))
			astray +=
				samples->rip[i] != user_address(program, (i + 1) * period);
	}
	return check("samples", samples->count, due) &
	       check("samples after the overflow", late, 0) &
	       check("samples elsewhere", astray, 0) &
	       check("the counter's rest", rest, (length % period - period) & COUNT_MASK);
}

/* After each branch of "tight", its first included, comes the beginning of a lap. */
static bool samples_branches(uint64_t period)
{
	const struct program *program = &tight_program;
	uint64_t laps = 250 * period, astray = 0, late = 0, due = (laps + 3) / period;
	struct samples *samples;

	samples = samples_start(0, find_pmu()->branches | USER, period, true);
	run_user(program->user, laps, scratch());
	samples_stop();
	for (int i = 0; i < samples->count; i++) {
		late += samples->value[i] != 0;
		if ((i + 1) * period <= laps)
			astray += samples->rip[i] != program->table[0];
	}
	return check("samples", samples->count, due) &
	       check("samples after the overflow", late, 0) &
	       check("samples elsewhere", astray, 0);
}

static int place_of(const struct program *program, uint64_t address)
{
	for (uint64_t i = 0; i < lap_of(program); i++) {
		if (program->table[i] == address)
			return i;
	}
	return -1;
}

/*
 * Both sides: after the first sample in the program, wherever that is, each is one period
 * after the other, less what the handler runs once the counter goes on.
 */
static bool samples_both(const struct program *program, uint64_t select, uint64_t period,
			 bool user)
{
	uint64_t laps = laps_for(program, period, 250), lap = lap_of(program);
	uint64_t first, in = 0, astray = 0, stride = period - AFTER_RESTART;
	struct samples *samples;

	samples = samples_start(0, select | USER | OS, period, true);
	if (user)
		run_user(program->user, laps, scratch());
	else
		count_call(0, program->kernel, laps, scratch());
	samples_stop();
	for (int i = 0; i < samples->count && i < MOST_SAMPLES; i++) {
		int place = place_of(program, samples->rip[i]);

		if (place < 0)
			continue;
		if (!in++)
			first = place;
		else
			astray += (uint64_t)place != (first + (in - 1) * stride) % lap;
	}
	/* where the first one is, is not known: one more or not */
	in -= in == laps * lap / stride + 1;
	return check("samples elsewhere", astray, 0) &
	       check("samples", in, laps * lap / stride);
}

static const uint64_t periods[] = { 1, 2, 3, 7, 20, 97, 1009 };
#define PERIODS (sizeof(periods) / sizeof(periods[0]))

static void samples_of(const struct program *program)
{
	const struct pmu *pmu = find_pmu();
	bool nmis = true, vectors = true, users = true, kernels = true;

	this_cpu()->subject = program->name;
	for (unsigned int i = 0; i < PERIODS; i++) {
		uint64_t period = periods[i];

		if (!program->kernel_insns) {
			nmis &= samples_the_user(program, pmu->instructions, period, true);
			vectors &= samples_the_user(program, pmu->cycles, period, false);
		}
		if (period > AFTER_RESTART) {
			users &= samples_both(program, pmu->cycles, period, true);
			kernels &= samples_both(program, pmu->instructions, period, false);
		}
	}
	if (!program->kernel_insns) {
		expect("all samples of CPL 3 by NMI, each where it must be", nmis, true);
		expect("and by an interrupt with a vector", vectors, true);
	}
	expect("all samples of both levels, beginning at CPL 3", users, true);
	expect("all samples of CPL 0", kernels, true);
}

void test_sampling(void)
{
	bool branches = true;

	for (int p = 0; p < PROGRAMS; p++)
		samples_of(programs[p]);
	for (unsigned int i = 0; i < PERIODS; i++)
		branches &= samples_branches(periods[i]);
	this_cpu()->subject = tight_program.name;
	expect("all samples by branches, each where it must be", branches, true);
}
