/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/maps.h"

static const char *module(struct maps *m, uint64_t addr)
{
	struct map_place place;

	return maps_find(m, addr, &place) ? place.module : "(none)";
}

static void add(struct maps *m, uint64_t start, uint64_t len, const char *path)
{
	assert_true(maps_add(m, start, len, 0, path));
}

static void a_later_map_replaces_what_it_covers(void **state)
{
	struct maps m = { 0 };

	(void)state;
	add(&m, 0x5000, 0x1000, "/lib/high.so");
	add(&m, 0x1000, 0x3000, "/lib/old.so");
	add(&m, 0x2000, 0x1000, "//anon");
	add(&m, 0x2800, 0x100, "[vdso]");
	assert_string_equal(module(&m, 0xfff), "(none)");
	assert_string_equal(module(&m, 0x1000), "old.so");
	assert_string_equal(module(&m, 0x27ff), "anon");
	assert_string_equal(module(&m, 0x28ff), "vdso");
	assert_string_equal(module(&m, 0x2900), "anon");
	assert_string_equal(module(&m, 0x3000), "old.so");
	assert_string_equal(module(&m, 0x4000), "(none)");
	assert_string_equal(module(&m, 0x5fff), "high.so");
	assert_string_equal(module(&m, 0x6000), "(none)");
	maps_free(&m);
}

static void senseless_maps_are_left_out_and_names_cleaned(void **state)
{
	struct maps m = { 0 };

	(void)state;
	assert_string_equal(module(&m, 0), "(none)");
	add(&m, 0x1000, 0, "/empty");
	add(&m, UINT64_MAX - 10, 100, "/wraps");
	assert_string_equal(module(&m, UINT64_MAX), "(none)");
	add(&m, 0, UINT64_MAX, "/tmp/bad\033name");
	assert_string_equal(module(&m, 0x1000), "bad?name");
	maps_free(&m);
	add(&m, 0x1000, 0x10, "");
	assert_string_equal(module(&m, 0x1000), "");
	maps_free(&m);
}

/* Every address against the rule itself: the last map that covers it. */
static void thousands_of_overlapping_maps_are_each_found(void **state)
{
	enum { MAPS = 2000, SPACE = 5000 };
	static int owner[SPACE + 100];
	struct maps m = { 0 };
	uint32_t seed = 1;

	(void)state;
	memset(owner, -1, sizeof(owner));
	for (int i = 0; i < MAPS; i++) {
		uint32_t start = (seed = seed * 1664525 + 1013904223) >> 8, len;
		char path[16];

		start %= SPACE;
		len = 1 + (seed >> 4) % 90;
		snprintf(path, sizeof(path), "/%d", i);
		add(&m, start, len, path);
		for (uint32_t a = start; a < start + len; a++)
			owner[a] = i;
	}
	for (int a = 0; a < SPACE + 100; a++) {
		char expected[16] = "(none)";

		if (owner[a] >= 0)
			snprintf(expected, sizeof(expected), "%d", owner[a]);
		assert_string_equal(module(&m, a), expected);
	}
	maps_free(&m);
}

/* This program, where the kernel put it. */
static void add_own_maps(struct maps *m, uint64_t *self)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4200], path[4096];
	uint64_t start, end, offset;

	*self = (uintptr_t)add_own_maps;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " r-xp %" SCNx64 " %*s %*s %4095s",
			   &start, &end, &offset, path) == 4)
			assert_true(maps_add(m, start, end - start, offset, path));
	fclose(f);
}

static void this_program_finds_its_functions_at_run_time_addresses(void **state)
{
	struct maps m = { .read_files = true }, closed = { 0 };
	struct map_place place;
	uint64_t self;

	(void)state;
	add_own_maps(&m, &self);
	assert_true(maps_find(&m, self + 4, &place));
	assert_string_equal(place.module, "test_maps");
	assert_non_null(place.sym);
	assert_string_equal(place.sym->name, "add_own_maps");
	assert_true(place.sym->start + place.bias == self);
	add_own_maps(&closed, &self);
	assert_true(maps_find(&closed, self + 4, &place));
	assert_string_equal(place.module, "test_maps");
	assert_null(place.sym);
	maps_free(&m);
	maps_free(&closed);
}

static void only_regular_files_are_opened(void **state)
{
	static const char *const paths[] = { "/dev/zero", "relative", "/nonexistent",
					     "/tmp" };
	char fifo[] = "/tmp/vmmprof-test-XXXXXX";
	struct maps m = { .read_files = true };
	struct map_place place;

	(void)state;
	assert_non_null(mkdtemp(fifo));
	rmdir(fifo);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	for (uint64_t i = 0; i < 4; i++)
		add(&m, i << 12, 0x1000, paths[i]);
	add(&m, 4 << 12, 0x1000, fifo);
	for (uint64_t i = 0; i < 5; i++) {
		assert_true(maps_find(&m, i << 12, &place));
		assert_null(place.sym);
	}
	unlink(fifo);
	maps_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_later_map_replaces_what_it_covers),
		cmocka_unit_test(senseless_maps_are_left_out_and_names_cleaned),
		cmocka_unit_test(thousands_of_overlapping_maps_are_each_found),
		cmocka_unit_test(this_program_finds_its_functions_at_run_time_addresses),
		cmocka_unit_test(only_regular_files_are_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
