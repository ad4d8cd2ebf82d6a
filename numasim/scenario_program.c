/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The block of a program, and its functions. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "numasim/scenario_read.h"

#define PROGRAMS 64
#define FUNCTIONS 16 /* of one program */

static const char *const patterns[] = {
	[PATTERN_CHASE] = "chase",	 [PATTERN_STREAM] = "stream",
	[PATTERN_RANDOM] = "random",	 [PATTERN_COUNTERS] = "counters",
	[PATTERN_HANDOVER] = "handover", [PATTERN_COMPUTE] = "compute",
};

/* What a function is if nothing else is said. */
static const struct {
	double write;
	unsigned window, instructions;
} defaults[] = {
	[PATTERN_CHASE] = { 0, 1, 4 },	  [PATTERN_STREAM] = { 0, 8, 8 },
	[PATTERN_RANDOM] = { 0, 4, 6 },	  [PATTERN_COUNTERS] = { 1, 1, 8 },
	[PATTERN_HANDOVER] = { 0, 2, 8 }, [PATTERN_COMPUTE] = { 0, 1, 200 },
};

/* A function's statement while it is read. */
struct options {
	struct scenario_function *f;
	double cpi;
};

static int take_footprint(struct reading *r, struct options *o, size_t i)
{
	return lines_bytes(&r->lines, i, "a footprint", SPEC_LINE, 1ull << 37, &o->f->bytes,
			   r->err);
}

static int take_write(struct reading *r, struct options *o, size_t i)
{
	return lines_f64(&r->lines, i, "a share of writes", 0, 1, &o->f->write, r->err);
}

static int take_hot(struct reading *r, struct options *o, size_t i)
{
	return lines_f64(&r->lines, i, "a share of hot accesses", 0, 0.999, &o->f->hot,
			 r->err);
}

static int take_parallel(struct reading *r, struct options *o, size_t i)
{
	uint64_t n;
	int ret = lines_u64(&r->lines, i, "a number of accesses in flight", 1, 64, &n,
			    r->err);

	o->f->window = ret ? 0 : (unsigned)n;
	return ret;
}

static int take_instructions(struct reading *r, struct options *o, size_t i)
{
	uint64_t n;
	int ret = lines_u64(&r->lines, i, "a number of instructions", 1, 10000, &n, r->err);

	o->f->instructions = ret ? 0 : (unsigned)n;
	return ret;
}

static int take_cpi(struct reading *r, struct options *o, size_t i)
{
	return lines_f64(&r->lines, i, "a number of cycles per instruction", 0.1, 5,
			 &o->cpi, r->err);
}

static int take_for(struct reading *r, struct options *o, size_t i)
{
	if (i + 1 < r->lines.n && !strcmp(r->lines.word[i + 1], "steps"))
		return lines_u64(&r->lines, i, "a number of steps", 1, 1ull << 40,
				 &o->f->for_steps, r->err);
	return scenario_time(r, i, "a time (or: a number of steps)", &o->f->for_ps);
}

static int take_steps(struct reading *r, struct options *o, size_t i)
{
	return o->f->for_steps
		       ? 0
		       : lines_bad(&r->lines, r->err, "\"%s\" stands after \"for N\" only",
				   r->lines.word[i - 1]);
}

static int take_shared(struct reading *r, struct options *o, size_t i)
{
	(void)r;
	(void)i;
	o->f->shared = true;
	return 0;
}

static int take_private(struct reading *r, struct options *o, size_t i)
{
	(void)r;
	(void)i;
	o->f->shared = false;
	return 0;
}

static int take_kernel(struct reading *r, struct options *o, size_t i)
{
	(void)r;
	(void)i;
	o->f->kernel = true;
	return 0;
}

static const struct {
	const char *word;
	int (*take)(struct reading *r, struct options *o, size_t i);
	size_t words; /* that follow it */
} words[] = {
	{ "footprint", take_footprint, 1 },
	{ "shared", take_shared, 0 },
	{ "private", take_private, 0 },
	{ "write", take_write, 1 },
	{ "hot", take_hot, 1 },
	{ "parallel", take_parallel, 1 },
	{ "instructions", take_instructions, 1 },
	{ "cpi", take_cpi, 1 },
	{ "for", take_for, 1 },
	{ "steps", take_steps, 0 },
	{ "kernel", take_kernel, 0 },
};

