/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "source/kvm/kvm.h"

static const struct event cycles = {
	.name = "cycles",
	.kind = EVENT_HARDWARE,
	.type = PERF_TYPE_HARDWARE,
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.group = -1,
};
static const struct event task_clock = {
	.name = "task-clock",
	.kind = EVENT_SOFTWARE,
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_TASK_CLOCK,
	.group = -1,
};

static void sides_become_exclude_bits_of_hardware_events_only(void **state)
{
	struct perf_want want = { .side = SIDE_GUEST };
	struct perf_event_attr attr;

	(void)state;
	kvm_perf_attr(&cycles, &want, &attr);
	assert_true(attr.exclude_host && !attr.exclude_guest);
	kvm_perf_attr(&task_clock, &want, &attr);
	assert_true(!attr.exclude_host && !attr.exclude_guest);
	want.side = SIDE_HOST;
	kvm_perf_attr(&cycles, &want, &attr);
	assert_true(!attr.exclude_host && attr.exclude_guest);
	want.side = SIDE_BOTH;
	kvm_perf_attr(&cycles, &want, &attr);
	assert_true(!attr.exclude_host && !attr.exclude_guest);
}

static void sampling_asks_for_what_every_record_must_carry(void **state)
{
	struct perf_want want = { .side = SIDE_HOST, .sampling = true, .sideband = true };
	struct event ev = task_clock;
	struct perf_event_attr attr;

	(void)state;
	ev.period = 12345;
	kvm_perf_attr(&ev, &want, &attr);
	assert_int_equal(attr.sample_period, 12345);
	assert_false(attr.freq);
	assert_true(attr.sample_id_all && attr.mmap2 && attr.comm && attr.task);
	assert_int_equal(attr.clockid, CLOCK_MONOTONIC);
	assert_true(attr.sample_type & PERF_SAMPLE_IDENTIFIER);
	ev.period = 0;
	ev.freq = 99;
	kvm_perf_attr(&ev, &want, &attr);
	assert_true(attr.freq);
	assert_int_equal(attr.sample_freq, 99);
}

static void where_frequency_misleads_a_period_is_chosen_unless_the_event_says(void **state)
{
	struct perf_want want = { .side = SIDE_GUEST, .sampling = true, .no_freq = true };
	struct event ev = cycles;
	struct perf_event_attr attr;

	(void)state;
	kvm_perf_attr(&ev, &want, &attr);
	assert_false(attr.freq);
	assert_int_equal(attr.sample_period, 100003);
	ev.must_move = true;
	kvm_perf_attr(&ev, &want, &attr);
	assert_int_equal(attr.sample_period, 1000003);
	ev.period = 77;
	kvm_perf_attr(&ev, &want, &attr);
	assert_int_equal(attr.sample_period, 77);
	ev.period = 0;
	ev.freq = 99;
	kvm_perf_attr(&ev, &want, &attr);
	assert_true(attr.freq && attr.sample_freq == 99);
}

/* Only what is on is counted when the kernel looks whether a group fits. */
static void only_the_leader_of_a_group_is_off_and_holds_it_back(void **state)
{
	struct perf_want want = { .side = SIDE_GUEST };
	struct event ev = cycles;
	struct perf_event_attr attr;

	(void)state;
	ev.pinned = true;
	kvm_perf_attr(&ev, &want, &attr);
	kvm_perf_group(&attr, true);
	assert_true(attr.disabled && attr.enable_on_exec && attr.pinned);
	kvm_perf_attr(&ev, &want, &attr);
	kvm_perf_group(&attr, false);
	assert_false(attr.disabled || attr.enable_on_exec || attr.pinned);
}

static void guest_side_of_an_emulated_vm_is_refused_in_words(void **state)
{
	struct perf_want want = { .side = SIDE_GUEST, .accel = ACCEL_TCG };
	struct perf_event_attr attr;
	struct opened opened;

	(void)state;
	kvm_perf_attr(&cycles, &want, &attr);
	assert_true(kvm_perf_open(&attr, &cycles, &want, -1, &opened) < 0);
	assert_int_equal(opened.state, READ_UNSUPPORTED);
	assert_non_null(strstr(opened.reason, "use --host"));
}

static void an_event_type_that_no_pmu_has_is_unsupported(void **state)
{
	struct perf_want want = { .side = SIDE_HOST, .accel = ACCEL_NONE };
	struct event ev = cycles;
	struct perf_event_attr attr;
	struct opened opened;

	(void)state;
	ev.type = 0x7ffffff0;
	kvm_perf_attr(&ev, &want, &attr);
	assert_true(kvm_perf_open(&attr, &ev, &want, -1, &opened) < 0);
	assert_true(opened.state == READ_UNSUPPORTED || opened.state == READ_DENIED);
	assert_true(*opened.reason != '\0');
}

static void a_thread_that_is_gone_is_no_statement_about_the_event(void **state)
{
	struct perf_want want = { .tid = 0x3fffffff,
				  .side = SIDE_HOST,
				  .accel = ACCEL_NONE };
	struct perf_event_attr attr;
	struct opened opened;

	(void)state;
	kvm_perf_attr(&task_clock, &want, &attr);
	assert_int_equal(kvm_perf_open(&attr, &task_clock, &want, -1, &opened), -ESRCH);
	assert_int_equal(opened.state, READ_NOT_SCHEDULED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sides_become_exclude_bits_of_hardware_events_only),
		cmocka_unit_test(sampling_asks_for_what_every_record_must_carry),
		cmocka_unit_test(
			where_frequency_misleads_a_period_is_chosen_unless_the_event_says),
		cmocka_unit_test(only_the_leader_of_a_group_is_off_and_holds_it_back),
		cmocka_unit_test(guest_side_of_an_emulated_vm_is_refused_in_words),
		cmocka_unit_test(an_event_type_that_no_pmu_has_is_unsupported),
		cmocka_unit_test(a_thread_that_is_gone_is_no_statement_about_the_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
