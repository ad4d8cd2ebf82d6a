/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "xen/glue/valid.h"

#define OFFSET(type, field, where)                                                         \
	_Static_assert(offsetof(struct type, field) == (where), #type "." #field)
#define SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
VPMU_ABI_LAYOUT(OFFSET, SIZE);

static struct xenpmu_open counting(void)
{
	return (struct xenpmu_open) {
		.version = XENPMU_VERSION,
		.nevents = 2,
		.event = { { .config = 0x11, .flags = VPMU_EVENT_USER },
			   { .config = 0x08, .flags = VPMU_EVENT_KERNEL } },
	};
}

static void a_set_that_only_counts_has_no_rings(void **state)
{
	struct xenpmu_open open = counting();
	uint32_t bad;

	(void)state;
	assert_true(vpmu_open_valid(&open, &bad));
	assert_false(vpmu_open_samples(&open));
	open.ring_frames = 2;
	assert_false(vpmu_open_valid(&open, &bad));
}

static void a_set_that_samples_has_rings_within_the_bound(void **state)
{
	struct xenpmu_open open = counting();
	uint32_t bad;

	(void)state;
	open.event[1].period = 20000;
	assert_true(vpmu_open_samples(&open));
	for (uint32_t frames = 0; frames <= XENPMU_RING_FRAMES_MAX + 1; frames++) {
		open.ring_frames = frames;
		assert_int_equal(vpmu_open_valid(&open, &bad),
				 frames >= 2 && frames <= XENPMU_RING_FRAMES_MAX);
	}
	open.ring_frames = UINT32_MAX;
	assert_false(vpmu_open_valid(&open, &bad));
}

static void all_rings_of_a_set_stay_within_their_bound(void **state)
{
	(void)state;
	assert_true(vpmu_rings_fit(XENPMU_RING_FRAMES_MAX, 4));
	assert_false(vpmu_rings_fit(XENPMU_RING_FRAMES_MAX, 5));
	assert_true(vpmu_rings_fit(8, 128));
	assert_true(vpmu_rings_fit(0, UINT32_MAX));
	assert_false(vpmu_rings_fit(2, UINT32_MAX / 2 + 1));
}

static void the_event_at_fault_is_named(void **state)
{
	struct xenpmu_open open = counting();
	uint32_t bad = 77;

	(void)state;
	open.event[1].zero = 1;
	assert_false(vpmu_open_valid(&open, &bad));
	assert_int_equal(bad, 1);
	open = counting();
	open.version++;
	assert_false(vpmu_open_valid(&open, &bad));
	assert_int_equal(bad, open.nevents);
}

/* Every byte that means nothing must be zero, and every count in its range. */
static void what_means_nothing_must_be_zero(void **state)
{
	struct xenpmu_open open;
	uint32_t bad;

	(void)state;
	for (size_t byte = 16 + 2 * sizeof(struct vpmu_event);
	     byte < offsetof(struct xenpmu_open, owner); byte++) {
		open = counting();
		((uint8_t *)&open)[byte] = 0x80;
		assert_false(vpmu_open_valid(&open, &bad));
	}
	open = counting();
	open.zero = 1;
	assert_false(vpmu_open_valid(&open, &bad));
	open = counting();
	open.zero2 = 1;
	assert_false(vpmu_open_valid(&open, &bad));
}

static void no_or_too_many_events_are_refused(void **state)
{
	static const uint32_t wrong[] = { 0, VPMU_SET_EVENTS + 1, 0x80000000, UINT32_MAX };
	uint32_t bad;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct xenpmu_open open = counting();

		open.nevents = wrong[i];
		assert_false(vpmu_open_valid(&open, &bad));
		assert_int_equal(bad, wrong[i]);
	}
}

static void the_small_structs_are_held_to_version_and_zeros(void **state)
{
	struct xenpmu_domain domain = { .version = XENPMU_VERSION };
	struct xenpmu_read read = { .version = XENPMU_VERSION };
	struct xenpmu_next next = { .version = XENPMU_VERSION };

	(void)state;
	assert_true(vpmu_domain_valid(&domain));
	assert_true(vpmu_read_valid(&read));
	assert_true(vpmu_next_valid(&next));
	domain.zero2 = read.zero = 1;
	next.zero = 1;
	assert_false(vpmu_domain_valid(&domain));
	assert_false(vpmu_read_valid(&read));
	assert_false(vpmu_next_valid(&next));
	domain = (struct xenpmu_domain) { .version = XENPMU_VERSION + 1 };
	read = (struct xenpmu_read) { .version = XENPMU_VERSION + 1 };
	next = (struct xenpmu_next) { .version = XENPMU_VERSION + 1 };
	assert_false(vpmu_domain_valid(&domain));
	assert_false(vpmu_read_valid(&read));
	assert_false(vpmu_next_valid(&next));
}

static void a_handle_is_never_0_and_a_slots_next_one_differs(void **state)
{
	uint32_t generation = 0xfffffe;

	(void)state;
	for (int i = 0; i < 4; i++) {
		uint32_t next = vpmu_generation_next(generation);
		uint32_t handle = vpmu_handle(0, next);

		assert_int_not_equal(handle, 0);
		assert_int_not_equal(handle, vpmu_handle(0, generation));
		assert_int_equal(vpmu_handle_slot(vpmu_handle(VPMU_SLOTS - 1, next)),
				 VPMU_SLOTS - 1);
		generation = next;
	}
	assert_int_not_equal(vpmu_handle(0, vpmu_generation_next(0)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_that_only_counts_has_no_rings),
		cmocka_unit_test(a_set_that_samples_has_rings_within_the_bound),
		cmocka_unit_test(all_rings_of_a_set_stay_within_their_bound),
		cmocka_unit_test(the_event_at_fault_is_named),
		cmocka_unit_test(what_means_nothing_must_be_zero),
		cmocka_unit_test(no_or_too_many_events_are_refused),
		cmocka_unit_test(the_small_structs_are_held_to_version_and_zeros),
		cmocka_unit_test(a_handle_is_never_0_and_a_slots_next_one_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
