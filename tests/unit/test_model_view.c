/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of profile models, from counts to what stat prints. */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/model_view.h"
#include "events/table_form.h"

static const char model_text[] =
	"model m \"t\"\n"
	"vcpu cycles = role cycles\n"
	"vcpu misses = role llc.misses\n"
	"vcpu lost = role remote.hitm optional\n"
	"node reads = role mem.reads\n"
	"metric ratio = 100 * misses / cycles unit % warn 20 bad 40 \"of them\"\n"
	"metric gone = lost / cycles\n"
	"metric each = cycles / cpus / nodes / seconds\n"
	"metric read = reads / cpus / seconds\n";

static const char table_text[] = "title \"A CPU\"\n"
				 "cpu GenuineIntel 6 1\n"
				 "source s \"somewhere\"\n"
				 "pmu cpu counters 0-3 from s\n"
				 "format event=config:0-7\n"
				 "event CYC event=0x01\n"
				 "event MISS event=0x02\n"
				 "pmu uncore counters 0-3 from s\n"
				 "format event=config:0-7\n"
				 "event READS event=0x03\n"
				 "role cycles = CYC\n"
				 "role llc.misses = MISS\n"
				 "role mem.reads = READS\n"
				 "no remote.hitm \"this CPU does not tell\"\n";

static struct event_table *table;
static struct model_set set;
static struct model_use use;
static struct node nodes[] = { { .id = 0, .cpus = "0-3" }, { .id = 5, .cpus = "4,6" } };
static const struct machine machine = { .nodes = nodes, .nnodes = 2 };

static int open_model(void **state)
{
	struct err err = { 0 };

	(void)state;
	if (table_read("t", "t.events", table_text, strlen(table_text), &table, &err) ||
	    profile_model_parse("m.model", model_text, strlen(model_text), &use.model,
				&err) ||
	    profile_events_make(&use.model, table, NULL, &use.events, &err))
		fail_msg("%s", err.text);
	set = (struct model_set) { .use = &use, .n = 1 };
	assert_int_equal(event_set_append(&set.vcpu, &use.events.vcpu), 0);
	assert_int_equal(event_set_append(&set.node, &use.events.node), 0);
	return 0;
}

static int close_model(void **state)
{
	(void)state;
	event_set_free(&set.vcpu);
	event_set_free(&set.node);
	model_use_close(&use);
	event_table_free(table);
	return 0;
}

struct shown {
	struct out out;
	struct model_view *view;
	FILE *f;
	char text[8192];
};

static void begin(struct shown *s, const struct out_ops *ops)
{
	s->f = tmpfile();
	out_init(&s->out, ops, s->f);
	s->view = model_view_create(&s->out, &set, &machine);
	assert_non_null(s->view);
}

static const char *end(struct shown *s)
{
	size_t n;

	model_view_free(s->view);
	out_free(&s->out);
	rewind(s->f);
	n = fread(s->text, 1, sizeof(s->text) - 1, s->f);
	s->text[n] = '\0';
	fclose(s->f);
	return s->text;
}

/* Event @index of a VM's vCPU (-1: all), or of a node (@vm NULL). */
static void count(struct shown *s, const char *vm, int which, size_t index,
		  struct reading reading)
{
	const struct count c = {
		.time_ns = 2000000000,
		.interval_ns = 2000000000,
		.vm_id = vm,
		.vm_name = vm,
		.node = vm ? -1 : which,
		.vcpu = vm ? which : -1,
		.cpus = which < 0 ? 4 : 1,
		.event = vm ? &set.vcpu.ev[index] : &set.node.ev[index],
		.index = index,
		.side = SIDE_GUEST,
		.reading = reading,
	};

	assert_true(model_view_count(s->view, &c));
}

static void has(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in\n%s", words, text);
}

