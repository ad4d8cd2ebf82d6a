/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/counted_vm.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/vec.h"

/* Whose events count what the host (or the hypervisor) does, and nothing else. */
static bool knows_one_side(enum vm_accel accel)
{
	return accel == ACCEL_NONE || accel == ACCEL_HYPERVISOR;
}

/* An event that does not say its side becomes one that does, or two. */
static int resolve_sides(const struct event_set *in, enum vm_accel accel,
			 enum event_side side, struct event_set *out)
{
	int ret = 0, groups = 0;

	for (size_t i = 0; i < in->n; i++)
		if (in->ev[i].group >= groups)
			groups = in->ev[i].group + 1;
	for (size_t i = 0; !ret && i < in->n; i++) {
		struct event ev = in->ev[i];
		bool open = ev.kind == EVENT_HARDWARE && ev.side == SIDE_DEFAULT;

		if (ev.kind != EVENT_HARDWARE)
			ev.side = SIDE_BOTH;
		else if (open)
			ev.side = knows_one_side(accel) || side == SIDE_HOST ? SIDE_HOST
									     : SIDE_GUEST;
		ret = VEC_PUSH(out->ev, out->n, out->cap, ev);
		if (ret || !open || side != SIDE_BOTH || knows_one_side(accel))
			continue;
		ev.side = SIDE_HOST; /* in a group of its own kind */
		if (ev.group >= 0)
			ev.group += groups;
		ret = VEC_PUSH(out->ev, out->n, out->cap, ev);
	}
	return ret;
}

int counted_vm_create(const struct vm *from, const struct event_set *events,
		      enum event_side side, struct counted_vm **out)
{
	struct counted_vm *vm = calloc(1, sizeof(*vm));

	if (!vm)
		return -ENOMEM;
	str_copy(vm->id, sizeof(vm->id), from->id);
	str_copy(vm->name, sizeof(vm->name), from->name);
	if (!resolve_sides(events, from->accel, side, &vm->set))
		vm->past = calloc(vm->set.n + 1, sizeof(*vm->past));
	if (!vm->past) {
		counted_vm_free(vm);
		return -ENOMEM;
	}
	*out = vm;
	return 0;
}

void counted_vm_free(struct counted_vm *vm)
{
	if (!vm)
		return;
	for (size_t i = 0; i < vm->nunits; i++)
		unit_free(vm->units[i]);
	free(vm->units);
	free(vm->past);
	event_set_free(&vm->set);
	free(vm);
}

/* Reasons point into a unit: one that has any to give stays until the end. */
static bool can_let_go(const struct unit *u)
{
	for (size_t i = 0; i < u->set->n; i++)
		if (unit_total(u, i).reason)
			return false;
	return true;
}

void counted_vm_let_go(struct counted_vm *vm)
{
	for (size_t k = vm->nunits; k-- > 0;) {
		struct unit *u = vm->units[k];

		if (!u->done || !can_let_go(u))
			continue;
		for (size_t i = 0; i < vm->set.n; i++) {
			struct reading r = unit_total(u, i);

			reading_sum_add(&vm->past[i], &r, &u->cells[i].total);
		}
		unit_free(u);
		vm->units[k] = vm->units[--vm->nunits];
	}
}

struct reading counted_vm_sum(struct counted_vm *vm, const struct reading_sum *sum)
{
	struct reading r = reading_sum_result(sum);
	size_t missing = vm->unknown + vm->refused;

	if (!missing || !reading_has_value(r.state))
		return r;
	snprintf(vm->lacks, sizeof(vm->lacks), "%zu of its vCPUs %s not in it: %s", missing,
		 missing == 1 ? "is" : "are",
		 vm->refused ? "their events could not be opened, as a note says"
			     : "their threads are not known, vmmprof list says why");
	r.state = READ_SUSPECT;
	r.reason = vm->lacks;
	r.error = NAN;
	return r;
}

struct reading counted_vm_total(struct counted_vm *vm, size_t i)
{
	struct reading_sum sum = vm->past[i];

	for (size_t k = 0; k < vm->nunits; k++) {
		struct reading r = unit_total(vm->units[k], i);

		reading_sum_add(&sum, &r, &vm->units[k]->cells[i].total);
	}
	return counted_vm_sum(vm, &sum);
}
