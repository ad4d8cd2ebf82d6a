/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Performance groups of LIKWID become models. The groups here are our own. */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "events/formula.h"
#include "events/profile.h"

static struct profile_model model;

static int forget(void **state)
{
	(void)state;
	profile_model_free(&model);
	return 0;
}

/* A group of the fuzzer's corpus, without the byte that tells its kind. */
static void import(const char *name)
{
	char path[4096], text[8192];
	struct err err = { 0 };
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/fuzz/corpus/profile/likwid-%s.txt",
		 getenv("VMMPROF_TESTS"), name);
	f = fopen(path, "re");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	if (profile_model_import_likwid(path, text + 1, n - 1, &model, &err))
		fail_msg("%s", err.text);
}

static const struct profile_metric *metric(const char *name)
{
	for (size_t i = 0; i < model.nmetrics; i++)
		if (!strcmp(model.metrics[i].name, name))
			return &model.metrics[i];
	fail_msg("no metric %s", name);
	return NULL;
}

static const struct profile_input *input(const char *name)
{
	for (size_t i = 0; i < model.ninputs; i++)
		if (!strcmp(model.inputs[i].name, name))
			return &model.inputs[i];
	return NULL;
}

static void counters_become_roles_or_the_tables_events(void **state)
{
	(void)state;
	import("socket");
	assert_string_equal(model.name, "likwidsocket");
	assert_string_equal(model.title, "Memory of a socket");
	assert_string_equal(model.description,
			    "What all cores of a socket read and write.");
	assert_true(input("FIXC0")->by_role && input("FIXC0")->role == ROLE_INSTRUCTIONS);
	assert_true(input("FIXC1")->by_role && input("FIXC1")->role == ROLE_CYCLES);
	assert_int_equal(input("FIXC1")->scope, SCOPE_VCPU);
	assert_string_equal(input("UPMC0")->event, "UNC_QMC_NORMAL_READS.ANY");
	assert_int_equal(input("UPMC0")->scope, SCOPE_NODE);
	assert_null(input("PWR0"));
}

static void formulas_are_carried_over_with_their_units(void **state)
{
	(void)state;
	import("socket");
	assert_int_equal(model.nmetrics, 3);
	assert_string_equal(formula_text(metric("CPI")->formula), "FIXC1/FIXC0");
	assert_string_equal(metric("CPI")->what, "");
	assert_string_equal(formula_text(metric("Bandwidth")->formula),
			    "1.0E-06*(UPMC0+UPMC1)*64.0/seconds");
	assert_string_equal(metric("Bandwidth")->unit, "MBytes/s");
	assert_int_equal(metric("Bandwidth")->scope, SCOPE_NODE);
}

static void what_is_left_out_is_told(void **state)
{
	(void)state;
	import("socket");
	assert_non_null(
		strstr(model.remarks, "left out: Runtime: nothing is counted for it"));
	assert_non_null(
		strstr(model.remarks, "left out: Runtime unhalted: the nominal clock"));
	assert_non_null(strstr(model.remarks, "left out: Power: PWR0 is not carried over"));
	assert_null(strstr(model.remarks, "WARNING"));
}

static void boxes_are_one_event_and_count_once(void **state)
{
	(void)state;
	import("boxes");
	assert_int_equal(model.ninputs, 2);
	assert_string_equal(formula_text(metric("Memory bandwidth")->formula),
			    "1.0E-06*(MBOX0C0+MBOX0C1)*64.0/seconds");
	assert_string_equal(formula_text(metric("Reads")->formula), "0+MBOX0C0");
	assert_non_null(strstr(model.remarks,
			       "left out: Channel 0: it takes MBOX0C0 without "
			       "MBOX1C0"));
	assert_non_null(strstr(model.remarks, "CBOX0C0: the options OPCODE=0x182"));
}

static void groups_that_mislabel_are_warned_of(void **state)
{
	(void)state;
	import("fills");
	assert_non_null(strstr(model.remarks,
			       "WARNING: DATA_CACHE_REFILLS_LOCAL_ALL adds up the L2"));
	assert_non_null(strstr(model.remarks, "WARNING: what the group calls CPI is "
					      "PMC1/PMC0, which has no instructions"));
	assert_string_equal(metric("CPI")->what,
			    "mislabelled by the group: no instructions in it");
}

