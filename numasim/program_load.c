/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A VM's programs in its memory: footprints, threads, symbols. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "numasim/program.h"

#define USER_TEXT 0x401000ull
#define KERNEL_TEXT 0xffffffff81000000ull

static const struct sim_symbol kernel[KERNEL_SYMBOLS] = {
	[KERNEL_SCHEDULE] = { KERNEL_TEXT, 0x400, "schedule" },
	[KERNEL_MIGRATE] = { KERNEL_TEXT + 0x400, 0x200, "migrate_pages" },
};

/* What a program does first: it writes its data, as far as caches are concerned. */
static const struct scenario_function prepare = {
	.name = "prepare",
	.pattern = PATTERN_STREAM,
	.window = 10,
	.instructions = 4,
	.cycles = 2,
};
static const struct sim_symbol prepare_symbol = { USER_TEXT, 0x100, "prepare" };

const struct sim_symbol *program_kernel(enum kernel_symbol symbol)
{
	return &kernel[symbol];
}

static uint64_t pages(const struct scenario_function *f)
{
	return (f->bytes + SIM_PAGE_LINES * SPEC_LINE - 1) / (SIM_PAGE_LINES * SPEC_LINE);
}

/* Where the parts of one VM's memory begin, while they are given out. */
struct layout {
	const struct scenario *sc;
	struct vm *vm;
	uint64_t line;	  /* the next free one */
	uint64_t *shared; /* per function of the scenario: 0: not given out yet */
	uint64_t budget;  /* lines that a thread may touch beforehand */
	const struct sim_symbol **symbols; /* per function of the scenario */
};

static uint64_t give(struct layout *l, uint64_t npages)
{
	uint64_t line = l->line;

	l->line += npages * SIM_PAGE_LINES;
	return line;
}

/* The footprint of function @k for a thread that is the @nth of its group. */
static uint64_t footprint(struct layout *l, size_t k, unsigned nth, uint64_t pair)
{
	const struct scenario_function *f = &l->sc->functions[k];

	if (f->shared) {
		if (!l->shared[k])
			l->shared[k] = give(l, pages(f));
		return l->shared[k];
	}
	return f->pattern == PATTERN_HANDOVER && nth % 2 ? pair : give(l, pages(f));
}

static void routine_init(struct routine *r, const struct layout *l,
			 const struct scenario_function *f, uint64_t line, unsigned nth)
{
	bool reads = f->pattern == PATTERN_HANDOVER && nth % 2;
	bool writes = f->pattern == PATTERN_HANDOVER && nth % 2 == 0;

	*r = (struct routine) {
		.f = f,
		.line = line,
		.lines = (uint32_t)(f->bytes / SPEC_LINE),
		.hot = (uint32_t)lround(f->hot * 65536),
		.write = reads ? 0 : writes ? 65536 : (uint32_t)lround(f->write * 65536),
		.steps = f->for_steps ? f->for_steps : SIM_NEVER,
		.access = {
			.vm = (uint16_t)l->vm->vcpus->vm,
			.dependent = f->pattern == PATTERN_CHASE ||
				     f->pattern == PATTERN_COUNTERS,
			.window = (uint8_t)f->window,
			.instructions = (uint16_t)f->instructions,
			.cycles = (uint16_t)f->cycles,
		},
	};
}

/* Of a footprint, the @nth of @n threads touches its part first. */
static void prepare_init(struct routine *r, const struct layout *l, struct routine *of,
			 unsigned nth, unsigned n)
{
	uint64_t part = of->f->shared ? of->lines / n : of->lines;
	/* What does not fit is not kept anyway, and would drive out what does. */
	bool fits = of->f->bytes <= l->sc->machine.llc.bytes;
	uint64_t most = fits ? l->budget : l->budget / 8 + 1;

	routine_init(r, l, &prepare, of->line, 0);
	r->symbol = &prepare_symbol;
	r->lines = of->lines;
	r->position = of->f->shared ? (uint32_t)(part * nth) : 0;
	r->steps = part < most ? part : most;
	r->steps += !r->steps;
	/* What goes line by line goes on from there: it does not find what was just read.
	 */
	of->position = (uint32_t)((r->position + r->steps) % of->lines);
}

