/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <string.h>

#include "source/kvm/ring.h"

#define SIZE 4096

static struct perf_event_mmap_page page;
static uint64_t data[SIZE / 8];
static struct ring ring;
static struct sampler_tally tally;
static struct iovec spans[2];

static int setup(void **state)
{
	(void)state;
	memset(&page, 0, sizeof(page));
	memset(data, 0, sizeof(data));
	memset(&tally, 0, sizeof(tally));
	ring = (struct ring) { .page = &page, .data = (char *)data, .size = SIZE };
	return 0;
}

/* What the kernel does: a record of @words u64 at the head. */
static struct perf_event_header *put(unsigned type, unsigned misc, size_t words,
				     uint64_t fill)
{
	uint64_t head = page.data_head;
	struct perf_event_header *h = (void *)&data[head / 8 % (SIZE / 8)];

	for (size_t i = 1; i < words; i++)
		data[(head / 8 + i) % (SIZE / 8)] = fill;
	*h = (struct perf_event_header) { .type = type, .misc = misc, .size = words * 8 };
	page.data_head += words * 8;
	return h;
}

static size_t shown(int n)
{
	size_t bytes = 0;

	for (int i = 0; i < n; i++)
		bytes += spans[i].iov_len;
	return bytes;
}

static void an_empty_ring_shows_nothing(void **state)
{
	(void)state;
	assert_int_equal(ring_peek(&ring, spans, &tally), 0);
	ring.page = NULL;
	assert_int_equal(ring_peek(&ring, spans, &tally), 0);
	ring_release(&ring);
}

static void records_are_counted_once_and_shown_until_released(void **state)
{
	(void)state;
	put(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 7, 0);
	put(PERF_RECORD_LOST, 0, 7, 13);
	put(PERF_RECORD_LOST_SAMPLES, 0, 6, 4);
	put(PERF_RECORD_THROTTLE, 0, 8, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(shown(ring_peek(&ring, spans, &tally)), 28 * 8);
		assert_int_equal(tally.samples, 1);
		assert_int_equal(tally.lost, 17);
		assert_int_equal(tally.throttled, 1);
		assert_int_equal(tally.bytes, 28 * 8);
		assert_int_equal(page.data_tail, 0);
	}
	ring_release(&ring);
	assert_int_equal(page.data_tail, 28 * 8);
	assert_int_equal(ring_peek(&ring, spans, &tally), 0);
}

static void a_record_across_the_end_comes_as_two_spans(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		uint64_t tail = page.data_tail;
		int n;

		for (int i = 0; i < 40; i++)
			put(PERF_RECORD_LOST, 0, 7, 1);
		n = ring_peek(&ring, spans, &tally);
		assert_int_equal(n, tail % SIZE + 40 * 56 > SIZE ? 2 : 1);
		assert_int_equal(shown(n), 40 * 56);
		assert_ptr_equal(spans[0].iov_base, (char *)data + tail % SIZE);
		ring_release(&ring);
	}
	assert_int_equal(tally.lost, 200 * 40);
}

static void a_full_ring_is_shown_whole(void **state)
{
	(void)state;
	put(PERF_RECORD_SAMPLE, 0, 7, 0);
	assert_int_equal(ring_peek(&ring, spans, &tally), 1);
	ring_release(&ring);
	for (int i = 0; i < SIZE / 64; i++)
		put(PERF_RECORD_SAMPLE, 0, 8, 0);
	assert_int_equal(shown(ring_peek(&ring, spans, &tally)), SIZE);
}

static unsigned seen(bool inside, unsigned type, unsigned misc)
{
	static uint64_t stage[SIZE / 8];

	put(type, misc, 7, 0);
	ring.stage = inside ? (char *)stage : NULL;
	ring_peek(&ring, spans, &tally);
	ring_peek(&ring, spans, &tally); /* a second look changes nothing more */
	ring_release(&ring);
	return ((struct perf_event_header *)spans[0].iov_base)->misc;
}

static void the_inside_view_is_a_copy_and_leaves_the_ring_alone(void **state)
{
	char stage[SIZE];

	(void)state;
	ring.stage = stage;
	for (int round = 0; round < 200; round++) {
		uint64_t want[7];
		struct perf_event_header *h;

		h = put(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_GUEST_USER, 7, round);
		for (size_t i = 1; i < 7; i++)
			want[i] = round;
		assert_int_equal(ring_peek(&ring, spans, &tally), 1);
		assert_int_equal(h->misc, PERF_RECORD_MISC_GUEST_USER);
		put(PERF_RECORD_LOST, 0, 40, 1);
		assert_int_equal(shown(ring_peek(&ring, spans, &tally)), 47 * 8);
		assert_memory_equal(stage + 8, want + 1, 48);
		assert_int_equal(((struct perf_event_header *)(stage + 56))->size, 320);
		ring_release(&ring);
	}
}

