/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text files that people write: their lines, where they are found, and names of roles. */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data.h"
#include "base/lines.h"
#include "model/role.h"

static struct lines begin(const char *text, char separator)
{
	struct lines l;

	lines_begin(&l, "f", text, strlen(text), separator);
	return l;
}

static void next_is(struct lines *l, unsigned line, size_t n, const char *first)
{
	struct err err = { 0 };

	if (lines_next(l, &err) != 1)
		fail_msg("no statement: %s", err.text);
	assert_int_equal(l->line, line);
	assert_int_equal(l->n, n);
	assert_string_equal(l->word[0], first);
	assert_null(l->word[n]);
}

static void refused(const char *text, size_t size, const char *words)
{
	struct lines l;
	struct err err = { 0 };
	int ret;

	lines_begin(&l, "f", text, size, 0);
	while ((ret = lines_next(&l, &err)) == 1)
		;
	assert_int_equal(ret, -EINVAL);
	if (!strstr(err.text, words))
		fail_msg("\"%s\" lacks \"%s\"", err.text, words);
}

static void a_statement_is_its_words_and_knows_its_line(void **state)
{
	struct lines l =
		begin("# comment\n\none two\t\"three four\"\r\n  in # rest\nlast", 0);

	(void)state;
	next_is(&l, 3, 3, "one");
	assert_false(l.indented);
	assert_string_equal(l.word[2], "three four");
	next_is(&l, 4, 1, "in");
	assert_true(l.indented);
	next_is(&l, 5, 1, "last");
	assert_int_equal(lines_next(&l, NULL), 0);
	assert_int_equal(lines_next(&l, NULL), 0);
}

static void a_separator_ends_a_statement_but_not_in_quotes_or_comments(void **state)
{
	struct lines l = begin("a 1, b \"x,y\",,# c, d\ne, f", ',');

	(void)state;
	next_is(&l, 1, 2, "a");
	next_is(&l, 1, 2, "b");
	assert_string_equal(l.word[1], "x,y");
	next_is(&l, 2, 1, "e");
	next_is(&l, 2, 1, "f");
	assert_int_equal(lines_next(&l, NULL), 0);
}

static void what_is_no_text_is_refused_with_its_line(void **state)
{
	char longer[LINES_LENGTH + 8], words[3 * LINES_WORDS + 8] = "";

	(void)state;
	memset(longer, 'x', sizeof(longer));
	refused(longer, sizeof(longer), "f:1: longer than");
	for (int i = 0; i <= LINES_WORDS; i++)
		strcat(words, "w ");
	refused(words, strlen(words), "f:1: more than 64 words");
	refused("ok\n\"open\n", 9, "f:2: a quote that does not end");
	refused("a b\"c \"d\n", 9, "f:1: a quote within a word");
	refused("\"a\"b\n", 5, "f:1: a quote within a word");
	refused("ok\n\0x\n", 6, "f:2: byte 0x00 is not text");
	refused("\x1b[1m\n", 5, "byte 0x1b is not text");
}

static void a_text_need_not_end_in_a_newline_or_a_nul(void **state)
{
	char *text = malloc(3);
	struct lines l;

	(void)state;
	memcpy(text, "a b", 3);
	lines_begin(&l, "f", text, 3, 0);
	next_is(&l, 1, 2, "a");
	lines_begin(&l, "f", text, 0, 0);
	assert_int_equal(lines_next(&l, NULL), 0);
	free(text);
}

static void numbers_are_whole_and_within_their_bounds(void **state)
{
	struct lines l = begin("0x10 7 -1 1e3 60% nan inf 32K 4X 99999999999T 0.5", 0);
	struct err err = { 0 };
	uint64_t u;
	double f;

	(void)state;
	next_is(&l, 1, 11, "0x10");
	assert_int_equal(lines_u64(&l, 0, "x", 0, 100, &u, &err), 0);
	assert_int_equal(u, 16);
	assert_int_equal(lines_u64(&l, 1, "a digit", 8, 9, &u, &err), -EINVAL);
	assert_string_equal(err.text, "f:1: \"7\" is not a digit (8 to 9)");
	assert_int_equal(lines_u64(&l, 2, "x", 0, 9, &u, NULL), -EINVAL);
	assert_int_equal(lines_u64(&l, 11, "a size", 0, 9, &u, &err), -EINVAL);
	assert_string_equal(err.text, "f:1: a size is missing");
	assert_int_equal(lines_f64(&l, 3, "x", 0, 1e4, &f, &err), 0);
	assert_true(f == 1000);
	assert_int_equal(lines_f64(&l, 4, "x", 0, 1, &f, &err), 0);
	assert_true(fabs(f - 0.6) < 1e-12);
	assert_int_equal(lines_f64(&l, 5, "x", 0, 1, &f, NULL), -EINVAL);
	assert_int_equal(lines_f64(&l, 6, "x", 0, HUGE_VAL, &f, NULL), -EINVAL);
	assert_int_equal(lines_bytes(&l, 7, "x", 0, 1 << 20, &u, &err), 0);
	assert_int_equal(u, 32768);
	assert_int_equal(lines_bytes(&l, 8, "x", 0, 1 << 20, &u, NULL), -EINVAL);
	assert_int_equal(lines_bytes(&l, 9, "x", 0, UINT64_MAX, &u, NULL), -EINVAL);
	assert_int_equal(lines_bytes(&l, 10, "x", 0, 1, &u, NULL), -EINVAL);
}

