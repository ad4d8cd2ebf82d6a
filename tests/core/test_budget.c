/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/budget.h"
#include "core/host.h"

#define ANY (~0ULL)

static struct vpmu_plan plan;

/* A set of @n events that only count, each on any counter. */
static struct vpmu_set counting(unsigned n)
{
	struct vpmu_set set = { .n = n };

	for (unsigned i = 0; i < n; i++)
		set.may[i] = ANY;
	return set;
}

/* What must hold of every plan: each event once, where it may be, nobody's place twice. */
static void plan_is_sound(const struct vpmu_set *sets, uint64_t avail, bool kick)
{
	unsigned events = 0;
	uint64_t seen = 0;

	for (const struct vpmu_set *set = sets; set; set = set->next)
		for (unsigned i = 0; i < set->n; i++, events++) {
			unsigned times = 0;

			for (unsigned j = 0; j < plan.nslots; j++)
				times += plan.slot[j].set == set && plan.slot[j].event == i;
			assert_int_equal(times, 1);
		}
	assert_int_equal(plan.nslots, events);
	for (unsigned i = 0; i < plan.nslots; i++) {
		const struct vpmu_slot *s = &plan.slot[i];
		uint64_t mine = 1ULL << s->counter | 1ULL << s->kick;

		assert_int_equal(mine & ~(s->set->may[s->event] & avail), 0);
		assert_int_equal(s->kick != s->counter,
				 kick && s->set->event[s->event].period);
		assert_in_range(s->turn, i ? s[-1].turn : 0, plan.nturns - 1);
		for (unsigned j = 0; j < i; j++)
			if (plan.slot[j].turn == s->turn)
				assert_int_equal(mine & (1ULL << plan.slot[j].counter |
							 1ULL << plan.slot[j].kick),
						 0);
		seen |= mine;
	}
	assert_int_equal(seen, plan.used);
}

static void a_third_is_kept_unless_the_administrator_says(void **state)
{
	(void)state;
	assert_int_equal(vpmu_budget_host(6, -1), 2);
	assert_int_equal(vpmu_budget_host(3, -1), 1);
	assert_int_equal(vpmu_budget_host(2, -1), 0);
	assert_int_equal(vpmu_budget_host(0, -1), 0);
	assert_int_equal(vpmu_budget_host(31, -1), 10);
	assert_int_equal(vpmu_budget_host(6, 0), 0);
	assert_int_equal(vpmu_budget_host(6, 5), 5);
	assert_int_equal(vpmu_budget_host(6, 6), 6);
	assert_int_equal(vpmu_budget_host(6, 1000), 6);
}

static void what_fits_at_once_has_no_turns(void **state)
{
	struct vpmu_set b = counting(2), a = counting(2);

	(void)state;
	a.next = &b;
	assert_int_equal(vpmu_budget_plan(&a, 0xf0, false, false, &plan), 0);
	assert_int_equal(plan.nturns, 1);
	plan_is_sound(&a, 0xf0, false);
}

static void nobody_starves(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= VPMU_SET_EVENTS; n++)
		for (unsigned counters = 1; counters <= 5; counters++) {
			struct vpmu_set b = counting(n), a = counting(n);
			uint64_t avail = (1ULL << counters) - 1;

			a.next = &b;
			assert_int_equal(vpmu_budget_plan(&a, avail, false, false, &plan),
					 0);
			assert_int_equal(plan.nturns, (2 * n + counters - 1) / counters);
			plan_is_sound(&a, avail, false);
		}
}

static void turns_are_in_the_order_of_opening(void **state)
{
	struct vpmu_set c = counting(1), b = counting(1), a = counting(1);

	(void)state;
	a.next = &b;
	b.next = &c;
	assert_int_equal(vpmu_budget_plan(&a, 1, false, false, &plan), 0);
	assert_int_equal(plan.nturns, 3);
	assert_ptr_equal(plan.slot[0].set, &a);
	assert_ptr_equal(plan.slot[1].set, &b);
	assert_ptr_equal(plan.slot[2].set, &c);
}

/* Else the first turn would have an event of b's beside a's three. */
static void what_is_to_be_counted_together_is_in_one_turn(void **state)
{
	struct vpmu_set c = counting(1), b = counting(3), a = counting(3);
	unsigned turns_of_b = 0;

	(void)state;
	a.next = &b;
	b.next = &c;
	a.together = b.together = true;
	assert_int_equal(vpmu_budget_plan(&a, 0xf, false, false, &plan), 0);
	plan_is_sound(&a, 0xf, false);
	assert_int_equal(plan.nturns, 2);
	for (unsigned i = 0; i < plan.nslots; i++) {
		assert_int_equal(plan.slot[i].turn, plan.slot[i].set == &b);
		turns_of_b |= plan.slot[i].set == &b ? 1u << plan.slot[i].turn : 0;
	}
	assert_int_equal(turns_of_b, 1 << 1);
}

static void what_cannot_be_counted_together_takes_turns(void **state)
{
	struct vpmu_set b = counting(2), a = counting(5);

	(void)state;
	a.next = &b;
	a.together = b.together = true;
	assert_int_equal(vpmu_budget_plan(&a, 7, false, false, &plan), 0);
	plan_is_sound(&a, 7, false);
	assert_int_equal(plan.nturns, 3); /* b's two do not fit beside a's last two */
}

static void an_event_that_one_counter_alone_can_count_gets_it(void **state)
{
	struct vpmu_set a = counting(3);

	(void)state;
	a.may[2] = 1;
	assert_int_equal(vpmu_budget_plan(&a, 7, false, false, &plan), 0);
	assert_int_equal(plan.nturns, 1);
	plan_is_sound(&a, 7, false);
	assert_int_equal(plan.slot[2].counter, 0);
}

