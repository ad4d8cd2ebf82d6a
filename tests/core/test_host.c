/* SPDX-License-Identifier: GPL-2.0-or-later */
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

static struct opened a, b;

/* Both VMs in turn on pCPU 0, each with both events going on. */
static void slices(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		world_in(0, i % 2, 0);
		world_run(0, 1, 1001 + i);
		world_run(0, 2, 503 + i);
		world_out(0, 1);
	}
}

static void two_vms_count_different_events_on_one_counter_exactly(void **state)
{
	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 0);
	world_opened(&b, &world.vm[1], ONE(2), 0);
	assert_int_equal(world.vm[0].plan->slot[0].counter,
			 world.vm[1].plan->slot[0].counter);
	slices(100);
	assert_true(world.truth[0][0][1] && world.truth[1][0][2]);
	world_agrees(&a);
	world_agrees(&b);
}

static void equal_sets_switch_without_a_register_written(void **state)
{
	(void)state;
	world_opened(&a, &world.vm[0], TWO(1, 2), 0);
	world_opened(&b, &world.vm[1], TWO(1, 2), 0);
	slices(2);
	world.f[0].writes = 0;
	slices(100);
	assert_int_equal(world.f[0].writes, 0);
	world_agrees(&a);
	world_agrees(&b);
}

static void a_vm_without_sets_costs_no_register_and_is_in_nobody_s_count(void **state)
{
	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 0);
	slices(2);
	world.f[0].writes = 0;
	slices(100);
	assert_int_equal(world.f[0].writes, 0);
	world_agrees(&a);
}

static void a_count_is_exact_across_wraps_at_every_width(void **state)
{
	static const unsigned widths[] = { 32, 40, 48, 64 };

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		world_begin_with(widths[i]);
		world_opened(&a, &world.vm[0], ONE(1), 0);
		world_in(0, 0, 0);
		/* told of each wrap by its interrupt, however long the vCPU runs */
		for (unsigned k = 0; k < 10; k++)
			world_run(0, 1, vpmu_width_mask(widths[i]) / 3);
		world_out(0, 1);
		world_agrees(&a);
	}
}

/* Nobody reads the counter meanwhile: when it is read again, it says nothing new. */
static void a_wrap_while_another_vm_runs_does_not_hide_the_next(void **state)
{
	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 0);
	world_in(0, 0, 0);
	world_run(0, 1, 5);
	world_out(0, 1);
	world_in(0, 1, 0);
	world_run(0, 1, fake_next(&world.f[0], VPMU_MODE_USER, 1));
	world_out(0, 1);
	world_in(0, 0, 0);
	world_run(0, 1, (1ULL << 32) + 7);
	world_out(0, 1);
	world_agrees(&a);
}

/* Samples of event 1 on VM @vm are at the multiples of @period, each once, in order. */
static unsigned samples_are_on_time(struct opened *o, unsigned tally, uint64_t period)
{
	struct vpmu_sample s;
	unsigned n = 0;

	while (world_sample(o, tally, &s)) {
		n++;
		assert_int_equal(s.pc, n * period);
		assert_int_equal(s.period, period);
		assert_int_equal(s.vcpu, tally);
		assert_int_equal(s.mode, VPMU_MODE_USER);
	}
	return n;
}

static void samples_come_at_every_period_across_switches_and_migrations(void **state)
{
	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 1000);
	world_opened(&b, &world.vm[1], ONE(1), 1500);
	for (unsigned i = 0; i < 60; i++) {
		unsigned pcpu = i / 5 % 2;

		world_in(pcpu, 0, 0);
		world_in(!pcpu, 1, 1);
		world_run(pcpu, 1, 100 + i * 7 % 900);
		world_run(!pcpu, 1, 900 - i * 5 % 800);
		world_out(pcpu, 1);
		world_out(!pcpu, 1);
	}
	world_agrees(&a);
	world_agrees(&b);
	assert_int_equal(samples_are_on_time(&a, 0, 1000), world.truth[0][0][1] / 1000);
	assert_int_equal(samples_are_on_time(&b, 1, 1500), world.truth[1][1][1] / 1500);
	assert_int_equal(samples_are_on_time(&a, 1, 1000), 0);
}