static int take_words(struct reading *r, struct options *o)
{
	const char *names[ARRAY_SIZE(words)];

	for (size_t k = 0; k < ARRAY_SIZE(words); k++)
		names[k] = words[k].word;
	for (size_t i = 3; i < r->lines.n;) {
		int k = scenario_word(r, i++, names, ARRAY_SIZE(names),
				      "what a function can be told");
		int ret = k < 0 ? k : words[k].take(r, o, i);

		if (ret)
			return ret;
		i += words[k].words;
	}
	return 0;
}

int scenario_read_program(struct reading *r)
{
	struct scenario *sc = r->sc;
	struct scenario_program p = { .first = sc->nfunctions };

	if (r->lines.n < 2 || !str_copy(p.name, sizeof(p.name), r->lines.word[1]) ||
	    !*p.name)
		return lines_bad(&r->lines, r->err,
				 "program wants a name, at most %zu "
				 "characters",
				 sizeof(p.name) - 1);
	for (size_t i = 0; i < sc->nprograms; i++)
		if (!strcmp(sc->programs[i].name, p.name))
			return lines_bad(&r->lines, r->err, "a second program %s", p.name);
	if (sc->nprograms == PROGRAMS)
		return lines_bad(&r->lines, r->err, "more than %d programs", PROGRAMS);
	r->block = BLOCK_PROGRAM;
	return VEC_PUSH(sc->programs, sc->nprograms, sc->cap_programs, p);
}

int scenario_read_function(struct reading *r)
{
	struct scenario *sc = r->sc;
	struct scenario_program *p = &sc->programs[sc->nprograms - 1];
	struct scenario_function f = { 0 };
	struct options o = { .f = &f, .cpi = 0.5 };
	int pattern, ret;

	if (r->lines.n < 2 || !str_copy(f.name, sizeof(f.name), r->lines.word[1]) ||
	    !*f.name)
		return lines_bad(&r->lines, r->err,
				 "function wants a name, at most %zu "
				 "characters",
				 sizeof(f.name) - 1);
	if (p->n == FUNCTIONS)
		return lines_bad(&r->lines, r->err, "more than %d functions in %s",
				 FUNCTIONS, p->name);
	pattern = scenario_word(r, 2, patterns, ARRAY_SIZE(patterns), "a pattern");
	if (pattern < 0)
		return pattern;
	f.pattern = (enum pattern)pattern;
	f.write = defaults[pattern].write;
	f.window = defaults[pattern].window;
	f.instructions = defaults[pattern].instructions;
	f.shared = pattern == PATTERN_COUNTERS;
	ret = take_words(r, &o);
	if (ret)
		return ret;
	if (!f.bytes != (pattern == PATTERN_COMPUTE))
		return lines_bad(&r->lines, r->err,
				 f.bytes ? "a compute function has no footprint"
					 : "a footprint is missing: footprint 64M");
	f.cycles = (unsigned)fmax(1, round(f.instructions * o.cpi));
	p->n++;
	return VEC_PUSH(sc->functions, sc->nfunctions, sc->cap_functions, f);
}

int scenario_program_end(struct reading *r)
{
	const struct scenario_program *p = &r->sc->programs[r->sc->nprograms - 1];

	if (!p->n)
		return lines_bad(&r->lines, r->err,
				 "the program %s above has no function: add an indented "
				 "\"function NAME PATTERN …\"",
				 p->name);
	for (size_t i = 0; p->n > 1 && i < p->n; i++) {
		const struct scenario_function *f = &r->sc->functions[p->first + i];

		if (!f->for_ps && !f->for_steps)
			return lines_bad(&r->lines, r->err,
					 "of the functions of the program %s above, %s has "
					 "no end: add \"for 200us\" or \"for 5000 steps\"",
					 p->name, f->name);
	}
	return 0;
}
