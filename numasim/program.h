/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_PROGRAM_H
#define NUMASIM_PROGRAM_H

/* What a thread does: the functions of its program, step by step. */

#include "numasim/sim_impl.h"

/* A function as one thread runs it. */
struct routine {
	const struct scenario_function *f;
	const struct sim_symbol *symbol;
	struct access access; /* its accesses' common part */
	uint64_t line;	      /* the first of its footprint */
	uint32_t lines;
	uint32_t position;   /* the next line, where it goes line by line */
	uint32_t hot, write; /* shares, of 65536 */
	uint64_t steps;	     /* then the next routine follows; SIM_NEVER */
};

/* A guest's thread. */
struct thread {
	struct vcpu *vcpu;
	uint64_t wake_at; /* it sleeps until then; 0: it does not */
	uint64_t random;  /* the state of its steps' choices, and of its sleeps' */
	uint64_t dreams;
	uint64_t hot_line;
	struct routine *routines;
	unsigned nroutines;
	unsigned nprepare; /* the first ones, that bring its data into being; run once */
	unsigned at;	   /* the one that runs */
	uint64_t left_steps, left_ps; /* of that one; SIM_NEVER */
	uint64_t awake_ps;	      /* until it sleeps; SIM_NEVER */
	double sleep;
	uint64_t every_ps;
	uint64_t work;
};

/* The threads of VM @vm with what they do and the VM's symbols; its lines begin at
 * @line. 0 or -ENOMEM. */
int program_load(struct sim *s, struct vm *vm, uint64_t line);
void program_unload(struct vm *vm);
/* A number in 0 … 2^64-1; moves the state on. */
uint64_t program_draw(uint64_t *state);
/* Steps of @t on @core, until the core's clock reaches @until or t->left_steps is 0.
 * Returns the clock. */
uint64_t program_run(struct machine *m, unsigned core, const struct vm *vm,
		     struct thread *t, uint64_t until);
/* The next routine's turn. */
void program_next(struct thread *t);

/* The symbols of each guest's kernel. */
enum kernel_symbol { KERNEL_SCHEDULE, KERNEL_MIGRATE, KERNEL_SYMBOLS };
const struct sim_symbol *program_kernel(enum kernel_symbol symbol);

#endif