static void a_sampled_vm_that_does_not_run_cannot_interrupt(void **state)
{
	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 1000);
	world_in(0, 0, 0);
	world_run(0, 1, 999);
	world_out(0, 1);
	world_in(0, 1, 0);
	world_run_deaf(0, VPMU_MODE_USER, 1, 100000);
	assert_false(fake_line(&world.f[0]));
	assert_false(world_interrupt(0, VPMU_MODE_USER, 1));
	world_out(0, 1);
	world_agrees(&a);
	assert_int_equal(vpmu_reader_waiting(&a.reader[0]), 0);
}

static void a_flag_from_before_is_not_taken_for_a_sampled_event_s(void **state)
{
	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 0);
	world_opened(&b, &world.vm[1], ONE(1), 1000);
	world_in(0, 0, 0);
	world_run_deaf(0, VPMU_MODE_USER, 1, 1ULL << 31);
	assert_true(fake_line(&world.f[0]));
	world_out(0, 1);
	world_in(0, 1, 0);
	assert_false(fake_line(&world.f[0]));
	world_out(0, 1);
	world_agrees(&a);
}

static void samples_need_no_overflow_status_register(void **state)
{
	(void)state;
	world_begin_with(48);
	world.m.caps.topbit = true;
	world_opened(&a, &world.vm[0], TWO(1, 2), 1000);
	world_opened(&b, &world.vm[1], TWO(1, 2), 0);
	for (unsigned i = 0; i < 50; i++) {
		world_in(0, i % 2, 0);
		world_run(0, 2, 7);
		world_run(0, 1, 777);
		world_out(0, 1);
	}
	world_agrees(&a);
	world_agrees(&b);
	assert_int_equal(samples_are_on_time(&a, 0, 1000), 25 * 777 / 1000);
	/* the other's counters do not interrupt, nor is a stopped one's value one more */
	world_in(0, 0, 0);
	world_run_deaf(0, VPMU_MODE_USER, 1, 1000);
	world_out(0, 1);
	assert_false(vpmu_interrupt(&world.p[0], &(struct vpmu_where) { .pc = 1 }));
	world_in(0, 1, 0);
	assert_int_equal(world.f[0].irq, 0);
	world_out(0, 1);
}

static void an_overflow_just_before_a_switch_is_the_departing_vcpu_s(void **state)
{
	struct vpmu_sample s;

	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 1000);
	world_opened(&b, &world.vm[1], ONE(1), 1000);
	world_in(0, 0, 1);
	world_run_deaf(0, VPMU_MODE_USER, 1, 1007);
	world_out(0, 1);
	world_in(0, 1, 0);
	/* what is still on its way to the pCPU finds nothing */
	assert_false(world_interrupt(0, VPMU_MODE_USER, 666));
	world_out(0, 1);
	assert_false(world_sample(&b, 0, &s));
	assert_true(world_sample(&a, 1, &s));
	assert_int_equal(s.flags, VPMU_SAMPLE_LATE);
	assert_int_equal(s.pc, 1007);
	assert_int_equal(s.period, 1000);
	assert_int_equal(world_count(&a, 1, 0).left, 993);
	world_agrees(&a);
}

static void no_period_drifts_with_late_interrupts(void **state)
{
	struct vpmu_sample s;
	uint64_t sum = 0;

	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 1000);
	world_in(0, 0, 0);
	for (unsigned i = 0; i < 50; i++) {
		world_run_deaf(0, VPMU_MODE_USER, 1, 700 + 37 * i);
		world_interrupt(0, VPMU_MODE_USER, world.truth[0][0][1]);
		while (world_sample(&a, 0, &s)) {
			sum += s.period;
			assert_int_equal(s.pc / 1000 * 1000, sum);
		}
	}
	world_out(0, 1);
	assert_int_equal(sum, world.truth[0][0][1] / 1000 * 1000);
	world_agrees(&a);
}

