/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of event tables, roles, and those of a socket, as people write them. */
#include "test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rootfs.h"
#include "events/parse.h"
#include "events/target.h"

static struct rootfs skx; /* two sockets, boxes 0 and 1 of uncore_cha and uncore_imc */

static int open_tree(void **state)
{
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/numa-skx", getenv("VMMPROF_TREES"));
	return rootfs_open(&skx, path, NULL);
}

static int close_tree(void **state)
{
	(void)state;
	rootfs_close(&skx);
	return 0;
}

static struct event_set parse_on(const char *spec, const struct rootfs *root,
				 const struct event_table *table)
{
	struct event_set set = { 0 };
	struct err err = { 0 };

	if (events_parse_with(spec, root, table, &set, &err))
		fail_msg("%s: %s", spec, err.text);
	return set;
}

static void refused_on(const char *spec, const struct rootfs *root,
		       const struct event_table *table, const char *words)
{
	struct event_set set = { 0 };
	struct err err = { 0 };

	assert_true(events_parse_with(spec, root, table, &set, &err) < 0);
	assert_int_equal(set.n, 0);
	event_set_free(&set);
	if (!strstr(err.text, words))
		fail_msg("%s: \"%s\" lacks \"%s\"", spec, err.text, words);
}

static struct event_table *table_of(const char *name)
{
	struct event_table *t;
	struct err err = { 0 };

	if (event_table_open(name, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

static void a_sockets_event_names_all_boxes_or_one(void **state)
{
	struct event_set set =
		parse_on("uncore_imc/cas_count_read/,uncore_imc_1/event=4/", &skx, NULL);

	(void)state;
	assert_int_equal(set.n, 2);
	assert_int_equal(set.ev[0].kind, EVENT_UNCORE);
	assert_string_equal(set.ev[0].pmu, "uncore_imc");
	assert_int_equal(set.ev[0].config, 0x304);
	assert_string_equal(set.ev[0].unit, "MiB");
	assert_string_equal(set.ev[1].pmu, "uncore_imc_1");
	assert_int_equal(set.ev[1].type, 41);
	assert_int_equal(events_of_vm(&set, false, NULL), -EINVAL);
	event_set_free(&set);
}

static void without_a_kernel_the_tables_own_fields_encode(void **state)
{
	struct event_table *nehalem = table_of("nehalem-ep");
	struct event_set set =
		parse_on("cpu/event=0x0f,umask=0x10/,uncore/event=0x2f,umask=7/,cycles,"
			 "UNC_QHL_REQUESTS.REMOTE_READS,MEM_UNCORE_RETIRED.LOCAL_DRAM:u",
			 NULL, nehalem);

	(void)state;
	assert_int_equal(set.n, 5);
	assert_int_equal(set.ev[0].kind, EVENT_HARDWARE);
	assert_int_equal(set.ev[0].type, PERF_TYPE_RAW);
	assert_int_equal(set.ev[0].config, 0x100f);
	assert_int_equal(set.ev[1].kind, EVENT_UNCORE);
	assert_string_equal(set.ev[1].pmu, "uncore");
	assert_int_equal(set.ev[1].config, 0x72f);
	assert_int_equal(set.ev[3].config, 0x420);
	assert_int_equal(set.ev[4].config, 0x200f);
	assert_true(set.ev[4].exclude_kernel);
	assert_string_equal(set.ev[4].name, "MEM_UNCORE_RETIRED.LOCAL_DRAM:u");
	event_set_free(&set);
	refused_on("uncore/event=0x100/", NULL, nehalem,
		   "8 bits wide (by its event table)");
	refused_on("uncore/thresh=1/", NULL, nehalem, "no such term");
	refused_on("uncore_cha/event=1/", NULL, nehalem, "no such event");
	refused_on("UNC_QHL_REQUEST.REMOTE_READS", NULL, nehalem,
		   "did you mean UNC_QHL_REQ");
	refused_on("kvm:kvm_exit", NULL, nehalem, "no such event");
	event_table_free(nehalem);
}

static void a_role_is_the_sum_of_its_events(void **state)
{
	struct event_table *nehalem = table_of("nehalem-ep");
	struct event_set set =
		parse_on("{role:instructions,role:cycles}:u,role:dram.remote,"
			 "role:mem.read.occupancy,role:llc.occupancy",
			 NULL, nehalem);

	(void)state;
	assert_int_equal(set.n, 7);
	assert_string_equal(set.ev[0].name, "instructions:u");
	assert_int_equal(set.ev[1].group, set.ev[0].group);
	assert_string_equal(set.ev[2].name, "dram.remote");
	assert_string_equal(set.ev[2].unit, "lines");
	assert_int_equal(set.ev[2].config, 0x100f);
	assert_string_equal(set.ev[3].name, "UNC_QMC_OCCUPANCY.CH0");
	assert_int_equal(set.ev[5].config, 0x42a);
	assert_int_equal(set.ev[6].kind, EVENT_MONITOR);
	assert_int_equal(set.ev[6].config, ROLE_LLC_OCCUPANCY);
	event_set_free(&set);
	refused_on("role:tracker.occupancy", NULL, nehalem, "tables of Westmere only");
	refused_on("role:cycles:x", NULL, nehalem, "modifier");
	event_table_free(nehalem);
}

static void a_role_without_a_table_is_perfs_own_event_or_none(void **state)
{
	struct event_set set = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(role_events(ROLE_CYCLES, NULL, NULL, &set, &err), 0);
	assert_int_equal(set.ev[0].type, PERF_TYPE_HARDWARE);
	assert_int_equal(set.ev[0].config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(role_events(ROLE_WAITED, NULL, NULL, &set, &err), 0);
	assert_int_equal(set.ev[1].kind, EVENT_MONITOR);
	assert_string_equal(set.ev[1].unit, "ns");
	assert_int_equal(role_events(ROLE_DRAM_REMOTE, NULL, NULL, &set, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no event table"));
	assert_int_equal(set.n, 2);
	event_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sockets_event_names_all_boxes_or_one),
		cmocka_unit_test(without_a_kernel_the_tables_own_fields_encode),
		cmocka_unit_test(a_role_is_the_sum_of_its_events),
		cmocka_unit_test(a_role_without_a_table_is_perfs_own_event_or_none),
	};

	return cmocka_run_group_tests(tests, open_tree, close_tree);
}
