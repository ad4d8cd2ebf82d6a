/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/profile.h"
#include "record/thread_names.h"

#define ALL (PROFILE_BY_ADDRESS | PROFILE_BY_THREAD | PROFILE_BY_MODE)

static struct sample sample(uint64_t ip, pid_t tid, enum sample_mode mode, uint64_t period)
{
	return (struct sample) { .ip = ip, .tid = tid, .mode = mode, .period = period };
}

static void add(struct profile *p, struct sample s)
{
	assert_true(profile_add(p, &s));
}

static struct profile *make(unsigned keys)
{
	struct profile *p = NULL;

	assert_int_equal(profile_new(keys, 2, &p), 0);
	return p;
}

static struct symtab *symbols(const char *kallsyms)
{
	char path[] = "/tmp/vmmprof-test-XXXXXX";
	struct symtab *tab = NULL;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, kallsyms, strlen(kallsyms)), (ssize_t)strlen(kallsyms));
	close(fd);
	assert_int_equal(symtab_load(path, &tab, NULL), 0);
	unlink(path);
	return tab;
}

static void addresses_of_a_symbol_become_one_row(void **state)
{
	struct symtab *tab = symbols("1000 T first\n1100 T second\n");
	struct symtabs tabs = { (const struct symtab *[]) { tab }, 1, 1 };
	struct profile *p = make(ALL);
	struct profile_row *rows;
	size_t n;

	(void)state;
	add(p, sample(0x1000, 1, MODE_KERNEL, 10));
	add(p, sample(0x10ff, 1, MODE_KERNEL, 10));
	add(p, sample(0x1100, 1, MODE_KERNEL, 50));
	add(p, sample(0x10, 1, MODE_USER, 5));
	add(p, sample(0x10, 1, MODE_USER, 5));
	add(p, sample(0x11, 1, MODE_USER, 1));
	assert_int_equal(profile_rows(p, &tabs, NULL, &rows, &n), 0);
	assert_int_equal(n, 4);
	assert_string_equal(rows[0].sym->name, "second");
	assert_string_equal(rows[1].sym->name, "first");
	assert_int_equal(rows[1].ip, 0x1000);
	assert_int_equal(rows[1].weight.samples, 2);
	assert_int_equal(rows[1].weight.kernel, 2);
	assert_int_equal(rows[1].weight.period, 20);
	assert_null(rows[2].sym);
	assert_int_equal(rows[2].ip, 0x10);
	assert_int_equal(rows[2].weight.samples, 2);
	assert_int_equal(rows[3].ip, 0x11);
	free(rows);
	profile_free(p);
	symtab_free(tab);
}

static void an_address_belongs_to_the_first_table_that_covers_it(void **state)
{
	struct symtab *kernel = symbols("ffffffff81000000 T do_idle\n");
	struct symtab *program = symbols("401000 T main\n401800 T hash_rows\n");
	struct symtab *other = symbols("401000 T other\n");
	struct symtabs tabs = { (const struct symtab *[]) { kernel, program, other }, 3,
				3 };

	(void)state;
	assert_true(symtab_of_kernel(kernel));
	assert_false(symtab_of_kernel(program));
	assert_string_equal(symtabs_find(&tabs, 0xffffffff81000010)->name, "do_idle");
	assert_string_equal(symtabs_find(&tabs, 0x401000)->name, "main");
	assert_string_equal(symtabs_find(&tabs, 0x401801)->name, "hash_rows");
	assert_null(symtabs_find(&tabs, 0x400000));
	symtab_free(kernel);
	symtab_free(program);
	symtab_free(other);
}

static void keys_decide_what_is_told_apart(void **state)
{
	static const struct {
		unsigned keys;
		size_t rows;
	} cases[] = {
		{ 0, 1 },
		{ PROFILE_BY_ADDRESS, 2 },
		{ PROFILE_BY_THREAD, 2 },
		{ PROFILE_BY_MODE, 2 },
		{ PROFILE_BY_ADDRESS | PROFILE_BY_THREAD, 4 },
		{ ALL, 8 },
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct profile *p = make(cases[c].keys);
		struct profile_row *rows;
		size_t n;

		for (unsigned i = 0; i < 16; i++)
			add(p, sample(1 + (i & 1), 1 + (i >> 1 & 1),
				      i >> 2 & 1 ? MODE_USER : MODE_KERNEL, 1));
		assert_int_equal(profile_rows(p, NULL, NULL, &rows, &n), 0);
		assert_int_equal(n, cases[c].rows);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(rows[i].weight.samples, 16 / n);
		assert_int_equal(profile_total(p, 0).kernel, 8);
		free(rows);
		profile_free(p);
	}
}