static void metrics_are_shown_per_vm_vcpu_and_node(void **state)
{
	struct shown s;
	const char *text;

	(void)state;
	begin(&s, &out_csv);
	count(&s, "web", 0, 0, (struct reading) { .value = 1000 });
	count(&s, "web", -1, 0, (struct reading) { .value = 1600 });
	count(&s, "web", 0, 1, (struct reading) { .value = 100 });
	count(&s, "web", -1, 1, (struct reading) { .value = 400 });
	count(&s, NULL, 5, 0, (struct reading) { .value = 80 });
	model_view_end(s.view, true, true);
	text = end(&s);
	has(text,
	    "time,interval,vm,vm_id,vcpu,tid,side,model,metric,value,error,state,reason,"
	    "input,mark,unit,what\n");
	has(text, "2,2,web,web,0,,guest,m,ratio,10,0,counted,,,ok,%,of them\n");
	has(text, "2,2,web,web,,,guest,m,ratio,25,0,counted,,,warn,%,of them\n");
	/* Of all vCPUs four, of one it is one; two nodes; two seconds. */
	has(text, "web,0,,guest,m,each,250,0,counted");
	has(text, "web,,,guest,m,each,100,0,counted");
	has(text, "time,interval,node,model,metric,");
	has(text, "2,2,5,m,read,20,0,counted,,,,,\n");
}

static void what_has_no_value_says_its_state_and_why(void **state)
{
	struct shown s;
	const char *text;

	(void)state;
	begin(&s, &out_json);
	count(&s, "web", -1, 0, (struct reading) { .value = 0 });
	count(&s, "web", -1, 1,
	      (struct reading) { .state = READ_TAKEN, .reason = "perf has it" });
	model_view_end(s.view, false, true);
	assert_true(model_view_partial(s.view));
	text = end(&s);
	has(text, "\"metric\":\"ratio\",\"value\":null,\"error\":null,\"state\":\"taken\","
		  "\"reason\":\"perf has it\",\"input\":\"misses\",\"mark\":null");
	has(text,
	    "\"metric\":\"gone\",\"value\":null,\"error\":null,\"state\":\"unsupported\","
	    "\"reason\":\"remote.hitm: this CPU does not tell\",\"input\":\"lost\"");
	has(text, "\"metric\":\"each\",\"value\":0,\"error\":0,\"state\":\"counted\"");
}

static void text_says_bounds_marks_and_reasons_once(void **state)
{
	struct shown s;
	const char *text;

	(void)state;
	begin(&s, &out_text);
	for (int i = 0; i < 2; i++) {
		count(&s, "web", -1, 0, (struct reading) { .value = 1000 });
		count(&s, "web", -1, 1,
		      (struct reading) { .value = 500, .error = 10, .state = READ_SCALED });
		model_view_end(s.view, false, true);
	}
	count(&s, "web", -1, 0, (struct reading) { .value = 0 });
	count(&s, "web", -1, 1, (struct reading) { .value = 5 });
	model_view_end(s.view, true, true);
	text = end(&s);
	has(text, "50.00 ");
	has(text, " 1 bad  %     of them");
	has(text, "<unsupported> lost: remote.hitm: this CPU does not tell");
	assert_null(strstr(strstr(text, "<unsupported> lost") + 1, "<unsupported> lost"));
	has(text, "<undefined>  %     of them");
	has(text, "<undefined> ratio: division by zero: cycles");
	assert_null(strchr(text, '\033'));
}

static void a_terminal_shows_marks_in_colour_and_columns_stay_straight(void **state)
{
	struct shown s;
	const char *text;

	(void)state;
	begin(&s, &out_text);
	s.out.color = true;
	count(&s, "web", -1, 0, (struct reading) { .value = 1000 });
	count(&s, "web", -1, 1, (struct reading) { .value = 500 });
	count(&s, "db", -1, 0, (struct reading) { .value = 1000 });
	count(&s, "db", -1, 1, (struct reading) { .value = 10 });
	model_view_end(s.view, true, true);
	text = end(&s);
	has(text, "ratio       \033[31m50.00 bad\033[0m  %     of them");
	has(text, "ratio           1.000  %     of them");
}

static void counts_of_other_events_are_not_taken(void **state)
{
	struct shown s;
	struct count other = { .vm_id = "web", .node = -1, .index = 2 };

	(void)state;
	begin(&s, &out_text);
	assert_false(model_view_count(s.view, &other));
	model_view_end(s.view, true, false);
	assert_string_equal(end(&s), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_are_shown_per_vm_vcpu_and_node),
		cmocka_unit_test(what_has_no_value_says_its_state_and_why),
		cmocka_unit_test(text_says_bounds_marks_and_reasons_once),
		cmocka_unit_test(
			a_terminal_shows_marks_in_colour_and_columns_stay_straight),
		cmocka_unit_test(counts_of_other_events_are_not_taken),
	};

	return cmocka_run_group_tests(tests, open_model, close_model);
}
