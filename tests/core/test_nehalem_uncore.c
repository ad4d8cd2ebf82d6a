/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A socket's PMU: a "pCPU" on which one "vCPU", the socket, runs all the time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/pmu/nehalem_uncore_regs.h"
#include "core/vpmu.h"
#include "numasim/pmu_uncore.h"
#include "tests/core/hw_x86.h"

#define ALL (VPMU_EVENT_USER | VPMU_EVENT_KERNEL)

struct socket {
	struct hw_x86 hw;
	struct pmu_uncore pmu;
};

struct opened {
	struct vpmu_set set;
	struct vpmu_tally tally;
};

static struct {
	struct socket socket;
	uint64_t clock;
	struct vpmu m;
	struct vpmu_pcpu p;
	struct vpmu_vm vm;
	struct vpmu_vcpu v;
} world;

static int power_on(unsigned model)
{
	static const struct vpmu_upcalls none;
	const struct vpmu_config config = { .host_counters = UNCORE_GP, .turn_ns = 1000 };
	const struct vpmu_hw *hw = &world.socket.hw.hw.hw;
	const char *why;
	int rc;

	memset(&world, 0, sizeof(world));
	pmu_uncore_init(&world.socket.pmu, model);
	hw_x86_init(&world.socket.hw, &world.socket.pmu.x86, NULL, &world.clock);
	rc = vpmu_init(&world.m, &vpmu_nehalem_uncore, &none, &config, hw, &why);
	if (rc)
		return rc;
	assert_int_equal(vpmu_pcpu_up(&world.p, &world.m, 0, hw, &why), 0);
	vpmu_vm_init(&world.vm, &world.m, false, NULL);
	vpmu_vcpu_init(&world.v, &world.vm, 0, NULL);
	vpmu_switch_in(&world.p, &world.v);
	return 0;
}

static int begin(void **state)
{
	(void)state;
	return power_on(0x2c);
}

static int try_open(struct opened *o, unsigned n, const uint64_t *config)
{
	unsigned bad;
	int rc;

	*o = (struct opened) { .set = { .n = n, .tally = &o->tally, .ntallies = 1 } };
	for (unsigned i = 0; i < n; i++)
		o->set.event[i] = (struct vpmu_event) { .config = config[i], .flags = ALL };
	rc = vpmu_set_check(&world.m, &o->set, false, &bad);
	if (!rc)
		rc = vpmu_host_add(&world.m, &world.vm, &o->set);
	if (!rc)
		vpmu_host_refresh(&world.p, &world.v);
	return rc;
}

static void run(uint64_t event, uint64_t n)
{
	struct hw_event e = { event, n };

	hw_x86_run(&world.socket.hw.hw, VPMU_MODE_HYP, &e, 1);
}

static uint64_t counted(const struct opened *o, unsigned i)
{
	struct vpmu_count counts[VPMU_SET_EVENTS];

	vpmu_host_fold(&world.p);
	assert_int_equal(vpmu_tally_read(&o->tally, counts), 0);
	return counts[i].offset.sum;
}

static void it_is_found_on_nehalem_and_westmere_only(void **state)
{
	static const unsigned models[] = { 0x1a, 0x1e, 0x1f, 0x25, 0x2c };

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(power_on(models[i]), 0);
		assert_int_equal(x86_bits(world.m.caps.host), 9);
	}
	assert_int_equal(power_on(0x2a), -ENODEV);
	assert_int_equal(power_on(0x1b), -ENODEV);
}

static void what_firmware_left_on_stands_still(void **state)
{
	(void)state;
	for (unsigned i = 0; i < UNCORE_GP; i++) {
		assert_int_equal(world.socket.pmu.x86.value[i], 0);
		assert_int_equal(world.socket.pmu.x86.select[i], 0);
	}
	assert_int_equal(world.socket.pmu.x86.global, 0);
	assert_int_equal(world.socket.pmu.x86.status, 0);
}

static void eight_events_and_the_clock_are_counted_at_once_to_the_count(void **state)
{
	static const uint64_t eight[] = { 0x100, 0x101, 0x103, 0x203,
					  0x104, 0x108, 0x12f, 0x12c };
	static const uint64_t clock = UNCORE_CLOCK;
	struct opened a, b;

	(void)state;
	assert_int_equal(try_open(&a, 8, eight), 0);
	assert_int_equal(try_open(&b, 1, &clock), 0);
	assert_int_equal(world.vm.plan->nturns, 1);
	for (unsigned i = 0; i < 8; i++)
		run(eight[i], 1000 + i);
	run(UNCORE_CLOCK, 77);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(counted(&a, i), 1000 + i);
	assert_int_equal(counted(&b, 0), 77);
}

