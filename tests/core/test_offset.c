/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/offset.h"

static void a_value_is_exact_across_a_wrap_at_every_width(void **state)
{
	static const unsigned widths[] = { 32, 40, 48, 64 };

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		uint64_t mask = vpmu_width_mask(widths[i]);
		struct vpmu_offset o = { .sum = 7 };

		vpmu_offset_start(&o, mask - 2);
		assert_int_equal(vpmu_offset_value(&o, 4, widths[i]), 7 + 7);
		vpmu_offset_stop(&o, 4, widths[i]);
		assert_int_equal(vpmu_offset_value(&o, 10, widths[i]), 7 + 7 + 6);
	}
}

/* Threads on a vCPU on a pCPU: each level's value is the other's physical counter. */
static void threads_and_overhead_sum_to_the_vcpu(void **state)
{
	struct vpmu_offset vcpu = { 0 }, thread[2] = { { 0 } }, rest = { 0 };
	struct vpmu_offset *last = &rest;
	uint64_t physical = vpmu_width_mask(32) - 5000, mine = 0;

	(void)state;
	vpmu_offset_start(&vcpu, physical);
	for (unsigned i = 0; i < 10000; i++) {
		uint64_t logical;

		physical = (physical + i % 7) & vpmu_width_mask(32);
		mine += i % 7;
		logical = vpmu_offset_value(&vcpu, physical, 32);
		vpmu_offset_stop(last, logical, 64);
		last = i % 3 ? &thread[i % 2] : &rest;
		vpmu_offset_start(last, logical);
		if (i % 11 == 0) { /* another VM runs meanwhile */
			vpmu_offset_stop(&vcpu, physical, 32);
			physical = (physical + 12345) & vpmu_width_mask(32);
			vpmu_offset_start(&vcpu, physical);
		}
		assert_int_equal(rest.sum + thread[0].sum + thread[1].sum, mine);
	}
}

static uint64_t register_of(void *ctx, unsigned index)
{
	return ((const uint64_t *)ctx)[index];
}

static void a_page_tells_a_running_counter_and_a_stopped_one(void **state)
{
	uint64_t registers[3] = { 0, 0, 150 }, value = 0;
	struct vpmu_offset o = { .sum = 1000, .start = 100 };
	struct vpmu_page page = { .counters = 2 };

	(void)state;
	vpmu_page_publish(&page, 0, &o, 2, 32, true);
	vpmu_page_publish(&page, 1, &o, 2, 32, false);
	assert_true(vpmu_page_read(&page, 0, register_of, registers, 1, &value));
	assert_int_equal(value, 1050);
	assert_true(vpmu_page_read(&page, 1, register_of, registers, 1, &value));
	assert_int_equal(value, 1000);
	assert_false(vpmu_page_read(&page, 2, register_of, registers, 1, &value));
}

static void a_page_that_is_being_written_is_not_believed(void **state)
{
	uint64_t registers[1] = { 0 }, value = 42;
	struct vpmu_page page = { .counters = 1, .sequence = 1 };

	(void)state;
	assert_false(vpmu_page_read(&page, 0, register_of, registers, 100, &value));
	assert_int_equal(value, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_exact_across_a_wrap_at_every_width),
		cmocka_unit_test(threads_and_overhead_sum_to_the_vcpu),
		cmocka_unit_test(a_page_tells_a_running_counter_and_a_stopped_one),
		cmocka_unit_test(a_page_that_is_being_written_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