/* A folder as $XDG_CONFIG_HOME, with one file of a kind. */
static void own_file(char *dir, const char *kind, const char *file, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/vmmprof", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/vmmprof/%s", dir, kind);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/vmmprof/%s/%s", dir, kind, file);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

struct found {
	const char *name;
	int times;
	bool own;
};

static int look(void *ctx, const char *name, const char *path)
{
	struct found *f = ctx;

	if (!strcmp(name, f->name)) {
		f->times++;
		f->own = path;
	}
	return 0;
}

static int stop(void *ctx, const char *name, const char *path)
{
	(void)ctx;
	(void)name;
	(void)path;
	return 42;
}

static void a_users_own_file_comes_before_one_compiled_in(void **state)
{
	char dir[] = "/tmp/vmmprof-lines-XXXXXX", cmd[64];
	struct found zen = { "zen4", 0, false }, mine = { "mine", 0, false },
		     not_one = { "note", 0, false };
	struct data_text text;
	struct err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	setenv("XDG_CONFIG_HOME", dir, 1);
	own_file(dir, "events", "zen4.events", "mine\n");
	own_file(dir, "events", "mine.events", "");
	own_file(dir, "events", "note.txt", "");
	own_file(dir, "models", "flops.model", "model\n");
	assert_int_equal(data_load("events", "zen4", &text, &err), 0);
	assert_non_null(strstr(text.file, "vmmprof/events/zen4.events"));
	assert_int_equal(text.size, 5);
	data_text_free(&text);
	assert_int_equal(data_load("events", "zen3", &text, &err), 0);
	assert_string_equal(text.file, "zen3.events");
	assert_null(text.owned);
	data_text_free(&text);
	assert_int_equal(data_load("models", "flops", &text, &err), 0);
	data_text_free(&text);
	assert_int_equal(data_each("events", look, &zen), 0);
	assert_int_equal(data_each("events", look, &mine), 0);
	assert_int_equal(data_each("events", look, &not_one), 0);
	assert_int_equal(data_each("events", stop, NULL), 42);
	assert_int_equal(zen.times, 1);
	assert_true(zen.own);
	assert_int_equal(mine.times, 1);
	assert_int_equal(not_one.times, 0);
	assert_int_equal(data_load("events", "zen9", &text, &err), -ENOENT);
	assert_non_null(strstr(err.text, "zen9"));
	assert_non_null(strstr(err.text, "mine, "));
	assert_int_equal(data_load("events", "./no/such", &text, &err), -ENOENT);
	unsetenv("XDG_CONFIG_HOME");
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	assert_int_equal(system(cmd), 0);
}

static void every_role_has_a_name_of_its_own_a_meaning_and_a_unit(void **state)
{
	enum role found;

	(void)state;
	for (unsigned i = 0; i < ROLES; i++) {
		assert_non_null(role_name(i));
		assert_true(*role_what(i));
		assert_non_null(role_unit(i));
		assert_true(role_find(role_name(i), &found));
		assert_int_equal(found, i);
	}
	assert_false(role_find("dram", &found));
	assert_false(role_find("", &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_statement_is_its_words_and_knows_its_line),
		cmocka_unit_test(
			a_separator_ends_a_statement_but_not_in_quotes_or_comments),
		cmocka_unit_test(what_is_no_text_is_refused_with_its_line),
		cmocka_unit_test(a_text_need_not_end_in_a_newline_or_a_nul),
		cmocka_unit_test(numbers_are_whole_and_within_their_bounds),
		cmocka_unit_test(a_users_own_file_comes_before_one_compiled_in),
		cmocka_unit_test(every_role_has_a_name_of_its_own_a_meaning_and_a_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
