/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "events/formula.h"
#include "events/profile.h"

#define HEAD "model m \"A title\"\nvcpu a = role llc.misses\nvcpu b = role cycles\n"

static struct profile_model parsed(const char *text)
{
	struct profile_model p;
	struct err err = { 0 };

	if (profile_model_parse("m.model", text, strlen(text), &p, &err))
		fail_msg("%s", err.text);
	return p;
}

static void a_model_is_read_as_it_is_written(void **state)
{
	struct profile_model p =
		parsed("# where data come from\n"
		       "model locality \"Where a VM's data come from\"\n"
		       "text  \"One paragraph,\"\n"
		       "text  \"of two lines.\"\n"
		       "text  \"\"\n"
		       "text  \"Another.\"\n"
		       "vcpu local  = role dram.local\n"
		       "vcpu remote = role dram.remote optional # not everywhere\n"
		       "vcpu x      = event \"cpu/event=0x3c/\" optional\n"
		       "node reads  = role mem.reads\n"
		       "metric remote_share = 100 * remote / (local + remote)"
		       "  unit %  warn 20 bad 40"
		       " \"share of reads\"\n"
		       "metric \"two words\" = 64*reads/seconds unit B/s\n"
		       "metric ipc = x/local bad 0.25 warn .5\n");

	(void)state;
	assert_string_equal(p.name, "locality");
	assert_string_equal(p.title, "Where a VM's data come from");
	assert_string_equal(p.description, "One paragraph, of two lines.\n\nAnother.");
	assert_int_equal(p.ninputs, 4);
	assert_true(p.inputs[0].by_role && p.inputs[0].role == ROLE_DRAM_LOCAL);
	assert_false(p.inputs[0].optional);
	assert_true(p.inputs[1].optional);
	assert_string_equal(p.inputs[2].event, "cpu/event=0x3c/");
	assert_true(!p.inputs[2].by_role && p.inputs[2].optional);
	assert_int_equal(p.inputs[3].scope, SCOPE_NODE);
	assert_int_equal(p.nmetrics, 3);
	assert_string_equal(p.metrics[0].unit, "%");
	assert_string_equal(p.metrics[0].what, "share of reads");
	assert_true(p.metrics[0].warn == 20 && p.metrics[0].bad == 40);
	assert_string_equal(formula_text(p.metrics[0].formula),
			    "100 * remote / (local + remote)");
	assert_int_equal(p.metrics[0].scope, SCOPE_VCPU);
	assert_string_equal(p.metrics[1].name, "two words");
	assert_int_equal(p.metrics[1].scope, SCOPE_NODE);
	assert_true(isnan(p.metrics[1].warn) && isnan(p.metrics[1].bad));
	assert_true(p.metrics[2].warn == 0.5 && p.metrics[2].bad == 0.25);
	profile_model_free(&p);
}

static void what_was_written_reads_the_same(void **state)
{
	struct profile_model p = parsed(
		"model m \"T\"\ntext \"a\"\ntext \"\"\n"
		"text \"A paragraph that is longer than one line of the file and \"\n"
		"text \"so written as several lines, which are one again when read.\"\n"
		"vcpu a = role cycles\nvcpu c = event \"r11\" optional\n"
		"metric \"x y\" = a /seconds unit 1/s warn 1.5 bad 3 \"words\"\n"
		"metric z = c\n");
	struct profile_model q;
	struct strbuf one = { 0 }, two = { 0 };

	(void)state;
	p.remarks = strdup("made by hand\nin two lines");
	profile_model_write(&p, &one);
	q = parsed(one.data);
	assert_null(q.remarks);
	q.remarks = strdup(p.remarks);
	profile_model_write(&q, &two);
	assert_string_equal(one.data, two.data);
	assert_string_equal(p.description, q.description);
	assert_int_equal(
		strncmp(one.data, "# made by hand\n# in two lines\nmodel m \"T\"\n", 42),
		0);
	strbuf_free(&one);
	strbuf_free(&two);
	profile_model_free(&p);
	profile_model_free(&q);
}

