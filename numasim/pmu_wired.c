/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/pmu_wired.h"

static uint64_t total(const struct pmu_wired *w, const struct wire *wire)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < wire->n; i++)
		sum += w->raw[wire->raw[i]];
	return sum;
}

void pmu_wired_fold(struct pmu_wired *w)
{
	for (uint64_t left = w->on; left; left &= left - 1) {
		unsigned c = (unsigned)__builtin_ctzll(left);
		uint64_t now = total(w, &w->counter[c].wire);

		pmu_x86_count(w->pmu, c, now - w->counter[c].total);
		w->counter[c].total = now;
	}
}

/* An event that is not there never happens; nor does one on a counter that cannot. */
static void connect(struct pmu_wired *w, unsigned c, uint64_t event)
{
	struct wire *wire = &w->counter[c].wire;

	w->counter[c].event = event;
	if (!w->find(w->model, (uint32_t)event, wire) || !(wire->counters >> c & 1))
		wire->n = 0;
}

void pmu_wired_follow(struct pmu_wired *w)
{
	w->on = 0;
	for (uint64_t left = w->pmu->counters; left; left &= left - 1) {
		unsigned c = (unsigned)__builtin_ctzll(left);
		uint64_t event;

		if (!pmu_x86_counting(w->pmu, c, w->mode))
			continue;
		event = w->pmu->event(w->pmu, c);
		if (w->counter[c].event != event)
			connect(w, c, event);
		w->counter[c].total = total(w, &w->counter[c].wire);
		w->on |= 1ULL << c;
	}
}
