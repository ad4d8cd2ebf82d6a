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

static void samples_the_user(const struct program *program, uint64_t select,
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
	check("samples", samples->count, due);
	check("samples after the overflow", late, 0);
	check("samples elsewhere", astray, 0);
	check("the counter's rest", rest, (length % period - period) & COUNT_MASK);
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
static void samples_both(const struct program *program, uint64_t select, uint64_t period,
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
	check("samples elsewhere", astray, 0);
	/* the laps are less than one stride more or less than what the samples span */
	check("samples", in == laps * lap / stride || in == laps * lap / stride + 1, true);
}

void test_sampling(void)
{
	static const uint64_t periods[] = { 1, 2, 3, 7, 20, 97, 1009 };
	const struct pmu *pmu = find_pmu();

	for (int p = 0; p < PROGRAMS; p++) {
		this_cpu()->subject = programs[p]->name;
		for (unsigned int i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
			if (!programs[p]->kernel_insns) {
				samples_the_user(programs[p], pmu->instructions, periods[i],
						 true);
				samples_the_user(programs[p], pmu->cycles, periods[i],
						 false);
			}
			if (periods[i] > AFTER_RESTART) {
				samples_both(programs[p], pmu->cycles, periods[i], true);
				samples_both(programs[p], pmu->instructions, periods[i],
					     false);
			}
		}
	}
}