/* The @nth thread of group @g; @before: the one before it. */
static int thread_init(struct layout *l, struct thread *t, const struct scenario_threads *g,
		       unsigned nth, const struct thread *before)
{
	const struct scenario_program *p = &l->sc->programs[g->program];
	unsigned number = (unsigned)(t - l->vm->threads), n = (unsigned)p->n;
	struct routine *r = calloc(2 * p->n, sizeof(*r));

	if (!r)
		return -ENOMEM;
	*t = (struct thread) {
		.vcpu = &l->vm->vcpus[number % l->vm->sc->nvcpus],
		.routines = r,
		.random = l->sc->seed * 0x9e3779b97f4a7c15ull + l->vm->vcpus->vm * 65537u +
			  number,
		.sleep = g->sleep,
		.every_ps = g->every_ps,
		.hot_line = give(l, 1),
	};
	t->random = program_draw(&t->random);
	t->dreams = ~t->random;
	for (unsigned i = 0; i < n; i++) {
		const struct scenario_function *f = &l->sc->functions[p->first + i];
		uint64_t pair = nth % 2 ? before->routines[before->nprepare + i].line : 0;

		t->nprepare += f->pattern != PATTERN_COMPUTE;
		routine_init(&r[n + i], l, f, footprint(l, p->first + i, nth, pair), nth);
		r[n + i].symbol = l->symbols[p->first + i];
	}
	t->nroutines = t->nprepare + n;
	for (unsigned i = 0, k = 0; i < n; i++) {
		if (r[n + i].f->pattern != PATTERN_COMPUTE)
			prepare_init(&r[k++], l, &r[n + i], nth, g->n);
	}
	/* Those that compute only leave a gap between the two halves. */
	for (unsigned i = 0; i < n && t->nprepare < n; i++)
		r[t->nprepare + i] = r[n + i];
	t->at = t->nroutines - 1;
	program_next(t);
	if (t->nprepare) {
		t->at = 0;
		t->left_steps = r[0].steps;
		t->left_ps = SIM_NEVER;
	}
	t->awake_ps = g->sleep > 0 ? program_draw(&t->dreams) % g->every_ps : SIM_NEVER;
	return 0;
}

/* A function's text is as long as its instructions, four bytes each. */
static uint64_t text_bytes(const struct scenario_function *f)
{
	return (4ull * f->instructions + 64 + 15) / 16 * 16;
}

/* Adds the symbols of the functions that the VM runs: users', or the kernel's. */
static void add_symbols(struct layout *l, const bool *used, bool of_kernel,
			uint64_t address)
{
	struct vm *vm = l->vm;

	for (size_t k = 0; k < l->sc->nfunctions; k++) {
		const struct scenario_function *f = &l->sc->functions[k];

		if (!used[k] || f->kernel != of_kernel)
			continue;
		l->symbols[k] = &vm->symbols[vm->nsymbols];
		vm->symbols[vm->nsymbols++] =
			(struct sim_symbol) { address, text_bytes(f), f->name };
		address += text_bytes(f);
	}
}

static int symbols(struct layout *l)
{
	const struct scenario *sc = l->sc;
	struct vm *vm = l->vm;
	bool *used = calloc(sc->nfunctions + 1, sizeof(*used));

	vm->symbols = calloc(sc->nfunctions + 1 + KERNEL_SYMBOLS, sizeof(*vm->symbols));
	if (!used || !vm->symbols) {
		free(used);
		return -ENOMEM;
	}
	for (size_t g = 0; g < vm->sc->nthreads; g++) {
		const struct scenario_program *p =
			&sc->programs[vm->sc->threads[g].program];

		for (size_t k = p->first; k < p->first + p->n; k++)
			used[k] = true;
	}
	vm->symbols[vm->nsymbols++] = prepare_symbol;
	add_symbols(l, used, false, USER_TEXT + prepare_symbol.size);
	for (size_t k = 0; k < KERNEL_SYMBOLS; k++)
		vm->symbols[vm->nsymbols++] = kernel[k];
	add_symbols(l, used, true,
		    kernel[KERNEL_SYMBOLS - 1].address + kernel[KERNEL_SYMBOLS - 1].size);
	free(used);
	return 0;
}

/* Lines that each thread touches first, so that the caches are as full as they will be:
 * together twice as many as there are in all LLCs, at most. */
static uint64_t budget(const struct scenario *sc)
{
	uint64_t lines = 2 * sc->machine.llc.bytes / SPEC_LINE * sc->machine.nodes, n = 1;

	for (size_t i = 0; i < sc->nvms; i++)
		for (size_t g = 0; g < sc->vms[i].nthreads; g++)
			n += sc->vms[i].threads[g].n;
	return lines / n + 1;
}

int program_load(struct sim *s, struct vm *vm, uint64_t line)
{
	struct layout l = {
		.sc = &s->sc, .vm = vm, .line = line, .budget = budget(&s->sc)
	};
	size_t nfunctions = s->sc.nfunctions + 1, n = 0;
	int ret = -ENOMEM;

	for (size_t g = 0; g < vm->sc->nthreads; g++)
		n += vm->sc->threads[g].n;
	vm->line = line;
	vm->threads = calloc(n + 1, sizeof(*vm->threads));
	l.shared = calloc(nfunctions, sizeof(*l.shared));
	l.symbols = calloc(nfunctions, sizeof(*l.symbols));
	if (!vm->threads || !l.shared || !l.symbols)
		goto out;
	ret = symbols(&l);
	for (size_t g = 0; !ret && g < vm->sc->nthreads; g++) {
		for (unsigned i = 0; !ret && i < vm->sc->threads[g].n; i++) {
			struct thread *t = &vm->threads[vm->nthreads];

			ret = thread_init(&l, t, &vm->sc->threads[g], i,
					  i % 2 ? t - 1 : NULL);
			vm->nthreads += !ret;
		}
	}
	vm->lines = l.line - line;
out:
	free(l.shared);
	free(l.symbols);
	return ret;
}

void program_unload(struct vm *vm)
{
	for (size_t i = 0; i < vm->nthreads; i++)
		free(vm->threads[i].routines);
	free(vm->threads);
	free(vm->symbols);
}
