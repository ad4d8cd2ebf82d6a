/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "tests/core/hw_x86.h"

uint64_t hw_x86_mask(unsigned width)
{
	return width == 64 ? ~0ULL : (1ULL << width) - 1;
}

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
	if (!x->rdmsr(x, reg, &value))
		fault("rdmsr", reg, 0);
	return value;
}

static void op_write(void *ctx, uint32_t reg, uint64_t value)
{
	struct hw_x86 *x = ctx;

	x->hw.writes++;
	if (!x->wrmsr(x, reg, value))
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

const struct vpmu_hw_ops hw_x86_ops = { op_read, op_write, op_sync, op_now };

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
	if (x->interrupts(x, i)) {
		x->waiting = true;
		x->due |= 1ULL << i;
	}
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

/* RDPMC's counter, as ECX told it. */
static bool rdpmc(const struct hw_x86 *x, uint32_t reg, uint64_t *value)
{
	unsigned i = (reg & 0xffff) + (reg >> 24 & 1) * 32;

	if (reg & 0xeff0000 || i >= X86_COUNTERS || !(x->counters >> i & 1))
		return false;
	*value = x->value[i];
	return true;
}

/* RDMSR and WRMSR are #GP in ring 3 before they would exit; RDPMC exits. */
enum hw_access hw_x86_guest(struct hw *hw, enum vpmu_mode mode, uint32_t reg, bool write,
			    uint64_t *value)
{
	struct hw_x86 *x = (struct hw_x86 *)hw;
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
	struct hw_x86 *x = (struct hw_x86 *)hw;

	x->bare = true;
	x->status = x->due = 0;
	for (unsigned i = 0; i < X86_COUNTERS; i++)
		x->value[i] = x->select[i] = 0;
}

bool hw_x86_due(const struct hw *hw)
{
	return ((const struct hw_x86 *)hw)->due;
}

void hw_x86_written(struct hw_x86 *x, unsigned counter, bool has_status)
{
	if (!has_status)
		x->status &= ~(1ULL << counter);
	if (!has_status || !x->interrupts(x, counter))
		x->due &= ~(1ULL << counter);
}

void hw_x86_rubbish(struct hw_x86 *x, uint64_t select)
{
	x->status = x->counters;
	for (unsigned i = 0; i < X86_COUNTERS; i++) {
		x->value[i] = 0xdeadbeefcafef00dULL & hw_x86_mask(x->width(x, i));
		x->select[i] = select;
	}
}
