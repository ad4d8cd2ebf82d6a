/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the JSON writer writes, a JSON library of others reads back. */
#include "test.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define ROUNDS 20000

/* Any bytes but NUL, biased to what JSON and UTF-8 stumble over. */
static void make_string(char *s, size_t size)
{
	static const char hard[] =
		"\"\\/\b\f\n\r\t\x01\x1f\x7f\x80\xbf\xc0\xc3\xa9\xe2\x82\xac"
		"\xed\xa0\x80\xf0\x9f\x98\x80\xf4\x90\xff{}[]:,";
	size_t n = rand() % size;

	for (size_t i = 0; i < n; i++) {
		s[i] = rand() % 2 ? hard[rand() % (sizeof(hard) - 1)] : rand() % 255 + 1;
	}
	s[n] = '\0';
}

static char *written(const char *key, const char *value, uint64_t u, double f)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct json j;

	jsonw_init(&j, out);
	jsonw_object(&j, NULL);
	jsonw_str(&j, key, value);
	jsonw_array(&j, "numbers");
	jsonw_u64(&j, NULL, u);
	jsonw_i64(&j, NULL, -(int64_t)(u >> 1));
	jsonw_f64(&j, NULL, f);
	jsonw_f64(&j, NULL, NAN);
	jsonw_end_array(&j);
	jsonw_bool(&j, "flag", u & 1);
	jsonw_object(&j, "empty");
	jsonw_end_object(&j);
	jsonw_end_object(&j);
	fclose(out);
	return text;
}

static void whatever_is_written_is_json(void **state)
{
	char value[24];

	(void)state;
	srand(1);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t u = (uint64_t)rand() << 31 | rand();
		json_error_t error;
		json_t *root, *numbers;
		char *text;

		make_string(value, sizeof(value));
		text = written("key", value, u, u / 1e6);
		root = json_loads(text, 0, &error);
		if (!root)
			fail_msg("%s: %s", error.text, text);
		numbers = json_object_get(root, "numbers");
		assert_true(json_is_string(json_object_get(root, "key")));
		assert_int_equal(json_integer_value(json_array_get(numbers, 0)), u);
		assert_int_equal(json_integer_value(json_array_get(numbers, 1)),
				 -(json_int_t)(u >> 1));
		assert_true(fabs(json_number_value(json_array_get(numbers, 2)) - u / 1e6) <=
			    u / 1e6 * 1e-9);
		assert_true(json_is_null(json_array_get(numbers, 3)));
		assert_int_equal(json_is_true(json_object_get(root, "flag")), u & 1);
		json_decref(root);
		free(text);
	}
}

static void text_that_is_utf8_comes_back_as_it_was(void **state)
{
	static const char *const texts[] = { "", "web", "a\"b\\c\n\t", "größe €😀",
					     "\x7f\x01" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *text = written("k", texts[i], 0, 0);
		json_t *root = json_loads(text, 0, NULL);

		assert_non_null(root);
		assert_string_equal(json_string_value(json_object_get(root, "k")),
				    texts[i]);
		json_decref(root);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_is_written_is_json),
		cmocka_unit_test(text_that_is_utf8_comes_back_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