static void events_are_kept_apart_and_unknown_ones_left_out(void **state)
{
	struct profile *p = make(0);
	struct sample s = sample(1, 1, MODE_USER, 100);
	struct profile_row *rows;
	uint64_t first, last;
	size_t n;

	(void)state;
	profile_span(p, &first, &last);
	assert_true(first > last);
	s.event = 1;
	s.time_ns = 70;
	add(p, s);
	s.event = 0;
	s.period = 7;
	s.time_ns = 50;
	add(p, s);
	s.event = 2;
	add(p, s);
	assert_int_equal(profile_total(p, 0).period, 7);
	assert_int_equal(profile_total(p, 1).period, 100);
	assert_int_equal(profile_total(p, 2).samples, 0);
	profile_span(p, &first, &last);
	assert_int_equal(first, 50);
	assert_int_equal(last, 70);
	assert_int_equal(profile_rows(p, NULL, NULL, &rows, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].event, 0);
	assert_int_equal(rows[1].event, 1);
	free(rows);
	profile_free(p);
}

static void nothing_is_lost_while_the_table_grows(void **state)
{
	struct profile *p = make(ALL);
	struct profile_row *rows;
	uint64_t sum = 0;
	size_t n;

	(void)state;
	for (uint64_t i = 0; i < 300000; i++)
		add(p, sample(i % 50000 << 4, (pid_t)(i % 2), MODE_USER, i));
	assert_int_equal(profile_rows(p, NULL, NULL, &rows, &n), 0);
	assert_int_equal(n, 50000);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows[i].weight.samples, 6);
		sum += rows[i].weight.period;
	}
	assert_true(sum == UINT64_C(300000) * 299999 / 2);
	assert_int_equal(profile_total(p, 0).samples, 300000);
	free(rows);
	profile_free(p);
}

static void huge_periods_stop_at_the_largest_number(void **state)
{
	struct profile *p = make(0);

	(void)state;
	add(p, sample(1, 1, MODE_USER, UINT64_MAX - 1));
	add(p, sample(1, 1, MODE_USER, 5));
	assert_true(profile_total(p, 0).period == UINT64_MAX);
	profile_free(p);
}

static void time_is_cut_into_round_slots(void **state)
{
	static const struct {
		uint64_t first, last, width;
		size_t n;
	} cases[] = {
		{ 1000, 1000, 1, 1 },
		{ 0, 10000000000, 500000000, 21 },
		{ 5, 3000000000, 100000000, 30 },
		{ 100, 50, 1, 1 },
		{ 0, UINT64_MAX, 500000000000000000, 37 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct timeline t;

		assert_int_equal(timeline_init(&t, cases[i].first, cases[i].last, 40, 1),
				 0);
		assert_true(t.width_ns == cases[i].width);
		assert_int_equal(t.n, cases[i].n);
		timeline_free(&t);
	}
}

static void samples_fall_into_the_slot_of_their_time(void **state)
{
	struct sample s = sample(1, 1, MODE_GUEST_KERNEL, 3);
	struct timeline t;

	(void)state;
	assert_int_equal(timeline_init(&t, 1000, 1039, 40, 2), 0);
	assert_int_equal(t.n, 40);
	s.time_ns = 1039;
	s.event = 1;
	timeline_add(&t, &s);
	s.mode = MODE_USER;
	timeline_add(&t, &s);
	s.time_ns = 999;
	timeline_add(&t, &s);
	s.time_ns = 1040;
	timeline_add(&t, &s);
	s.time_ns = 1000;
	s.event = 2;
	timeline_add(&t, &s);
	for (size_t i = 0; i < 79; i++)
		assert_int_equal(t.slot[i].samples, 0);
	assert_int_equal(t.slot[79].samples, 2);
	assert_int_equal(t.slot[79].kernel, 1);
	assert_int_equal(t.slot[79].period, 6);
	timeline_free(&t);
}

static void the_last_name_of_a_thread_counts(void **state)
{
	struct thread_names names = { 0 };
	char name[32];

	(void)state;
	assert_null(thread_names_find(&names, 1));
	for (int i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "name %d\a", i);
		assert_true(thread_names_set(&names, 1 + i % 3, name));
	}
	assert_string_equal(thread_names_find(&names, 1), "name 99999?");
	assert_string_equal(thread_names_find(&names, 3), "name 99998?");
	assert_null(thread_names_find(&names, 4));
	assert_true(names.cap < 100); /* renaming without end takes no room */
	thread_names_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_of_a_symbol_become_one_row),
		cmocka_unit_test(an_address_belongs_to_the_first_table_that_covers_it),
		cmocka_unit_test(keys_decide_what_is_told_apart),
		cmocka_unit_test(events_are_kept_apart_and_unknown_ones_left_out),
		cmocka_unit_test(nothing_is_lost_while_the_table_grows),
		cmocka_unit_test(huge_periods_stop_at_the_largest_number),
		cmocka_unit_test(time_is_cut_into_round_slots),
		cmocka_unit_test(samples_fall_into_the_slot_of_their_time),
		cmocka_unit_test(the_last_name_of_a_thread_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
