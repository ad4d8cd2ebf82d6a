/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/budget.h"
#include "core/err.h"
#include "core/host.h"

unsigned vpmu_budget_host(unsigned n, int asked)
{
	if (asked >= 0)
		return (unsigned)asked < n ? (unsigned)asked : n;
	return n / 3;
}

/* A counter wanted: an event wants one, or two of the same kind if it needs a kick. */
struct want {
	uint64_t may;
	unsigned slot;
};

/* Who sits where in one turn. */
struct turn {
	uint64_t avail, taken;
	unsigned n;
	struct want want[2 * VPMU_PLAN_SLOTS];
	uint8_t seat[VPMU_COUNTERS]; /* of a counter in @taken: index into @want */
};

/*
 * Finds a counter for want @i, moving others if need be (an augmenting path in the
 * bipartite graph of wants and counters). Each counter is tried once, so the depth is
 * bounded by the number of counters. The highest one first: fixed ones, of few events,
 * and after them those that fewest events are bound to.
 */
static bool seat(struct turn *t, unsigned i, uint64_t *tried)
{
	uint64_t open = t->want[i].may & t->avail & ~*tried;

	if (open & ~t->taken) {
		unsigned c = 63 - (unsigned)__builtin_clzll(open & ~t->taken);

		t->taken |= 1ULL << c;
		t->seat[c] = (uint8_t)i;
		return true;
	}
	while ((open = t->want[i].may & t->avail & ~*tried)) {
		unsigned c = (unsigned)__builtin_ctzll(open);

		*tried |= 1ULL << c;
		if (seat(t, t->seat[c], tried)) {
			t->seat[c] = (uint8_t)i;
			return true;
		}
	}
	return false;
}

/* Seats the counters that slot @slot wants; false: not all. */
static bool seat_slot(struct turn *t, unsigned slot, uint64_t may, unsigned counters)
{
	while (counters--) {
		uint64_t tried = 0;

		t->want[t->n] = (struct want) { .may = may, .slot = slot };
		if (!seat(t, t->n++, &tried))
			return false;
	}
	return true;
}

static unsigned wanted(const struct vpmu_slot *s, bool kick)
{
	return kick && s->samples ? 2 : 1;
}

/* Writes down where the slots of @t sit. */
static void settle(const struct turn *t, struct vpmu_plan *plan)
{
	plan->used |= t->taken;
	for (uint64_t left = t->taken; left; left &= left - 1) {
		unsigned c = (unsigned)__builtin_ctzll(left);
		struct vpmu_slot *s = &plan->slot[t->want[t->seat[c]].slot];

		if (!s->counters)
			s->counter = (uint8_t)c;
		s->kick = (uint8_t)c;
		s->counters |= 1ULL << c;
		if (s->samples)
			plan->sampling |= 1ULL << c;
	}
}

/* How many slots from @i on are seated together: those of one set stand side by side. */
static unsigned company(const struct vpmu_plan *plan, unsigned i, unsigned end)
{
	unsigned n = 1;

	while (plan->slot[i].together && i + n < end &&
	       plan->slot[i + n].set == plan->slot[i].set)
		n++;
	return n;
}

/* Seats @n slots from @i on as those from @as on, or none. */
static bool seat_slots(struct turn *t, const struct vpmu_plan *plan, unsigned i, unsigned n,
		       unsigned as, bool kick)
{
	struct turn before = *t;

	for (unsigned k = 0; k < n; k++) {
		const struct vpmu_slot *s = &plan->slot[i + k];

		if (!seat_slot(t, as + k, s->set->may[s->event], wanted(s, kick))) {
			*t = before;
			return false;
		}
	}
	return true;
}

/*
 * Moves those of the slots from plan->nslots on that fit together to the front, in
 * their order, as one more turn. @end: of the slots. How many fitted.
 */
static unsigned fill_turn(struct vpmu_plan *plan, unsigned end, uint64_t avail, bool kick)
{
	struct turn t = { .avail = avail };
	unsigned begin = plan->nslots, n;

	for (unsigned i = begin; i < end; i += n) {
		n = company(plan, i, end);
		if (!seat_slots(&t, plan, i, n, plan->nslots, kick))
			continue;
		for (unsigned k = i; k < i + n; k++) {
			struct vpmu_slot s = plan->slot[k];

			s.turn = (uint8_t)plan->nturns;
			for (unsigned j = k; j > plan->nslots; j--)
				plan->slot[j] = plan->slot[j - 1];
			plan->slot[plan->nslots++] = s;
		}
	}
	settle(&t, plan);
	plan->nturns++;
	return plan->nslots - begin;
}

/* Marks the last slots before @end, which are @set's, if they all fit into one turn. */
static void keep_together(struct vpmu_plan *plan, const struct vpmu_set *set, unsigned end,
			  uint64_t avail, bool kick)
{
	struct turn t = { .avail = avail };
	unsigned first = end - set->n;

	if (!set->together || !seat_slots(&t, plan, first, set->n, first, kick))
		return;
	for (unsigned i = first; i < end; i++)
		plan->slot[i].together = true;
}

int vpmu_budget_plan(struct vpmu_set *sets, uint64_t avail, bool kick, bool pinned,
		     struct vpmu_plan *plan)
{
	struct vpmu_plan new = { .nslots = 0 };
	unsigned end = 0;

	for (struct vpmu_set *set = sets; set; set = set->next) {
		for (unsigned i = 0; i < set->n; i++) {
			if (end == VPMU_PLAN_SLOTS)
				return -VPMU_ENOSPC;
			new.slot[end++] = (struct vpmu_slot) {
				.set = set,
				.event = (uint8_t)i,
				.samples = set->event[i].period,
			};
		}
		keep_together(&new, set, end, avail, kick);
	}
	while (new.nslots < end)
		if ((pinned && new.nturns) || !fill_turn(&new, end, avail, kick))
			return -VPMU_EBUSY;
	*plan = new;
	return 0;
}
