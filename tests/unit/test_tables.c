/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event tables: what holds of every one that is shipped, and how wrong ones are told.
 */
#include "test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/data.h"
#include "base/vec.h"
#include "events/table_form.h"

#define CPU "cpu GenuineIntel 6 0x1a\nsource s \"somewhere\"\n"
#define PMU                                                                                \
	CPU "pmu cpu counters 0-3 fixed 32 from s\n"                                       \
	    "format event=config:0-7 umask=config:8-15\n"

/* Calls @check with every table that is compiled in. */
static void each_table(void (*check)(const struct event_table *t))
{
	size_t n = 0;

	for (const struct data_file *f = data_files; f->name; f++) {
		struct event_table *t;
		struct err err = { 0 };

		if (strcmp(f->kind, "events"))
			continue;
		if (table_read(f->name, f->name, f->text, f->size, &t, &err))
			fail_msg("%s", err.text);
		check(t);
		event_table_free(t);
		n++;
	}
	assert_true(n > 0);
}

static bool is_monitored(enum role role)
{
	return role == ROLE_WAITED || role == ROLE_LLC_OCCUPANCY ||
	       role == ROLE_MEM_BYTES || role == ROLE_MEM_BYTES_LOCAL;
}

static void check_roles(const struct event_table *t)
{
	for (unsigned i = 0; i < ROLES; i++) {
		const struct table_role *r = &t->roles[i];

		if (!is_monitored(i) && !r->n && !r->no)
			fail_msg("%s: %s has no event and no \"no\" line", t->name,
				 role_name(i));
		for (size_t j = 0; j < r->n; j++)
			if ((i >= ROLE_OF_NODE) != !!strcmp(t->rows[r->row[j]].pmu, "cpu"))
				fail_msg("%s: %s is not counted where the role is", t->name,
					 t->rows[r->row[j]].name);
	}
}

static void every_role_has_an_event_or_a_reason_why_not(void **state)
{
	(void)state;
	each_table(check_roles);
}

static void check_rows(const struct event_table *t)
{
	assert_true(t->title && t->n);
	for (size_t i = 0; i < t->npmus; i++)
		if (!t->pmus[i].driver)
			fail_msg("%s: which kernels have %s?", t->name, t->pmus[i].name);
	for (size_t i = 0; i < t->n; i++) {
		struct event ev;

		if (!t->rows[i].counters)
			fail_msg("%s: %s: by no counter", t->name, t->rows[i].name);
		assert_int_equal(table_event_make(&t->rows[i], NULL, &ev, NULL), 0);
	}
}

static void every_row_can_be_counted_and_every_pmu_names_its_driver(void **state)
{
	(void)state;
	each_table(check_rows);
}

/* Gives a counter to each of the rows @v from @i on; @taken are taken already. */
static bool fits(const struct table_event *const *v, size_t n, size_t i, uint64_t taken)
{
	if (i == n)
		return true;
	for (unsigned c = 0; c < TABLE_COUNTERS; c++) {
		uint64_t bit = UINT64_C(1) << c;

		if (v[i]->counters & bit & ~taken && fits(v, n, i + 1, taken | bit))
			return true;
	}
	return false;
}

static void check_groups(const struct event_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct table_event *v[TABLE_COUNTERS];
		size_t n = 0;

		for (size_t j = 0; j < t->n && t->rows[i].group >= 0; j++) {
			if (t->rows[j].group != t->rows[i].group)
				continue;
			assert_string_equal(t->rows[j].pmu, t->rows[i].pmu);
			assert_true(n < TABLE_COUNTERS);
			v[n++] = &t->rows[j];
		}
		if (!fits(v, n, 0, 0))
			fail_msg("%s: group %d does not fit on the counters", t->name,
				 t->rows[i].group);
	}
}

static void every_group_fits_on_its_counters(void **state)
{
	(void)state;
	each_table(check_groups);
}

static struct event_table *read_text(const char *text)
{
	struct event_table *t;
	struct err err = { 0 };

	if (table_read("t", "t.events", text, strlen(text), &t, &err))
		fail_msg("%s", err.text);
	return t;
}

static void refused(const char *text, const char *words)
{
	struct event_table *t;
	struct err err = { 0 };

	assert_int_equal(table_read("t", "t.events", text, strlen(text), &t, &err),
			 -EINVAL);
	assert_null(t);
	if (!strstr(err.text, words))
		fail_msg("\"%s\" lacks \"%s\"", err.text, words);
}

