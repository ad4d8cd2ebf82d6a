/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/slots.h"
#include "core/vpmu.h"

static bool on(const struct vpmu_side *side, const struct vpmu_slot *s)
{
	return s->turn == side->turn && !(s->counters & side->denied) &&
	       side->index < s->set->ntallies;
}

static struct vpmu_count *count_of(const struct vpmu_side *side, const struct vpmu_slot *s)
{
	return &s->set->tally[side->index].count[s->event];
}

static bool due(const struct vpmu_side *side, const struct vpmu_slot *s)
{
	return s->samples && (int64_t)count_of(side, s)->left <= 0;
}

/* What the counter of a sampling slot starts from, to overflow when its sample is due;
 * at once where it is due already. */
static uint64_t start_of(struct vpmu_pcpu *p, const struct vpmu_side *side,
			 const struct vpmu_slot *s)
{
	uint64_t left = due(side, s) ? 1 : count_of(side, s)->left;

	return -left & vpmu_width_mask(p->m->family->width(&p->m->caps, s->counter));
}

void vpmu_slots_stop(struct vpmu_pcpu *p, uint64_t counters)
{
	counters &= p->counting;
	if (!counters)
		return;
	p->m->family->stop(&p->hw, &p->m->caps, counters, p->select);
	p->counting &= ~counters;
	p->armed &= ~counters;
}

static void aim(struct vpmu_pcpu *p, unsigned counter, uint64_t select)
{
	if (p->select[counter] == select)
		return;
	p->m->family->select(&p->hw, counter, select);
	p->select[counter] = select;
}

uint64_t vpmu_slots_sampling(const struct vpmu_side *side)
{
	uint64_t counters = 0;

	for (unsigned i = 0; side->plan->sampling && i < side->plan->nslots; i++) {
		const struct vpmu_slot *s = &side->plan->slot[i];

		if (on(side, s) && s->samples)
			counters |= s->counters;
	}
	return counters;
}

/* Stops, sets up and starts the slots that use any of @counters. */
static void program(struct vpmu_pcpu *p, const struct vpmu_side *side, uint64_t counters)
{
	const struct vpmu_family *family = p->m->family;
	uint64_t sampling = counters & vpmu_slots_sampling(side);

	vpmu_slots_stop(p, counters);
	for (unsigned i = 0; i < side->plan->nslots; i++) {
		const struct vpmu_slot *s = &side->plan->slot[i];
		uint64_t select = s->set->select[s->event];

		if (!on(side, s) || !(s->counters & counters))
			continue;
		aim(p, s->counter, select);
		aim(p, s->kick, select);
		if (!s->samples)
			continue;
		family->write(&p->hw, &p->m->caps, s->counter, start_of(p, side, s));
		p->armed |= 1ULL << s->counter;
		if (s->kick != s->counter)
			family->write(&p->hw, &p->m->caps, s->kick,
				      start_of(p, side, s) - 1);
	}
	if (sampling) /* a flag from before would be taken for its own */
		family->clear(&p->hw, &p->m->caps, sampling);
	family->start(&p->hw, &p->m->caps, counters, p->select);
	p->counting |= counters;
}

/* Lets those in @want, of the counters in @mask, interrupt, and the others not. */
static void irqs(struct vpmu_pcpu *p, uint64_t mask, uint64_t want)
{
	uint64_t turn_on = want & ~p->irqs, turn_off = mask & ~want & p->irqs;

	if (turn_on | turn_off)
		p->m->family->irq(&p->hw, turn_on, turn_off);
	p->irqs = (p->irqs | turn_on) & ~turn_off;
}

/*
 * A counter that only counts and can wrap is kept in its upper half, to wrap and
 * interrupt within 2^31 events: between two folds it never goes all the way round. What
 * it is written with has its top bit set at every width, sign-extended from 32 bits too.
 */
static uint64_t rewind(struct vpmu_pcpu *p, unsigned counter)
{
	const struct vpmu_family *family = p->m->family;
	unsigned width = family->width(&p->m->caps, counter);
	uint64_t value = family->read(&p->hw, counter);

	if (width == 64 || p->m->caps.topbit || value >> (width - 1))
		return value;
	value = -(1ULL << 31) & vpmu_width_mask(width);
	family->write(&p->hw, &p->m->caps, counter, value);
	return value;
}

void vpmu_slots_rewind(struct vpmu_pcpu *p, uint64_t counters)
{
	for (; counters; counters &= counters - 1)
		rewind(p, (unsigned)__builtin_ctzll(counters));
}

void vpmu_slots_begin(struct vpmu_pcpu *p, const struct vpmu_side *side, uint64_t counters)
{
	for (unsigned i = 0; i < side->plan->nslots; i++) {
		const struct vpmu_slot *s = &side->plan->slot[i];

		if (!on(side, s) || !(s->counters & counters))
			continue;
		vpmu_offset_start(&count_of(side, s)->offset,
				  s->samples ? start_of(p, side, s)
					     : rewind(p, s->counter));
	}
}

/* Does its counter count what it should? It interrupts, too, since it was started. */
static bool ready(const struct vpmu_pcpu *p, const struct vpmu_slot *s)
{
	return !s->samples && p->counting & s->counters &&
	       p->select[s->counter] == s->set->select[s->event];
}

