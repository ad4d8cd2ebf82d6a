/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "core/offset.h"
#include "tests/core/fake_pmu.h"

/* What select() is given: the event, and modes by bit. */
#define MODES 16

static bool counts(const struct fake_pmu *f, unsigned i, enum vpmu_mode mode,
		   uint64_t event)
{
	return f->counting >> i & 1 &&
	       f->select[i] >> MODES & 1u << (mode - VPMU_MODE_USER) &&
	       (f->select[i] & 0xffff) == event;
}

void fake_run(struct fake_pmu *f, enum vpmu_mode mode, uint64_t event, uint64_t n)
{
	uint64_t mask = vpmu_width_mask(f->width);

	for (unsigned i = 0; i < FAKE_COUNTERS; i++) {
		uint64_t before = f->value[i];

		if (!counts(f, i, mode, event))
			continue;
		f->value[i] = (before + n) & mask;
		if (n > mask - before)
			f->flags |= 1ULL << i;
	}
}

uint64_t fake_next(const struct fake_pmu *f, enum vpmu_mode mode, uint64_t event)
{
	uint64_t next = 0;

	for (unsigned i = 0; i < FAKE_COUNTERS; i++) {
		uint64_t room = vpmu_width_mask(f->width) - f->value[i];

		if (counts(f, i, mode, event) && (!next || room < next - 1))
			next = room + 1;
	}
	return next;
}

bool fake_line(const struct fake_pmu *f)
{
	return f->flags & f->irq && (!f->fault || f->flags & ~f->irq);
}

static uint64_t now(void *ctx)
{
	return *((struct fake_pmu *)ctx)->clock;
}

static void sync(void *ctx)
{
	((struct fake_pmu *)ctx)->unsynced = 0;
}

const struct vpmu_hw_ops fake_ops = { .now = now, .sync = sync };

static struct fake_pmu *written(const struct vpmu_hw *hw)
{
	struct fake_pmu *f = hw->ctx;

	f->writes++;
	return f;
}

static unsigned width(const struct vpmu_caps *caps, unsigned counter)
{
	(void)counter;
	return caps->width;
}

static uint64_t read(const struct vpmu_hw *hw, unsigned counter)
{
	const struct fake_pmu *f = hw->ctx;

	return f->unsynced >> counter & 1 ? 0x5a5a5a5a : f->value[counter];
}

static void write(const struct vpmu_hw *hw, const struct vpmu_caps *caps, unsigned counter,
		  uint64_t value)
{
	(void)caps;
	written(hw)->value[counter] = value;
}

static void select(const struct vpmu_hw *hw, unsigned counter, uint64_t value)
{
	written(hw)->select[counter] = value;
}

static void start(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask,
		  const uint64_t *selects)
{
	struct fake_pmu *f = written(hw);

	(void)caps;
	(void)selects;
	f->counting |= mask;
	f->unsynced |= mask;
}

static void stop(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask,
		 const uint64_t *selects)
{
	(void)caps;
	(void)selects;
	written(hw)->counting &= ~mask;
}

static void irq(const struct vpmu_hw *hw, uint64_t on, uint64_t off)
{
	struct fake_pmu *f = written(hw);

	f->irq = (f->irq | on) & ~off;
}

static uint64_t overflowed(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			   uint64_t mask)
{
	const struct fake_pmu *f = hw->ctx;
	uint64_t low = 0;

	if (!caps->topbit)
		return f->flags & mask;
	for (unsigned i = 0; i < FAKE_COUNTERS; i++)
		if (!(f->value[i] >> (f->width - 1)))
			low |= 1ULL << i;
	return low & mask;
}

static void clear(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask)
{
	(void)caps;
	written(hw)->flags &= ~mask;
}

static int encode(const struct vpmu_caps *caps, const struct vpmu_event *event,
		  uint64_t *value, uint64_t *may)
{
	if (event->config >= 16)
		return -EOPNOTSUPP;
	*value = event->config | (uint64_t)event->flags << MODES;
	*may = event->config == 15 ? 1u << 4 : caps->counters;
	return 0;
}

const struct vpmu_family fake_family = {
	.name = "fake",
	.width = width,
	.read = read,
	.write = write,
	.select = select,
	.start = start,
	.stop = stop,
	.irq = irq,
	.overflowed = overflowed,
	.clear = clear,
	.encode = encode,
};
