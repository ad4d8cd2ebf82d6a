/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets that come and go, share counters in turns, and stand beside the hypervisor's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/core/host_world.h"

#define ONE(event)                                                                         \
	1, (const unsigned[])                                                              \
	{                                                                                  \
		event                                                                      \
	}
#define TWO(a, b)                                                                          \
	2, (const unsigned[])                                                              \
	{                                                                                  \
		a, b                                                                       \
	}
#define FOUR(a, b, c, d)                                                                   \
	4, (const unsigned[])                                                              \
	{                                                                                  \
		a, b, c, d                                                                 \
	}

static struct opened a, b, hyp;

static void
a_set_opened_while_its_vm_runs_elsewhere_counts_from_the_refresh_on(void **state)
{
	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 0);
	world_in(1, 0, 0);
	world_run(1, 1, 1000);
	assert_int_equal(world_open(&b, &world.vm[0], ONE(2), 0), 0);
	/* the old plan is in use meanwhile */
	world_run(1, 1, 500);
	world_run(1, 2, 500);
	assert_int_equal(world_count(&a, 0, 0).offset.sum, 1500);
	assert_int_equal(world_count(&b, 0, 0).enabled_ns, 0);
	world_refresh();
	world_run(1, 2, 70);
	world_run(1, 1, 7);
	assert_int_equal(world_count(&a, 0, 0).offset.sum, 1507);
	assert_int_equal(world_count(&b, 0, 0).offset.sum, 70);
	assert_int_equal(world_count(&b, 0, 0).enabled_ns, 77);
	world_out(1, 1);
}

static void a_set_that_is_gone_is_not_written_again(void **state)
{
	struct vpmu_tally before;

	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 1000);
	world_opened(&b, &world.vm[0], ONE(2), 0);
	world_in(0, 0, 0);
	world_run(0, 1, 5500);
	world_close(&a);
	assert_int_equal(world_count(&a, 0, 0).offset.sum, 5500);
	before = a.tally[0];
	world_run(0, 1, 5500);
	world_run(0, 2, 3);
	world_out(0, 1);
	world_in(0, 0, 0);
	world_out(0, 1);
	assert_memory_equal(&before, &a.tally[0], sizeof(before));
	assert_int_equal(world_count(&b, 0, 0).offset.sum, 3);
	world_close(&b);
	assert_null(world.vm[0].plan);
	assert_null(world.m.vms);
	assert_int_equal(world.f[0].counting, 0);
}

static void the_counter_of_a_set_that_goes_is_stopped_where_its_vm_runs(void **state)
{
	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 0);
	world_opened(&b, &world.vm[0], ONE(2), 0);
	world_in(0, 0, 0);
	world_close(&a);
	assert_int_equal(world.f[0].counting, world.vm[0].plan->slot[0].counters);
	world_out(0, 1);
}

static void an_overflow_of_a_set_that_goes_interrupts_nobody(void **state)
{
	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 1000);
	world_in(0, 0, 0);
	world_run_deaf(0, VPMU_MODE_USER, 1, 1000);
	assert_true(fake_line(&world.f[0]));
	world_close(&a);
	assert_false(fake_line(&world.f[0]));
	world_out(0, 1);
}

static void a_vcpu_without_a_tally_is_in_nobody_s(void **state)
{
	static const struct vpmu_tally none;

	(void)state;
	assert_int_equal(world_open(&a, &world.vm[0], ONE(1), 1000), 0);
	a.set.ntallies = 1;
	memset(&a.tally[1], 0, sizeof(a.tally[1]));
	world_refresh();
	world_in(0, 0, 1);
	world_run(0, 1, 5000);
	world_out(0, 1);
	world_in(0, 0, 0);
	world_run(0, 1, 300);
	world_out(0, 1);
	assert_memory_equal(&a.tally[1], &none, sizeof(none));
	assert_int_equal(world_count(&a, 0, 0).offset.sum, 300);
}

