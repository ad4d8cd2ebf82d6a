/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "numa_window.h"

/* A placement for hosts of a few one-vCPU VMs. */
struct moved {
	int vcpu[4], *row[4], mem[4];
	struct diag_placement to;
};

static void stay(struct moved *m)
{
	for (int i = 0; i < 4; i++) {
		m->vcpu[i] = m->mem[i] = -1;
		m->row[i] = &m->vcpu[i];
	}
	m->to = (struct diag_placement) { m->row, m->mem };
}

static struct prediction predicted(const struct diag_window *w, const struct moved *m)
{
	struct prediction p;

	assert_int_equal(predict(w, &m->to, &p), 0);
	return p;
}

static const struct made_vcpu away[] = { { "web", 0, 1, 0.5, 10, 10, 0, 1, 0 },
					 { "calc", 1, 1, 0.5, 0, 0, 0, 1, 0 } };
static const struct made_host away_host = { .nodes = 2, .vcpus = away, .nvcpus = 2 };
/* 10 misses per 1000 instructions at 110 ns or at 70, 2 GHz. */
static const double away_gain = (0.5 + 0.01 * 110 * 2) / (0.5 + 0.01 * 70 * 2);

static void nothing_moved_is_nothing_gained(void **state)
{
	struct diag_window w = made_window(&away_host);
	struct prediction p;
	struct moved m;

	(void)state;
	stay(&m);
	p = predicted(&w, &m);
	assert_true(fabs(p.speed[0] - 1) < 1e-3 && fabs(p.speed[1] - 1) < 1e-3);
	assert_true(fabs(p.host - 1) < 1e-3);
	prediction_free(&p);
	diag_window_free(&w);
}

static void memory_moved_home_takes_the_extra_latency_away(void **state)
{
	struct diag_window w = made_window(&away_host);
	struct prediction p;
	struct moved m;

	(void)state;
	stay(&m);
	m.mem[0] = 0;
	p = predicted(&w, &m);
	assert_true(fabs(p.speed[0] - away_gain) < 0.01 * away_gain);
	assert_true(fabs(p.speed[1] - 1) < 0.01);
	assert_true(fabs(p.host - sqrt(away_gain)) < 0.01);
	/* all of it, in time; the other VM has nothing to do with that */
	assert_true(fabs(p.cost[0][FACTOR_LOCALITY] - (1 / away_gain - 1)) < 0.01);
	assert_true(fabs(p.cost[1][FACTOR_LOCALITY]) < 0.01);
	prediction_free(&p);
	diag_window_free(&w);
}

static void a_vcpu_moved_to_its_memory_gains_the_same(void **state)
{
	struct diag_window w = made_window(&away_host);
	struct prediction p;
	struct moved m;

	(void)state;
	stay(&m);
	m.vcpu[0] = 1;
	p = predicted(&w, &m);
	assert_true(fabs(p.speed[0] - away_gain) < 0.01 * away_gain);
	prediction_free(&p);
	diag_window_free(&w);
}

static void there_and_back_is_where_it_was(void **state)
{
	const struct made_vcpu home = { "web", 0, 0, 0.5, 10, 10, 0, 1, 0 };
	const struct made_host host = { .nodes = 2, .vcpus = &home, .nvcpus = 1 };
	struct diag_window w = made_window(&host);
	struct prediction p;
	struct moved m;

	(void)state;
	stay(&m);
	m.vcpu[0] = 1;
	p = predicted(&w, &m);
	assert_true(fabs(p.speed[0] * away_gain - 1) < 0.01);
	prediction_free(&p);
	diag_window_free(&w);
}

/* Three fill the link to node 0, and their memory comes home. */
static double gain_of_leaving_a_full_link(const struct diag_window *w)
{
	struct prediction p;
	struct moved m;
	double gain;

	stay(&m);
	for (int i = 0; i < 3; i++)
		m.mem[i] = 0;
	p = predicted(w, &m);
	gain = p.speed[0];
	prediction_free(&p);
	return gain;
}