void vpmu_slots_load(struct vpmu_pcpu *p, const struct vpmu_side *of)
{
	const struct vpmu_side side = *of; /* no store below can change it */
	const struct vpmu_slot *end = side.plan->slot + side.plan->nslots;
	uint64_t change = 0, want = 0;

	for (const struct vpmu_slot *s = side.plan->slot; s < end; s++) {
		if (!on(&side, s))
			continue;
		if (ready(p, s)) {
			vpmu_offset_start(&count_of(&side, s)->offset,
					  p->m->family->read(&p->hw, s->counter));
			continue;
		}
		change |= s->counters;
		/* Only counting: told of a wrap, so that no two go by unnoticed. */
		if (s->samples || !p->m->caps.topbit)
			want |= 1ULL << s->counter;
	}
	if (!change)
		return;
	program(p, &side, change);
	irqs(p, change, want);
	vpmu_hw_sync(&p->hw);
	vpmu_slots_begin(p, &side, change);
}

uint64_t vpmu_slots_due(const struct vpmu_side *side)
{
	uint64_t counters = 0;

	for (unsigned i = 0; side->plan->sampling && i < side->plan->nslots; i++) {
		const struct vpmu_slot *s = &side->plan->slot[i];

		if (on(side, s) && due(side, s))
			counters |= s->counters;
	}
	return counters;
}

void vpmu_slots_unload(struct vpmu_pcpu *p, const struct vpmu_side *side)
{
	uint64_t flagged = vpmu_slots_due(side);

	vpmu_slots_stop(p, vpmu_slots_sampling(side));
	if (flagged)
		p->m->family->clear(&p->hw, &p->m->caps, flagged);
}

/* The tally's sequence count is odd from here to the next call with another one. */
static struct vpmu_tally *guard(struct vpmu_tally *from, struct vpmu_tally *to)
{
	if (from == to)
		return to;
	if (from)
		__atomic_store_n(&from->sequence, from->sequence + 1, __ATOMIC_RELEASE);
	if (to) {
		__atomic_store_n(&to->sequence, to->sequence + 1, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_RELEASE);
	}
	return to;
}

/* Readers of a tally do not wait: a word at a time, whole. */
static void set(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

void vpmu_slots_fold(struct vpmu_pcpu *p, const struct vpmu_side *of, uint64_t dt)
{
	const struct vpmu_family *family = p->m->family;
	const struct vpmu_side side = *of; /* no store below can change it */
	const struct vpmu_slot *end = side.plan->slot + side.plan->nslots;
	struct vpmu_tally *tally = NULL;

	for (const struct vpmu_slot *s = side.plan->slot; s < end; s++) {
		struct vpmu_count *c;
		uint64_t physical, delta;

		if (side.index >= s->set->ntallies)
			continue;
		tally = guard(tally, &s->set->tally[side.index]);
		c = &tally->count[s->event];
		set(&c->enabled_ns, c->enabled_ns + dt);
		if (!on(&side, s))
			continue;
		set(&c->running_ns, c->running_ns + dt);
		physical = family->read(&p->hw, s->counter);
		delta = (physical - c->offset.start) &
			vpmu_width_mask(family->width(&p->m->caps, s->counter));
		set(&c->left, c->left - delta);
		set(&c->offset.sum, c->offset.sum + delta);
		vpmu_offset_start(&c->offset, physical);
	}
	guard(tally, NULL);
}

/* One record of @s into its ring, or the loss of it. */
static void record(struct vpmu_pcpu *p, const struct vpmu_side *side,
		   const struct vpmu_slot *s, const struct vpmu_sample *r)
{
	struct vpmu_tally *tally = &s->set->tally[side->index];
	struct vpmu_count *c = &tally->count[s->event];
	uint64_t lost = tally->ring.lost;
	bool wake = vpmu_ring_put(&tally->ring, r);

	guard(NULL, tally);
	set(&c->left, c->left + r->period);
	set(&c->taken, c->taken + 1);
	set(&c->lost, c->lost + tally->ring.lost - lost);
	guard(tally, NULL);
	if (wake)
		p->m->upcalls->wake(s->set);
}

void vpmu_slots_sample(struct vpmu_pcpu *p, const struct vpmu_side *side,
		       const struct vpmu_where *w, uint32_t flags, uint64_t now)
{
	struct vpmu_sample r = {
		.size = sizeof(r),
		.mode = (uint8_t)w->mode,
		.pcpu = p->index,
		.vcpu = side->index,
		.flags = flags,
		.time = now,
		.pc = w->pc,
	};

	for (unsigned i = 0; side->plan->sampling && i < side->plan->nslots; i++) {
		const struct vpmu_slot *s = &side->plan->slot[i];
		uint64_t period = s->set->event[s->event].period;

		if (!on(side, s) || !due(side, s))
			continue;
		r.event = s->event;
		r.period = period * (1 + -count_of(side, s)->left / period);
		record(p, side, s, &r);
	}
}

void vpmu_slots_rearm(struct vpmu_pcpu *p, const struct vpmu_side *side, uint64_t counters)
{
	program(p, side, counters);
	vpmu_hw_sync(&p->hw);
	vpmu_slots_begin(p, side, counters);
}
