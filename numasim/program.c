/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/program.h"

#define HOT_LINES 63 /* a power of two less one; of a page, 4 of an L1's 32 KiB */

#define AHEAD 4	 /* accesses of a thread between a hint and what it is about */
#define NEAR 512 /* lines: an L1 has them, no hint is needed */
#define STRIDE 0xa0761d6478bd642full

/*
 * A multiplication of 64 by 64 bits whose halves are mixed, on a counter: no division,
 * no branch. After Wang Yi's wyrand (public domain).
 */
static inline uint64_t mix(uint64_t state)
{
	unsigned __int128 x = (unsigned __int128)state * (state ^ 0xe7037ed1a0b428dbull);

	return (uint64_t)(x >> 64) ^ (uint64_t)x;
}

static inline uint64_t draw(uint64_t *state)
{
	*state += STRIDE;
	return mix(*state);
}

uint64_t program_draw(uint64_t *state)
{
	return draw(state);
}

/* Each step draws once, whatever it does: bits 0-31 choose the line, 32-47 whether it
 * is a hot one, 48-63 whether it is written. */
static inline bool is_hot(const struct routine *r, uint64_t x)
{
	return (x >> 32 & 0xffff) < r->hot;
}

static inline uint64_t random_line(const struct routine *r, uint64_t x)
{
	return r->line + ((x & 0xffffffff) * r->lines >> 32);
}

/* The state counts: what is drawn in some steps is known now. */
static inline void expect_random(const struct machine *m, unsigned core,
				 const struct routine *r, uint64_t random)
{
	uint64_t x = mix(random + AHEAD * STRIDE);

	if (!is_hot(r, x))
		machine_expect(m, core, r->access.vm, random_line(r, x));
}

static inline __attribute__((always_inline)) uint64_t
accesses(struct machine *m, unsigned core, const struct vm *vm, struct thread *t,
	 uint64_t until, bool in_order)
{
	struct routine *r = &t->routines[t->at];
	struct access a = r->access;
	uint64_t random = t->random, left = t->left_steps, clock;
	uint32_t position = r->position;
	const bool far = r->lines > NEAR;

	do {
		uint64_t x = draw(&random);

		if (far && !in_order)
			expect_random(m, core, r, random);
		if (is_hot(r, x)) {
			a.line = t->hot_line + (x & HOT_LINES);
		} else if (in_order) {
			a.line = r->line + position;
			if (far)
				machine_expect(m, core, a.vm, a.line + AHEAD);
			position = position + 1 < r->lines ? position + 1 : 0;
		} else {
			a.line = random_line(r, x);
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