static void lines_wait_for_a_link_no_longer_than_requests_are_in_flight(void **state)
{
	const struct made_vcpu v[] = { { "web", 0, 1, 0.5, 60, 60, 0, 10, 0 },
				       { "db", 0, 1, 0.5, 60, 60, 0, 10, 0 },
				       { "mail", 0, 1, 0.5, 60, 60, 0, 10, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 3 };
	const double time = 0.5 + 0.06 * 110 * 2 / 10;
	struct diag_window w = made_window(&host);

	(void)state;
	/* Requests were in flight for the 110 ns of a remote read, so nothing waits. */
	assert_true(
		fabs(gain_of_leaving_a_full_link(&w) * (0.5 + 0.06 * 70 * 2 / 10) / time -
		     1) < 0.02);
	/* Where nobody counted them: no more than the core has buffers. */
	made_missing(&w, ROLE_OUTSTANDING, READ_UNSUPPORTED, "no such event");
	double longest = 10 * time / 2 / 0.06, stall = time - 0.5;

	assert_true(gain_of_leaving_a_full_link(&w) <
		    1.02 * time / (0.5 + stall * 70 / longest));
	diag_window_free(&w);
}

static void four_on_three_cores_get_less_of_them(void **state)
{
	struct made_vcpu v[4];
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 4 };
	struct diag_window w;
	struct prediction p;
	struct moved m;
	static const char *const names[] = { "a", "b", "c", "d" };

	(void)state;
	for (int i = 0; i < 4; i++)
		v[i] = (struct made_vcpu) { names[i], i == 3, i == 3, 0.5, 0, 0, 0, 1, 0 };
	w = made_window(&host);
	w.machine.cores = 3;
	stay(&m);
	m.vcpu[3] = 0;
	p = predicted(&w, &m);
	for (int i = 0; i < 4; i++)
		assert_true(fabs(p.speed[i] - 0.75) < 0.01);
	prediction_free(&p);
	diag_window_free(&w);
}

