/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a model needs of a machine: its inputs as events, in groups that fit. */
#include "event_machines.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "events/profile.h"
#include "events/table_form.h"

/* Three counters and one for cycles; a socket with two boxes' worth of PMUs. */
static const char table_text[] = "title \"A CPU\"\n"
				 "cpu GenuineIntel 6 1\n"
				 "source s \"somewhere\"\n"
				 "pmu cpu counters 0-2 fixed 32 from s\n"
				 "format event=config:0-7 umask=config:8-15\n"
				 "event CYC event=0x01 counters 0-2,32\n"
				 "event INS event=0x02\n"
				 "event MISS.ALL event=0x03\n"
				 "event REF event=0x04\n"
				 "event ONLY.ZERO event=0x05 counters 0\n"
				 "event ALSO.ZERO event=0x06 counters 0\n"
				 "event ZERO.OR_ONE event=0x07 counters 0-1\n"
				 "event L.DRAM event=0x08 group 1 scale 64\n"
				 "event R.DRAM event=0x09 group 1\n"
				 "pmu uncore counters 0-7 from s\n"
				 "format event=config:0-7\n"
				 "event U.CLK event=0xff\n"
				 "event U.OCC0 event=0x10\n"
				 "event U.OCC1 event=0x11 scale 2\n"
				 "event U.READS event=0x12\n"
				 "pmu link counters 0-3 from s\n"
				 "format event=config:0-7\n"
				 "event K.LINES event=0x20\n"
				 "role cycles = CYC\n"
				 "role instructions = INS\n"
				 "role llc.misses = MISS.ALL\n"
				 "role llc.refs = REF\n"
				 "role dram.local = L.DRAM\n"
				 "role dram.remote = R.DRAM\n"
				 "role node.clock = U.CLK\n"
				 "role mem.read.occupancy = U.OCC0 + U.OCC1\n"
				 "role mem.reads = U.READS\n"
				 "role link.lines = K.LINES\n"
				 "no remote.hitm \"this CPU does not tell\"\n";

static struct event_table *table;
static struct profile_model model;
static struct profile_events got;

static int open_all(void **state)
{
	struct err err = { 0 };

	if (table_read("t", "t.events", table_text, strlen(table_text), &table, &err))
		fail_msg("%s", err.text);
	return open_machines(state);
}

static int close_all(void **state)
{
	event_table_free(table);
	return close_machines(state);
}

static int forget(void **state)
{
	(void)state;
	profile_events_free(&got);
	profile_model_free(&model);
	return 0;
}

static void need(const struct event_table *t, const struct rootfs *root, const char *text)
{
	struct err err = { 0 };

	forget(NULL);
	if (profile_model_parse("m.model", text, strlen(text), &model, &err) ||
	    profile_events_make(&model, t, root, &got, &err))
		fail_msg("%s", err.text);
}

static const struct event *vcpu(const char *name)
{
	for (size_t i = 0; i < got.vcpu.n; i++)
		if (!strcmp(got.vcpu.ev[i].name, name))
			return &got.vcpu.ev[i];
	fail_msg("%s is not counted", name);
	return NULL;
}

static bool together(const char *a, const char *b)
{
	return vcpu(a)->group >= 0 && vcpu(a)->group == vcpu(b)->group;
}

#define M "model m \"t\"\n"
#define CYC "vcpu c = role cycles\n"
#define INS "vcpu i = role instructions\n"
#define MISS "vcpu m = role llc.misses\n"
#define REF "vcpu r = role llc.refs\n"

static void a_formulas_events_are_counted_at_the_same_time(void **state)
{
	(void)state;
	need(table, NULL, M CYC INS MISS REF "metric ipc = i/c\nmetric ratio = m/r\n");
	assert_int_equal(got.vcpu.n, 4);
	assert_true(together("CYC", "INS") && together("MISS.ALL", "REF"));
	assert_false(together("CYC", "REF"));
	/* One that two formulas share brings all together. */
	need(table, NULL, M CYC INS MISS REF "metric ipc = i/c\nmetric mpki = m/i\n");
	assert_true(together("CYC", "INS") && together("MISS.ALL", "INS"));
	assert_int_equal(vcpu("REF")->group, -1);
	assert_string_equal(got.split[0], "");
	assert_string_equal(got.split[1], "");
}

