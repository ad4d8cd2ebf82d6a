/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own counters on this very process: software events need no PMU. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fdlimit.h"
#include "base/vec.h"
#include "source/kvm/kvm.h"

static struct event software(const char *name, uint64_t config, int group)
{
	struct event ev = { .kind = EVENT_SOFTWARE,
			    .type = PERF_TYPE_SOFTWARE,
			    .config = config,
			    .side = SIDE_BOTH,
			    .group = group };

	snprintf(ev.name, sizeof(ev.name), "%s", name);
	return ev;
}

static struct vm self_vm(void)
{
	return (struct vm) { .name = "self", .pid = getpid(), .accel = ACCEL_NONE };
}

/* Opens @set on this thread; skips the test where the kernel does not allow that. */
static struct counters *opened_on_self(const struct event_set *set, struct opened *opened)
{
	static struct source src = { .root = { -1 }, .live = true };
	const struct vm vm = self_vm();
	const struct vcpu vcpu = { .tid = gettid() };
	struct counters *c = NULL;

	assert_int_equal(kvm_source.counters_open(&src, &vm, &vcpu, set, opened, &c, NULL),
			 0);
	if (opened[0].state == READ_DENIED ||
	    strstr(opened[0].reason, "CONFIG_PERF_EVENTS")) {
		kvm_source.counters_close(c);
		skip();
	}
	return c;
}

static void burn(void)
{
	for (volatile int i = 0; i < 2000000; i++)
		;
}

static void lone_and_grouped_events_are_read_each_with_its_own_value(void **state)
{
	struct event ev[] = {
		software("task-clock", PERF_COUNT_SW_TASK_CLOCK, 0),
		software("dummy", PERF_COUNT_SW_DUMMY, -1),
		software("page-faults", PERF_COUNT_SW_PAGE_FAULTS, 0),
		software("cpu-clock", PERF_COUNT_SW_CPU_CLOCK, 0),
	};
	struct event_set set = { ev, ARRAY_SIZE(ev), ARRAY_SIZE(ev) };
	struct opened opened[ARRAY_SIZE(ev)];
	struct reading r[ARRAY_SIZE(ev)];
	struct counters *c = opened_on_self(&set, opened);

	(void)state;
	burn();
	assert_int_equal(kvm_source.counters_read(c, r), 0);
	for (size_t i = 0; i < set.n; i++)
		assert_int_equal(r[i].state, READ_COUNTED);
	assert_true(r[0].raw > 100000); /* ns */
	assert_int_equal(r[1].raw, 0);
	assert_true(r[3].raw > 100000);
	assert_true(r[2].raw < 10000);
	assert_int_equal(r[0].enabled_ns, r[3].enabled_ns);
	assert_int_equal(r[0].running_ns, r[0].enabled_ns);
	kvm_source.counters_close(c);
}

static void an_event_that_cannot_be_had_leaves_the_others(void **state)
{
	struct event ev[] = {
		software("task-clock", PERF_COUNT_SW_TASK_CLOCK, 0),
		software("no-such", 9999, 0),
		software("cpu-clock", PERF_COUNT_SW_CPU_CLOCK, 0),
	};
	struct event_set set = { ev, ARRAY_SIZE(ev), ARRAY_SIZE(ev) };
	struct opened opened[ARRAY_SIZE(ev)];
	struct reading r[ARRAY_SIZE(ev)];
	struct counters *c = opened_on_self(&set, opened);

	(void)state;
	burn();
	assert_int_equal(kvm_source.counters_read(c, r), 0);
	assert_int_equal(r[0].state, READ_COUNTED);
	assert_int_equal(r[1].state, READ_UNSUPPORTED);
	assert_non_null(strstr(r[1].reason, "no-such"));
	assert_int_equal(r[2].state, READ_COUNTED);
	assert_true(r[2].raw > 100000);
	kvm_source.counters_close(c);
}

static void a_thread_that_is_gone_cannot_be_counted(void **state)
{
	struct source src = { .root = { -1 }, .live = true };
	struct event ev = software("task-clock", PERF_COUNT_SW_TASK_CLOCK, -1);
	struct event_set set = { &ev, 1, 1 };
	const struct vcpu vcpu = { .index = 3, .tid = 0x3fffffff };
	const struct vm vm = self_vm();
	struct opened opened;
	struct counters *c = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(
		kvm_source.counters_open(&src, &vm, &vcpu, &set, &opened, &c, &err),
		-ESRCH);
	assert_non_null(strstr(err.text, "vCPU 3"));
}

static void descriptors_are_counted_before_they_are_opened(void **state)
{
	struct rlimit old, low = { 64, 64 };
	struct fdlimit now;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(fdlimit_read(&now), 0);
	assert_true(now.in_use >= 3 && now.in_use < 64);
	getrlimit(RLIMIT_NOFILE, &old);
	low.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_NOFILE, &low);
	assert_int_equal(fdlimit_reserve(old.rlim_max / 2, &err),
			 0); /* raises the soft one */
	assert_int_equal(fdlimit_reserve(UINT32_MAX, &err), -EMFILE);
	assert_non_null(strstr(err.text, "4294967"));
	assert_non_null(strstr(err.text, "ulimit -n"));
	setrlimit(RLIMIT_NOFILE, &old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lone_and_grouped_events_are_read_each_with_its_own_value),
		cmocka_unit_test(an_event_that_cannot_be_had_leaves_the_others),
		cmocka_unit_test(a_thread_that_is_gone_cannot_be_counted),
		cmocka_unit_test(descriptors_are_counted_before_they_are_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
