/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "tests/core/hw_x86.h"

static _Noreturn void fault(const char *what, uint32_t reg, uint64_t value)
{
	fprintf(stderr, "#GP in the hypervisor: %s 0x%" PRIx32 ", value 0x%" PRIx64 "\n",
		what, reg, value);
	abort();
}

static uint64_t op_read(void *ctx, uint32_t reg)
{
	struct hw_x86 *x = ctx;
	uint64_t value = 0;

	x->hw.reads++;
	if (!x->pmu->rdmsr(x->pmu, reg, &value))
		fault("rdmsr", reg, 0);
	return value;
}

static void op_write(void *ctx, uint32_t reg, uint64_t value)
{
	struct hw_x86 *x = ctx;

	x->hw.writes++;
	if (!x->pmu->wrmsr(x->pmu, reg, value))
		fault("wrmsr", reg, value);
}

static void op_sync(void *ctx)
{
	((struct hw *)ctx)->syncs++;
}

static uint64_t op_now(void *ctx)
{
	return *((struct hw *)ctx)->clock;
}

void hw_x86_init(struct hw_x86 *x, struct pmu_x86 *pmu, const struct hw_model *model,
		 const uint64_t *clock)
{
	static const struct vpmu_hw_ops ops = { op_read, op_write, op_sync, op_now };

	x->pmu = pmu;
	x->hw = (struct hw) { .hw = { &ops, x }, .model = model, .clock = clock };
}

static struct pmu_x86 *pmu_of(const struct hw *hw)
{
	return ((const struct hw_x86 *)hw)->pmu;
}

/* Does this counter count @event now? */
static bool counts(const struct pmu_x86 *x, unsigned i, enum vpmu_mode mode, uint64_t event)
{
	return pmu_x86_counting(x, i, mode) && x->event(x, i) == event;
}

void hw_x86_run(struct hw *hw, enum vpmu_mode mode, const struct hw_event *events,
		unsigned n)
{
	struct pmu_x86 *x = pmu_of(hw);

	for (unsigned e = 0; e < n; e++)
		for (unsigned i = 0; i < PMU_X86_COUNTERS; i++)
			if (counts(x, i, mode, events[e].event))
				pmu_x86_count(x, i, events[e].count);
}

uint64_t hw_x86_next_overflow(const struct hw *hw, enum vpmu_mode mode, uint64_t event)
{
	const struct pmu_x86 *x = pmu_of(hw);
	uint64_t least = 0;

	for (unsigned i = 0; i < PMU_X86_COUNTERS; i++) {
		uint64_t left;

		if (!counts(x, i, mode, event))
			continue;
		left = pmu_x86_room(x, i);
		if (!least || (left && left < least))
			least = left;
	}
	return least;
}

bool hw_x86_irq_line(const struct hw *hw)
{
	return pmu_of(hw)->waiting;
}

void hw_x86_ack(struct hw *hw)
{
	pmu_of(hw)->waiting = false;
}

/* RDPMC's counter, as ECX told it. */
static bool rdpmc(const struct pmu_x86 *x, uint32_t reg, uint64_t *value)
{
	unsigned i = (reg & 0xffff) + (reg >> 24 & 1) * 32;

	if (reg & 0xeff0000 || i >= PMU_X86_COUNTERS || !(x->counters >> i & 1))
		return false;
	*value = x->value[i];
	return true;
}

/* RDMSR and WRMSR are #GP in ring 3 before they would exit; RDPMC exits. */
enum hw_access hw_x86_guest(struct hw *hw, enum vpmu_mode mode, uint32_t reg, bool write,
			    uint64_t *value)
{
	struct pmu_x86 *x = pmu_of(hw);
	bool is_rdpmc = reg >> 28 == X86_RDPMC >> 28, done;

	if (is_rdpmc ? write : mode == VPMU_MODE_USER)
		return HW_REFUSED;
	if (!x->bare)
		return HW_EXIT;
	if (is_rdpmc)
		done = rdpmc(x, reg, value);
	else
		done = write ? x->wrmsr(x, reg, *value) : x->rdmsr(x, reg, value);
	return done ? HW_DONE : HW_REFUSED;
}

void hw_x86_bare(struct hw *hw)
{
	struct pmu_x86 *x = pmu_of(hw);

	x->bare = true;
	x->status = x->due = 0;
	for (unsigned i = 0; i < PMU_X86_COUNTERS; i++)
		x->value[i] = x->select[i] = 0;
}

bool hw_x86_due(const struct hw *hw)
{
	return pmu_of(hw)->due;
}