static void bad_files_are_refused_with_file_line_and_column(void **state)
{
	static const struct {
		const char *text, *words;
	} some[] = {
		{ "", "m.model: expected model NAME \"title\", found nothing" },
		{ "vcpu a = role cycles\n",
		  "m.model:1:1: expected model NAME \"title\" first, found vcpu" },
		{ "model\n", "m.model:1:6: expected the model's name" },
		{ "model ../x \"t\"\n", "m.model:1:7: expected the model's name" },
		{ "model m title\n", "expected a \"title\" in quotes" },
		{ "model m \"a\" b\n",
		  "m.model:1:13: expected a \"title\" in quotes, nothing" },
		{ "model m \"\"\n", "a title of 1 to 95 bytes" },
		{ "model m \"t\n", "m.model:1: a quote that does not end" },
		{ "model m \"t\"\nmodel n \"t\"\n", "m.model:2: a second \"model\"" },
		{ "model m \"t\"\n", "m.model: expected a metric, found none" },
		{ "model m \"t\"\nsomething\n",
		  "m.model:2:1: expected text, vcpu, node or metric, found something" },
		{ "model m \"t\"\ntext words\n",
		  "m.model:2:6: expected \"text\" in quotes" },
		{ HEAD "vcpu = role cycles\n",
		  "m.model:4:6: expected a name of letters, digits and _, at most 31" },
		{ HEAD "vcpu min = role cycles\n",
		  "m.model:4: min has a meaning of its own" },
		{ HEAD "vcpu a = role cycles\n", "m.model:4: a is declared already" },
		{ HEAD "vcpu c role cycles\n", "m.model:4:8: expected =, found role" },
		{ HEAD "vcpu c = cycles\n", "m.model:4:10: expected role or event" },
		{ HEAD "vcpu c = role\n", "m.model:4:14: expected the name of a role, as "
					  "vmmprof-models(5) lists them, found the end" },
		{ HEAD "vcpu c = role cycels\n",
		  "m.model:4: no role is called cycels; did you mean cycles?" },
		{ HEAD "vcpu c = role mem.reads\n",
		  "m.model:4: the role mem.reads is of a node: write \"node c = "
		  "role mem.reads\"" },
		{ HEAD "node c = role cycles\n",
		  "is of a vCPU: write \"vcpu c = role cycles\"" },
		{ HEAD "vcpu c = role loads always\n", "m.model:4:21: expected optional" },
		{ HEAD "vcpu c = role loads optional x\n",
		  "m.model:4:30: expected nothing" },
		{ HEAD "vcpu c = event r11\n",
		  "m.model:4:16: expected an \"event\" in quotes" },
		{ HEAD "metric\n", "m.model:4:7: expected the metric's name" },
		{ HEAD "metric x\n", "m.model:4:9: expected =" },
		{ HEAD "metric x = unit %\n",
		  "m.model:4:12: expected a formula, found unit" },
		{ HEAD "metric x = a / c\n",
		  "m.model:4:16: expected an input that is declared above, found c" },
		{ HEAD "metric x =  a  +  \n",
		  "m.model:4:17: expected a number, an input or '(', found the end" },
		{ HEAD "metric x = 3 + 4\n", "m.model:4: a formula without an input" },
		{ HEAD "node n = role mem.reads\nmetric x = a / n\n",
		  "m.model:5: a is counted per vCPU and n per node" },
		{ HEAD "metric x = a unit\n", "m.model:4:18: expected a unit" },
		{ HEAD "metric x = a warn\n", "a threshold is missing" },
		{ HEAD "metric x = a warn much\n", "\"much\" is not a threshold" },
		{ HEAD "metric x = a bad 20%\n",
		  "m.model:4:18: expected a number in the metric's unit, without %" },
		{ HEAD "metric x = a unit % 5\n",
		  "m.model:4:21: expected unit, warn, bad or" },
		{ HEAD "metric x = a\nmetric x = b\n",
		  "m.model:5: the metric x is there already" },
		{ HEAD "metric x = a\x01\n", "m.model:4: byte 0x01 is not text" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
		struct profile_model p;
		struct err err = { 0 };
		int ret = profile_model_parse("m.model", some[i].text, strlen(some[i].text),
					      &p, &err);

		if (ret != -EINVAL || err.code != ret || !strstr(err.text, some[i].words))
			fail_msg("%s: %d: %s", some[i].text, ret, err.text);
		profile_model_free(&p);
	}
}

static void thresholds_say_which_way_is_bad(void **state)
{
	struct profile_model p = parsed(HEAD "metric much = a warn 20 bad 40\n"
					     "metric little = a warn 1 bad 0.5\n"
					     "metric one = a bad 5\n"
					     "metric none = a\n");
	static const struct {
		size_t metric;
		double value;
		enum profile_mark mark;
	} some[] = {
		{ 0, 19, MARK_OK },   { 0, 20, MARK_WARN },  { 0, 39, MARK_WARN },
		{ 0, 40, MARK_BAD },  { 1, 2, MARK_OK },     { 1, 1, MARK_WARN },
		{ 1, 0.5, MARK_BAD }, { 2, 4, MARK_OK },     { 2, 5, MARK_BAD },
		{ 3, 5, MARK_NONE },  { 0, NAN, MARK_NONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(some); i++)
		assert_int_equal(
			profile_metric_mark(&p.metrics[some[i].metric], some[i].value),
			some[i].mark);
	assert_string_equal(profile_mark_name(MARK_WARN), "warn");
	assert_null(profile_mark_name(MARK_NONE));
	profile_model_free(&p);
}

static void a_metric_is_computed_from_the_models_inputs(void **state)
{
	struct profile_model p = parsed(HEAD "metric mpk = 1000 * a / b\n");
	const struct metric_value in[] = { { .value = 5, .error = 1, .state = READ_SCALED },
					   { .value = 1000 } };
	const struct profile_values values = { .input = in, .seconds = 1 };
	struct metric_value v = profile_metric_value(&p, 0, &values);

	(void)state;
	assert_true(fabs(v.value - 5) < 1e-12 && fabs(v.error - 1) < 1e-12);
	assert_int_equal(v.state, READ_SCALED);
	assert_string_equal(v.of, "a");
	profile_model_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_is_read_as_it_is_written),
		cmocka_unit_test(what_was_written_reads_the_same),
		cmocka_unit_test(bad_files_are_refused_with_file_line_and_column),
		cmocka_unit_test(thresholds_say_which_way_is_bad),
		cmocka_unit_test(a_metric_is_computed_from_the_models_inputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
