/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/out.h"

struct row {
	const char *vm;
	int vcpu;
	struct reading reading;
};

static const struct column columns[] = {
	COLUMN(struct row, vm, "vm", "VM", FIELD_STR, 0),
	COLUMN(struct row, vcpu, "vcpu", "vCPU", FIELD_INT, 0),
	COLUMN(struct row, reading, "reading", "count", FIELD_READING, 0),
};
static const struct view view = { "count", columns, ARRAY_SIZE(columns) };

static const struct row rows[] = {
	{ "web",
	  0,
	  { .value = 1234567, .raw = 1234567, .enabled_ns = 10, .running_ns = 10 } },
	{ "db", -1, { .state = READ_UNSUPPORTED, .reason = "no such event, here" } },
	{ "db",
	  1,
	  { .value = 200,
	    .raw = 100,
	    .enabled_ns = 10,
	    .running_ns = 5,
	    .error = 7.2,
	    .state = READ_SCALED } },
};

static char *printed(const struct out_ops *ops)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = tmpfile();
	struct out o;

	out_init(&o, ops, f);
	out_table(&o, &view);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		out_row(&o, &rows[i]);
	out_end(&o);
	out_free(&o);
	size = ftell(f);
	rewind(f);
	text = calloc(1, size + 1);
	assert_int_equal(fread(text, 1, size, f), size);
	fclose(f);
	return text;
}

static void text_shows_words_instead_of_zeros(void **state)
{
	char *text;

	(void)state;
	setenv("LC_ALL", "C.UTF-8", 1);
	text = printed(&out_text);
	assert_string_equal(text, "VM   vCPU             count\n"
				  "web     0         1,234,567\n"
				  "db      -     <unsupported>\n"
				  "db      1  200 ± 8 (50.0 %)\n");
	free(text);
}

static void text_keeps_to_ascii_where_the_locale_does(void **state)
{
	static const char *const plain[] = { "C", "de_DE.ISO-8859-1", "no such locale" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		char *text;

		setenv("LC_ALL", plain[i], 1);
		text = printed(&out_text);
		assert_non_null(strstr(text, "200 +- 8 (50.0 %)\n"));
		free(text);
	}
}

static void json_is_one_object_a_line_with_provenance(void **state)
{
	char *text = printed(&out_json);

	(void)state;
	assert_non_null(strstr(
		text, "{\"type\":\"count\",\"vm\":\"web\",\"vcpu\":0,\"value\":1234567,"
		      "\"state\":\"counted\""));
	assert_non_null(strstr(text,
			       "\"vcpu\":null,\"value\":null,\"state\":\"unsupported\","
			       "\"reason\":\"no such event, here\""));
	assert_non_null(strstr(text, "\"coverage\":0.5,\"error\":7.2}\n"));
	free(text);
}

static void csv_quotes_and_leaves_missing_values_empty(void **state)
{
	char *text = printed(&out_csv);

	(void)state;
	assert_non_null(strstr(text, "vm,vcpu,value,state,reason,raw"));
	assert_non_null(
		strstr(text, "\ndb,,,unsupported,\"no such event, here\",0,0,0,1,\n"));
	free(text);
}

static void a_table_that_goes_on_needs_no_headings_again(void **state)
{
	FILE *f = tmpfile();
	char text[512] = "";
	struct out o;

	(void)state;
	out_init(&o, NULL, f);
	for (int i = 0; i < 3; i++) {
		out_table(&o, &view);
		out_row(&o, &rows[i == 0]); /* the wider one later: headings once more */
		out_end(&o);
	}
	out_line(&o, "words");
	out_table(&o, &view);
	out_row(&o, &rows[1]);
	out_end(&o);
	out_free(&o);
	rewind(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	assert_string_equal(text, "VM  vCPU          count\n"
				  "db     -  <unsupported>\n"
				  "VM   vCPU          count\n"
				  "web     0      1,234,567\n"
				  "web     0      1,234,567\n"
				  "words\n"
				  "VM  vCPU          count\n"
				  "db     -  <unsupported>\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_shows_words_instead_of_zeros),
		cmocka_unit_test(text_keeps_to_ascii_where_the_locale_does),
		cmocka_unit_test(json_is_one_object_a_line_with_provenance),
		cmocka_unit_test(a_table_that_goes_on_needs_no_headings_again),
		cmocka_unit_test(csv_quotes_and_leaves_missing_values_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
