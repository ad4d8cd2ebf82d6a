/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose counts those are: VMs and vCPUs that come, go, and are not known yet. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "counting_world.h"

static void a_vm_that_dies_is_counted_to_its_end(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);
	struct fake_vm *db = fake_vm_add(&w.src, "db", 200, 1);

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	assert_int_equal(counting_alive(w.c), 2);
	fake_count(&db->vcpus[0], 0, 5000000, 9 * MS, 9 * MS);
	world_interval(&w);
	fake_count(&db->vcpus[0], 0, 7, 1000, 1000);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	fake_vm_end(db);
	assert_int_equal(counting_tick(w.c, NULL),
			 0); /* told at once, not at the interval */
	world_notes(&w, "db: VM ended (process 200 exited)\n");
	assert_int_equal(db->vcpus[0].closes, 1);
	assert_int_equal(counting_alive(w.c), 1);
	world_interval(&w);
	assert_int_equal(world_find(&w, "db", -1, "cycles")->r.value, 7);
	world_interval(&w);
	assert_int_equal(w.nseen, 2); /* web's only */
	world_totals(&w);
	assert_int_equal(world_find(&w, "db", -1, "cycles")->r.value, 5000007);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.value, 4000000);
	world_end(&w);
}

static void vms_and_vcpus_that_come_are_counted_from_there_on(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);
	struct fake_vm *brief = fake_vm_add(&w.src, "brief", 300, 1);
	struct fake_vm *db;

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_vcpu_add(web);
	db = fake_vm_add(&w.src, "db", 200, 1);
	fake_vm_end(brief); /* makes the session look */
	world_interval(&w);
	world_notes(&w, "brief: VM ended (process 300 exited)\n"
			"web: vCPU 1 appeared (thread 102), measured from here on\n"
			"db: VM started (process 200), measured from here on\n");
	/* what came late is measured from its own start, not over the whole interval */
	assert_true(world_find(&w, "db", -1, "cycles")->interval_ns <
		    world_find(&w, "web", -1, "cycles")->interval_ns);
	fake_count(&web->vcpus[1], 0, 3000000, 9 * MS, 9 * MS);
	fake_count(&db->vcpus[0], 0, 2000000, 9 * MS, 9 * MS);
	world_interval(&w);
	assert_true(world_find(&w, "db", -1, "cycles")->interval_ns ==
		    world_find(&w, "web", -1, "cycles")->interval_ns);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.value, 3000000);
	assert_int_equal(world_find(&w, "db", -1, "cycles")->r.value, 2000000);
	assert_int_equal(web->vcpus[0].opens, 1);
	world_end(&w);
}

static void nothing_to_count_is_an_error_that_names_the_pattern(void **state)
{
	const struct target nobody = { "nobody", { world_events, 2, 2 } };
	struct world w = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, &err), -ENOENT);
	assert_non_null(strstr(err.text, "vmmprof check"));
	fake_vm_add(&w.src, "web", 100, 1);
	assert_int_equal(world_start(&w, &nobody, 1, &err), -ENOENT);
	assert_non_null(strstr(err.text, "nobody"));
	world_end(&w);
}

static void a_vm_whose_threads_are_not_known_yet_is_waited_for(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);
	struct fake_vm *brief = fake_vm_add(&w.src, "brief", 300, 0);

	(void)state;
	web->vcpus[0].thread_unknown = true;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	assert_int_equal(counting_alive(w.c), 2);
	assert_true(counting_partial(w.c));
	assert_false(counting_measured(w.c));
	web->vcpus[0].thread_unknown = false;
	fake_vm_end(brief); /* makes the session look */
	world_interval(&w);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.value, 4000000);
	assert_false(counting_partial(w.c));
	assert_true(counting_measured(w.c));
	world_end(&w);
}

static void a_thread_that_ends_before_its_events_open_is_no_failure(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 2);

	(void)state;
	web->vcpus[1].open_fails = -ESRCH;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.value, 4000000);
	world_end(&w);
	w = (struct world) { 0 };
	fake_vm_add(&w.src, "web", 100, 1)->vcpus[0].open_fails = -EMFILE;
	assert_int_equal(world_start(&w, &everything, 1, NULL), -EMFILE);
	world_end(&w);
}

static void a_sum_without_all_vcpus_is_suspect_and_says_how_many_are_missing(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 3);
	struct fake_vm *brief = fake_vm_add(&w.src, "brief", 300, 0);

	(void)state;
	web->vcpus[1].thread_unknown = web->vcpus[2].thread_unknown = true;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.value, 4000000);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	assert_non_null(
		strstr(world_find(&w, "web", -1, "cycles")->reason, "2 of its vCPUs are"));
	/* one is found, and cannot be opened */
	web->vcpus[1].thread_unknown = web->vcpus[2].thread_unknown = false;
	web->vcpus[2].open_fails = -EMFILE;
	fake_vm_end(brief);
	world_interval(&w);
	assert_non_null(
		strstr(world_find(&w, "web", -1, "cycles")->reason, "1 of its vCPUs is"));
	fake_vm_end(web);
	world_interval(&w);
	world_totals(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.value, 4000000);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	assert_true(counting_partial(w.c));
	world_end(&w);
}

static void a_vcpu_that_is_lost_from_sight_and_found_again_is_counted_once(void **state)
{
	struct world w = { .per_vcpu = true };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 2);
	struct fake_vm *brief[2] = { fake_vm_add(&w.src, "a", 300, 0),
				     fake_vm_add(&w.src, "b", 400, 0) };
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 1000, 9 * MS, 9 * MS);
	world_interval(&w);
	sum += world_find(&w, "web", -1, "cycles")->r.value;
	web->vcpus[0].thread_unknown = true;
	fake_vm_end(brief[0]);
	world_interval(&w);
	sum += world_find(&w, "web", -1, "cycles")->r.value;
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	web->vcpus[0].thread_unknown = false;
	memset(web->vcpus[0].now, 0, sizeof(web->vcpus[0].now)); /* counters are new */
	fake_vm_end(brief[1]);
	world_interval(&w);
	fake_count(&web->vcpus[0], 0, 500, 9 * MS, 9 * MS);
	world_interval(&w);
	sum += world_find(&w, "web", -1, "cycles")->r.value;
	assert_int_equal(web->vcpus[0].opens, 2);
	assert_int_equal(web->vcpus[0].closes, 1);
	world_totals(&w);
	assert_int_equal(sum, 1500);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.value, sum);
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vm_that_dies_is_counted_to_its_end),
		cmocka_unit_test(vms_and_vcpus_that_come_are_counted_from_there_on),
		cmocka_unit_test(nothing_to_count_is_an_error_that_names_the_pattern),
		cmocka_unit_test(a_vm_whose_threads_are_not_known_yet_is_waited_for),
		cmocka_unit_test(a_thread_that_ends_before_its_events_open_is_no_failure),
		cmocka_unit_test(
			a_sum_without_all_vcpus_is_suspect_and_says_how_many_are_missing),
		cmocka_unit_test(
			a_vcpu_that_is_lost_from_sight_and_found_again_is_counted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