static void a_vcpu_that_came_in_idle_is_counted_and_its_way_out_is_not_skipped(void **state)
{
	struct vpmu_vcpu *v = &world.v[0][0];

	(void)state;
	assert_true(vpmu_idle_in(v));
	/* it runs on pCPU 0, unknown to the core, when its VM gets a set */
	assert_int_equal(world_open(&a, &world.vm[0], ONE(1), 0), 0);
	vpmu_host_refresh(&world.p[0], v);
	vpmu_host_refresh(&world.p[1], NULL);
	world_run(0, 1, 100);
	/* the set goes, and before the refresh comes here the vCPU leaves */
	vpmu_host_remove(&world.m, &world.vm[0], &a.set);
	assert_false(vpmu_idle_out(v));
	world_out(0, 1);
	world_in(0, 1, 0);
	world_run(0, 1, 100);
	world_refresh();
	assert_int_equal(world_count(&a, 0, 0).offset.sum, 100);
	assert_true(vpmu_idle_in(v));
	world_out(0, 1);
}

static void a_set_that_does_not_fit_changes_nothing(void **state)
{
	static const unsigned events[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	static struct opened many[VPMU_PLAN_SLOTS / 8], more;
	const struct vpmu_set *last = &many[VPMU_PLAN_SLOTS / 8 - 1].set;

	(void)state;
	for (unsigned i = 0; i < VPMU_PLAN_SLOTS / 8; i++)
		world_opened(&many[i], &world.vm[0], 8, events, 0);
	assert_int_equal(world_open(&more, &world.vm[0], ONE(1), 0), -ENOSPC);
	assert_ptr_equal(many[0].set.next, &many[1].set);
	assert_null(last->next);
	assert_int_equal(world.vm[0].plan->nslots, VPMU_PLAN_SLOTS);
}

/* ---- turns */

static void run_in_turns(uint64_t ns, unsigned events)
{
	uint64_t step = 100 * 1000;

	for (uint64_t at = 0; at < ns; at += step) {
		for (unsigned e = 0; e < events; e++)
			world_run_deaf(0, VPMU_MODE_USER, e, step / events);
		vpmu_host_turn(&world.p[0]);
	}
}

static void events_that_do_not_fit_take_turns_of_equal_length(void **state)
{
	uint64_t total = 12 * (uint64_t)VPMU_TURN_NS;

	(void)state;
	world_opened(&a, &world.vm[0], FOUR(0, 1, 2, 3), 0);
	world_opened(&b, &world.vm[0], FOUR(4, 5, 6, 7), 0);
	world_in(0, 0, 0);
	assert_true(vpmu_host_turns(&world.p[0]));
	run_in_turns(total, 8);
	world_out(0, 1);
	for (unsigned i = 0; i < 8; i++) {
		struct vpmu_count c = world_count(i < 4 ? &a : &b, 0, i % 4);

		assert_int_equal(c.enabled_ns, total);
		assert_int_equal(c.running_ns, total / 2);
		/* even load: what was seen is in proportion to the time it was looked at */
		assert_int_equal(c.offset.sum, world.truth[0][0][i] / 2);
	}
}

static void where_all_fits_at_once_there_are_no_turns(void **state)
{
	(void)state;
	assert_false(vpmu_host_turns(&world.p[0]));
	world_opened(&a, &world.vm[0], FOUR(0, 1, 2, 3), 0);
	world_in(0, 0, 0);
	assert_false(vpmu_host_turns(&world.p[0]));
	run_in_turns(10 * VPMU_TURN_NS, 4);
	world_out(0, 1);
	world_agrees(&a);
}

static void a_vcpu_that_sleeps_does_not_use_up_its_turn(void **state)
{
	(void)state;
	world_opened(&a, &world.vm[0], FOUR(0, 1, 2, 3), 0);
	world_opened(&b, &world.vm[0], FOUR(4, 5, 6, 7), 0);
	for (unsigned i = 0; i < 100; i++) {
		world_in(0, 0, 0);
		world_run(0, 1, VPMU_TURN_NS / 10);
		world_out(0, 1);
		world_sleep(10 * VPMU_TURN_NS);
	}
	/* without anyone's vpmu_host_turn(): the time is up at a switch as well */
	assert_int_equal(world_count(&a, 0, 1).running_ns, 50 * (VPMU_TURN_NS / 10));
	assert_int_equal(world_count(&b, 0, 1).running_ns, 50 * (VPMU_TURN_NS / 10));
	assert_int_equal(world_count(&a, 0, 1).enabled_ns, 100 * (VPMU_TURN_NS / 10));
}

static void a_sample_that_is_due_when_its_turn_ends_is_taken_in_the_next(void **state)
{
	struct vpmu_sample s;
	uint64_t seen;

	(void)state;
	world_opened(&a, &world.vm[0], FOUR(1, 2, 3, 4), 1000);
	world_opened(&b, &world.vm[0], ONE(5), 0);
	world_in(0, 0, 0);
	world_run_deaf(0, VPMU_MODE_USER, 1, 1000);
	world_sleep(VPMU_TURN_NS);
	vpmu_host_turn(&world.p[0]);
	assert_int_equal(world.v[0][0].turn, 1);
	assert_false(fake_line(&world.f[0]));
	world_run(0, 1, 777);
	world_sleep(VPMU_TURN_NS);
	vpmu_host_turn(&world.p[0]);
	seen = world.truth[0][0][1];
	assert_int_equal(seen, 1777);
	world_run(0, 1, 1);
	assert_true(world_sample(&a, 0, &s));
	assert_int_equal(s.pc, seen + 1);
	assert_int_equal(world_count(&a, 0, 0).left, 999);
	world_out(0, 1);
}

/* ---- the hypervisor as a target */

static void the_hypervisor_is_counted_beside_its_vms(void **state)
{
	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 0);
	world_opened(&hyp, NULL, TWO(1, 2), 0);
	for (unsigned i = 0; i < 20; i++) {
		world_in(i % 2, 0, i % 2);
		world_run(i % 2, 1, 100);
		world_run_deaf(i % 2, VPMU_MODE_HYP, 1, 30 + i);
		world_out(i % 2, 1);
		world_run_deaf(!(i % 2), VPMU_MODE_HYP, 2, 5);
	}
	world_agrees(&a);
	assert_int_equal(world_count(&hyp, 0, 0).offset.sum, world.hyp_truth[0][1]);
	assert_int_equal(world_count(&hyp, 1, 0).offset.sum, world.hyp_truth[1][1]);
	assert_int_equal(world_count(&hyp, 1, 1).offset.sum, world.hyp_truth[1][2]);
	assert_int_equal(world_count(&hyp, 0, 0).enabled_ns, world.clock - 1000);
	world_close(&hyp);
	assert_null(world.m.hyp_plan);
	world_agrees(&a);
}

