/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "numasim/pmu_x86.h"

uint64_t pmu_x86_mask(unsigned width)
{
	return width == 64 ? ~0ULL : (1ULL << width) - 1;
}

bool pmu_x86_counting(const struct pmu_x86 *x, unsigned i, enum vpmu_mode mode)
{
	bool root = x->has_root && mode == VPMU_MODE_HYP;
	uint64_t on = root ? x->root : x->global;

	return x->counters >> i & 1 && on >> i & 1 && x->enabled(x, i, mode);
}

uint64_t pmu_x86_room(const struct pmu_x86 *x, unsigned i)
{
	return pmu_x86_mask(x->width(x, i)) - x->value[i] + 1;
}

void pmu_x86_count(struct pmu_x86 *x, unsigned i, uint64_t n)
{
	uint64_t mask = pmu_x86_mask(x->width(x, i)), room = mask - x->value[i];

	x->value[i] = (x->value[i] + n) & mask;
	if (n <= room)
		return;
	x->status |= 1ULL << i;
	if (x->interrupts(x, i)) {
		x->waiting = true;
		x->due |= 1ULL << i;
	}
}

void pmu_x86_written(struct pmu_x86 *x, unsigned counter, bool has_status)
{
	if (!has_status)
		x->status &= ~(1ULL << counter);
	if (!has_status || !x->interrupts(x, counter))
		x->due &= ~(1ULL << counter);
}

void pmu_x86_rubbish(struct pmu_x86 *x, uint64_t select)
{
	x->status = x->counters;
	for (unsigned i = 0; i < PMU_X86_COUNTERS; i++) {
		x->value[i] = 0xdeadbeefcafef00dULL & pmu_x86_mask(x->width(x, i));
		x->select[i] = select;
	}
}
