/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "tests/core/hw_x86.h"

uint64_t hw_x86_mask(unsigned width)
{
	return width == 64 ? ~0ULL : (1ULL << width) - 1;
}

_Noreturn void hw_x86_fault(const char *what, uint32_t reg, uint64_t value)
{
	fprintf(stderr, "#GP in the hypervisor: %s 0x%" PRIx32 ", value 0x%" PRIx64 "\n",
		what, reg, value);
	abort();
}

static bool is_counting(const struct hw_x86 *x, unsigned i, enum vpmu_mode mode,
			uint64_t event)
{
	return x->counters >> i & 1 && x->global >> i & 1 && x->counts(x, i, mode, event);
}

static void count(struct hw_x86 *x, unsigned i, uint64_t n)
{
	uint64_t mask = hw_x86_mask(x->width(x, i)), room = mask - x->value[i];

	x->value[i] = (x->value[i] + n) & mask;
	if (n <= room)
		return;
	x->status |= 1ULL << i;
	if (x->interrupts(x, i))
		x->waiting = true;
}

void hw_x86_run(struct hw *hw, enum vpmu_mode mode, const struct hw_event *events,
		unsigned n)
{
	struct hw_x86 *x = (struct hw_x86 *)hw;

	for (unsigned e = 0; e < n; e++)
		for (unsigned i = 0; i < X86_COUNTERS; i++)
			if (is_counting(x, i, mode, events[e].event))
				count(x, i, events[e].count);
}

uint64_t hw_x86_next_overflow(const struct hw *hw, enum vpmu_mode mode, uint64_t event)
{
	const struct hw_x86 *x = (const struct hw_x86 *)hw;
	uint64_t least = 0;

	for (unsigned i = 0; i < X86_COUNTERS; i++) {
		uint64_t left;

		if (!is_counting(x, i, mode, event))
			continue;
		left = hw_x86_mask(x->width(x, i)) - x->value[i] + 1;
		if (!least || (left && left < least))
			least = left;
	}
	return least;
}

bool hw_x86_irq_line(const struct hw *hw)
{
	return ((const struct hw_x86 *)hw)->waiting;
}

void hw_x86_ack(struct hw *hw)
{
	((struct hw_x86 *)hw)->waiting = false;
}

/* RDMSR and WRMSR are #GP in ring 3 before they would exit; RDPMC exits. */
enum hw_access hw_x86_guest(struct hw *hw, enum vpmu_mode mode, uint32_t reg, bool write,
			    uint64_t *value)
{
	bool is_rdpmc = reg >> 28 == X86_RDPMC >> 28;

	(void)hw;
	(void)value;
	return (mode == VPMU_MODE_USER && !is_rdpmc) || (write && is_rdpmc) ? HW_REFUSED
									    : HW_EXIT;
}

void hw_x86_sync(void *ctx)
{
	((struct hw *)ctx)->syncs++;
}

uint64_t hw_x86_now(void *ctx)
{
	return *((struct hw *)ctx)->clock;
}

void hw_x86_rubbish(struct hw_x86 *x, uint64_t select)
{
	x->status = x->counters;
	for (unsigned i = 0; i < X86_COUNTERS; i++) {
		x->value[i] = 0xdeadbeefcafef00dULL & hw_x86_mask(x->width(x, i));
		x->select[i] = select;
	}
}