static void samples_of_the_hypervisor_tell_where_it_was(void **state)
{
	struct vpmu_sample s;

	(void)state;
	world_opened(&hyp, NULL, ONE(3), VPMU_PERIOD_MIN_HYP);
	for (unsigned i = 1; i <= 5; i++) {
		world_run_deaf(1, VPMU_MODE_HYP, 3, VPMU_PERIOD_MIN_HYP);
		assert_true(world_interrupt(1, VPMU_MODE_HYP, 0x200000 + i));
		assert_true(world_sample(&hyp, 1, &s));
		assert_int_equal(s.pc, 0x200000 + i);
		assert_int_equal(s.mode, VPMU_MODE_HYP);
		assert_int_equal(s.vcpu, 1);
		assert_int_equal(s.pcpu, 1);
	}
	world_agrees(&hyp);
	assert_false(world_sample(&hyp, 0, &s));
}

static void an_overflow_of_the_hypervisor_noticed_in_a_vm_is_at_its_way_out(void **state)
{
	struct vpmu_sample s;

	(void)state;
	world.m.config.hyp_exit = 0x2000f0;
	world_opened(&hyp, NULL, ONE(3), VPMU_PERIOD_MIN_HYP);
	world_run_deaf(1, VPMU_MODE_HYP, 3, VPMU_PERIOD_MIN_HYP);
	assert_true(world_interrupt(1, VPMU_MODE_USER, 0x400000));
	assert_true(world_sample(&hyp, 1, &s));
	assert_int_equal(s.mode, VPMU_MODE_HYP);
	assert_int_equal(s.pc, 0x2000f0);
	assert_int_equal(s.flags, VPMU_SAMPLE_LATE);
	world_agrees(&hyp);
}

