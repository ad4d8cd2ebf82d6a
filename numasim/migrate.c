/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "numasim/hyper.h"
#include "numasim/program.h"

/*
 * All vCPUs of the VM copy, line by line, and nothing else until it is done: a read of
 * the old node and a write of the new one each, by lines that the VM has no other use
 * for. A place's pages (SIM_PLACES) move at once, when the last line of them is copied.
 */
struct move {
	uint8_t node;
	unsigned place;
	uint64_t copied; /* lines of that place's pages */
};

#define COPY_WINDOW 10
#define COPY_INSTRUCTIONS 12
#define COPY_CYCLES 6

int migrate_begin(struct vm *vm, unsigned node)
{
	if (!vm->move)
		vm->move = calloc(1, sizeof(*vm->move));
	if (!vm->move)
		return -ENOMEM;
	*vm->move = (struct move) { .node = (uint8_t)node };
	return 0;
}

/* Pages in use of place @i. */
static uint64_t place_pages(const struct vm *vm, unsigned i)
{
	uint64_t pages = vm->lines / SIM_PAGE_LINES;

	return pages / SIM_PLACES + (i < pages % SIM_PLACES);
}

static void place_done(struct sim *s, struct vm *vm)
{
	struct move *mv = vm->move;
	uint64_t line = vm->line + mv->place * SIM_PAGE_LINES;

	for (uint64_t n = place_pages(vm, mv->place); n; n--) {
		machine_forget(s->machine, line, SIM_PAGE_LINES);
		line += SIM_PLACES * SIM_PAGE_LINES;
	}
	vm->place[mv->place++] = mv->node;
	mv->copied = 0;
}

static void copy_line(struct sim *s, struct pcpu *p, struct vm *vm)
{
	struct move *mv = vm->move;
	struct access a = {
		.line = s->copy_line + s->copied,
		.vm = (uint16_t)vm->vcpus->vm,
		.home = vm->place[mv->place],
		.window = COPY_WINDOW,
		.instructions = COPY_INSTRUCTIONS,
		.cycles = COPY_CYCLES,
	};

	machine_access(s->machine, p->core, &a);
	a.line += s->copy_lines;
	a.home = mv->node;
	a.write = true;
	machine_access(s->machine, p->core, &a);
	s->copied = (s->copied + 1) % s->copy_lines;
	mv->copied++;
}

uint64_t migrate_run(struct sim *s, struct pcpu *p, struct vm *vm, uint64_t until)
{
	struct move *mv = vm->move;
	enum vpmu_mode mode = p->mode;

	pcpu_mode(s, p, VPMU_MODE_KERNEL);
	p->kernel = program_kernel(KERNEL_MIGRATE);
	while (mv->place < SIM_PLACES && machine_now(s->machine, p->core) < until) {
		if (vm->place[mv->place] == mv->node)
			mv->place++;
		else if (mv->copied == place_pages(vm, mv->place) * SIM_PAGE_LINES)
			place_done(s, vm);
		else
			copy_line(s, p, vm);
	}
	p->kernel = NULL;
	pcpu_mode(s, p, mode);
	if (mv->place == SIM_PLACES) {
		free(mv);
		vm->move = NULL;
	}
	return machine_now(s->machine, p->core);
}