static void from_inside_guest_modes_are_plain_and_the_host_is_the_hypervisor(void **state)
{
	enum {
		K = PERF_RECORD_MISC_KERNEL,
		U = PERF_RECORD_MISC_USER,
		HV = PERF_RECORD_MISC_HYPERVISOR,
		GK = PERF_RECORD_MISC_GUEST_KERNEL,
		GU = PERF_RECORD_MISC_GUEST_USER,
		EXACT = PERF_RECORD_MISC_EXACT_IP,
	};

	(void)state;
	assert_int_equal(seen(true, PERF_RECORD_SAMPLE, GK | EXACT), K | EXACT);
	assert_int_equal(seen(true, PERF_RECORD_SAMPLE, GU), U);
	assert_int_equal(seen(true, PERF_RECORD_SAMPLE, K), HV);
	assert_int_equal(seen(true, PERF_RECORD_SAMPLE, U | EXACT), HV | EXACT);
	assert_int_equal(seen(true, PERF_RECORD_SAMPLE, HV), HV);
	assert_int_equal(seen(true, PERF_RECORD_MMAP2, U), U);
	assert_int_equal(seen(false, PERF_RECORD_SAMPLE, GK), GK);
	assert_int_equal(seen(false, PERF_RECORD_SAMPLE, U), U);
}

static unsigned told_by(uint64_t address, unsigned misc)
{
	static uint64_t stage[SIZE / 8];

	put(PERF_RECORD_SAMPLE, misc, 7, address);
	ring.stage = (char *)stage;
	ring.by_address = true;
	ring_peek(&ring, spans, &tally);
	ring_release(&ring);
	return ((struct perf_event_header *)spans[0].iov_base)->misc;
}

static void where_the_kernel_does_not_tell_a_guests_mode_its_address_does(void **state)
{
	const uint64_t high = 0xffffffff81000000, low = 0x401000;

	(void)state;
	assert_int_equal(told_by(high, PERF_RECORD_MISC_GUEST_USER),
			 PERF_RECORD_MISC_KERNEL);
	assert_int_equal(told_by(high, PERF_RECORD_MISC_GUEST_KERNEL),
			 PERF_RECORD_MISC_KERNEL);
	assert_int_equal(told_by(low, PERF_RECORD_MISC_GUEST_KERNEL),
			 PERF_RECORD_MISC_USER);
	/* the host's are right */
	assert_int_equal(told_by(high, PERF_RECORD_MISC_KERNEL),
			 PERF_RECORD_MISC_HYPERVISOR);
}

static void nonsense(size_t size)
{
	struct perf_event_header *h;

	setup(NULL);
	put(PERF_RECORD_SAMPLE, 0, 7, 0);
	h = put(PERF_RECORD_SAMPLE, 0, 7, 0);
	put(PERF_RECORD_SAMPLE, 0, 7, 0);
	h->size = size;
	assert_int_equal(shown(ring_peek(&ring, spans, &tally)), 56);
	assert_int_equal(tally.samples, 1);
	assert_int_equal(tally.corrupt, 112);
	put(PERF_RECORD_SAMPLE, 0, 7, 0);
	assert_int_equal(shown(ring_peek(&ring, spans, &tally)), 56);
	ring_release(&ring);
	assert_int_equal(page.data_tail, 168);
	assert_int_equal(shown(ring_peek(&ring, spans, &tally)), 56);
	assert_int_equal(tally.samples, 2);
	assert_int_equal(tally.corrupt, 112);
}

static void a_size_that_makes_no_sense_costs_what_was_there_and_no_more(void **state)
{
	(void)state;
	nonsense(0);
	nonsense(4);
	nonsense(57);
	nonsense(120);
	nonsense(65528);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, setup)
		T(an_empty_ring_shows_nothing),
		T(records_are_counted_once_and_shown_until_released),
		T(a_record_across_the_end_comes_as_two_spans),
		T(a_full_ring_is_shown_whole),
		T(the_inside_view_is_a_copy_and_leaves_the_ring_alone),
		T(from_inside_guest_modes_are_plain_and_the_host_is_the_hypervisor),
		T(where_the_kernel_does_not_tell_a_guests_mode_its_address_does),
		T(a_size_that_makes_no_sense_costs_what_was_there_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
