/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counts of guest-*.S. The store that ends a lap traps and is emulated, so it does
 * not retire and is not counted; every lap but the first begins with the branch that
 * follows it.
 */
#include "program.h"

#include <errno.h>
#include <string.h>

#include "image.h"

#define LINE 64

static int plan_loop(const struct shape *shape, bool first_lap, struct lap *lap)
{
	uint64_t fixed = first_lap ? 0 : 1;
	uint64_t body = shape->insns - fixed;

	if (shape->insns < fixed + 2)
		return -EINVAL;
	lap->entry = body % 2 ? "count_down_odd" : "count_down";
	lap->x[0] = body / 2;
	lap->kernel = shape->insns;
	return 0;
}

/*
 * Splits one round's instructions between two counted loops of two instructions
 * per iteration.
 */
static int split(const struct shape *shape, uint64_t fixed, struct lap *lap)
{
	uint64_t round = shape->rounds ? shape->insns / shape->rounds : 0;
	uint64_t shares = (uint64_t)shape->first + shape->second;
	uint64_t iterations;

	if (!shares || round < fixed + 4)
		return -EINVAL;
	iterations = (round - fixed) / 2;
	lap->x[0] = shape->rounds;
	lap->x[1] = iterations * shape->first / shares;
	lap->x[2] = iterations - lap->x[1];
	/* a count of 0 would wrap around and run for ever */
	return lap->x[1] && lap->x[2] ? 0 : -EINVAL;
}

static int plan_two(const struct shape *shape, bool first_lap, struct lap *lap)
{
	int ret = split(shape, 8, lap);

	lap->entry = "run_two";
	lap->hot = lap->x[0] * (2 * lap->x[1] + 1);
	lap->cold = lap->x[0] * (2 * lap->x[2] + 1);
	lap->kernel = lap->x[0] * 6 + lap->hot + lap->cold + (first_lap ? 0 : 1);
	return ret;
}

static int plan_phases(const struct shape *shape, bool first_lap, struct lap *lap)
{
	int ret = split(shape, 9, lap);

	lap->entry = "kernel_phase";
	lap->user = lap->x[0] * (2 * lap->x[2] + 2);
	lap->kernel = lap->x[0] * (2 * lap->x[1] + 7) + (first_lap ? 0 : 1);
	return ret;
}

static int plan_user(const struct shape *shape, bool first_lap, struct lap *lap)
{
	if (shape->insns < 13)
		return -EINVAL;
	lap->entry = "kernel_phase";
	lap->x[0] = 1;
	lap->x[1] = 1;
	lap->x[2] = (shape->insns - 11) / 2;
	lap->user = 2 * lap->x[2] + 2;
	lap->kernel = 9 + (first_lap ? 0 : 1);
	return 0;
}

/* As many sweeps as fit, of four instructions a line and four more each. */
static int plan_sweep(const struct shape *shape, bool first_lap, struct lap *lap)
{
	uint64_t lines = shape->footprint / LINE, round = 4 * lines + 4;

	if (!lines || shape->insns < round + 1)
		return -EINVAL;
	lap->entry = "sweep";
	lap->x[0] = (shape->insns - 1) / round;
	lap->x[1] = lines;
	lap->x[2] = IMAGE_DATA;
	lap->kernel = lap->x[0] * round + (first_lap ? 0 : 1);
	return 0;
}

static int plan_bounce(const struct shape *shape, bool first_lap, struct lap *lap)
{
	if (shape->insns < 6)
		return -EINVAL;
	lap->entry = "bounce";
	lap->x[0] = (shape->insns - 1) / 5;
	lap->x[2] = IMAGE_DATA;
	lap->kernel = lap->x[0] * 5 + (first_lap ? 0 : 1);
	return 0;
}

/*
 * The guest's counter is on for the loop and one more; its number comes with the store that
 * ends the lap.
 */
static int plan_counts(const struct shape *shape, bool first_lap, struct lap *lap)
{
	uint64_t fixed = 7 + (first_lap ? 0 : 1);

	if (shape->insns < fixed + 2)
		return -EINVAL;
	lap->entry = "count_itself";
	lap->x[0] = (shape->insns - fixed) / 2;
	lap->hot = 2 * lap->x[0] + 1;
	lap->kernel = lap->hot + fixed - 1;
	return 0;
}

static int plan_idle(const struct shape *shape, bool first_lap, struct lap *lap)
{
	(void)shape;
	(void)first_lap;
	lap->entry = "wait_forever";
	lap->endless = true;
	return 0;
}

static const struct program programs[] = {
	{ "loop", "one counted loop in kernel mode, exactly --insns long", plan_loop },
	{ "two", "hot_path and cold_path in turn, --rounds times, --ratio H:C", plan_two },
	{ "phases", "kernel and user mode in turn, --rounds times, --ratio KERNEL:USER",
	  plan_phases },
	{ "user", "one counted loop in user mode", plan_user },
	{ "sweep", "reads each line of --footprint in turn; all vCPUs the same",
	  plan_sweep },
	{ "bounce", "adds to one word, the same for all vCPUs", plan_bounce },
	{ "counts", "one counted loop, by a counter of its own too: --cpu host,pmu=on",
	  plan_counts },
	{ "idle", "waits for an interrupt that never comes", plan_idle },
};

const struct program *program_at(unsigned int index)
{
	return index < sizeof(programs) / sizeof(programs[0]) ? &programs[index] : NULL;
}

const struct program *program_find(const char *name)
{
	for (unsigned int i = 0; program_at(i); i++)
		if (!strcmp(program_at(i)->name, name))
			return program_at(i);
	return NULL;
}
