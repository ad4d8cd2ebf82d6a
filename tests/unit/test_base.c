/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

static void a_count_takes_suffixes_and_refuses_the_rest(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(str_count("100k", &v), 0);
	assert_int_equal(v, 100000);
	assert_int_equal(str_count("3G", &v), 0);
	assert_int_equal(v, 3000000000u);
	assert_int_equal(str_count("-1", &v), -EINVAL);
	assert_int_equal(str_count("", &v), -EINVAL);
	assert_int_equal(str_count("1x", &v), -EINVAL);
	assert_int_equal(str_count("99999999999999999999", &v), -ERANGE);
	assert_int_equal(str_count("18446744073709551615k", &v), -ERANGE);
}

static void a_cpu_list_expands(void **state)
{
	int *v = NULL;
	size_t n = 0;

	(void)state;
	assert_int_equal(cpulist_parse("0-2,7", &v, &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(v[3], 7);
	free(v);
	v = NULL;
	assert_int_equal(cpulist_parse("", &v, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(cpulist_parse("3-1", &v, &n), -EINVAL);
	assert_int_equal(cpulist_parse("1,", &v, &n), -EINVAL);
	assert_int_equal(cpulist_parse("x", &v, &n), -EINVAL);
	assert_int_equal(cpulist_parse("0-99999", &v, &n), -ERANGE);
}

static void json_escapes_and_replaces_what_is_not_utf8(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	struct json j;

	(void)state;
	jsonw_init(&j, f);
	jsonw_object(&j, NULL);
	jsonw_str(&j, "a", "x\"\\\n\x01\xff\xc3\xa9");
	jsonw_array(&j, "b");
	jsonw_u64(&j, NULL, UINT64_MAX);
	jsonw_f64(&j, NULL, NAN);
	jsonw_end_array(&j);
	jsonw_str(&j, "c", NULL);
	jsonw_end_object(&j);
	fclose(f);
	assert_string_equal(text, "{\"a\":\"x\\\"\\\\\\n\\u0001\\ufffd\xc3\xa9\","
				  "\"b\":[18446744073709551615,null],\"c\":null}");
	free(text);
}

static void an_error_keeps_its_sentence_and_gains_a_prefix(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(err_set(&err, ENOENT, "no %s", "file"), -ENOENT);
	assert_int_equal(err_prefix(&err, "web"), -ENOENT);
	assert_string_equal(err.text, "web: no file");
	assert_int_equal(err_set(NULL, -EPERM, "dropped"), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_count_takes_suffixes_and_refuses_the_rest),
		cmocka_unit_test(a_cpu_list_expands),
		cmocka_unit_test(json_escapes_and_replaces_what_is_not_utf8),
		cmocka_unit_test(an_error_keeps_its_sentence_and_gains_a_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
