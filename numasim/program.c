/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/program.h"

#define HOT_LINES 63 /* a power of two less one; of a page, 4 of an L1's 32 KiB */

/*
 * A multiplication of 64 by 64 bits whose halves are mixed, on a counter: no division,
 * no branch. After Wang Yi's wyrand (public domain).
 */
static inline uint64_t draw(uint64_t *state)
{
	unsigned __int128 x;

	*state += 0xa0761d6478bd642full;
	x = (unsigned __int128)*state * (*state ^ 0xe7037ed1a0b428dbull);
	return (uint64_t)(x >> 64) ^ (uint64_t)x;
}

uint64_t program_draw(uint64_t *state)
{
	return draw(state);
}

/* Each step draws once, whatever it does: bits 0-31 choose the line, 32-47 whether it
 * is a hot one, 48-63 whether it is written. */
static inline __attribute__((always_inline)) uint64_t
accesses(struct machine *m, unsigned core, const struct vm *vm, struct thread *t,
	 uint64_t until, bool in_order)
{
	struct routine *r = &t->routines[t->at];
	struct access a = r->access;
	uint64_t random = t->random, left = t->left_steps, clock;
	uint32_t position = r->position;

	do {
		uint64_t x = draw(&random);

		if ((x >> 32 & 0xffff) < r->hot) {
			a.line = t->hot_line + (x & HOT_LINES);
		} else if (in_order) {
			a.line = r->line + position;
			position = position + 1 < r->lines ? position + 1 : 0;
		} else {
			a.line = r->line + ((x & 0xffffffff) * r->lines >> 32);
		}
		a.write = x >> 48 < r->write;
		a.home = vm_home(vm, a.line);
		clock = machine_access(m, core, &a);
	} while (--left && clock < until);
	r->position = position;
	t->random = random;
	t->work += t->at >= t->nprepare ? t->left_steps - left : 0;
	t->left_steps = left;
	return clock;
}

static uint64_t computes(struct machine *m, unsigned core, struct thread *t, uint64_t until)
{
	const struct routine *r = &t->routines[t->at];
	uint64_t clock;

	do {
		clock = machine_compute(m, core, r->access.instructions, r->access.cycles);
		t->work++;
	} while (--t->left_steps && clock < until);
	return clock;
}

uint64_t program_run(struct machine *m, unsigned core, const struct vm *vm,
		     struct thread *t, uint64_t until)
{
	switch (t->routines[t->at].f->pattern) {
	case PATTERN_COMPUTE: return computes(m, core, t, until);
	case PATTERN_STREAM:
	case PATTERN_HANDOVER: return accesses(m, core, vm, t, until, true);
	default: return accesses(m, core, vm, t, until, false);
	}
}

void program_next(struct thread *t)
{
	const struct routine *r;

	t->at = t->at + 1 < t->nroutines ? t->at + 1 : t->nprepare;
	r = &t->routines[t->at];
	t->left_steps = r->steps;
	t->left_ps = r->f->for_ps ? r->f->for_ps : SIM_NEVER;
}
