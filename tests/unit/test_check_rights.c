/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a user may do, and how much of it, as vmmprof check foretells it. */
#include "test.h"

#include <errno.h>
#include <stdio.h>

#include "check_host.h"

static void too_few_descriptors_are_foretold(void **state)
{
	struct event ev[100] = { 0 };
	struct event_set set = { ev, 100, 100 };
	const struct capability_ask ask = { .events = &set };

	(void)state;
	for (size_t i = 0; i < 100; i++)
		ev[i].kind = EVENT_SOFTWARE;
	host_put("proc/77/stat",
		 "77 (work) S 1 77 77 0 -1 0 0 0 0 0 0 0 0 0 20 0 41 0 100 0 0 0\n");
	for (int t = 77; t < 77 + 41; t++) {
		char path[64];

		snprintf(path, sizeof(path), "proc/77/task/%d/stat", t);
		host_put(path, "");
	}
	host_put("proc/self/status", USER_CAPS);
	host_put("proc/sys/kernel/perf_event_paranoid", "-1");
	assert_true(host_look(&played, &ask, 1, 77) & ABLE_ASKED);
	host_expect("descriptors", VERDICT_LIMITED,
		    "41 vCPUs need 4132 descriptors, at most 4096", "ulimit -n 4132");
	host_remove(NULL);
	host_make(NULL);
	host_put("proc/77/stat",
		 "77 (work) S 1 77 77 0 -1 0 0 0 0 0 0 0 0 0 20 0 41 0 100 0 0 0\n");
	host_put("proc/77/task/77/stat", "");
	assert_false(host_look(&played, &ask, 1, 77) & ABLE_ASKED);
	host_expect("descriptors", VERDICT_OK, "1 vCPUs need 132 of at most 1048576", "");
}

static void rings_that_cannot_be_full_size_are_foretold(void **state)
{
	(void)state;
	host_put("proc/self/status", USER_CAPS);
	host_put("proc/self/limits",
		 LIMITS "Max locked memory         65536    65536    bytes\n");
	host_put("proc/77/stat",
		 "77 (work) S 1 77 77 0 -1 0 0 0 0 0 0 0 0 0 20 0 41 0 100 0 0 0\n");
	for (int t = 77; t < 77 + 9; t++) {
		char path[64];

		snprintf(path, sizeof(path), "proc/77/task/%d/stat", t);
		host_put(path, "");
	}
	host_look(&played, NULL, 0, 77);
	host_expect("mlock", VERDICT_LIMITED, "2128 KiB for the rings of 9 vCPUs",
		    "mlock_kb=1162");
	host_remove(NULL);
	host_make(NULL);
	host_put("proc/self/status", USER_CAPS);
	host_put("proc/self/limits",
		 LIMITS "Max locked memory         unlimited  unlimited  bytes\n");
	host_look(&played, NULL, 0, 0);
	host_expect("mlock", VERDICT_OK, "no limit", "");
}

static void level_3_refuses_an_ordinary_user_everything(void **state)
{
	(void)state;
	host_put("proc/self/status", USER_CAPS);
	host_put("proc/sys/kernel/perf_event_paranoid", "3");
	assert_true(host_look(NULL, NULL, 0, 0) & ABLE_SOFTWARE);
	host_expect("paranoid", VERDICT_MISSING, "perf_event_paranoid is 3",
		    "setcap cap_perfmon");
	host_expect("processes", VERDICT_LIMITED, "CAP_SYS_PTRACE", "cap_sys_ptrace");
}

static void level_3_of_a_kernel_that_lets_users_in_is_believed(void **state)
{
	(void)state;
	host_put("proc/self/status", USER_CAPS);
	host_put("proc/sys/kernel/perf_event_paranoid", "3");
	play.refuse_kernel = EACCES;
	assert_int_equal(host_look(&played, NULL, 0, 0), ABLE_KERNEL | ABLE_FIND);
	host_expect("paranoid", VERDICT_LIMITED, "user mode of your own VMs only",
		    "sysctl");
	host_expect("counters", VERDICT_OK, "7", "");
}

static void level_1_lets_a_user_count_his_own(void **state)
{
	(void)state;
	host_put("proc/self/status", USER_CAPS);
	host_put("proc/sys/kernel/perf_event_paranoid", "1");
	assert_int_equal(host_look(NULL, NULL, 0, 0), ABLE_FIND);
	host_expect("paranoid", VERDICT_OK, "an ordinary user", "");
	host_expect("kptr-restrict", VERDICT_OK, "readable", "");
	host_expect("mlock", VERDICT_OK, "2064 KiB: full rings for 4 vCPUs", "");
}

static void level_3_of_debian_refuses_cap_perfmon_too(void **state)
{
	(void)state;
	host_put("proc/self/status",
		 "Name:\tx\nUid:\t1000\t1000\nCapEff:\t0000004000080004\n");
	host_put("proc/sys/kernel/perf_event_paranoid", "3");
	play.refuse = EACCES;
	assert_true(host_look(&played, NULL, 0, 0) & ABLE_SOFTWARE);
	host_expect("paranoid", VERDICT_MISSING, "not even CAP_PERFMON",
		    "perf_event_paranoid=2");
	host_expect("processes", VERDICT_OK, "every process", "");
}

static void a_container_that_refuses_root_is_told_from_a_setting(void **state)
{
	(void)state;
	play.refuse = EACCES;
	assert_true(host_look(&played, NULL, 0, 0) & ABLE_SOFTWARE);
	host_expect("paranoid", VERDICT_MISSING, "refused although CAP_PERFMON is held",
		    "seccomp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		check_test(too_few_descriptors_are_foretold),
		check_test(rings_that_cannot_be_full_size_are_foretold),
		check_test(level_3_refuses_an_ordinary_user_everything),
		check_test(level_3_of_a_kernel_that_lets_users_in_is_believed),
		check_test(level_1_lets_a_user_count_his_own),
		check_test(level_3_of_debian_refuses_cap_perfmon_too),
		check_test(a_container_that_refuses_root_is_told_from_a_setting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
