/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The diagnosis of an Arm server: its mesh counts requests that a home node sent back,
 * which tells that its queue is full now and then, and nothing of how long anyone waits.
 */
#include "test.h"

#include <math.h>
#include <string.h>

#include "numa_window.h"

#define REQUESTS 1e7

static const struct made_vcpu busy[] = { { "web", 0, 0, 0.5, 20, 20, 0, 1, 0 } };
static const struct made_host busy_host = { .nodes = 2, .vcpus = busy, .nvcpus = 1 };

/* Of what @busy_host would show what the CPU's event table has an event for; of the
 * requests to node 0, @share were sent back. */
static struct diag_window with_retries(double share)
{
	struct diag_window w = made_window(&busy_host);

	for (unsigned n = 0; n < w.machine.nodes; n++) {
		struct quantity *q = w.node[n].role;

		q[ROLE_TRACKER_REQUESTS - ROLE_OF_NODE] =
			(struct quantity) { .value = REQUESTS };
		q[ROLE_TRACKER_RETRIES - ROLE_OF_NODE] =
			(struct quantity) { .value = n ? 0 : share * REQUESTS };
	}
	made_as_told_by(&w, "neoverse");
	return w;
}

static void requests_sent_back_are_evidence_and_no_time(void **state)
{
	struct diag_window w = with_retries(0.04);
	struct diagnosis d = made_diagnosis(&w);
	const struct diag_part *p = &d.vms[0].all.part[FACTOR_TRACKERS];

	(void)state;
	assert_false(p->measured);
	assert_true(p->cycles == 0 && p->loss == 0);
	assert_non_null(strstr(p->why, "tracker.full of node 0 has no value"));
	assert_non_null(strstr(p->evidence, "of node 0 = 4.0 %"));
	assert_true(isnan(d.node[0].tracker_full));
	assert_non_null(strstr(d.vms[0].sentence, "waiting for request trackers"));
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void requests_sent_back_change_nothing_that_is_measured(void **state)
{
	struct diag_window few = with_retries(0), many = with_retries(0.9);
	struct diagnosis a = made_diagnosis(&few), b = made_diagnosis(&many);

	(void)state;
	for (int f = 0; f < FACTORS; f++) {
		const struct diag_part *p = &a.vms[0].all.part[f];
		const struct diag_part *q = &b.vms[0].all.part[f];

		assert_true(p->cycles == q->cycles && p->loss == q->loss);
		assert_int_equal(p->measured, q->measured);
	}
	assert_true(a.vms[0].all.part[FACTOR_LLC].measured);
	diagnosis_free(&a);
	diagnosis_free(&b);
	diag_window_free(&few);
	diag_window_free(&many);
}

static void without_requests_there_is_no_share_of_them(void **state)
{
	struct diag_window w = with_retries(0.04);
	struct diagnosis d;

	(void)state;
	w.node[0].role[ROLE_TRACKER_REQUESTS - ROLE_OF_NODE].value = 0;
	d = made_diagnosis(&w);
	assert_string_equal(d.vms[0].all.part[FACTOR_TRACKERS].evidence, "");
	diagnosis_free(&d);
	diag_window_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_sent_back_are_evidence_and_no_time),
		cmocka_unit_test(requests_sent_back_change_nothing_that_is_measured),
		cmocka_unit_test(without_requests_there_is_no_share_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