/* Each newcomer moves all who came before it. */
static void a_chain_of_narrower_and_narrower_events_fits_in_one_turn(void **state)
{
	struct vpmu_set a = counting(8);

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		a.may[i] = (1ULL << (8 - i)) - 1;
	assert_int_equal(vpmu_budget_plan(&a, 0xff, false, false, &plan), 0);
	assert_int_equal(plan.nturns, 1);
	plan_is_sound(&a, 0xff, false);
}

static void two_events_for_one_counter_take_turns_beside_the_others(void **state)
{
	struct vpmu_set a = counting(3);

	(void)state;
	a.may[0] = a.may[1] = 2;
	assert_int_equal(vpmu_budget_plan(&a, 3, false, false, &plan), 0);
	assert_int_equal(plan.nturns, 2);
	plan_is_sound(&a, 3, false);
	assert_int_equal(plan.slot[0].event, 0);
	assert_int_equal(plan.slot[1].event, 2);
	assert_int_equal(plan.slot[2].event, 1);
}

static void a_sampled_event_takes_a_second_counter_where_the_pmu_needs_a_kick(void **state)
{
	struct vpmu_set a = counting(2);

	(void)state;
	a.event[1].period = 1000;
	assert_int_equal(vpmu_budget_plan(&a, 7, true, false, &plan), 0);
	assert_int_equal(plan.nturns, 1);
	plan_is_sound(&a, 7, true);
	assert_int_equal(vpmu_budget_plan(&a, 7, false, false, &plan), 0);
	plan_is_sound(&a, 7, false);
	assert_int_equal(vpmu_budget_plan(&a, 3, true, false, &plan), 0);
	assert_int_equal(plan.nturns, 2);
	plan_is_sound(&a, 3, true);
}

static void a_plan_that_cannot_be_leaves_the_old_one_alone(void **state)
{
	struct vpmu_set a = counting(8), more = counting(1), b[VPMU_PLAN_SLOTS / 8 - 1];
	const unsigned last = VPMU_PLAN_SLOTS / 8 - 2;
	struct vpmu_plan before;

	(void)state;
	memset(&plan, 0x5a, sizeof(plan));
	before = plan;
	a.may[7] = 1ULL << 5;
	assert_int_equal(vpmu_budget_plan(&a, 7, false, false, &plan), -EBUSY);
	assert_int_equal(vpmu_budget_plan(&a, 0, false, false, &plan), -EBUSY);
	a.may[7] = ANY;
	a.event[0].period = 1000;
	assert_int_equal(vpmu_budget_plan(&a, 1, true, false, &plan), -EBUSY);
	a.next = &b[0];
	for (unsigned i = 0; i <= last; i++) {
		b[i] = counting(8);
		b[i].next = i < last ? &b[i + 1] : &more;
	}
	assert_int_equal(vpmu_budget_plan(&a, ANY, false, false, &plan), -ENOSPC);
	assert_memory_equal(&plan, &before, sizeof(plan));
	b[last].next = NULL;
	assert_int_equal(vpmu_budget_plan(&a, ANY, false, false, &plan), 0);
}

static void pinned_events_take_no_turns(void **state)
{
	struct vpmu_set a = counting(3);

	(void)state;
	assert_int_equal(vpmu_budget_plan(&a, 7, false, true, &plan), 0);
	plan_is_sound(&a, 7, false);
	assert_int_equal(vpmu_budget_plan(&a, 3, false, true, &plan), -EBUSY);
	assert_int_equal(vpmu_budget_plan(&a, 3, false, false, &plan), 0);
}

static void equal_sets_of_two_vms_are_planned_alike(void **state)
{
	struct vpmu_set a = counting(5), b = counting(5);
	struct vpmu_plan other;

	(void)state;
	a.may[3] = b.may[3] = 1;
	assert_int_equal(vpmu_budget_plan(&a, 7, false, false, &plan), 0);
	assert_int_equal(vpmu_budget_plan(&b, 7, false, false, &other), 0);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(plan.slot[i].counter, other.slot[i].counter);
		assert_int_equal(plan.slot[i].turn, other.slot[i].turn);
	}
}

static void no_events_make_an_empty_plan(void **state)
{
	(void)state;
	assert_int_equal(vpmu_budget_plan(NULL, 7, false, true, &plan), 0);
	assert_int_equal(plan.nslots, 0);
	assert_int_equal(plan.used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_third_is_kept_unless_the_administrator_says),
		cmocka_unit_test(what_fits_at_once_has_no_turns),
		cmocka_unit_test(nobody_starves),
		cmocka_unit_test(turns_are_in_the_order_of_opening),
		cmocka_unit_test(what_is_to_be_counted_together_is_in_one_turn),
		cmocka_unit_test(what_cannot_be_counted_together_takes_turns),
		cmocka_unit_test(an_event_that_one_counter_alone_can_count_gets_it),
		cmocka_unit_test(a_chain_of_narrower_and_narrower_events_fits_in_one_turn),
		cmocka_unit_test(two_events_for_one_counter_take_turns_beside_the_others),
		cmocka_unit_test(
			a_sampled_event_takes_a_second_counter_where_the_pmu_needs_a_kick),
		cmocka_unit_test(a_plan_that_cannot_be_leaves_the_old_one_alone),
		cmocka_unit_test(pinned_events_take_no_turns),
		cmocka_unit_test(equal_sets_of_two_vms_are_planned_alike),
		cmocka_unit_test(no_events_make_an_empty_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