static void a_stream_moved_away_gives_the_cache_back(void **state)
{
	const struct made_vcpu v[] = { { "cache", 0, 0, 0.5, 30, 15, 0, 1, 0 },
				       { "stream", 0, 0, 0.5, 40, 40, 0, 5, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	struct prediction p;
	struct moved m;

	(void)state;
	stay(&m);
	m.vcpu[1] = m.mem[1] = 1;
	p = predicted(&w, &m);
	assert_true(p.speed[0] > 1.15);
	assert_true(p.cost[0][FACTOR_LLC] < -0.05);
	prediction_free(&p);
	diag_window_free(&w);
}

/* Few hits may be those of a small part of it; not if its L2, too, gives only as much as
 * it would of all of it used evenly. */
static void a_footprint_that_the_own_l2_confirms_is_expected_to_fit(void **state)
{
	const struct made_vcpu v[] = { { "cache", 0, 0, 0.5, 30, 25, 0, 1, 0 },
				       { "sweep", 0, 0, 0.5, 40, 40, 0, 5, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	struct quantity *kept = &w.vms[0].vcpus[0].role[ROLE_PRIVATE_HITS];
	double refs = w.vms[0].vcpus[0].role[ROLE_LLC_REFS].value, doubted;
	struct prediction p;
	struct moved m;

	(void)state;
	stay(&m);
	m.vcpu[1] = m.mem[1] = 1;
	*kept = (struct quantity) { .value = refs };
	p = predicted(&w, &m);
	doubted = p.speed[0];
	prediction_free(&p);
	*kept = (struct quantity) { .value = 0.03 * refs };
	p = predicted(&w, &m);
	assert_true(p.speed[0] > doubted + 0.1);
	prediction_free(&p);
	diag_window_free(&w);
}

/*
 * A VM lives in its own L2 of 256 KB, and a stream is moved to its LLC of 8 MB. Each time
 * that the stream has filled it, an inclusive LLC has put out all lines of the VM's, too.
 */
static void who_lives_in_his_l2_loses_it_to_a_stream_if_the_llc_is_inclusive(void **state)
{
	const struct made_vcpu v[] = { { "inner", 0, 0, 0.5, 0, 0, 0, 1, 0 },
				       { "stream", 1, 1, 0.5, 40, 40, 0, 9, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	struct quantity *role = w.vms[0].vcpus[0].role;
	struct prediction p;
	struct moved m;

	(void)state;
	stay(&m);
	m.vcpu[1] = m.mem[1] = 0;
	role[ROLE_PRIVATE_HITS] =
		(struct quantity) { .value = 0.01 * role[ROLE_INSTRUCTIONS].value };
	p = predicted(&w, &m);
	assert_true(fabs(p.speed[0] - 1) < 1e-3);
	prediction_free(&p);

	double refills = w.vms[1].vcpus[0].role[ROLE_LLC_MISSES].value * 64 / (8 << 20);
	double least = 512 * refills * 70e-9, most = 4096 * refills * 140e-9;

	w.machine.inclusive = true;
	p = predicted(&w, &m);
	assert_true(1 - p.speed[0] > least && 1 - p.speed[0] < most);
	/* how much of its L2 it lives in nobody knows */
	assert_true(p.error[0] > (1 - p.speed[0]) / 2);
	prediction_free(&p);
	diag_window_free(&w);
}

static void vcpus_that_write_the_same_lines_lose_if_parted(void **state)
{
	const struct made_vcpu v[] = { { "db", 0, 0, 0.5, 20, 0, 18, 1, 0 },
				       { "db", 0, 0, 0.5, 20, 0, 18, 1, 0 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 2 };
	struct diag_window w = made_window(&host);
	int vcpus[] = { -1, 1 }, *rows[] = { vcpus }, mem = -1;
	const struct diag_placement to = { rows, &mem };
	struct prediction p;

	(void)state;
	assert_int_equal(predict(&w, &to, &p), 0);
	assert_true(p.speed[0] < 0.6);
	/* in time: by half of all that it took before, at least */
	assert_true(p.cost[0][FACTOR_LOCALITY] > 0.5);
	prediction_free(&p);
	diag_window_free(&w);
}

static void vcpus_that_ran_by_turns_slow_each_other_once_they_meet(void **state)
{
	const struct made_vcpu v[] = { { "db", 0, 0, 0.5, 5, 0, 4, 1, 0.5 },
				       { "db", 0, 0, 0.5, 5, 0, 4, 1, 0.5 },
				       { "calc", 0, 0, 0.5, 0, 0, 0, 1, 0.5 } };
	const struct made_host host = { .nodes = 2, .vcpus = v, .nvcpus = 3 };
	struct diag_window w = made_window(&host);
	int db[] = { -1, 0 }, calc[] = { -1 }, *rows[] = { db, calc }, mem[] = { -1, -1 };
	const struct diag_placement to = { rows, mem };
	struct diag_vcpu *waits = &w.vms[0].vcpus[1];
	struct prediction p;

	(void)state;
	waits->role[ROLE_WAITED] = (struct quantity) { .value = 5e8 };
	w.vms[0].vcpus[0].choices = waits->choices = w.vms[1].vcpus[0].choices = 1;
	waits->cpu = w.vms[1].vcpus[0].cpu = 1;
	assert_int_equal(predict(&w, &to, &p), 0);
	/* The first waits for lines 0.16 of its 0.43 ns, all of that in the half of its
	 * time in which the second runs, too: alone an instruction takes 0.27 ns, and one
	 * in five 0.8 ns more. Once the second runs all the time all do. It gets twice the
	 * time itself, and meets the first as often as before. */
	assert_true(fabs(p.speed[0] - (0.43 / 1.07 + 2) / 2) < 0.02);
	prediction_free(&p);
	diag_window_free(&w);
}

static void doubt_grows_with_the_error_of_the_readings(void **state)
{
	struct diag_window w = made_window(&away_host);
	double last = 0;
	struct moved m;

	(void)state;
	stay(&m);
	m.mem[0] = 0;
	for (int i = 0; i < 3; i++) {
		struct prediction p;

		made_uncertain(&w, 0.05 * i);
		p = predicted(&w, &m);
		assert_true(p.error[0] > last);
		last = p.error[0];
		prediction_free(&p);
	}
	diag_window_free(&w);
}

static void a_node_that_is_not_there_is_refused(void **state)
{
	struct diag_window w = made_window(&away_host);
	struct prediction p;
	struct moved m;

	(void)state;
	stay(&m);
	m.vcpu[1] = 2;
	assert_int_equal(predict(&w, &m.to, &p), -EINVAL);
	stay(&m);
	m.mem[0] = 7;
	assert_int_equal(predict(&w, &m.to, &p), -EINVAL);
	diag_window_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_moved_is_nothing_gained),
		cmocka_unit_test(memory_moved_home_takes_the_extra_latency_away),
		cmocka_unit_test(a_vcpu_moved_to_its_memory_gains_the_same),
		cmocka_unit_test(there_and_back_is_where_it_was),
		cmocka_unit_test(
			lines_wait_for_a_link_no_longer_than_requests_are_in_flight),
		cmocka_unit_test(four_on_three_cores_get_less_of_them),
		cmocka_unit_test(a_stream_moved_away_gives_the_cache_back),
		cmocka_unit_test(a_footprint_that_the_own_l2_confirms_is_expected_to_fit),
		cmocka_unit_test(
			who_lives_in_his_l2_loses_it_to_a_stream_if_the_llc_is_inclusive),
		cmocka_unit_test(vcpus_that_write_the_same_lines_lose_if_parted),
		cmocka_unit_test(vcpus_that_ran_by_turns_slow_each_other_once_they_meet),
		cmocka_unit_test(doubt_grows_with_the_error_of_the_readings),
		cmocka_unit_test(a_node_that_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
