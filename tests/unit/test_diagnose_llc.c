/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a VM's LLC misses the diagnosis takes for others' doing. */
#include "test.h"

#include <math.h>

#include "numa_window.h"

static void who_takes_the_cache_of_another_is_named(void **state)
{
	const struct made_vcpu v[] = { { "cache", 0, 0, 0.5, 30, 15, 0, 1, 0 },
				       { "stream", 0, 0, 0.5, 40, 40, 0, 1, 0 },
				       { "calc", 0, 0, 0.5, 0.2, 0.01, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 3 };
	struct diag_window w = made_window(&host);
	struct diagnosis d = made_diagnosis(&w);
	const struct diag_result *r = &d.vms[0];

	(void)state;
	assert_int_equal(r->top, FACTOR_LLC);
	assert_int_equal(r->cause[FACTOR_LLC][0].vm, 1);
	assert_true(r->cause[FACTOR_LLC][0].share > 0.9);
	assert_int_equal(d.vms[1].top, -1);
	assert_int_equal(d.vms[2].top, -1);
	diagnosis_free(&d);
	diag_window_free(&w);
}

/* A VM beside a stream that sweeps through the LLC. */
struct swept {
	double refs, misses, memory;
	double kept;  /* per 1000 instructions its own L2 gives; < 0: nobody counts that */
	double error; /* of all readings, as a share of them */
};

static struct diag_part swept(struct swept s)
{
	const struct made_vcpu v[] = { { "cache", 0, 0, 0.5, s.refs, s.misses, 0, 1, 0 },
				       { "stream", 0, 0, 0.5, 40, 40, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	struct quantity *q = w.vms[0].vcpus[0].role;
	struct diagnosis d;
	struct diag_part part;

	w.vms[0].mem_node[0] = s.memory;
	if (s.kept >= 0)
		q[ROLE_PRIVATE_HITS] =
			(struct quantity) { .value = q[ROLE_INSTRUCTIONS].value * s.kept /
						     1000 };
	made_uncertain(&w, s.error);
	d = made_diagnosis(&w);
	part = d.vms[0].all.part[FACTOR_LLC];
	diagnosis_free(&d);
	diag_window_free(&w);
	return part;
}

static void a_footprint_is_no_larger_than_the_vms_memory(void **state)
{
	double small = swept((struct swept) { 30, 29.9, 10e6, -1, 0 }).loss;

	(void)state;
	assert_true(small > 0.1);
	assert_true(small > 3 * swept((struct swept) { 30, 29.9, 100e6, -1, 0 }).loss);
}

/* Fewer misses while a line stays than its L2 has lines, and none hits. */
static double put_out(double kept, double memory)
{
	return swept((struct swept) { 0.05, 0.05, memory, kept, 0 }).loss;
}

static void what_private_caches_give_again_tells_if_lines_were_put_out_of_them(void **state)
{
	const double all = (70 - 20) * 0.05e-3 * 2 / (0.5 + 0.05e-3 * 70 * 2);

	(void)state;
	assert_true(put_out(5, 1e9) > 0.7 * all);
	assert_true(put_out(0.0005, 1e9) < 0.5 * all);	/* a footprint of 1.5 LLCs … */
	assert_true(put_out(0.00005, 1e9) < 0.2 * all); /* … and of many */
	assert_true(put_out(0, 1e9) < 0.2 * all);
	assert_true(fabs(put_out(0, 4e6) - all) < 0.1 * all); /* it fits, whatever it is */
}

static void without_that_the_memory_tells_if_it_could_have_fitted(void **state)
{
	(void)state;
	assert_true(put_out(-1, 4e6) > 0.007);
	assert_true(put_out(-1, 1e9) < 0.003);
	assert_true(put_out(-1, 1e9) > put_out(0, 1e9));
}

static void an_error_of_both_requests_and_misses_makes_no_hits(void **state)
{
	const struct diag_part part = swept((struct swept) { 30, 30, 1e9, -1, 0.05 });

	(void)state;
	assert_true(part.loss < 0.05);
	assert_true(part.loss_error < 0.02);
}

static void a_footprint_that_is_not_known_is_an_uncertain_loss(void **state)
{
	/* 1.5 LLCs or more; 4 MB of memory, whatever it uses of that. */
	struct diag_part unknown = swept((struct swept) { 0.05, 0.05, 1e9, 0.0005, 0 });
	struct diag_part known = swept((struct swept) { 0.05, 0.05, 4e6, 0.0005, 0 });

	(void)state;
	assert_true(unknown.loss_error / unknown.loss > known.loss_error / known.loss);
}

/* The loss of a VM beside a stream, of two windows with so many misses each. */
static double of_windows(double first, double second)
{
	const double misses[] = { first, second };
	struct diag_window w[2], both;
	const struct diag_window *each[] = { &w[0], &w[1] };
	struct diagnosis d;
	double loss;

	for (int i = 0; i < 2; i++) {
		const struct made_vcpu v[] = { { "cache", 0, 0, 0.5, 30, misses[i], 0, 1,
						 0 },
					       { "stream", 0, 0, 0.5, 40, 40, 0, 1, 0 } };
		const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };

		w[i] = made_window(&host);
	}
	assert_int_equal(diag_window_merge(each, 2, &both), 0);
	d = made_diagnosis(&both);
	loss = d.vms[0].all.part[FACTOR_LLC].loss;
	diagnosis_free(&d);
	diag_window_free(&both);
	diag_window_free(&w[0]);
	diag_window_free(&w[1]);
	return loss;
}

static void misses_that_fade_are_of_lines_touched_for_the_first_time(void **state)
{
	(void)state;
	assert_true(of_windows(5, 0.1) < 0.02);
	assert_true(of_windows(0.1, 5) > 0.05);
	assert_true(of_windows(5, 5) > 0.1);
}

static void a_vm_that_has_the_cache_for_itself_loses_nothing_of_it(void **state)
{
	const struct made_vcpu v[] = { { "cache", 0, 0, 0.5, 30, 15, 0, 1, 0 },
				       { "cache", 0, 0, 0.5, 0.05, 0.05, 0, 1, 0 },
				       { "stream", 1, 1, 0.5, 40, 40, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 3 };
	struct diag_window w = made_window(&host);
	struct diagnosis d = made_diagnosis(&w);

	(void)state;
	assert_true(d.vms[0].all.part[FACTOR_LLC].loss == 0);
	assert_true(d.vms[0].all.part[FACTOR_LLC].cycles == 0);
	diagnosis_free(&d);
	diag_window_free(&w);
}

/*
 * Six VMs use footprints of 2 MB evenly, of which their own L2s of 1 MB have half. An LLC
 * of 8 MB has what the L2s have, and what is left of it for the rest: a third of that.
 */
static void footprints_that_own_caches_share_evenly_are_known(void **state)
{
	const double refs = 20, hit = (8.0 / 6 - 1) / (2 - 1);
	const double misses = refs * (1 - hit);
	const double now = 0.5 + 0.002 * (refs * hit * 20 + misses * 70);
	const double alone = 0.5 + 0.002 * refs * 20;
	struct made_vcpu v[6];
	struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 6 };
	static const char *const names[] = { "a", "b", "c", "d", "e", "f" };

	(void)state;
	for (int i = 0; i < 6; i++)
		v[i] = (struct made_vcpu) { names[i], 0, 0, 0.5, refs, misses, 0, 1, 0 };
	struct diag_window w = made_window(&host);

	w.machine.l2_bytes = 1 << 20;
	for (int i = 0; i < 6; i++) {
		struct quantity *q = w.vms[i].vcpus[0].role;

		q[ROLE_PRIVATE_HITS] =
			(struct quantity) { .value = q[ROLE_LLC_REFS].value };
	}
	struct diagnosis d = made_diagnosis(&w);

	assert_true(fabs(d.vms[0].all.part[FACTOR_LLC].loss - (1 - alone / now)) < 0.05);
	diagnosis_free(&d);
	diag_window_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_takes_the_cache_of_another_is_named),
		cmocka_unit_test(a_footprint_is_no_larger_than_the_vms_memory),
		cmocka_unit_test(
			what_private_caches_give_again_tells_if_lines_were_put_out_of_them),
		cmocka_unit_test(without_that_the_memory_tells_if_it_could_have_fitted),
		cmocka_unit_test(an_error_of_both_requests_and_misses_makes_no_hits),
		cmocka_unit_test(a_footprint_that_is_not_known_is_an_uncertain_loss),
		cmocka_unit_test(misses_that_fade_are_of_lines_touched_for_the_first_time),
		cmocka_unit_test(footprints_that_own_caches_share_evenly_are_known),
		cmocka_unit_test(a_vm_that_has_the_cache_for_itself_loses_nothing_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
