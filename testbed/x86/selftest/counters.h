/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of whichever CPU this is. */
#ifndef SELFTEST_COUNTERS_H
#define SELFTEST_COUNTERS_H

#include "machine.h"

#define USER (1ULL << 16)
#define OS (1ULL << 17)
#define EDGE (1ULL << 18)
#define INTERRUPT (1ULL << 20)
#define ENABLE (1ULL << 22)
#define INVERT (1ULL << 23)
#define AT_LEAST(n) ((uint64_t)(n) << 24)
#define GUEST_ONLY (1ULL << 40)
#define HOST_ONLY (1ULL << 41)

#define COUNT_MASK ((1ULL << 48) - 1)
#define MOST_COUNTERS 6

struct pmu {
	bool intel, global; /* with registers of that kind */
	int counters;
	uint32_t select, counter, step; /* MSRs */
	uint32_t status, control, clear;
	uint64_t cycles, instructions, branches; /* event selects */
	uint64_t unknown;			 /* an event that is none */
};

/* The same on both CPUs. */
const struct pmu *find_pmu(void);

void counter_start(int i, uint64_t select, uint64_t value);
/* Stops it, and tells what it has counted. */
uint64_t counter_stop(int i);
uint64_t counter_read(int i);

/* What a CPU's sampling counter is to do, and what came of it. */
#define MOST_SAMPLES 4096
struct samples {
	int counter;
	uint64_t select, period;
	bool nmi; /* rather than an interrupt with a vector */
	int count;
	uint64_t rip[MOST_SAMPLES], value[MOST_SAMPLES]; /* the counter's, at the handler */
};

/* So many instructions of the handler run after the counter goes on. */
#define AFTER_RESTART 4

struct samples *samples_start(int counter, uint64_t select, uint64_t period, bool nmi);
/* The counter's value at the end. */
uint64_t samples_stop(void);

#endif
