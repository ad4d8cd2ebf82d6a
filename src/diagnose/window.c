/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/diagnose.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values and their errors add, and a sum is no better than its worst part. One without a
 * value leaves the sum without one. */
static void add(struct quantity *sum, const struct quantity *q)
{
	sum->value += q->value;
	sum->error += q->error;
	if (q->state > sum->state) {
		sum->state = q->state;
		sum->reason = q->reason;
	}
}

static bool same_vm(const struct diag_vm *a, const struct diag_vm *b)
{
	if (strcmp(a->id, b->id) || a->nvcpus != b->nvcpus)
		return false;
	for (size_t i = 0; i < a->nvcpus; i++)
		if (a->vcpus[i].index != b->vcpus[i].index)
			return false;
	return true;
}

static int copy(const struct diag_window *w, struct diag_window *out)
{
	*out = *w;
	out->vms = calloc(w->nvms + 1, sizeof(*out->vms));
	if (!out->vms)
		return -ENOMEM;
	for (size_t i = 0; i < w->nvms; i++) {
		struct diag_vm *vm = &out->vms[i];

		*vm = w->vms[i];
		vm->vcpus = calloc(vm->nvcpus + 1, sizeof(*vm->vcpus));
		if (!vm->vcpus) {
			out->nvms = i;
			return -ENOMEM;
		}
		memcpy(vm->vcpus, w->vms[i].vcpus, vm->nvcpus * sizeof(*vm->vcpus));
	}
	return 0;
}

/* What is no sum is the mean over time. */
static void join(struct diag_window *out, const struct diag_window *w)
{
	double whole = out->seconds + w->seconds;
	double old = whole > 0 ? out->seconds / whole : 0.5;

	for (size_t i = 0; i < out->nvms; i++) {
		struct diag_vm *vm = &out->vms[i];

		for (size_t c = 0; c < vm->nvcpus; c++) {
			struct diag_vcpu *to = &vm->vcpus[c];
			const struct diag_vcpu *from = &w->vms[i].vcpus[c];

			struct quantity now = to->role[ROLE_LLC_OCCUPANCY];

			for (int r = 0; r < ROLE_OF_NODE; r++)
				add(&to->role[r], &from->role[r]);
			to->role[ROLE_LLC_OCCUPANCY].value =
				old * now.value +
				(1 - old) * from->role[ROLE_LLC_OCCUPANCY].value;
			for (unsigned n = 0; n < DIAG_NODES; n++)
				to->on_node[n] =
					old * to->on_node[n] + (1 - old) * from->on_node[n];
			if (from->choices) {
				to->cpu = from->cpu;
				to->choices = from->choices;
			}
		}
		for (unsigned n = 0; n < DIAG_NODES; n++)
			vm->mem_node[n] =
				old * vm->mem_node[n] + (1 - old) * w->vms[i].mem_node[n];
	}
	for (unsigned n = 0; n < DIAG_NODES; n++)
		for (int r = 0; r < ROLES - ROLE_OF_NODE; r++)
			add(&out->node[n].role[r], &w->node[n].role[r]);
	out->seconds = whole;
}

static double miss_ratio(const struct diag_vcpu *v)
{
	const struct quantity *q = v->role;
	double refs = q[ROLE_LLC_REFS].value, misses = q[ROLE_LLC_MISSES].value;

	return reading_has_value(q[ROLE_LLC_REFS].state) &&
			       reading_has_value(q[ROLE_LLC_MISSES].state) && refs > 0
		       ? misses / refs
		       : NAN;
}

/*
 * Misses that fade, window by window, are those of a VM that touches its data for the
 * first time. Who gets in its way does so in the last window, too.
 */
static void find_cold(const struct diag_window *const *windows, size_t n,
		      struct diag_window *out)
{
	for (size_t i = 0; i < out->nvms; i++)
		for (size_t c = 0; c < out->vms[i].nvcpus; c++) {
			struct diag_vcpu *v = &out->vms[i].vcpus[c];
			double last = INFINITY, rest, stays;

			for (size_t k = 0; k < n; k++) {
				double ratio = miss_ratio(&windows[k]->vms[i].vcpus[c]);

				if (!(ratio <= last)) {
					last = NAN;
					break;
				}
				last = ratio;
			}
			stays = last * v->role[ROLE_LLC_REFS].value;
			rest = v->role[ROLE_LLC_MISSES].value - stays;
			if (rest > v->role[ROLE_LLC_MISSES].error && rest > stays)
				v->cold = rest;
		}
}

int diag_window_merge(const struct diag_window *const *windows, size_t n,
		      struct diag_window *out)
{
	int rc;

	*out = (struct diag_window) { 0 };
	if (!n)
		return -EINVAL;
	for (size_t k = 1; k < n; k++) {
		bool same = windows[k]->nvms == windows[0]->nvms;

		for (size_t i = 0; i < windows[0]->nvms && same; i++)
			same = same_vm(&windows[k]->vms[i], &windows[0]->vms[i]);
		if (!same)
			return -EINVAL;
	}
	rc = copy(windows[0], out);
	for (size_t k = 1; k < n && !rc; k++)
		join(out, windows[k]);
	if (!rc && n > 1)
		find_cold(windows, n, out);
	if (rc)
		diag_window_free(out);
	return rc;
}