static void a_group_has_no_more_events_than_the_pmu_has_counters(void **state)
{
	(void)state;
	/* Four fit, since cycles have a counter of their own. */
	need(table, NULL, M CYC INS MISS REF "metric x = (i + m + r)/c\n");
	assert_true(together("CYC", "REF") && together("INS", "MISS.ALL"));
	assert_string_equal(got.split[0], "");
	need(table, NULL,
	     M INS MISS REF
	     "vcpu x = event \"ZERO.OR_ONE\"\n"
	     "metric one = m / r\nmetric two = x / i\nmetric all = x + m + i + r\n");
	assert_true(together("MISS.ALL", "REF") && together("ZERO.OR_ONE", "INS"));
	assert_false(together("REF", "INS"));
	assert_string_equal(got.split[0], "");
	assert_string_equal(got.split[1], "");
	assert_string_equal(got.split[2], "INS and MISS.ALL cannot be scheduled together: "
					  "more events than counters");
}

static void two_that_want_one_counter_are_never_in_one_group(void **state)
{
	(void)state;
	need(table, NULL,
	     M "vcpu a = event \"ONLY.ZERO\"\nvcpu b = event \"ALSO.ZERO\"\n" CYC
	       "metric sum = (a + b) / c\n");
	assert_false(together("ONLY.ZERO", "ALSO.ZERO"));
	assert_true(together("ONLY.ZERO", "CYC"));
	assert_string_equal(got.split[0], "ONLY.ZERO and ALSO.ZERO cannot be scheduled "
					  "together: both want the same counter");
	/* One that can move makes room. */
	need(table, NULL,
	     M "vcpu a = event \"ZERO.OR_ONE\"\nvcpu b = event \"ALSO.ZERO\"\n"
	       "metric sum = a + b\n");
	assert_true(together("ZERO.OR_ONE", "ALSO.ZERO"));
	assert_string_equal(got.split[0], "");
}

static void rows_that_ask_for_it_are_counted_together(void **state)
{
	(void)state;
	need(table, NULL,
	     M "vcpu l = role dram.local\nvcpu r = role dram.remote\n" INS
	       "metric a = l/seconds\nmetric b = r/i\n");
	assert_true(together("L.DRAM", "R.DRAM") && together("R.DRAM", "INS"));
}

static void what_sockets_count_is_a_set_of_its_own(void **state)
{
	const struct profile_place *p;

	(void)state;
	need(table, NULL,
	     M INS
	     "node k = role node.clock\nnode o = role mem.read.occupancy\n"
	     "node n = role mem.reads\nnode l = role link.lines\n"
	     "metric latency = o / n\nmetric lines = l / n\nmetric ips = i/seconds\n");
	assert_int_equal(got.vcpu.n, 1);
	assert_int_equal(got.node.n, 5);
	p = got.place;
	assert_int_equal(p[0].first, 0);
	assert_int_equal(p[2].n, 2);
	assert_string_equal(got.node.ev[p[2].first].name, "U.OCC0");
	assert_string_equal(got.node.ev[p[2].first + 1].name, "U.OCC1");
	assert_string_equal(got.need[2].words, "U.OCC0 + U.OCC1");
	assert_int_equal(got.node.ev[p[2].first].group, got.node.ev[p[3].first].group);
	assert_int_equal(got.node.ev[p[2].first].kind, EVENT_UNCORE);
	/* Two PMUs count for themselves: they need no group, and no word about it. */
	assert_int_equal(got.node.ev[p[4].first].group, -1);
	assert_int_equal(got.node.ev[p[1].first].group, -1);
	assert_string_equal(got.split[1], "");
}

static void what_cannot_be_had_says_why(void **state)
{
	(void)state;
	need(table, NULL,
	     M "vcpu h = role remote.hitm optional\nvcpu s = role shared.hitm\n"
	       "vcpu n = event \"NO.SUCH\"\nvcpu u = event \"U.CLK\"\n"
	       "node d = event \"INS\"\n" INS "metric x = i + h + s + n + u\n"
	       "metric y = d\n");
	assert_int_equal(got.vcpu.n, 1);
	assert_int_equal(got.node.n, 0);
	assert_string_equal(got.need[0].words, "remote.hitm: this CPU does not tell");
	assert_int_equal(got.need[0].code, -ENOENT);
	assert_string_equal(got.need[1].words,
			    "shared.hitm: this CPU's event table does not say");
	assert_non_null(strstr(got.need[2].words, "NO.SUCH"));
	assert_string_equal(got.need[3].words,
			    "U.CLK is counted per socket: declare it as \"node\"");
	assert_string_equal(got.need[4].words,
			    "INS is counted per vCPU: declare it as \"vcpu\"");
	for (size_t i = 0; i < 5; i++)
		assert_true(got.need[i].code && !got.place[i].n);
	assert_int_equal(got.place[5].n, 1);
}

