/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What resctrl tells of VMs, in a diagnosis: bytes that they move and what they hold of
 * the LLC. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "numa_window.h"

#define LINES 1e7
#define NODE(role) ((role)-ROLE_OF_NODE)

static const struct made_vcpu two[] = { { "web", 0, 1, 0.5, 10, 10, 0, 1, 0 },
					{ "db", 0, 0, 0.5, 10, 5, 0, 1, 0 } };
static const struct made_host two_host = { .nodes = 2, .vcpus = two, .nvcpus = 2 };

/* web moved LINES, @near of them of its own node's memory (less than 0: nobody tells), and
 * no counter tells what it read. */
static struct diag_window with_bytes(double near)
{
	struct diag_window w = made_window(&two_host);
	struct quantity *q = w.vms[0].vcpus[0].role;
	const struct quantity none = { .state = READ_UNSUPPORTED };

	q[ROLE_DRAM_LOCAL] = q[ROLE_DRAM_REMOTE] = none;
	q[ROLE_MEM_BYTES] = (struct quantity) { .value = 64 * LINES };
	if (near >= 0)
		q[ROLE_MEM_BYTES_LOCAL] = (struct quantity) { .value = 64 * near };
	return w;
}

static double read_by_db(const struct diag_window *w)
{
	return w->vms[1].vcpus[0].role[ROLE_DRAM_LOCAL].value;
}

static void who_has_no_counter_of_reads_has_the_lines_that_it_moved(void **state)
{
	struct diag_window w = with_bytes(-1);
	struct diagnosis d;

	(void)state;
	for (unsigned n = 0; n < 2; n++)
		w.node[n].role[NODE(ROLE_MEM_WRITES)].value =
			w.node[n].role[NODE(ROLE_MEM_READS)].value / 4;
	d = made_diagnosis(&w);
	assert_true(fabs(d.node[1].by_bytes / (LINES / 1.25) - 1) < 1e-6);
	assert_true(d.node[1].attributed == d.node[1].by_bytes);
	assert_false(d.node[1].with_writes);
	assert_true(d.node[0].by_bytes == 0);
	assert_true(fabs(d.node[0].attributed - read_by_db(&w)) < 10);
	for (unsigned n = 0; n < 2; n++)
		assert_true(fabs(d.node[n].attributed + d.node[n].unattributed -
				 d.node[n].mem_lines.value) < 1);
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void that_writes_are_among_them_is_said_where_nothing_tells_writes(void **state)
{
	struct diag_window w = with_bytes(-1);
	struct diagnosis d;

	(void)state;
	made_missing(&w, ROLE_MEM_WRITES, READ_UNSUPPORTED, NULL);
	d = made_diagnosis(&w);
	assert_true(fabs(d.node[1].by_bytes - LINES) < 1);
	assert_true(d.node[1].with_writes);
	assert_false(d.node[0].with_writes); /* it moved none there */
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void bytes_of_the_own_node_are_the_own_nodes(void **state)
{
	struct diag_window w = with_bytes(0.3 * LINES);
	struct diagnosis d = made_diagnosis(&w);

	(void)state;
	assert_true(fabs(d.node[0].by_bytes - 0.3 * LINES) < 1);
	assert_true(fabs(d.node[1].by_bytes - 0.7 * LINES) < 1);
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void whose_reads_are_counted_has_those_and_no_others(void **state)
{
	struct diag_window w = made_window(&two_host);
	struct diagnosis before = made_diagnosis(&w), d;

	(void)state;
	w.vms[0].vcpus[0].role[ROLE_MEM_BYTES] = (struct quantity) { .value = 64 * LINES };
	d = made_diagnosis(&w);
	for (unsigned n = 0; n < 2; n++) {
		assert_true(d.node[n].by_bytes == 0);
		assert_true(d.node[n].attributed == before.node[n].attributed);
	}
	diagnosis_free(&before);
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void bytes_are_no_reads_that_a_vm_waits_for(void **state)
{
	struct diag_window w = with_bytes(0), without = with_bytes(0);
	struct diagnosis a, b;

	(void)state;
	without.vms[0].vcpus[0].role[ROLE_MEM_BYTES].state = READ_UNSUPPORTED;
	a = made_diagnosis(&w);
	b = made_diagnosis(&without);
	for (int f = 0; f < FACTORS; f++)
		assert_true(a.vms[0].all.part[f].loss == b.vms[0].all.part[f].loss);
	diagnosis_free(&a);
	diagnosis_free(&b);
	diag_window_free(&w);
	diag_window_free(&without);
}

static void what_it_holds_of_the_llc_is_evidence(void **state)
{
	struct diag_window w = made_window(&two_host);
	struct diagnosis d;

	(void)state;
	w.vms[0].vcpus[0].role[ROLE_LLC_OCCUPANCY] =
		(struct quantity) { .value = 3.5 * (1 << 20) };
	made_missing(&w, ROLE_LLC_REFS, READ_TAKEN, NULL);
	d = made_diagnosis(&w);
	assert_false(d.vms[0].all.part[FACTOR_LLC].measured);
	assert_string_equal(d.vms[0].all.part[FACTOR_LLC].evidence,
			    "llc.occupancy = 3.5 MB");
	assert_string_equal(d.vms[1].all.part[FACTOR_LLC].evidence, "");
	diagnosis_free(&d);
	w.vms[0].vcpus[0].role[ROLE_LLC_REFS] = w.vms[0].vcpus[0].role[ROLE_LLC_MISSES];
	d = made_diagnosis(&w);
	assert_non_null(strstr(d.vms[0].all.part[FACTOR_LLC].evidence,
			       "(Che's approximation); llc.occupancy = 3.5 MB"));
	diagnosis_free(&d);
	diag_window_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_no_counter_of_reads_has_the_lines_that_it_moved),
		cmocka_unit_test(
			that_writes_are_among_them_is_said_where_nothing_tells_writes),
		cmocka_unit_test(bytes_of_the_own_node_are_the_own_nodes),
		cmocka_unit_test(whose_reads_are_counted_has_those_and_no_others),
		cmocka_unit_test(bytes_are_no_reads_that_a_vm_waits_for),
		cmocka_unit_test(what_it_holds_of_the_llc_is_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
