/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Placement against memory: what is told without any counter. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/placement_view.h"

static struct node nodes[] = { { .id = 0, .cpus = "0-3" }, { .id = 2, .cpus = "4-7" } };
static uint64_t far[] = { 1, 99 }, near[] = { 100, 0 };
static struct vcpu vcpus[] = {
	{ .index = 0, .affinity = "0-3", .last_cpu = 6 }, /* it was moved just now */
	{ .index = 1, .affinity = "0-7", .last_cpu = 2 },
	{ .index = 2, .affinity = "", .last_cpu = -1 }, /* nobody knows */
};
static struct vm vms[] = {
	{ .id = "1",
	  .name = "web",
	  .vcpus = vcpus,
	  .nvcpus = 3,
	  .mem_node = far,
	  .nmem_node = 2 },
	{ .id = "2",
	  .name = "db",
	  .vcpus = vcpus,
	  .nvcpus = 2,
	  .mem_node = near,
	  .nmem_node = 2 },
	{ .id = "3", .name = "new", .vcpus = vcpus, .nvcpus = 3 },
};
static const struct topology topo = { .machine = { .nodes = nodes, .nnodes = 2 },
				      .vms = vms,
				      .nvms = 3 };

static void memory_is_away_as_far_as_it_is_on_other_nodes_than_the_vcpus(void **state)
{
	struct cpu_nodes of;

	(void)state;
	assert_int_equal(cpu_nodes_make(&topo.machine, &of), 0);
	assert_true(fabs(memory_away(&vms[0], &of) - 0.99) < 1e-9);
	assert_true(memory_away(&vms[1], &of) == 0);
	assert_true(isnan(memory_away(&vms[2], &of))); /* its memory was not read */
	cpu_nodes_free(&of);
}

static char *shown(const struct out_ops *ops)
{
	const char *const ids[] = { "1", "2", "3", "gone" };
	const bool say[] = { true, true, true, true };
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	struct out out;

	assert_non_null(f);
	out_init(&out, ops, f);
	placement_show(&out, &topo, ids, say, 4);
	out_free(&out);
	fclose(f);
	return text;
}

static void people_are_told_of_what_is_away_and_scripts_of_everyone(void **state)
{
	char *text = shown(NULL), *json = shown(&out_json);

	(void)state;
	assert_string_equal(text,
			    "web: 99 % of its memory is away from its vCPUs: vCPUs 2 on "
			    "node 0; memory 1 % on node 0, 99 % on node 2\n");
	assert_non_null(
		strstr(json, "\"vm\":\"web\",\"vm_id\":\"1\",\"vcpus\":\"2 on node 0\","
			     "\"memory\":\"1 % on node 0, 99 % on node 2\",\"away\":0.99"));
	assert_non_null(strstr(json,
			       "\"vm\":\"new\",\"vm_id\":\"3\",\"vcpus\":\"2 on node 0\","
			       "\"memory\":null,\"away\":null"));
	free(text);
	free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			memory_is_away_as_far_as_it_is_on_other_nodes_than_the_vcpus),
		cmocka_unit_test(people_are_told_of_what_is_away_and_scripts_of_everyone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
