/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tally read from another pCPU while its vCPU runs. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/core/host_world.h"

#define FOLDS 300000

static struct opened a;
static uint32_t ended;

/* Seven events each nanosecond, on both counters. */
static void *run(void *unused)
{
	for (unsigned i = 0; i < FOLDS; i++) {
		fake_run(&world.f[0], VPMU_MODE_USER, 1, 7);
		world.clock++;
		vpmu_host_fold(&world.p[0]);
		if (i % 1000 == 0)
			sched_yield();
	}
	__atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
	return unused;
}

static void what_is_read_is_of_one_moment_and_never_runs_backwards(void **state)
{
	struct vpmu_count c[VPMU_SET_EVENTS];
	unsigned moments = 0;
	uint64_t last = 0;
	pthread_t thread;

	(void)state;
	world_opened(&a, &world.vm[0], 2, (const unsigned[]) { 1, 1 }, 0);
	world_in(0, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
	while (!__atomic_load_n(&ended, __ATOMIC_SEQ_CST)) {
		int rc = vpmu_tally_read(&a.tally[0], c);

		if (rc == -EAGAIN)
			continue;
		assert_int_equal(rc, 0);
		assert_int_equal(c[0].running_ns, c[0].enabled_ns);
		assert_int_equal(c[0].offset.sum, 7 * c[0].enabled_ns);
		assert_int_equal(c[1].offset.sum, c[0].offset.sum);
		assert_true(c[0].enabled_ns >= last);
		moments += c[0].enabled_ns != last;
		last = c[0].enabled_ns;
	}
	pthread_join(thread, NULL);
	assert_int_equal(vpmu_tally_read(&a.tally[0], c), 0);
	assert_int_equal(c[1].offset.sum, 7 * FOLDS);
	assert_true(moments > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			what_is_read_is_of_one_moment_and_never_runs_backwards,
			world_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