static void a_counter_that_wraps_between_two_reads_loses_nothing(void **state)
{
	static const uint64_t config = 0x103;
	const uint64_t much = (1ULL << UNCORE_WIDTH) - 10;
	struct opened a;

	(void)state;
	assert_int_equal(try_open(&a, 1, &config), 0);
	for (unsigned i = 1; i < 5; i++) {
		run(config, much);
		assert_int_equal(counted(&a, 0), i * much);
	}
	assert_true(world.socket.pmu.x86.status);
	assert_false(world.socket.pmu.x86.waiting);
}

static void more_events_than_counters_take_turns(void **state)
{
	static const uint64_t config[] = { 0x101, 0x102, 0x103, 0x104,
					   0x105, 0x106, 0x107, 0x108 };
	struct vpmu_count c[VPMU_SET_EVENTS];
	struct opened a, b;

	(void)state;
	assert_int_equal(try_open(&a, 8, config), 0);
	assert_int_equal(try_open(&b, 8, config), 0);
	assert_int_equal(world.vm.plan->nturns, 2);
	for (unsigned i = 0; i < 10; i++) {
		run(0x105, 500);
		world.clock += 1000;
		vpmu_host_turn(&world.p);
	}
	assert_int_equal(counted(&a, 4), 2500);
	assert_int_equal(counted(&b, 4), 2500);
	assert_int_equal(vpmu_tally_read(&b.tally, c), 0);
	assert_int_equal(c[4].enabled_ns, 10000);
	assert_int_equal(c[4].running_ns, 5000);
}

static void counters_given_away_are_not_touched_again(void **state)
{
	static const uint64_t config[] = { 0x101, 0x102, 0x103, 0x104,
					   0x105, 0x106, 0x107, 0x108 };
	struct opened a;
	struct pmu_x86 before;

	(void)state;
	assert_int_equal(try_open(&a, 8, config), 0);
	assert_int_equal(vpmu_host_give(&world.m, 0xf0), 0);
	vpmu_host_refresh(&world.p, &world.v);
	assert_int_equal(world.vm.plan->nturns, 2);
	assert_int_equal(world.socket.pmu.x86.global & 0xf0, 0);
	before = world.socket.pmu.x86;
	for (unsigned i = 0; i < 10; i++) {
		run(0x105, 500);
		world.clock += 1000;
		vpmu_host_turn(&world.p);
	}
	assert_int_equal(vpmu_host_give(&world.m, 0xf), -EBUSY);
	assert_memory_equal(&before.value[4], &world.socket.pmu.x86.value[4], 32);
	assert_memory_equal(&before.select[4], &world.socket.pmu.x86.select[4], 32);
	assert_int_equal(counted(&a, 4), 2500);
}

static void what_open_sets_cannot_do_without_is_not_given_away(void **state)
{
	static const uint64_t clock = UNCORE_CLOCK;
	struct opened a;

	(void)state;
	assert_int_equal(try_open(&a, 1, &clock), 0);
	assert_int_equal(vpmu_host_give(&world.m, 1ULL << UNCORE_FIXED), -EBUSY);
	run(clock, 5);
	assert_int_equal(counted(&a, 0), 5);
	assert_int_equal(world.m.caps.host, UNCORE_COUNTERS);
}

static void an_event_whose_counters_were_given_away_says_so(void **state)
{
	static const uint64_t config = 0x103;
	struct opened a;

	(void)state;
	assert_int_equal(vpmu_host_give(&world.m, 0xff), 0);
	assert_int_equal(try_open(&a, 1, &config), -EBUSY);
}

static void what_it_cannot_do_is_refused(void **state)
{
	static const struct {
		struct vpmu_event event;
		int rc;
	} refused[] = {
		{ { .config = 0x20101, .flags = ALL }, -EINVAL }, /* resets an occupancy */
		{ { .config = 0x10101, .flags = ALL }, -EINVAL },
		{ { .config = 0x101, .flags = VPMU_EVENT_USER }, -EOPNOTSUPP },
		{ { .config = 0x101, .flags = ALL, .period = 5000 }, -EOPNOTSUPP },
	};
	unsigned bad;

	(void)state;
	for (unsigned i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct vpmu_set set = { .n = 1, .event = { refused[i].event } };

		assert_int_equal(vpmu_set_check(&world.m, &set, false, &bad),
				 refused[i].rc);
		assert_int_equal(bad, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_found_on_nehalem_and_westmere_only),
		cmocka_unit_test_setup(what_firmware_left_on_stands_still, begin),
		cmocka_unit_test_setup(
			eight_events_and_the_clock_are_counted_at_once_to_the_count, begin),
		cmocka_unit_test_setup(a_counter_that_wraps_between_two_reads_loses_nothing,
				       begin),
		cmocka_unit_test_setup(more_events_than_counters_take_turns, begin),
		cmocka_unit_test_setup(counters_given_away_are_not_touched_again, begin),
		cmocka_unit_test_setup(what_open_sets_cannot_do_without_is_not_given_away,
				       begin),
		cmocka_unit_test_setup(an_event_whose_counters_were_given_away_says_so,
				       begin),
		cmocka_unit_test_setup(what_it_cannot_do_is_refused, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