static void names_of_the_table_may_be_parted_as_others_do(void **state)
{
	(void)state;
	need(table, NULL,
	     M "vcpu a = event \"miss_all\"\nvcpu b = event \"L:DRAM\"\n"
	       "metric x = a\nmetric y = b\n");
	assert_string_equal(got.need[0].words, "MISS.ALL");
	assert_int_equal(got.vcpu.ev[0].config, 3);
	/* By its name it is counted as it is, by its role in the role's unit. */
	assert_true(got.vcpu.ev[1].scale == 1);
	need(table, NULL, M "vcpu l = role dram.local\nmetric y = l\n");
	assert_true(got.vcpu.ev[0].scale == 64);
}

static void without_a_table_perfs_own_events_play_their_roles(void **state)
{
	(void)state;
	need(NULL, &machines[NONE],
	     M CYC INS MISS REF
	     "vcpu f = role ref-cycles\nvcpu l = role dram.local\n"
	     "vcpu w = role waited\nmetric x = c + i + m\nmetric y = w\n");
	assert_int_equal(vcpu("cycles")->config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(vcpu("llc.misses")->config, PERF_COUNT_HW_CACHE_MISSES);
	assert_int_equal(vcpu("llc.refs")->config, PERF_COUNT_HW_CACHE_REFERENCES);
	assert_int_equal(vcpu("ref-cycles")->config, PERF_COUNT_HW_REF_CPU_CYCLES);
	assert_true(vcpu("instructions")->must_move);
	assert_true(together("cycles", "llc.misses"));
	assert_string_equal(got.need[5].words,
			    "dram.local: there is no event table for this CPU");
	/* No counter tells this: the source says whether it can. */
	assert_int_equal(vcpu("waited")->kind, EVENT_MONITOR);
	assert_int_equal(vcpu("waited")->config, ROLE_WAITED);
	assert_int_equal(vcpu("waited")->group, -1);
}

static void an_event_may_be_written_as_perf_has_it(void **state)
{
	(void)state;
	need(table, &machines[X86],
	     M "vcpu a = event \"cpu/event=0x3c/\"\nvcpu b = event \"cycles,cs\"\n"
	       "vcpu t = event \"task-clock\"\nmetric x = a/t\nmetric y = b\n");
	assert_int_equal(got.need[0].code, 0);
	assert_int_equal(vcpu("cpu/event=0x3c/")->config, 0x3c);
	assert_non_null(strstr(got.need[1].words, "an input is one event, these are 2"));
	/* What needs no counter needs no group. */
	assert_int_equal(vcpu("task-clock")->group, -1);
	assert_string_equal(got.split[0], "");
}

static void an_input_is_the_scaled_sum_and_as_bad_as_the_worst(void **state)
{
	const struct event ev[] = { { .scale = 1 }, { .scale = 64 } };
	struct reading r[] = {
		{ .value = 5, .error = 1, .state = READ_SCALED },
		{ .value = 2, .error = 0.5, .state = READ_SCALED, .reason = "by turns" }
	};
	struct metric_value v = profile_input_value(ev, r, 2);

	(void)state;
	assert_true(v.value == 133 && v.error == 33);
	assert_int_equal(v.state, READ_SCALED);
	assert_string_equal(v.reason, "by turns");
	r[0].state = READ_DENIED;
	r[0].reason = "not allowed";
	v = profile_input_value(ev, r, 2);
	assert_true(isnan(v.value) && isnan(v.error));
	assert_int_equal(v.state, READ_DENIED);
	assert_string_equal(v.reason, "not allowed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_formulas_events_are_counted_at_the_same_time,
					  forget),
		cmocka_unit_test_teardown(
			a_group_has_no_more_events_than_the_pmu_has_counters, forget),
		cmocka_unit_test_teardown(two_that_want_one_counter_are_never_in_one_group,
					  forget),
		cmocka_unit_test_teardown(rows_that_ask_for_it_are_counted_together,
					  forget),
		cmocka_unit_test_teardown(what_sockets_count_is_a_set_of_its_own, forget),
		cmocka_unit_test_teardown(what_cannot_be_had_says_why, forget),
		cmocka_unit_test_teardown(names_of_the_table_may_be_parted_as_others_do,
					  forget),
		cmocka_unit_test_teardown(without_a_table_perfs_own_events_play_their_roles,
					  forget),
		cmocka_unit_test_teardown(an_event_may_be_written_as_perf_has_it, forget),
		cmocka_unit_test(an_input_is_the_scaled_sum_and_as_bad_as_the_worst),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