static void a_full_ring_loses_samples_and_counts_them(void **state)
{
	struct vpmu_count c;

	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 1000);
	world_in(0, 0, 0);
	world_run(0, 1, 1000 * (RECORDS + 9));
	c = world_count(&a, 0, 0);
	assert_int_equal(c.taken, RECORDS + 9);
	assert_int_equal(c.lost, 9);
	assert_int_equal(world.woken, 1);
	assert_int_equal(samples_are_on_time(&a, 0, 1000), RECORDS);
	world_run(0, 1, 1000);
	assert_int_equal(vpmu_reader_waiting(&a.reader[0]), 1);
	world_agrees(&a);
	world_out(0, 1);
}

static void
an_overflow_noticed_in_the_hypervisor_puts_no_address_of_it_in_a_ring(void **state)
{
	struct vpmu_sample s;

	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 1000);
	world_in(0, 0, 0);
	world_run_deaf(0, VPMU_MODE_USER, 1, 1000);
	assert_true(world_interrupt(0, VPMU_MODE_HYP, 0x11ff0000));
	assert_false(fake_line(&world.f[0]));
	assert_false(world_sample(&a, 0, &s));
	world_run(0, 1, 1500);
	assert_true(world_sample(&a, 0, &s));
	assert_int_equal(s.pc, 1001);
	assert_true(world_sample(&a, 0, &s));
	assert_int_equal(s.pc, 2000);
	world_run_deaf(0, VPMU_MODE_USER, 1, 500);
	assert_true(world_interrupt(0, VPMU_MODE_HYP, 0x11ff0000));
	world_out(0, 1);
	assert_true(world_sample(&a, 0, &s));
	assert_int_equal(s.pc, 3000);
	assert_int_equal(s.flags, VPMU_SAMPLE_LATE);
	world_agrees(&a);
}

/* Counter and kick are one apart, so that the second makes the first be noticed. */
static void a_kick_makes_up_for_an_overflow_that_is_not_noticed(void **state)
{
	struct vpmu_sample s;

	(void)state;
	world.m.caps.kick = true;
	world.f[0].fault = true;
	world_opened(&a, &world.vm[0], ONE(1), 1000);
	world_in(0, 0, 0);
	for (unsigned i = 1; i <= 20; i++) {
		world_run(0, 1, 1000);
		if (i == 1)
			assert_false(world_sample(&a, 0, &s));
		else
			assert_true(world_sample(&a, 0, &s));
		if (i > 1)
			assert_int_equal(s.pc, (i - 1) * 1000 + 1);
	}
	world_out(0, 1);
	assert_int_equal(world_count(&a, 0, 0).taken, 20);
	world_agrees(&a);
}

/* The same events counted by one VM and sampled with a kick by the other. */
static void a_counter_that_was_a_kick_interrupts_again_as_what_it_is_now(void **state)
{
	(void)state;
	world.m.caps.kick = true;
	world_opened(&a, &world.vm[0], ONE(1), 1000);
	world_opened(&b, &world.vm[1], TWO(1, 1), 0);
	for (unsigned i = 0; i < 10; i++) {
		world_in(0, 0, 0);
		world_run(0, 1, 1234);
		world_out(0, 1);
		world_in(0, 1, 0);
		world_run(0, 1, 0xffffffffu);
		world_out(0, 1);
	}
	world_agrees(&a);
	world_agrees(&b);
}

