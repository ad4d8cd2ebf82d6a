/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/abi/event.h"
#include "core/ring.h"

#define RECORDS 64
#define BYTES (VPMU_RING_PAGE + RECORDS * sizeof(struct vpmu_sample))

static _Alignas(VPMU_RING_PAGE) unsigned char pages[2 * VPMU_RING_PAGE];
static struct vpmu_ring ring;
static struct vpmu_reader reader;

static struct vpmu_ring_page *page(void)
{
	return (struct vpmu_ring_page *)pages;
}

static int fresh(void **state)
{
	(void)state;
	memset(pages, 0, sizeof(pages));
	memset(&ring, 0, sizeof(ring));
	assert_int_equal(vpmu_ring_init(&ring, pages, BYTES), 0);
	assert_int_equal(vpmu_reader_init(&reader, pages, BYTES), 0);
	return 0;
}

static bool put(uint64_t pc)
{
	struct vpmu_sample s = {
		.size = sizeof(s),
		.mode = VPMU_MODE_USER,
		.pc = pc,
	};

	return vpmu_ring_put(&ring, &s);
}

static uint64_t get(void)
{
	struct vpmu_sample s;

	assert_true(vpmu_reader_copy(&reader, 0, &s));
	vpmu_reader_done(&reader, 1);
	return s.pc;
}

static void account_is(uint64_t taken, uint64_t lost)
{
	uint64_t t, l;

	assert_true(vpmu_reader_account(&reader, &t, &l));
	assert_int_equal(t, taken);
	assert_int_equal(l, lost);
	assert_int_equal(ring.taken, taken);
	assert_int_equal(ring.lost, lost);
	assert_int_equal(ring.head + ring.lost, ring.taken);
}

static void records_come_out_as_they_went_in(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		put(2 * i);
		put(2 * i + 1);
		assert_int_equal(vpmu_reader_waiting(&reader), 2);
		assert_int_equal(get(), 2 * i);
		assert_int_equal(get(), 2 * i + 1);
	}
	account_is(2000, 0);
}

static void a_full_ring_loses_the_newest_and_counts_them(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < RECORDS + 7; i++)
		put(i);
	assert_int_equal(vpmu_reader_waiting(&reader), RECORDS);
	account_is(RECORDS + 7, 7);
	for (uint64_t i = 0; i < RECORDS; i++)
		assert_int_equal(get(), i);
	put(99);
	assert_int_equal(get(), 99);
	account_is(RECORDS + 8, 7);
}

static void the_consumer_is_woken_once_when_the_ring_gets_half_full(void **state)
{
	unsigned woken = 0;

	(void)state;
	for (unsigned i = 0; i < RECORDS; i++)
		if (put(i)) {
			assert_int_equal(i, RECORDS / 2 - 1);
			woken++;
		}
	assert_false(put(0));
	assert_int_equal(woken, 1);
}

static void without_a_ring_every_sample_is_lost(void **state)
{
	struct vpmu_sample s = { .size = sizeof(s) };

	(void)state;
	memset(&ring, 0, sizeof(ring));
	assert_false(vpmu_ring_put(&ring, &s));
	assert_int_equal(ring.taken, 1);
	assert_int_equal(ring.lost, 1);
}

static void records_fill_what_room_there_is(void **state)
{
	(void)state;
	assert_int_equal(ring.records, RECORDS);
	assert_int_equal(vpmu_ring_init(&ring, pages, BYTES - 1), 0);
	assert_int_equal(ring.records, RECORDS / 2);
	assert_int_equal(
		vpmu_ring_init(&ring, pages, VPMU_RING_PAGE + sizeof(struct vpmu_sample)),
		0);
	assert_int_equal(ring.records, 1);
	assert_true(put(1));
	assert_int_equal(vpmu_ring_init(&ring, pages,
					VPMU_RING_PAGE + sizeof(struct vpmu_sample) - 1),
			 -EINVAL);
	assert_int_equal(vpmu_ring_init(&ring, pages, 0), -EINVAL);
}

/* What a consumer may write into the page costs it samples, and nobody anything else. */
static void a_tail_that_makes_no_sense_counts_as_full(void **state)
{
	static const uint64_t tails[] = { 6, 1ULL << 63, ~0ULL, ~0ULL - RECORDS };

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		put(i);
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		page()->tail = tails[i];
		put(0);
		account_is(6 + i, 1 + i);
	}
	page()->tail = 5;
	put(5);
	account_is(10, 4);
}

static void what_a_consumer_writes_of_the_producer_s_own_is_not_believed(void **state)
{
	(void)state;
	put(1);
	page()->head = 1000;
	page()->records = 1u << 30;
	page()->taken = page()->lost = 42;
	page()->record_size = 1;
	put(2);
	assert_int_equal(page()->head, 2);
	account_is(2, 0);
}