static void the_hypervisor_s_events_go_first_and_stay_on(void **state)
{
	(void)state;
	world_opened(&a, &world.vm[0], FOUR(1, 2, 3, 4), 0);
	assert_int_equal(world.vm[0].plan->nturns, 1);
	world_opened(&hyp, NULL, TWO(1, 2), 0);
	assert_int_equal(world.vm[0].plan->nturns, 2);
	assert_int_equal(world.vm[0].plan->used & world.m.hyp_plan->used, 0);
	world_close(&hyp);
	assert_int_equal(world.vm[0].plan->nturns, 1);
}

static void the_hypervisor_does_not_get_a_vm_s_last_counter(void **state)
{
	const struct vpmu_plan *plan;

	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 0);
	world_opened(&b, &world.vm[1], ONE(15), 0);
	plan = world.vm[0].plan;
	/* all of the host's counters; and the only one that b's event can be on */
	assert_int_equal(world_open(&hyp, NULL, FOUR(1, 2, 3, 4), 0), -EBUSY);
	assert_int_equal(world_open(&hyp, NULL, ONE(15), 0), -EBUSY);
	assert_null(world.m.hyp_sets);
	assert_null(world.m.hyp_plan);
	assert_ptr_equal(world.vm[0].plan, plan);
	world_close(&b);
	assert_int_equal(world_open(&hyp, NULL, ONE(15), 0), 0);
	world_refresh();
	assert_int_equal(world_open(&b, &world.vm[1], ONE(15), 0), -EBUSY);
	assert_null(world.vm[1].plan);
}

/* Between the publishing of new plans and the refresh of a pCPU, it switches. */
static void a_counter_of_the_hypervisor_is_its_own_until_the_refresh(void **state)
{
	struct vpmu_count c;

	(void)state;
	world_opened(&hyp, NULL, FOUR(1, 2, 3, 4), 0);
	vpmu_host_remove(&world.m, NULL, &hyp.set);
	assert_int_equal(world_open(&a, &world.vm[0], ONE(1), 0), 0);
	world_in(0, 0, 0);
	world_run(0, 1, 100);
	world_run_deaf(0, VPMU_MODE_HYP, 4, 10);
	assert_int_equal(world_count(&hyp, 0, 3).offset.sum, 10);
	c = world_count(&a, 0, 0);
	assert_int_equal(c.offset.sum, 0);
	assert_int_equal(c.enabled_ns, 110);
	assert_int_equal(c.running_ns, 0);
	world_refresh();
	world_run(0, 1, 100);
	c = world_count(&a, 0, 0);
	assert_int_equal(c.offset.sum, 100);
	assert_int_equal(c.enabled_ns, 210);
	assert_int_equal(c.running_ns, 100);
	world_out(0, 1);
}

#define TEST(f) cmocka_unit_test_setup(f, world_begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_set_opened_while_its_vm_runs_elsewhere_counts_from_the_refresh_on),
		TEST(a_set_that_is_gone_is_not_written_again),
		TEST(the_counter_of_a_set_that_goes_is_stopped_where_its_vm_runs),
		TEST(an_overflow_of_a_set_that_goes_interrupts_nobody),
		TEST(a_vcpu_without_a_tally_is_in_nobody_s),
		TEST(a_vcpu_that_came_in_idle_is_counted_and_its_way_out_is_not_skipped),
		TEST(a_set_that_does_not_fit_changes_nothing),
		TEST(events_that_do_not_fit_take_turns_of_equal_length),
		TEST(where_all_fits_at_once_there_are_no_turns),
		TEST(a_vcpu_that_sleeps_does_not_use_up_its_turn),
		TEST(a_sample_that_is_due_when_its_turn_ends_is_taken_in_the_next),
		TEST(the_hypervisor_is_counted_beside_its_vms),
		TEST(samples_of_the_hypervisor_tell_where_it_was),
		TEST(an_overflow_of_the_hypervisor_noticed_in_a_vm_is_at_its_way_out),
		TEST(the_hypervisor_s_events_go_first_and_stay_on),
		TEST(the_hypervisor_does_not_get_a_vm_s_last_counter),
		TEST(a_counter_of_the_hypervisor_is_its_own_until_the_refresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