static void events_that_mean_nothing_are_refused_by_their_index(void **state)
{
	static const struct {
		struct vpmu_event event;
		bool hyp;
		int rc;
	} bad[] = {
		{ { .config = 1 }, false, -EINVAL },
		{ { .config = 1, .flags = 8 | VPMU_EVENT_USER }, false, -EINVAL },
		{ { .config = 1, .flags = VPMU_EVENT_USER, .zero = 1 }, false, -EINVAL },
		{ { .config = 1, .flags = VPMU_EVENT_USER, .period = 1 }, false, -EINVAL },
		{ { .config = 1, .flags = VPMU_EVENT_USER, .period = VPMU_PERIOD_MAX + 1 },
		  false,
		  -EINVAL },
		{ { .config = 1, .flags = VPMU_EVENT_USER | VPMU_EVENT_HYP },
		  false,
		  -EINVAL },
		{ { .config = 1, .flags = VPMU_EVENT_USER | VPMU_EVENT_HYP },
		  true,
		  -EINVAL },
		{ { .config = 1, .flags = VPMU_EVENT_HYP, .period = VPMU_PERIOD_MIN },
		  true,
		  -EINVAL },
		{ { .config = 16, .flags = VPMU_EVENT_USER }, false, -EOPNOTSUPP },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct vpmu_set set = { .n = 3 };
		unsigned at = 99;

		for (unsigned j = 0; j < 3; j++)
			set.event[j] = (struct vpmu_event) {
				.config = 2,
				.flags = bad[i].hyp ? VPMU_EVENT_HYP : VPMU_EVENT_KERNEL,
			};
		assert_int_equal(vpmu_set_check(&world.m, &set, bad[i].hyp, &at), 0);
		assert_int_equal(set.may[1], FAKE_HOST);
		set.event[1] = bad[i].event;
		assert_int_equal(vpmu_set_check(&world.m, &set, bad[i].hyp, &at),
				 bad[i].rc);
		assert_int_equal(at, 1);
	}
}

static void sets_of_no_event_or_too_many_are_refused(void **state)
{
	struct vpmu_set set = { .n = 0 };
	unsigned at = 99;

	(void)state;
	assert_int_equal(vpmu_set_check(&world.m, &set, false, &at), -EINVAL);
	assert_int_equal(at, 0);
	set.n = VPMU_SET_EVENTS + 1;
	assert_int_equal(vpmu_set_check(&world.m, &set, false, &at), -EINVAL);
	assert_int_equal(at, VPMU_SET_EVENTS + 1);
}

static void a_tally_that_keeps_changing_is_not_read(void **state)
{
	struct vpmu_count out[VPMU_SET_EVENTS];

	(void)state;
	world_opened(&a, &world.vm[0], ONE(1), 0);
	assert_int_equal(vpmu_tally_read(&a.tally[0], out), 0);
	a.tally[0].sequence++;
	assert_int_equal(vpmu_tally_read(&a.tally[0], out), -EAGAIN);
}

#define TEST(f) cmocka_unit_test_setup(f, world_begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_vms_count_different_events_on_one_counter_exactly),
		TEST(equal_sets_switch_without_a_register_written),
		TEST(a_vm_without_sets_costs_no_register_and_is_in_nobody_s_count),
		TEST(a_count_is_exact_across_wraps_at_every_width),
		TEST(a_wrap_while_another_vm_runs_does_not_hide_the_next),
		TEST(a_flag_from_before_is_not_taken_for_a_sampled_event_s),
		TEST(samples_need_no_overflow_status_register),
		TEST(samples_come_at_every_period_across_switches_and_migrations),
		TEST(a_sampled_vm_that_does_not_run_cannot_interrupt),
		TEST(an_overflow_just_before_a_switch_is_the_departing_vcpu_s),
		TEST(no_period_drifts_with_late_interrupts),
		TEST(a_full_ring_loses_samples_and_counts_them),
		TEST(an_overflow_noticed_in_the_hypervisor_puts_no_address_of_it_in_a_ring),
		TEST(a_kick_makes_up_for_an_overflow_that_is_not_noticed),
		TEST(a_counter_that_was_a_kick_interrupts_again_as_what_it_is_now),
		TEST(events_that_mean_nothing_are_refused_by_their_index),
		TEST(sets_of_no_event_or_too_many_are_refused),
		TEST(a_tally_that_keeps_changing_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