static void a_header_that_is_not_ours_is_refused(void **state)
{
	(void)state;
	page()->records = RECORDS * 2;
	assert_int_equal(vpmu_reader_init(&reader, pages, BYTES), -EINVAL);
	page()->records = 0;
	assert_int_equal(vpmu_reader_init(&reader, pages, BYTES), -EINVAL);
	page()->records = 3;
	assert_int_equal(vpmu_reader_init(&reader, pages, BYTES), -EINVAL);
	page()->records = RECORDS;
	page()->record_size--;
	assert_int_equal(vpmu_reader_init(&reader, pages, BYTES), -EINVAL);
	page()->record_size++;
	page()->version++;
	assert_int_equal(vpmu_reader_init(&reader, pages, BYTES), -EINVAL);
	page()->version--;
	page()->magic++;
	assert_int_equal(vpmu_reader_init(&reader, pages, BYTES), -EINVAL);
	page()->magic--;
	assert_int_equal(vpmu_reader_init(&reader, pages, 8), -EINVAL);
	assert_int_equal(vpmu_reader_init(&reader, pages, BYTES), 0);
}

static void a_head_that_makes_no_sense_is_nothing_waiting(void **state)
{
	(void)state;
	put(1);
	get();
	page()->head = 0;
	assert_int_equal(vpmu_reader_waiting(&reader), 0);
	page()->head = 1 + RECORDS;
	assert_int_equal(vpmu_reader_waiting(&reader), RECORDS);
	page()->head = 2 + RECORDS;
	assert_int_equal(vpmu_reader_waiting(&reader), 0);
	page()->head = ~0ULL;
	assert_int_equal(vpmu_reader_waiting(&reader), 0);
	/* nor does the tail that a new reader finds */
	page()->tail = ~0ULL - 3;
	assert_int_equal(vpmu_reader_init(&reader, pages, BYTES), 0);
	page()->head = 5;
	assert_int_equal(vpmu_reader_waiting(&reader), 0);
}

static void an_account_that_makes_no_sense_is_none(void **state)
{
	uint64_t taken, lost;

	(void)state;
	for (uint64_t i = 0; i < RECORDS + 7; i++)
		put(i);
	account_is(RECORDS + 7, 7);
	page()->taken++; /* being put, but not there yet */
	assert_true(vpmu_reader_account(&reader, &taken, &lost));
	page()->taken++;
	assert_false(vpmu_reader_account(&reader, &taken, &lost));
	page()->taken -= 2;
	page()->lost = 1ull << 62;
	assert_false(vpmu_reader_account(&reader, &taken, &lost));
	page()->lost = 7;
	page()->head = 3;
	assert_false(vpmu_reader_account(&reader, &taken, &lost));
	page()->taken = 5;
	page()->lost = 6;
	page()->head = ~0ULL;
	assert_false(vpmu_reader_account(&reader, &taken, &lost));
}

static void a_record_that_makes_no_sense_is_not_handed_out(void **state)
{
	struct vpmu_sample out = { .pc = 42 }, good, *in;

	(void)state;
	put(1);
	in = (struct vpmu_sample *)(pages + VPMU_RING_PAGE);
	good = *in;
	in->size++;
	assert_false(vpmu_reader_copy(&reader, 0, &out));
	*in = good;
	in->mode = 0;
	assert_false(vpmu_reader_copy(&reader, 0, &out));
	in->mode = VPMU_MODE_HYP + 1;
	assert_false(vpmu_reader_copy(&reader, 0, &out));
	*in = good;
	in->event = VPMU_SET_EVENTS;
	assert_false(vpmu_reader_copy(&reader, 0, &out));
	assert_int_equal(out.pc, 42);
	*in = good;
	assert_true(vpmu_reader_copy(&reader, 0, &out));
	assert_int_equal(out.pc, 1);
}

static void a_new_reader_goes_on_where_the_last_one_stopped(void **state)
{
	(void)state;
	put(1);
	put(2);
	assert_int_equal(get(), 1);
	memset(&reader, 0, sizeof(reader));
	assert_int_equal(vpmu_reader_init(&reader, pages, BYTES), 0);
	assert_int_equal(vpmu_reader_waiting(&reader), 1);
	assert_int_equal(get(), 2);
}

#define TEST(f) cmocka_unit_test_setup(f, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(records_come_out_as_they_went_in),
		TEST(a_full_ring_loses_the_newest_and_counts_them),
		TEST(the_consumer_is_woken_once_when_the_ring_gets_half_full),
		TEST(without_a_ring_every_sample_is_lost),
		TEST(records_fill_what_room_there_is),
		TEST(a_tail_that_makes_no_sense_counts_as_full),
		TEST(what_a_consumer_writes_of_the_producer_s_own_is_not_believed),
		TEST(a_header_that_is_not_ours_is_refused),
		TEST(a_head_that_makes_no_sense_is_nothing_waiting),
		TEST(an_account_that_makes_no_sense_is_none),
		TEST(a_record_that_makes_no_sense_is_not_handed_out),
		TEST(a_new_reader_goes_on_where_the_last_one_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
