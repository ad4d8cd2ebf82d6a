/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numa_window.h"

static const char *const cpus[DIAG_NODES] = { "0-3",   "4-7",	"8-11",	 "12-15",
					      "16-19", "20-23", "24-27", "28-31" };
static const struct advise_config usual = {
	.least = 0.05, .most_moves = 8, .move_memory = true, .move_vcpus = true
};

static struct advice advised(const struct diag_window *w,
			     const struct advise_config *config)
{
	const struct diag_window *windows[] = { w, w };
	struct advice a;

	assert_int_equal(advise(windows, 2, config, cpus, &a), 0);
	return a;
}

static const struct made_vcpu away[] = { { "web", 0, 1, 0.5, 10, 10, 0, 1, 0 },
					 { "calc", 1, 1, 0.5, 0, 0, 0, 1, 0 } };
static const struct made_host away_host = { .nodes = 2, .vcpus = away, .nvcpus = 2 };

static void a_vm_and_its_memory_are_brought_together_by_one_move(void **state)
{
	struct diag_window w = made_window(&away_host);
	struct advice a = advised(&w, &usual);
	const double gain = (0.5 + 0.01 * 110 * 2) / (0.5 + 0.01 * 70 * 2);

	(void)state;
	assert_int_equal(a.nmoves, 1);
	assert_string_equal(a.moves[0].vm_id, "web");
	assert_true(fabs(a.prediction.speed[0] - gain) < 0.01);
	assert_int_equal(a.falls, FACTOR_LOCALITY);
	assert_int_equal(a.rises, FACTORS);
	assert_non_null(strstr(a.sentence, "Move web's "));
	advice_free(&a);
	diag_window_free(&w);
}

static void what_is_known_too_badly_is_told_but_not_advised(void **state)
{
	struct diag_window w = made_window(&away_host);
	struct advise_config config = usual;
	struct advice a;

	(void)state;
	made_uncertain(&w, 0.5);
	a = advised(&w, &config);
	assert_int_equal(a.nmoves, 0);
	assert_non_null(strstr(a.bolder, "Move web's "));
	assert_non_null(strstr(a.sentence, "none is advised"));
	advice_free(&a);
	config.bold = true;
	a = advised(&w, &config);
	assert_int_equal(a.nmoves, 1);
	assert_string_equal(a.bolder, "");
	advice_free(&a);
	diag_window_free(&w);
}

static void what_may_not_move_is_not_moved(void **state)
{
	struct diag_window w = made_window(&away_host);
	struct advise_config config = usual;
	struct advice a;

	(void)state;
	config.move_memory = false;
	a = advised(&w, &config);
	assert_int_equal(a.nmoves, 1);
	assert_int_equal(a.moves[0].kind, MOVE_VCPU);
	assert_int_equal(a.moves[0].vcpu, 0);
	assert_string_equal(a.moves[0].cpus, "4-7");
	assert_non_null(strstr(a.sentence, "Move web's vCPU to node 1"));
	advice_free(&a);
	config = usual;
	config.move_vcpus = false;
	a = advised(&w, &config);
	assert_int_equal(a.nmoves, 1);
	assert_int_equal(a.moves[0].kind, MOVE_MEMORY);
	assert_int_equal(a.moves[0].node, 0);
	assert_non_null(strstr(a.sentence, "Move web's memory to node 0"));
	advice_free(&a);
	diag_window_free(&w);
}

/* Where each vCPU is known to be, it has a pCPU of its own, bound or not. */
static void seat(struct diag_window *w, size_t vm, int cpu, unsigned choices)
{
	w->vms[vm].vcpus[0].cpu = cpu;
	w->vms[vm].vcpus[0].choices = choices;
}

static void a_vcpu_moves_to_a_pcpu_that_nobody_is_on(void **state)
{
	struct diag_window w = made_window(&away_host);
	struct advise_config config = usual;
	struct advice a;

	(void)state;
	config.move_memory = false;
	seat(&w, 0, 0, 1);
	seat(&w, 1, 4, 4);
	a = advised(&w, &config);
	assert_int_equal(a.nmoves, 1);
	assert_string_equal(a.moves[0].vm_id, "web");
	assert_string_equal(a.moves[0].cpus, "5");
	advice_free(&a);
	diag_window_free(&w);
}

