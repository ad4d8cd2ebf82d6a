/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numa_window.h"

static const struct made_vcpu computes = { "calc", 0, 0, 0.5, 0.2, 0.01, 0, 1, 0 };

static void a_vm_that_computes_has_nothing_wrong(void **state)
{
	const struct made_host host = { .nodes = 2, .vcpus = &computes, .nvcpus = 1 };
	struct diag_window w = made_window(&host);
	struct diagnosis d = made_diagnosis(&w);

	(void)state;
	assert_int_equal(d.vms[0].top, -1);
	assert_false(d.vms[0].unknown);
	for (int i = 0; i < FACTORS; i++)
		assert_true(d.vms[0].all.part[i].measured);
	assert_non_null(strstr(d.vms[0].sentence, "calc: nothing holds it back"));
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void memory_on_the_wrong_node_loses_to_remote_data_and_nothing_else(void **state)
{
	const struct made_vcpu v[] = { { "web", 0, 1, 0.5, 10, 10, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 1 };
	struct diag_window w = made_window(&host);
	struct diagnosis d = made_diagnosis(&w);
	const struct diag_result *r = &d.vms[0];
	/* 10 misses per 1000 instructions at 110 ns instead of 70, 2 GHz. */
	const double on = 0.5 + 0.01 * 110 * 2, off = 0.5 + 0.01 * 70 * 2;

	(void)state;
	assert_int_equal(r->top, FACTOR_LOCALITY);
	assert_int_equal(r->top_node, 0);
	assert_true(fabs(r->all.part[FACTOR_LOCALITY].loss - (1 - off / on)) < 0.01);
	for (int i = 0; i < FACTORS; i++)
		if (i != FACTOR_LOCALITY)
			assert_true(fabs(r->all.part[i].loss) < 0.01);
	assert_non_null(strstr(r->sentence, "web loses 30 %"));
	assert_non_null(strstr(r->all.part[0].evidence, "= 100 %, most from node 1"));
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void lines_written_elsewhere_are_sharing(void **state)
{
	const struct made_vcpu v[] = { { "db", 0, 0, 0.5, 20, 0.1, 18, 1, 0 },
				       { "db", 0, 0, 0.5, 20, 0.1, 18, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	struct diagnosis d = made_diagnosis(&w);

	(void)state;
	assert_int_equal(d.vms[0].top, FACTOR_SHARING);
	assert_int_equal(d.vms[0].ncauses[FACTOR_SHARING], 0);
	diagnosis_free(&d);
	diag_window_free(&w);
}

/* Two that read the same lines, and whatever else @role tells of that. */
static double loss_of_readers(enum role role, double share, const char *words)
{
	const struct made_vcpu v[] = { { "db", 0, 0, 0.5, 20, 0.1, 0, 1, 0 },
				       { "db", 0, 0, 0.5, 20, 0.1, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	struct diagnosis d;
	double loss;

	for (size_t i = 0; i < 2; i++) {
		struct quantity *q = w.vms[0].vcpus[i].role;

		q[role] = (struct quantity) { .value = share * q[ROLE_LLC_REFS].value };
	}
	d = made_diagnosis(&w);
	loss = d.vms[0].all.part[FACTOR_SHARING].loss;
	assert_non_null(strstr(d.vms[0].sentence, words));
	diagnosis_free(&d);
	diag_window_free(&w);
	return loss;
}

static void clean_lines_of_others_are_what_is_not_dirty_of_them(void **state)
{
	const char *words = "80 % of its requests find that another core has their line";

	(void)state;
	assert_true(loss_of_readers(ROLE_SHARED_CLEAN, 0, "nothing holds it back") == 0);
	assert_true(loss_of_readers(ROLE_SHARED_CLEAN, 0.8, words) > 0.05);
	assert_true(loss_of_readers(ROLE_SHARED_ANY, 0.8, words) ==
		    loss_of_readers(ROLE_SHARED_CLEAN, 0.8, words));
}

/* Sharing's part of the stall, of all misses, if the sockets gave so many dirty lines. */
static double sharing_of_misses_that_nothing_answers(double given)
{
	const struct made_vcpu v[] = { { "chat", 0, 0, 0.5, 10, 0, 0, 1, 0 },
				       { "chat", 1, 0, 0.5, 10, 0, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	double misses = 0, share;
	struct diagnosis d;

	for (size_t i = 0; i < 2; i++) {
		struct quantity *q = w.vms[0].vcpus[i].role;

		q[ROLE_LLC_MISSES] = q[ROLE_LLC_REFS];
		q[ROLE_REMOTE_CACHE] = (struct quantity) { 0 };
		misses += q[ROLE_LLC_MISSES].value;
	}
	for (size_t n = 0; n < 2; n++)
		w.node[n].role[ROLE_SNOOP_HITM - ROLE_OF_NODE] =
			(struct quantity) { .value = given * misses / 2 };
	d = made_diagnosis(&w);
	share = d.vms[0].all.part[FACTOR_SHARING].cycles / d.vms[0].all.stall;
	diagnosis_free(&d);
	diag_window_free(&w);
	return share;
}

static void misses_that_nothing_answers_are_dirty_elsewhere_if_sockets_gave(void **state)
{
	(void)state;
	assert_true(sharing_of_misses_that_nothing_answers(1) > 0.5);
	assert_true(sharing_of_misses_that_nothing_answers(0) == 0);
	assert_true(sharing_of_misses_that_nothing_answers(0.5) > 0.2);
	assert_true(sharing_of_misses_that_nothing_answers(0.5) <
		    sharing_of_misses_that_nothing_answers(1));
}

static void a_queue_at_the_memory_is_seen_in_its_occupancy(void **state)
{
	const struct made_vcpu v[] = { { "a", 0, 0, 0.5, 40, 40, 0, 1, 0 },
				       { "b", 0, 0, 0.5, 40, 40, 0, 1, 0 },
				       { "c", 0, 0, 0.5, 40, 40, 0, 1, 0 } };
	const struct made_host host = {
		.nodes = 2, .vcpus = v, .nvcpus = 3, .mem_wait = { 60 }
	};
	struct diag_window w = made_window(&host);
	struct diagnosis d = made_diagnosis(&w);
	const double on = 0.5 + 0.04 * 130 * 2, off = 0.5 + 0.04 * 70 * 2;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct diag_result *r = &d.vms[i];

		assert_int_equal(r->top, FACTOR_MEMORY);
		assert_true(fabs(r->all.part[r->top].loss - (1 - off / on)) < 0.02);
		assert_int_equal(r->ncauses[FACTOR_MEMORY], 2);
		assert_true(fabs(r->cause[FACTOR_MEMORY][0].share - 0.5) < 0.01);
	}
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void trackers_that_are_full_make_all_wait(void **state)
{
	const struct made_vcpu v[] = { { "a", 0, 0, 0.1, 50, 50, 0, 8, 0 },
				       { "b", 0, 0, 0.1, 50, 50, 0, 8, 0 },
				       { "c", 0, 0, 0.1, 50, 50, 0, 8, 0 },
				       { "d", 0, 0, 0.1, 50, 50, 0, 8, 0 } };
	const struct made_host host = { .nodes = 2,
					.vcpus = v,
					.nvcpus = 4,
					.tracker_wait = { 15 },
					.tracker_full = { 0.9 } };
	struct diag_window w = made_window(&host);
	struct diagnosis d = made_diagnosis(&w);

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(d.vms[i].top, FACTOR_TRACKERS);
		assert_int_equal(d.vms[i].ncauses[FACTOR_TRACKERS], 3);
	}
	assert_true(fabs(d.node[0].tracker_full - 0.9) < 1e-6);
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void who_would_be_slower_without_a_factor_loses_nothing_to_it(void **state)
{
	/* The others' data is far: without that they ask its memory for more. */
	const struct made_vcpu v[] = { { "near", 1, 1, 0.1, 30, 30, 0, 8, 0 },
				       { "far", 0, 1, 0.1, 50, 50, 0, 6, 0 },
				       { "far", 0, 1, 0.1, 50, 50, 0, 6, 0 },
				       { "far", 0, 1, 0.1, 50, 50, 0, 6, 0 } };
	const struct made_host host = {
		.nodes = 2, .vcpus = v, .nvcpus = 4, .mem_wait = { 0, 30 }
	};
	struct diag_window w = made_window(&host);
	struct diagnosis d = made_diagnosis(&w);
	const struct diag_part *p = d.vms[0].all.part;

	(void)state;
	assert_true(p[FACTOR_LOCALITY].loss == 0);
	assert_true(p[FACTOR_LOCALITY].loss_error > 0 &&
		    p[FACTOR_LOCALITY].loss_error < 0.0051);
	assert_true(p[FACTOR_MEMORY].loss > 0.1);
	diagnosis_free(&d);
	diag_window_free(&w);
}

/* A host with a little of everything. */
static struct diag_window mixed(void)
{
	static const struct made_vcpu v[] = {
		{ "web", 0, 1, 0.6, 10, 10, 0, 1.5, 0 },
		{ "web", 1, 1, 0.6, 10, 10, 0, 1.5, 0.5 },
		{ "db", 0, 0, 0.7, 30, 4, 12, 1, 0 },
		{ "db", 0, 0, 0.7, 30, 4, 12, 1, 0 },
		{ "batch", 1, 1, 0.4, 40, 38, 0, 6, 0 },
	};
	const struct made_host host = { .nodes = 2,
					.vcpus = v,
					.nvcpus = 5,
					.mem_wait = { 5, 10 },
					.tracker_wait = { 1, 2 },
					.tracker_full = { 0.1, 0.2 } };

	return made_window(&host);
}

static void parts_and_rest_sum_to_the_stall(void **state)
{
	struct diag_window w = mixed();
	struct diagnosis d = made_diagnosis(&w);

	(void)state;
	for (size_t i = 0; i < d.nvms; i++)
		for (unsigned n = 0; n < 3; n++) {
			const struct diag_vm_node *v =
				n < 2 ? &d.vms[i].node[n] : &d.vms[i].all;
			double sum = v->rest;

			for (int f = 0; f < FACTORS; f++)
				sum += v->part[f].cycles;
			assert_true(fabs(sum - v->stall) <= 1e-9 * v->stall);
			assert_true(v->stall <= v->cycles);
		}
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void an_unmeasured_role_gives_a_reason_not_a_zero(void **state)
{
	struct diag_window w = mixed();
	struct diagnosis d;

	(void)state;
	made_missing(&w, ROLE_TRACKER_FULL, READ_UNSUPPORTED, "no such event on this CPU");
	made_missing(&w, ROLE_TRACKER_OCCUPANCY, READ_UNSUPPORTED, NULL);
	made_missing(&w, ROLE_SHARED_HITM, READ_TAKEN, "perf holds it");
	made_missing(&w, ROLE_REMOTE_HITM, READ_TAKEN, "perf holds it");
	d = made_diagnosis(&w);
	for (size_t i = 0; i < d.nvms; i++) {
		const struct diag_part *p = d.vms[i].all.part;

		assert_false(p[FACTOR_TRACKERS].measured);
		assert_non_null(strstr(p[FACTOR_TRACKERS].why, "tracker.full of node"));
		assert_non_null(
			strstr(p[FACTOR_TRACKERS].why, "no such event on this CPU"));
		assert_false(p[FACTOR_SHARING].measured);
		assert_string_equal(p[FACTOR_SHARING].why,
				    "shared.hitm has no value: taken: perf holds it");
		assert_true(p[FACTOR_LOCALITY].measured);
		assert_non_null(strstr(d.vms[i].sentence, "not measured here: "));
	}
	assert_int_equal(d.vms[0].top, FACTOR_LOCALITY);
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void few_roles_still_show_a_wrong_placement(void **state)
{
	static const enum role kept[] = { ROLE_INSTRUCTIONS, ROLE_CYCLES, ROLE_LLC_MISSES,
					  ROLE_DRAM_LOCAL, ROLE_DRAM_REMOTE };
	const struct made_vcpu v[] = { { "web", 0, 1, 0.5, 10, 10, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 1 };
	struct diag_window w = made_window(&host);
	struct diagnosis d;

	(void)state;
	for (int r = 0; r < ROLES; r++) {
		bool keep = false;

		for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
			keep |= (int)kept[i] == r;
		if (!keep)
			made_missing(&w, (enum role)r, READ_UNSUPPORTED, NULL);
	}
	d = made_diagnosis(&w);
	assert_int_equal(d.vms[0].top, FACTOR_LOCALITY);
	assert_false(d.vms[0].all.part[FACTOR_MEMORY].measured);
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void without_counters_a_wrong_placement_is_told_without_a_figure(void **state)
{
	const struct made_vcpu v[] = { { "far", 0, 1, 0.5, 10, 10, 0, 1, 0 },
				       { "near", 1, 1, 0.5, 10, 10, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	struct diagnosis d;

	(void)state;
	for (int r = ROLE_LLC_REFS; r < ROLES; r++)
		made_missing(&w, (enum role)r, READ_UNSUPPORTED, NULL);
	d = made_diagnosis(&w);
	assert_true(d.vms[0].misplaced);
	assert_int_equal(d.vms[0].top, FACTOR_LOCALITY);
	assert_false(d.vms[0].all.part[FACTOR_LOCALITY].measured);
	assert_non_null(strstr(d.vms[0].sentence, "100 % of its memory is not on node 0"));
	assert_false(d.vms[1].misplaced);
	assert_int_equal(d.vms[1].top, -1);
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void without_readings_it_says_that_it_does_not_know(void **state)
{
	struct diag_window w = mixed();
	struct diagnosis d;

	(void)state;
	for (int r = 0; r < ROLES; r++)
		made_missing(&w, (enum role)r, READ_DENIED, NULL);
	d = made_diagnosis(&w);
	for (size_t i = 0; i < d.nvms; i++) {
		assert_true(d.vms[i].unknown);
		assert_false(d.vms[i].all.part[FACTOR_LOCALITY].measured);
		assert_true(d.vms[i].misplaced || d.vms[i].top == -1);
		assert_non_null(strstr(d.vms[i].sentence,
				       d.vms[i].misplaced
					       ? "no counter here tells"
					       : "too little could be measured"));
	}
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void uncertainty_grows_with_the_error_of_the_readings(void **state)
{
	struct diag_window w = mixed();
	double last = -1;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct diagnosis d;

		made_uncertain(&w, 0.05 * i);
		d = made_diagnosis(&w);
		assert_true(d.vms[0].all.part[FACTOR_LOCALITY].loss_error > last);
		last = d.vms[0].all.part[FACTOR_LOCALITY].loss_error;
		diagnosis_free(&d);
	}
	diag_window_free(&w);
}

static void what_is_known_too_badly_to_be_named_is_told_as_a_doubt(void **state)
{
	const struct made_vcpu v[] = { { "web", 0, 1, 0.5, 1, 1, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 1 };
	struct diag_window w = made_window(&host);
	struct diagnosis d = made_diagnosis(&w);

	(void)state;
	assert_int_equal(d.vms[0].doubt, -1);
	diagnosis_free(&d);
	made_uncertain(&w, 5);
	d = made_diagnosis(&w);
	assert_int_equal(d.vms[0].top, -1);
	assert_int_equal(d.vms[0].doubt, FACTOR_LOCALITY);
	assert_non_null(strstr(d.vms[0].sentence, "it may lose 11 %"));
	assert_non_null(strstr(d.vms[0].sentence, "to remote data: longer windows tell"));
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void a_wait_that_is_measured_badly_is_believed_less(void **state)
{
	const struct made_vcpu v[] = { { "a", 0, 0, 0.5, 40, 40, 0, 1, 0 } };
	const struct made_host host = {
		.nodes = 2, .vcpus = v, .nvcpus = 1, .mem_wait = { 60 }
	};
	struct diag_window w = made_window(&host);
	double last = 1;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct quantity *q =
			&w.node[0].role[ROLE_MEM_READ_OCCUPANCY - ROLE_OF_NODE];
		struct diagnosis d;

		q->error = 0.3 * i * q->value;
		d = made_diagnosis(&w);
		assert_true(d.vms[0].all.part[FACTOR_MEMORY].loss < last);
		last = d.vms[0].all.part[FACTOR_MEMORY].loss;
		diagnosis_free(&d);
	}
	diag_window_free(&w);
}

static void names_do_not_matter(void **state)
{
	struct diag_window w = mixed();
	struct diagnosis d = made_diagnosis(&w), swapped;
	struct diag_vm vm = w.vms[0];

	(void)state;
	w.vms[0] = w.vms[2];
	w.vms[2] = vm;
	swapped = made_diagnosis(&w);
	for (size_t i = 0; i < 3; i++)
		for (int f = 0; f < FACTORS; f++)
			assert_true(fabs(d.vms[i].all.part[f].loss -
					 swapped.vms[2 - i].all.part[f].loss) < 1e-4);
	diagnosis_free(&d);
	diagnosis_free(&swapped);
	diag_window_free(&w);
}

static void a_sockets_reads_are_attributed_to_the_count(void **state)
{
	struct diag_window w = mixed();
	struct diagnosis d;

	(void)state;
	w.node[1].role[ROLE_MEM_READS - ROLE_OF_NODE].value += 12345678;
	d = made_diagnosis(&w);
	for (unsigned n = 0; n < 2; n++) {
		const struct diag_socket *s = &d.node[n];

		assert_true(fabs(s->attributed + s->unattributed - s->mem_lines.value) < 1);
		assert_true(fabs(s->unattributed - (n ? 12345678 : 0)) < 10);
	}
	diagnosis_free(&d);
	diag_window_free(&w);
}

static void windows_merge_to_their_sum(void **state)
{
	struct diag_window a = mixed(), b = mixed(), sum;
	const struct diag_window *both[] = { &a, &b };

	(void)state;
	made_uncertain(&b, 0.1);
	b.vms[1].vcpus[0].role[ROLE_LLC_REFS].state = READ_SCALED;
	assert_int_equal(diag_window_merge(both, 2, &sum), 0);
	assert_true(sum.seconds == 2);
	for (int r = 0; r < ROLE_OF_NODE; r++) {
		const struct quantity *q = &a.vms[1].vcpus[0].role[r];

		assert_true(sum.vms[1].vcpus[0].role[r].value == 2 * q->value);
		assert_true(fabs(sum.vms[1].vcpus[0].role[r].error - 0.1 * q->value) < 1);
	}
	assert_int_equal(sum.vms[1].vcpus[0].role[ROLE_LLC_REFS].state, READ_SCALED);
	assert_true(sum.vms[0].mem_node[1] == a.vms[0].mem_node[1]);
	diag_window_free(&sum);
	b.vms[0].id[0]++;
	assert_int_equal(diag_window_merge(both, 2, &sum), -EINVAL);
	diag_window_free(&a);
	diag_window_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vm_that_computes_has_nothing_wrong),
		cmocka_unit_test(
			memory_on_the_wrong_node_loses_to_remote_data_and_nothing_else),
		cmocka_unit_test(lines_written_elsewhere_are_sharing),
		cmocka_unit_test(clean_lines_of_others_are_what_is_not_dirty_of_them),
		cmocka_unit_test(
			misses_that_nothing_answers_are_dirty_elsewhere_if_sockets_gave),
		cmocka_unit_test(a_queue_at_the_memory_is_seen_in_its_occupancy),
		cmocka_unit_test(trackers_that_are_full_make_all_wait),
		cmocka_unit_test(who_would_be_slower_without_a_factor_loses_nothing_to_it),
		cmocka_unit_test(parts_and_rest_sum_to_the_stall),
		cmocka_unit_test(an_unmeasured_role_gives_a_reason_not_a_zero),
		cmocka_unit_test(few_roles_still_show_a_wrong_placement),
		cmocka_unit_test(
			without_counters_a_wrong_placement_is_told_without_a_figure),
		cmocka_unit_test(without_readings_it_says_that_it_does_not_know),
		cmocka_unit_test(uncertainty_grows_with_the_error_of_the_readings),
		cmocka_unit_test(what_is_known_too_badly_to_be_named_is_told_as_a_doubt),
		cmocka_unit_test(a_wait_that_is_measured_badly_is_believed_less),
		cmocka_unit_test(names_do_not_matter),
		cmocka_unit_test(a_sockets_reads_are_attributed_to_the_count),
		cmocka_unit_test(windows_merge_to_their_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
