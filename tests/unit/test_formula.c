/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "events/formula.h"

static const struct profile_input inputs[] = {
	{ .name = "local" },
	{ .name = "remote" },
	{ .name = "cycles", .by_role = true, .role = ROLE_CYCLES },
	{ .name = "other" },
};

enum { LOCAL, REMOTE, CYCLES, OTHER };

static struct metric_value known[ARRAY_SIZE(inputs)];
static const struct profile_values values = {
	.input = known, .seconds = 2, .nodes = 2, .cpus = 4
};

static int start(void **state)
{
	static const double numbers[] = { 30, 10, 1000, 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		known[i] = (struct metric_value) { .value = numbers[i] };
	return 0;
}

static struct formula *compile(const char *text)
{
	struct formula *f;
	struct err err = { 0 };
	size_t at;

	if (formula_compile(text, inputs, ARRAY_SIZE(inputs), &f, &at, &err))
		fail_msg("%s: %s at %zu", text, err.text, at);
	assert_string_equal(formula_text(f), text);
	return f;
}

static struct metric_value value_of(const char *text)
{
	static struct formula *f; /* kept, since reasons point into it */

	formula_free(f);
	f = compile(text);
	return formula_value(f, inputs, &values);
}

static void formulas_are_computed_as_at_school(void **state)
{
	static const struct {
		const char *text;
		double value;
	} some[] = {
		{ "1 + 2 * 3", 7 },
		{ "(1+2)*3", 9 },
		{ "8 - 2 - 1", 5 },
		{ "16 / 4 / 2", 2 },
		{ "-local + 40", 10 },
		{ "--local", 30 },
		{ "2 * -remote", -20 },
		{ "1.5e3 + .5", 1500.5 },
		{ "0x10", 16 },
		{ "100 * remote / (local + remote)", 25 },
		{ "local / seconds", 15 },
		{ "cycles / nodes / cpus", 125 },
		{ "min(local, remote)", 10 },
		{ "max(local, remote, 31)", 31 },
		{ "max(1, other)", 1 },
		{ "min ( 4 )", 4 },
		{ "other * 5", 0 },
		{ "0 * cycles", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
		struct metric_value v = value_of(some[i].text);

		if (fabs(v.value - some[i].value) > 1e-12 || v.error != 0 ||
		    v.state != READ_COUNTED || v.reason || v.of)
			fail_msg("%s: %g +- %g, state %d", some[i].text, v.value, v.error,
				 v.state);
	}
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
	static const struct {
		const char *text, *words;
		size_t at;
	} some[] = {
		{ "", "expected a number, an input or '(', found the end", 0 },
		{ "local +", "expected a number, an input or '(', found the end", 7 },
		{ "local remote",
		  "expected an operator or the end of the formula, found 'r'", 6 },
		{ "1 + * 2", "found '*'", 4 },
		{ "(local", "expected an operator or ')', found the end", 6 },
		{ "local)", "found ')'", 5 },
		{ "locla / 2",
		  "expected an input that is declared above, found locla; did "
		  "you mean local?",
		  0 },
		{ "2 * sin(local)", "expected min or max before '(', found sin", 4 },
		{ "min(local", "expected ',' or ')'", 9 },
		{ "min()", "found ')'", 4 },
		{ "local / 0", "expected something that can be divided by, found 0", 8 },
		{ "local / (0)", "expected something that can be divided by", 8 },
		{ "1e999", "too large a number", 0 },
		{ ".", "expected a number", 0 },
		{ "local \x01", "found '?'", 6 },
		{ "local ^ 2", "found '^'", 6 },
		{ "a234567890123456789012345678901234567890", "more than 31 characters",
		  0 },
		{ "((((((((((((((((((((((((((((((((((1", "nested more than 32 deep", 32 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
		struct formula *f = (void *)&some;
		struct err err = { 0 };
		size_t at = 99;
		int ret = formula_compile(some[i].text, inputs, ARRAY_SIZE(inputs), &f, &at,
					  &err);

		if (ret != -EINVAL || f || at != some[i].at ||
		    !strstr(err.text, some[i].words))
			fail_msg("\"%s\": %d at %zu: %s", some[i].text, ret, at, err.text);
	}
}

static void the_deepest_formula_fits_the_stack(void **state)
{
	char text[1000] = "", *p = text;

	(void)state;
	/* At each depth a sum, a product and a function's argument wait. */
	for (int i = 0; i < 31; i++)
		p += sprintf(p, "min(9, 9 + 1 * ");
	p += sprintf(p, "local");
	for (int i = 0; i < 31; i++)
		p += sprintf(p, ")");
	assert_true(value_of(text).value == 9);
}

static void divisions_are_counted_up_to_a_limit(void **state)
{
	char text[1000] = "local", *p = text + 5;
	struct formula *f;
	struct err err;
	size_t at;

	(void)state;
	for (int i = 0; i < 64; i++)
		p += sprintf(p, "/cycles");
	formula_free(compile(text));
	strcpy(p, "/cycles");
	assert_int_equal(formula_compile(text, inputs, ARRAY_SIZE(inputs), &f, &at, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "more than 64 divisions"));
}

/* The bound, against the largest and smallest value within the inputs' bounds. */
static void a_bound_holds_the_worst_case_to_first_order(void **state)
{
	static const char *const some[] = {
		"100 * remote / (local + remote)",
		"local + remote",
		"local - remote",
		"local * remote",
		"local - local",
		"1000 * remote / cycles",
		"max(local, remote)",
		"min(local, remote)",
		"-local / (2 * remote)",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
		double low = INFINITY, high = -INFINITY, half;
		struct metric_value v;

		for (int corner = 0; corner < 8; corner++) {
			start(NULL);
			known[LOCAL].value += corner & 1 ? 0.003 : -0.003;
			known[REMOTE].value += corner & 2 ? 0.001 : -0.001;
			known[CYCLES].value += corner & 4 ? 0.1 : -0.1;
			low = fmin(low, value_of(some[i]).value);
			high = fmax(high, value_of(some[i]).value);
		}
		start(NULL);
		known[LOCAL].error = 0.003;
		known[REMOTE].error = 0.001;
		known[CYCLES].error = 0.1;
		v = value_of(some[i]);
		half = (high - low) / 2;
		if (fabs(v.error - half) > 0.01 * half + 1e-12)
			fail_msg("%s: bound %g, is %g", some[i], v.error, half);
	}
}

static void a_divisor_that_may_be_zero_leaves_no_bound(void **state)
{
	(void)state;
	known[REMOTE].error = 9.9;
	assert_false(isnan(value_of("local / remote").error));
	known[REMOTE].error = 10;
	assert_true(isnan(value_of("local / remote").error));
	assert_true(value_of("local / remote").value == 3);
	/* Two bounds that together reach zero. */
	known[REMOTE].error = known[LOCAL].error = 25;
	assert_true(isnan(value_of("1 / (local + remote)").error));
	assert_false(isnan(value_of("1 / (local + cycles)").error));
}

static void an_unknown_bound_stays_unknown_where_it_matters(void **state)
{
	(void)state;
	known[REMOTE].error = NAN;
	assert_true(isnan(value_of("local + remote").error));
	assert_true(isnan(value_of("local / (local + remote)").error));
	assert_true(value_of("local + 1").error == 0);
	assert_true(value_of("max(local, remote)").error == 0);
	assert_true(value_of("cycles / (local + 0 * remote)").error == 0);
}

static void a_division_by_zero_has_a_name_and_no_value(void **state)
{
	struct metric_value v = value_of("local / other");

	(void)state;
	assert_true(isnan(v.value) && isnan(v.error));
	assert_int_equal(v.state, READ_UNDEFINED);
	assert_string_equal(v.reason, "division by zero: other");
	v = value_of("1 + local / ( other + 0*cycles ) * 2");
	assert_string_equal(v.reason, "division by zero: ( other + 0*cycles )");
	/* Whichever comes first; also where the result would be thrown away. */
	v = value_of("max(local / remote, 1 / other)");
	assert_string_equal(v.reason, "division by zero: other");
	v = value_of("0 * (1 / other)");
	assert_int_equal(v.state, READ_UNDEFINED);
	v = value_of("1e300 * 1e300 * local");
	assert_int_equal(v.state, READ_UNDEFINED);
	assert_string_equal(v.reason, "too large a number");
}

static void a_metric_is_no_better_than_its_worst_input(void **state)
{
	struct metric_value v;

	(void)state;
	known[REMOTE].state = READ_SCALED;
	known[REMOTE].error = 1;
	v = value_of("local + remote");
	assert_int_equal(v.state, READ_SCALED);
	assert_string_equal(v.of, "remote");
	assert_true(v.value == 40 && v.error == 1);
	known[LOCAL].state = READ_SUSPECT;
	known[LOCAL].reason = "stands still";
	v = value_of("local + remote");
	assert_int_equal(v.state, READ_SUSPECT);
	assert_string_equal(v.of, "local");
	assert_string_equal(v.reason, "stands still");
	assert_true(v.value == 40);
	known[CYCLES] =
		(struct metric_value) { NAN, NAN, READ_TAKEN, "someone has it", NULL };
	v = value_of("local / cycles");
	assert_true(isnan(v.value) && isnan(v.error));
	assert_int_equal(v.state, READ_TAKEN);
	assert_string_equal(v.of, "cycles");
	assert_string_equal(v.reason, "someone has it");
	/* What does not stand in it does not matter. */
	assert_int_equal(value_of("other + 1").state, READ_COUNTED);
}

static void a_remark_on_a_good_input_is_passed_on(void **state)
{
	struct metric_value v;

	(void)state;
	known[REMOTE].reason = "one counter of three";
	v = value_of("local + remote");
	assert_int_equal(v.state, READ_COUNTED);
	assert_string_equal(v.reason, "one counter of three");
	assert_string_equal(v.of, "remote");
}

static void divisors_that_can_be_zero_are_found(void **state)
{
	static const struct {
		const char *text, *divisor; /* NULL: none can */
	} some[] = {
		{ "local / remote", "remote" },
		{ "local / cycles", NULL },
		{ "local / seconds / nodes / cpus", NULL },
		{ "local / (cycles - remote)", "(cycles - remote)" },
		{ "local / (cycles + remote)", NULL },
		{ "local / (local + remote)", "(local + remote)" },
		{ "local / max(1, remote)", NULL },
		{ "local / max(remote, 1)", NULL },
		{ "local / max(remote, other)", "max(remote, other)" },
		{ "local / min(1, remote)", "min(1, remote)" },
		{ "local / min(1, cycles)", NULL },
		{ "local / max(-1, remote)", "max(-1, remote)" },
		{ "local / (2 * cycles)", NULL },
		{ "local / (2 * remote)", "(2 * remote)" },
		{ "local / (cycles / seconds)", NULL },
		{ "local / -cycles", NULL },
		{ "local / (-cycles + 5)", "(-cycles + 5)" },
		{ "local / 3", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
		struct formula *f = compile(some[i].text);
		size_t n = formula_divisors(f);

		if (n != !!some[i].divisor ||
		    (n && strcmp(formula_divisor(f, 0), some[i].divisor)))
			fail_msg("%s: %zu, %s", some[i].text, n,
				 n ? formula_divisor(f, 0) : "-");
		assert_null(formula_divisor(f, n));
		formula_free(f);
	}
}

static void a_formula_knows_what_stands_in_it(void **state)
{
	struct formula *f = compile("1 + local * local / cycles");

	(void)state;
	assert_true(formula_uses(f, LOCAL) && formula_uses(f, CYCLES));
	assert_false(formula_uses(f, REMOTE) || formula_uses(f, OTHER));
	formula_free(f);
}

static void names_are_words_that_mean_nothing_yet(void **state)
{
	(void)state;
	assert_true(formula_is_name("a") && formula_is_name("Ab_1"));
	assert_false(formula_is_name("") || formula_is_name("1a") ||
		     formula_is_name("a.b") || formula_is_name("_a"));
	assert_false(formula_is_name("a2345678901234567890123456789012"));
	assert_true(formula_is_name("a234567890123456789012345678901"));
	assert_true(formula_reserved("min") && formula_reserved("seconds") &&
		    formula_reserved("unit"));
	assert_false(formula_reserved("local"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(formulas_are_computed_as_at_school, start),
		cmocka_unit_test(what_is_wrong_is_told_with_its_place),
		cmocka_unit_test_setup(the_deepest_formula_fits_the_stack, start),
		cmocka_unit_test(divisions_are_counted_up_to_a_limit),
		cmocka_unit_test(a_bound_holds_the_worst_case_to_first_order),
		cmocka_unit_test_setup(a_divisor_that_may_be_zero_leaves_no_bound, start),
		cmocka_unit_test_setup(an_unknown_bound_stays_unknown_where_it_matters,
				       start),
		cmocka_unit_test_setup(a_division_by_zero_has_a_name_and_no_value, start),
		cmocka_unit_test_setup(a_metric_is_no_better_than_its_worst_input, start),
		cmocka_unit_test_setup(a_remark_on_a_good_input_is_passed_on, start),
		cmocka_unit_test(divisors_that_can_be_zero_are_found),
		cmocka_unit_test(a_formula_knows_what_stands_in_it),
		cmocka_unit_test(names_are_words_that_mean_nothing_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