static void who_waits_for_a_pcpu_gets_a_free_one_of_its_node(void **state)
{
	const struct made_vcpu v[] = { { "web", 0, 0, 0.5, 0, 0, 0, 1, 0.5 },
				       { "calc", 0, 0, 0.5, 0, 0, 0, 1, 0.5 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	struct advice a;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		seat(&w, i, 2, 1);
		w.vms[i].vcpus[0].role[ROLE_WAITED] = (struct quantity) { .value = 5e8 };
	}
	a = advised(&w, &usual);
	assert_int_equal(a.nmoves, 1);
	assert_string_equal(a.moves[0].cpus, "0");
	for (size_t i = 0; i < 2; i++)
		assert_true(fabs(a.prediction.speed[i] - 2) < 0.01);
	assert_int_equal(a.falls, FACTORS); /* none of the five has to do with it */
	assert_null(strstr(a.sentence, "less"));
	advice_free(&a);
	diag_window_free(&w);
}

static void without_counters_memory_is_brought_home_and_nothing_is_predicted(void **state)
{
	const struct made_vcpu v[] = { { "far", 0, 1, 0.5, 10, 10, 0, 1, 0 },
				       { "near", 1, 1, 0.5, 10, 10, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	struct advice a;

	(void)state;
	for (int r = ROLE_LLC_REFS; r < ROLES; r++)
		made_missing(&w, (enum role)r, READ_UNSUPPORTED, NULL);
	a = advised(&w, &usual);
	assert_int_equal(a.nmoves, 1);
	assert_int_equal(a.moves[0].kind, MOVE_MEMORY);
	assert_int_equal(a.moves[0].node, 0);
	assert_string_equal(a.moves[0].vm_id, w.vms[0].id);
	assert_true(a.prediction.speed[0] == 0);
	assert_non_null(strstr(a.sentence, "no counter here tells what that gains"));
	advice_free(&a);
	diag_window_free(&w);
}

static void where_all_is_well_nothing_is_advised(void **state)
{
	const struct made_vcpu v[] = { { "web", 0, 0, 0.5, 10, 10, 0, 1, 0 },
				       { "calc", 1, 1, 0.5, 0, 0, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	struct advice a = advised(&w, &usual);

	(void)state;
	assert_int_equal(a.nmoves, 0);
	assert_non_null(strstr(a.sentence, "No move is predicted to help"));
	advice_free(&a);
	diag_window_free(&w);
}

static void nothing_is_advised_below_the_noise(void **state)
{
	struct diag_window w = made_window(&away_host);
	struct advice a;

	(void)state;
	made_uncertain(&w, 0.6);
	a = advised(&w, &usual);
	assert_int_equal(a.nmoves, 0);
	assert_non_null(strstr(a.sentence, "twice the noise"));
	advice_free(&a);
	diag_window_free(&w);
}

static void of_moves_that_are_not_all_certain_the_certain_one_is_advised(void **state)
{
	const struct made_vcpu v[] = { { "web", 0, 1, 0.5, 10, 10, 0, 1, 0 },
				       { "batch", 0, 1, 0.5, 20, 20, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	struct advice a;

	(void)state;
	for (int r = 0; r < ROLE_OF_NODE; r++) {
		struct quantity *q = &w.vms[1].vcpus[0].role[r];

		q->error = 0.6 * q->value;
	}
	a = advised(&w, &usual);
	assert_true(a.nmoves > 0);
	for (size_t i = 0; i < a.nmoves; i++)
		assert_string_equal(a.moves[i].vm_id, "web");
	assert_true(a.prediction.speed[0] > 1.2);
	advice_free(&a);
	diag_window_free(&w);
}

static void one_good_window_is_not_enough(void **state)
{
	const struct made_vcpu well[] = { { "web", 0, 0, 0.5, 10, 10, 0, 1, 0 },
					  { "calc", 1, 1, 0.5, 0, 0, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = well, .nvcpus = 2 };
	struct diag_window bad = made_window(&away_host), good = made_window(&host);
	const struct diag_window *windows[] = { &bad, &good, &bad };
	struct advice a;

	(void)state;
	assert_int_equal(advise(windows, 3, &usual, cpus, &a), 0);
	assert_int_equal(a.nmoves, 0);
	advice_free(&a);
	diag_window_free(&bad);
	diag_window_free(&good);
}

static void no_vm_pays_for_anothers_gain(void **state)
{
	/* Node 1 is full of VMs that are at home there. */
	const struct made_vcpu v[] = { { "web", 0, 1, 0.5, 10, 10, 0, 1, 0 },
				       { "a", 1, 1, 0.5, 5, 5, 0, 1, 0 },
				       { "b", 1, 1, 0.5, 5, 5, 0, 1, 0 },
				       { "c", 1, 1, 0.5, 5, 5, 0, 1, 0 },
				       { "d", 1, 1, 0.5, 5, 5, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 5 };
	struct diag_window w = made_window(&host);
	struct advise_config config = usual;
	struct advice a;

	(void)state;
	config.move_memory = false;
	a = advised(&w, &config);
	for (size_t i = 0; i < a.nmoves; i++)
		for (size_t k = 0; k < w.nvms; k++)
			assert_true(a.prediction.speed[k] >= 0.98);
	advice_free(&a);
	a = advised(&w, &usual);
	assert_int_equal(a.nmoves, 1);
	assert_int_equal(a.moves[0].kind, MOVE_MEMORY);
	advice_free(&a);
	diag_window_free(&w);
}

static void two_vms_in_each_others_place_change_places(void **state)
{
	/* Both nodes are full; who is at home there has its memory there. */
	const struct made_vcpu v[] = {
		{ "left", 0, 1, 0.5, 12, 12, 0, 1, 0 },	 { "a", 0, 0, 0.5, 4, 4, 0, 1, 0 },
		{ "b", 0, 0, 0.5, 4, 4, 0, 1, 0 },	 { "c", 0, 0, 0.5, 4, 4, 0, 1, 0 },
		{ "right", 1, 0, 0.5, 12, 12, 0, 1, 0 }, { "d", 1, 1, 0.5, 4, 4, 0, 1, 0 },
		{ "e", 1, 1, 0.5, 4, 4, 0, 1, 0 },	 { "f", 1, 1, 0.5, 4, 4, 0, 1, 0 },
	};
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 8 };
	struct diag_window w = made_window(&host);
	struct advise_config config = usual;
	struct advice a;

	(void)state;
	config.move_memory = false;
	a = advised(&w, &config);
	assert_int_equal(a.nmoves, 2);
	assert_string_equal(a.moves[0].vm_id, "left");
	assert_string_equal(a.moves[0].cpus, "4-7");
	assert_string_equal(a.moves[1].vm_id, "right");
	assert_string_equal(a.moves[1].cpus, "0-3");
	assert_true(a.prediction.speed[0] > 1.2 && a.prediction.speed[4] > 1.2);
	advice_free(&a);
	diag_window_free(&w);
}

static void of_moves_that_gain_the_same_the_fewest_are_advised(void **state)
{
	const struct made_vcpu v[] = { { "web", 0, 1, 0.5, 10, 10, 0, 1, 0 },
				       { "web", 0, 1, 0.5, 10, 10, 0, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	struct advise_config config = usual;
	struct advice memory = advised(&w, &usual), vcpus;

	(void)state;
	config.move_memory = false;
	vcpus = advised(&w, &config);
	assert_int_equal(vcpus.nmoves, 2);
	assert_int_equal(memory.nmoves, 1);
	assert_int_equal(memory.moves[0].kind, MOVE_MEMORY);
	assert_true(fabs(vcpus.prediction.speed[0] - memory.prediction.speed[0]) < 0.01);
	advice_free(&memory);
	advice_free(&vcpus);
	diag_window_free(&w);
}

/* The first VM's two vCPUs write the same lines, which cross sockets for that: 40 ns, 20 of
 * them for the way; within a socket it would be 15. The way goes away altogether, but is
 * the less. */
static void write_the_same_lines(struct diag_window *w)
{
	w->machine.remote_modified_ns = w->machine.modified_ns;
	w->machine.modified_ns = 15;
	w->machine.remote_ns = w->machine.local_ns + 20;
	for (size_t c = 0; c < 2; c++) {
		struct quantity *q = w->vms[0].vcpus[c].role;

		q[ROLE_REMOTE_HITM] = q[ROLE_SHARED_HITM];
		q[ROLE_SHARED_HITM].value = 0;
		q[ROLE_LLC_MISSES].value += q[ROLE_REMOTE_HITM].value;
	}
}

static void who_writes_the_same_lines_on_two_sockets_is_packed(void **state)
{
	const struct made_vcpu v[] = { { "web", 0, 0, 0.5, 10, 0.01, 9.9, 1, 0 },
				       { "web", 1, 0, 0.5, 10, 0.01, 9.9, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	struct diagnosis d;
	struct advice a;

	(void)state;
	write_the_same_lines(&w);
	d = made_diagnosis(&w);
	a = advised(&w, &usual);
	assert_int_equal(a.nmoves, 1);
	assert_int_equal(a.moves[0].kind, MOVE_VCPU);
	assert_true(a.prediction.speed[0] > 1.4);
	assert_int_equal(d.vms[0].top, FACTOR_SHARING);
	assert_int_equal(a.falls, FACTOR_SHARING);
	assert_non_null(strstr(a.sentence, "; less lines that other cores write"));
	diagnosis_free(&d);
	advice_free(&a);
	diag_window_free(&w);
}

/* All pCPUs are taken: its vCPUs come together only if one changes places with another's.
 */
static void on_a_full_host_single_vcpus_change_places(void **state)
{
	const struct made_vcpu v[] = {
		{ "web", 0, 0, 0.5, 10, 0.01, 9.9, 1, 0 },
		{ "web", 1, 0, 0.5, 10, 0.01, 9.9, 1, 0 },
		{ "calc", 0, 0, 0.5, 0, 0, 0, 1, 0 },
		{ "calc", 0, 0, 0.5, 0, 0, 0, 1, 0 },
		{ "calc", 0, 0, 0.5, 0, 0, 0, 1, 0 },
		{ "batch", 1, 1, 0.5, 0, 0, 0, 1, 0 },
		{ "batch", 1, 1, 0.5, 0, 0, 0, 1, 0 },
		{ "batch", 1, 1, 0.5, 0, 0, 0, 1, 0 },
	};
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 8 };
	struct diag_window w = made_window(&host);
	struct advice a;

	(void)state;
	write_the_same_lines(&w);
	a = advised(&w, &usual);
	assert_int_equal(a.nmoves, 2);
	assert_string_equal(a.moves[0].vm_id, "web");
	assert_int_equal(a.moves[0].kind, MOVE_VCPU);
	assert_int_equal(a.moves[1].kind, MOVE_VCPU);
	assert_int_equal(a.moves[0].node, 1 - a.moves[1].node);
	assert_true(a.prediction.speed[0] > 1.4);
	assert_true(a.prediction.speed[1] > 0.99 && a.prediction.speed[2] > 0.99);
	advice_free(&a);
	diag_window_free(&w);
}

static void what_a_move_makes_worse_is_named(void **state)
{
	/* Its memory comes to where it runs, and where others' reads queue. */
	const struct made_vcpu v[] = { { "web", 0, 1, 0.5, 10, 10, 0, 1, 0 },
				       { "stream", 0, 0, 0.5, 20, 20, 0, 8, 0 },
				       { "stream", 0, 0, 0.5, 20, 20, 0, 8, 0 },
				       { "stream", 0, 0, 0.5, 20, 20, 0, 8, 0 } };
	const struct made_host host = {
		.nodes = 2, .vcpus = v, .nvcpus = 4, .mem_wait = { 5 }
	};
	struct diag_window w = made_window(&host);
	struct advise_config config = usual;
	struct advice a;

	(void)state;
	config.move_vcpus = false;
	a = advised(&w, &config);
	assert_int_equal(a.nmoves, 1);
	assert_string_equal(a.moves[0].vm_id, "web");
	assert_int_equal(a.falls, FACTOR_LOCALITY);
	assert_int_equal(a.rises, FACTOR_MEMORY);
	assert_non_null(strstr(a.sentence, "less remote data, more queueing for memory"));
	advice_free(&a);
	diag_window_free(&w);
}

static void sixty_four_vms_on_eight_nodes_are_cheap(void **state)
{
	struct diag_window w = made_crowd();
	struct diagnosis d;
	struct advice a;

	(void)state;
	made_uncertain(&w, 0.01);
	assert_int_equal(diagnose(&w, &d), 0);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(d.vms[i].top == FACTOR_LOCALITY, i % 9 == 0);
	/* 256 vCPUs, at most 40 roles, six solutions of at most 300 steps; in truth far
	 * less. */
	assert_true(d.evaluations < 256ul * 40 * 6 * 40);
	diagnosis_free(&d);
	a = advised(&w, &usual);
	assert_true(a.nmoves > 0 && a.nmoves <= usual.most_moves);
	advice_free(&a);
	diag_window_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vm_and_its_memory_are_brought_together_by_one_move),
		cmocka_unit_test(what_is_known_too_badly_is_told_but_not_advised),
		cmocka_unit_test(what_may_not_move_is_not_moved),
		cmocka_unit_test(a_vcpu_moves_to_a_pcpu_that_nobody_is_on),
		cmocka_unit_test(who_waits_for_a_pcpu_gets_a_free_one_of_its_node),
		cmocka_unit_test(
			without_counters_memory_is_brought_home_and_nothing_is_predicted),
		cmocka_unit_test(where_all_is_well_nothing_is_advised),
		cmocka_unit_test(nothing_is_advised_below_the_noise),
		cmocka_unit_test(
			of_moves_that_are_not_all_certain_the_certain_one_is_advised),
		cmocka_unit_test(one_good_window_is_not_enough),
		cmocka_unit_test(no_vm_pays_for_anothers_gain),
		cmocka_unit_test(two_vms_in_each_others_place_change_places),
		cmocka_unit_test(of_moves_that_gain_the_same_the_fewest_are_advised),
		cmocka_unit_test(who_writes_the_same_lines_on_two_sockets_is_packed),
		cmocka_unit_test(on_a_full_host_single_vcpus_change_places),
		cmocka_unit_test(what_a_move_makes_worse_is_named),
		cmocka_unit_test(sixty_four_vms_on_eight_nodes_are_cheap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