static void what_was_imported_is_a_model(void **state)
{
	static const char *const names[] = { "socket", "boxes", "fills" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct strbuf sb = { 0 };
		struct profile_model again;
		struct err err = { 0 };

		import(names[i]);
		profile_model_write(&model, &sb);
		if (profile_model_parse("again", sb.data, sb.len, &again, &err))
			fail_msg("%s: %s\n%s", names[i], err.text, sb.data);
		assert_int_equal(again.nmetrics, model.nmetrics);
		profile_model_free(&again);
		profile_model_free(&model);
		strbuf_free(&sb);
	}
}

static void metrics_of_one_name_are_told_apart(void **state)
{
	static const char group[] = "SHORT s\nEVENTSET\nPMC0 A\nMETRICS\nV PMC0\nV 2*PMC0\n"
				    "V 3*PMC0\n";
	struct err err = { 0 };

	(void)state;
	assert_int_equal(profile_model_import_likwid("g.txt", group, sizeof(group) - 1,
						     &model, &err),
			 0);
	assert_string_equal(formula_text(metric("V")->formula), "PMC0");
	assert_string_equal(formula_text(metric("V (2)")->formula), "2*PMC0");
	assert_string_equal(formula_text(metric("V (3)")->formula), "3*PMC0");
	assert_non_null(strstr(model.remarks, "PMC0: no event table here has A"));
}

static void what_is_no_group_is_refused(void **state)
{
	static const struct {
		const char *text, *words;
	} some[] = {
		{ "", "g.txt: expected a performance group of LIKWID" },
		{ "model m \"t\"\n", "g.txt:1: expected SHORT, EVENTSET, METRICS or LONG" },
		{ "SHORT\n", "g.txt:1: expected words after SHORT" },
		{ "EVENTSET\nPMC0\n", "g.txt:2: expected COUNTER EVENT, found PMC0" },
		{ "EVENTSET\nPMC0 A B\n", "g.txt:2: expected COUNTER EVENT" },
		{ "EVENTSET\n0PMC A\n", "g.txt:2: expected COUNTER EVENT" },
		{ "EVENTSET\nmin A\n", "g.txt:2: expected COUNTER EVENT" },
		{ "EVENTSET\nPMC0 A\nPMC0 B\n", "g.txt:3: PMC0 is there already" },
		{ "EVENTSET\nPMC0 A\nMETRICS\nPMC0\n",
		  "g.txt:4: expected NAME [UNIT] FORMULA" },
		{ "EVENTSET\nPMC0 A\nMETRICS\nV PMC0*/2\n",
		  "none of its metrics can be had: V: expected a number" },
		{ "EVENTSET\nPMC0 A\nUPMC0 B\nMETRICS\nV PMC0/UPMC0\n",
		  "V: it mixes counters of cores and of sockets" },
		{ "EVENTSET\nPMC0 A\nMETRICS\nV PMC1\n",
		  "V: PMC1 is none of its counters" },
		{ "SHORT \x01\n", "g.txt:1: byte 0x01 is not text" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
		struct err err = { 0 };
		int ret = profile_model_import_likwid("g.txt", some[i].text,
						      strlen(some[i].text), &model, &err);

		if (ret != -EINVAL || !strstr(err.text, some[i].words))
			fail_msg("%s: %d: %s", some[i].text, ret, err.text);
		profile_model_free(&model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(counters_become_roles_or_the_tables_events,
					  forget),
		cmocka_unit_test_teardown(formulas_are_carried_over_with_their_units,
					  forget),
		cmocka_unit_test_teardown(what_is_left_out_is_told, forget),
		cmocka_unit_test_teardown(boxes_are_one_event_and_count_once, forget),
		cmocka_unit_test_teardown(groups_that_mislabel_are_warned_of, forget),
		cmocka_unit_test(what_was_imported_is_a_model),
		cmocka_unit_test_teardown(metrics_of_one_name_are_told_apart, forget),
		cmocka_unit_test(what_is_no_group_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
