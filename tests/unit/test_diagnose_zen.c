/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The diagnosis of a CPU that tells where lines come from and nothing of the time that
 * they take: AMD's first Zen, without stalls, misses in flight or queues.
 */
#include "test.h"

#include <math.h>
#include <string.h>

#include "numa_window.h"
#include "source/datasheet.h"

/* Of what @host would show only what the CPU's event table has an event for. */
static struct diag_window as_zen_tells(const struct made_host *host)
{
	struct diag_window w = made_window(host);
	struct err err = { 0 };

	for (size_t i = 0; i < w.nvms; i++)
		for (size_t c = 0; c < w.vms[i].nvcpus; c++) {
			struct quantity *q = w.vms[i].vcpus[c].role;

			/* other nodes' caches, not the own node's: the made host has one */
			q[ROLE_REMOTE_HITM] = q[ROLE_SHARED_HITM];
			q[ROLE_LLC_MISSES].value += q[ROLE_REMOTE_HITM].value;
		}
	made_as_told_by(&w, "zen1");
	assert_int_equal(datasheet_load("zen1", &w.machine, &err), 0);
	return w;
}

static struct diag_result first(const struct made_host *host)
{
	struct diag_window w = as_zen_tells(host);
	struct diagnosis d = { 0 };
	struct diag_result r;

	assert_int_equal(diagnose(&w, &d), 0);
	r = d.vms[0];
	diagnosis_free(&d);
	diag_window_free(&w);
	return r;
}

static void named_alone(const struct diag_result *r, enum factor factor)
{
	if (r->top != (int)factor)
		fail_msg("\"%s\" is not %s", r->sentence, factor_name(factor));
	for (int f = 0; f < FACTORS; f++)
		if (f != (int)factor && r->all.part[f].measured &&
		    r->all.part[f].loss > r->all.part[factor].loss / 2)
			fail_msg("%s: %.3f beside %.3f", factor_name((enum factor)f),
				 r->all.part[f].loss, r->all.part[factor].loss);
}

static void memory_on_another_die_is_remote_data(void **state)
{
	const struct made_vcpu v[] = { { "web", 0, 1, 0.5, 10, 10, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 1 };
	struct diag_result r = first(&host);

	(void)state;
	named_alone(&r, FACTOR_LOCALITY);
}

static void a_line_that_two_dies_write_is_sharing(void **state)
{
	const struct made_vcpu v[] = { { "web", 0, 0, 0.5, 10, 0.01, 9.9, 1, 0 },
				       { "web", 1, 0, 0.5, 10, 0.01, 9.9, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_result r = first(&host);

	(void)state;
	named_alone(&r, FACTOR_SHARING);
}

static void who_is_put_out_of_the_dies_cache_is_told(void **state)
{
	const struct made_vcpu v[] = { { "cache", 0, 0, 0.5, 30, 15, 0, 1, 0 },
				       { "stream", 0, 0, 0.5, 40, 40, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_result r = first(&host);

	(void)state;
	named_alone(&r, FACTOR_LLC);
}

static void what_no_event_tells_is_not_a_zero(void **state)
{
	const struct made_vcpu v[] = { { "web", 0, 1, 0.5, 10, 10, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 1 };
	struct diag_result r = first(&host);

	(void)state;
	assert_false(r.all.part[FACTOR_TRACKERS].measured);
	assert_true(strlen(r.all.part[FACTOR_TRACKERS].why) > 0);
	assert_true(r.all.part[FACTOR_MEMORY].measured); /* by the fabric's reads */
}

static void the_nearest_to_a_full_queue_is_evidence_of_it(void **state)
{
	const struct made_vcpu v[] = { { "web", 0, 1, 0.5, 10, 10, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 1 };
	struct diag_window w = as_zen_tells(&host);
	struct quantity *node = w.node[0].role, *web = w.vms[0].vcpus[0].role;
	struct diagnosis d;

	(void)state;
	node[ROLE_FILL_CYCLES - ROLE_OF_NODE] = (struct quantity) { .value = 3e8 };
	node[ROLE_FILLS - ROLE_OF_NODE] = (struct quantity) { .value = 1e6 };
	d = made_diagnosis(&w);
	assert_string_equal(d.vms[0].all.part[FACTOR_TRACKERS].evidence,
			    "fill.cycles / fills of node 0 = 300 cycles that a line takes");
	diagnosis_free(&d);
	web[ROLE_OUTSTANDING] = (struct quantity) { .value = 5e8 };
	web[ROLE_OUTSTANDING_CYCLES] = (struct quantity) { .value = 2e8 };
	d = made_diagnosis(&w);
	assert_non_null(
		strstr(d.vms[0].all.part[FACTOR_TRACKERS].evidence,
		       "; outstanding / outstanding.cycles = 2.5 misses in flight"));
	assert_false(d.vms[0].all.part[FACTOR_TRACKERS].measured);
	diagnosis_free(&d);
	diag_window_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_on_another_die_is_remote_data),
		cmocka_unit_test(a_line_that_two_dies_write_is_sharing),
		cmocka_unit_test(who_is_put_out_of_the_dies_cache_is_told),
		cmocka_unit_test(what_no_event_tells_is_not_a_zero),
		cmocka_unit_test(the_nearest_to_a_full_queue_is_evidence_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