static void a_table_that_breaks_its_rules_is_refused_with_its_line(void **state)
{
	(void)state;
	refused("title \"x\"\n", "t.events:1: no cpu statement");
	refused("cpu GenuineIntel 6\n", "t.events:1: expected cpu VENDOR");
	refused("cpu GenuineIntel 6 0x1f-0x1a\n",
		"\"0x1f-0x1a\" is not a number or a range");
	refused("event A event=1\n", "t.events:1: event: expected a pmu statement above");
	refused(PMU "event A event=0x100\n",
		"t.events:5: event=0x100: the field is 8 bits");
	refused(PMU "event A cmask=1\n", "PMU cpu has no field cmask");
	refused(PMU "event A event=1,event=2\n", "event twice");
	refused(PMU "event A event=\n", "expected FIELD=NUMBER");
	refused(PMU "event A event=1,\n", "expected FIELD=NUMBER");
	refused(PMU "event A event=1\nevent A event=2\n", "t.events:6: a second event A");
	refused(PMU "event A event=1 counters 4\n", "counters that PMU cpu does not have");
	refused(PMU "event A event=1 counters 64\n", "not a list of counters");
	refused(PMU "event A event=1 scale 1/0\n", "is not a scale");
	refused(PMU "event A event=1 from t\n", "source t is not among those named above");
	refused(CPU "pmu cpu\nformat event=config:0-7\nevent A event=1\n", "known from?");
	refused(PMU "role cycles = A\n", "no event A above");
	refused(PMU "event A event=1\nrole cycles = A +\n", "expected role NAME = EVENT");
	refused(PMU "event A event=1\nrole cycles A\n", "expected role NAME = EVENT");
	refused(PMU "event A event=1\nrole cycles = A\nno cycles \"x\"\n",
		"a second line for cycles");
	refused(PMU "role nonsense = A\n", "\"nonsense\" is no role");
	refused(PMU "no cycles\n", "expected no ROLE \"WHY\"");
	refused(CPU "pmu cpu from s\nformat event=config:0-64\n", "expected FIELD=BITS");
}

static void a_row_carries_what_its_line_says(void **state)
{
	struct event_table *t = read_text(
		PMU
		"event A event=0x3c,umask=2 counters 1,32 group 7 scale 1/9 \"of a kind\"\n"
		"event B event=1\nrole cycles = A + B\nno loads \"none here\"\n");
	const struct table_event *rows[4], *a = event_table_find(t, "A");
	const char *why;
	struct event ev;

	(void)state;
	assert_int_equal(a->counters, 1ull << 32 | 2);
	assert_int_equal(a->group, 7);
	assert_true(a->scale == 1.0 / 9);
	assert_string_equal(a->what, "of a kind");
	assert_int_equal(event_table_find(t, "B")->counters, 0xf);
	assert_int_equal(table_event_make(a, NULL, &ev, NULL), 0);
	assert_int_equal(ev.config, 0x23c);
	assert_int_equal(ev.type, PERF_TYPE_RAW);
	assert_int_equal(ev.kind, EVENT_HARDWARE);
	assert_int_equal(event_table_role(t, ROLE_CYCLES, rows, 4, &why), 2);
	assert_ptr_equal(rows[0], a);
	assert_int_equal(event_table_role(t, ROLE_LOADS, rows, 4, &why), 0);
	assert_string_equal(why, "none here");
	assert_int_equal(event_table_role(t, ROLE_DRAM_LOCAL, rows, 4, &why), 0);
	assert_non_null(why);
	event_table_free(t);
}

static void a_cpu_finds_its_table_by_exact_model(void **state)
{
	struct cpu_id nehalem = { "GenuineIntel", 6, 0x1a, 5 }, unknown = nehalem;
	struct event_table *t;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(event_table_load(&nehalem, &t, &err), 0);
	assert_string_equal(event_table_name(t), "nehalem-ep");
	event_table_free(t);
	unknown.model = 0x1b;
	assert_int_equal(event_table_load(&unknown, &t, &err), -ENOENT);
	assert_null(t);
	assert_non_null(strstr(err.text, "model 0x1b"));
	assert_non_null(strstr(err.text, "nearest is nehalem-ep"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_role_has_an_event_or_a_reason_why_not),
		cmocka_unit_test(every_row_can_be_counted_and_every_pmu_names_its_driver),
		cmocka_unit_test(every_group_fits_on_its_counters),
		cmocka_unit_test(a_table_that_breaks_its_rules_is_refused_with_its_line),
		cmocka_unit_test(a_row_carries_what_its_line_says),
		cmocka_unit_test(a_cpu_finds_its_table_by_exact_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
