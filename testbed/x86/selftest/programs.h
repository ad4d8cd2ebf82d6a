/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs of known length: programs.S. */
#ifndef SELFTEST_PROGRAMS_H
#define SELFTEST_PROGRAMS_H

#include <stdint.h>

/* The addresses of a lap's instructions, in order. */
#define PROGRAM(name)                                                                      \
	extern uint64_t name##_table[], name##_table_end[];                                \
	extern char name[], name##_user[];
PROGRAM(mixed)
PROGRAM(tight)
PROGRAM(strings)
PROGRAM(calls)
PROGRAM(crossing)
#undef PROGRAM

extern char undefined_user[], unmapped_user[], divided_user[], privileged_user[];
extern char forbidden_user[], breakpoints_user[], call_fault_user[], read_user[];

/* A program, and what is known of it. */
struct program {
	const char *name, *by_cycles; /* as subjects of tests */
	char *kernel, *user;
	const uint64_t *table, *table_end;
	int kernel_insns; /* of a lap that began at CPL 3 */
	int branches, kernel_branches;
};

extern const struct program mixed_program, tight_program, strings_program, calls_program,
	crossing_program;
#define PROGRAMS 5
extern const struct program *const programs[PROGRAMS];

static inline uint64_t lap_of(const struct program *program)
{
	return program->table_end - program->table;
}

/* At CPL 3: a call, the laps, a return, the interrupt that ends it. */
static inline uint64_t user_length(const struct program *program, uint64_t laps)
{
	return laps * (lap_of(program) - program->kernel_insns) + 3;
}

/* At CPL 0: the return is in it, the call is not. */
static inline uint64_t kernel_length(const struct program *program, uint64_t laps)
{
	return laps * lap_of(program) + 1;
}

#endif
