/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests that reach the registers themselves, on hardware that protects the host's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/core/machine.h"

#define INST ARMV8_EVENT_INST_RETIRED
#define E ARMV8_PMCR_E
#define USER VPMU_MODE_USER

static struct machine *machine(void)
{
	static const struct hw_armv8_config hw = { .counters = 6, .version = 6 };
	struct vpmu_config config = { .host_counters = -1, .direct = true };

	return machine_new(&hw, &config);
}

static void begin(struct machine *m, unsigned c, uint64_t event, uint64_t from)
{
	machine_write(m, 0, ARMV8_PMEVTYPER(c), event);
	machine_write(m, 0, ARMV8_PMEVCNTR(c), from);
	machine_write(m, 0, ARMV8_PMINTENSET, 1ULL << c);
	machine_write(m, 0, ARMV8_PMCNTENSET, 1ULL << c);
	machine_write(m, 0, ARMV8_PMCR, E);
}

static void only_the_first_access_traps(void **state)
{
	struct machine *m = machine();

	(void)state;
	machine_switch(m, 0, 0);
	machine_write(m, 0, ARMV8_PMSELR, 1);
	assert_true(m->vcpu[0].untrapped);
	machine_writes(m, 0);
	machine_reads(m, 0);
	begin(m, 0, INST, 0);
	machine_run(m, 0, USER, INST, 42);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), 42);
	assert_int_equal(machine_read(m, 0, ARMV8_PMSELR), 1);
	assert_int_equal(machine_read(m, 0, ARMV8_PMCR) >> 11 & 0x1f, 4);
	assert_int_equal(machine_writes(m, 0) + machine_reads(m, 0), 0);
	machine_free(m);
}

static void two_vcpus_with_different_events_are_exact(void **state)
{
	struct machine *m = machine();
	uint64_t inst = 0, cycles = 0;

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0);
	machine_switch(m, 0, 1);
	begin(m, 0, 0x11, 0);
	for (unsigned i = 0; i < 999; i++) {
		machine_switch(m, 0, -1);
		machine_switch(m, i / 7 % 2, (int)(i % 3));
		machine_run(m, i / 7 % 2, USER, INST, 100 + i);
		machine_run(m, i / 7 % 2, USER, 0x11, 1000 + i);
		machine_run(m, i / 7 % 2, VPMU_MODE_HYP, INST, 9);
		machine_switch(m, i / 7 % 2, -1);
		inst += i % 3 == 0 ? 100 + i : 0;
		cycles += i % 3 == 1 ? 1000 + i : 0;
	}
	machine_switch(m, 0, 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), inst);
	machine_switch(m, 0, 1);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), cycles);
	machine_free(m);
}

static void an_overflow_traps_until_the_guest_has_cleared_it(void **state)
{
	struct machine *m = machine();

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0xffffffff);
	begin(m, 1, INST, 0xfffffffe);
	machine_run(m, 0, USER, INST, 2);
	assert_int_equal(m->interrupts, 2);
	assert_int_equal(m->vcpu[0].raised, 1);
	assert_false(m->vcpu[0].untrapped);
	machine_writes(m, 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSCLR), 3);
	machine_write(m, 0, ARMV8_PMOVSCLR, 1);
	assert_true(vpmu_line(&m->vcpu[0].v));
	assert_false(m->vcpu[0].untrapped);
	machine_write(m, 0, ARMV8_PMOVSCLR, 2);
	assert_false(vpmu_line(&m->vcpu[0].v));
	assert_true(m->vcpu[0].untrapped);
	/* Clearing is all that was written. */
	assert_int_equal(machine_writes(m, 0), 2);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSCLR), 0);
	machine_run(m, 0, USER, INST, 5);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), 0x100000006);
	machine_free(m);
}

static void whatever_it_does_before_it_clears_takes_effect(void **state)
{
	struct machine *m = machine();

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0xffffffff);
	machine_run(m, 0, USER, INST, 1);
	machine_write(m, 0, ARMV8_PMEVCNTR(0), 100);
	machine_write(m, 0, ARMV8_PMCNTENSET, 1ULL << 31);
	machine_run(m, 0, USER, INST, 10);
	machine_run(m, 0, USER, 0x11, 20);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), 110);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSSET), 1);
	assert_int_equal(m->vcpu[0].raised, 1);
	/* Not wanting to know is an end of it, too. */
	machine_write(m, 0, ARMV8_PMINTENCLR, 1);
	assert_false(vpmu_line(&m->vcpu[0].v));
	assert_true(m->vcpu[0].untrapped);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSCLR), 1);
	assert_int_equal(machine_read(m, 0, ARMV8_PMCCNTR), 20);
	machine_free(m);
}

static void an_overflow_at_a_switch_is_its_own_vcpus(void **state)
{
	struct machine *m = machine();

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0xffffffff);
	m->late = true;
	machine_run(m, 0, USER, INST, 1);
	machine_switch(m, 0, 1);
	assert_false(m->pcpu[0].hw->model->irq_line(m->pcpu[0].hw));
	assert_int_equal(m->vcpu[0].raised, 1);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSSET), 0);
	machine_switch(m, 1, 0);
	assert_false(m->pcpu[1].hw->model->irq_line(m->pcpu[1].hw));
	assert_int_equal(machine_read(m, 1, ARMV8_PMOVSCLR), 1);
	machine_write(m, 1, ARMV8_PMOVSCLR, 1);
	assert_true(m->vcpu[0].untrapped);
	machine_free(m);
}

static void nothing_of_another_is_left_in_any_register(void **state)
{
	struct machine *m = machine();

	(void)state;
	machine_switch(m, 0, 0);
	for (unsigned c = 0; c < 4; c++)
		begin(m, c, INST, 0xdead0000 + c);
	machine_write(m, 0, ARMV8_PMCCNTR, 0xdead);
	machine_write(m, 0, ARMV8_PMCCFILTR, ARMV8_TYPE_U);
	machine_write(m, 0, ARMV8_PMOVSSET, 1ULL << 31);
	machine_write(m, 0, ARMV8_PMSELR, 2);
	machine_write(m, 0, ARMV8_PMUSERENR, 0xf);
	machine_switch(m, 0, 1);
	machine_read(m, 0, ARMV8_PMCR);
	assert_true(m->vcpu[1].untrapped);
	for (unsigned c = 0; c < 32; c++) {
		if (c < 31)
			assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(c)), 0);
		assert_int_equal(machine_read(m, 0, ARMV8_PMEVTYPER(c)), 0);
	}
	assert_int_equal(machine_read(m, 0, ARMV8_PMCR) & 0x1ff, 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMCCNTR), 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMCNTENSET), 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMINTENSET), 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSSET), 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMSELR), 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMUSERENR), 0);
	machine_switch(m, 0, 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(3)), 0xdead0003);
	assert_int_equal(machine_read(m, 0, ARMV8_PMCCFILTR), ARMV8_TYPE_U);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSCLR), 1ULL << 31);
	assert_int_equal(machine_read(m, 0, ARMV8_PMUSERENR), 0xf);
	machine_free(m);
}

/* One who has not touched its PMU, or not for long, after one who keeps EL0 out. */
static void el0_is_judged_by_its_own_guest(void **state)
{
	struct machine *m = machine();
	uint64_t value = 0;

	(void)state;
	machine_switch(m, 0, 0);
	machine_write(m, 0, ARMV8_PMUSERENR, ARMV8_PMUSERENR_EN);
	machine_switch(m, 0, 1);
	begin(m, 0, INST, 0);
	assert_int_equal(machine_access(m, 0, USER, ARMV8_PMCCNTR, false, &value),
			 VPMU_TRAPPED);
	machine_switch(m, 0, 0);
	assert_int_equal(machine_access(m, 0, USER, ARMV8_PMCCNTR, false, &value),
			 VPMU_DONE);
	machine_switch(m, 0, 2);
	assert_int_equal(machine_access(m, 0, USER, ARMV8_PMCCNTR, false, &value),
			 VPMU_TRAPPED);
	machine_free(m);
}

static void the_hosts_counters_are_out_of_reach(void **state)
{
	struct machine *m = machine();
	const struct vpmu_hw *hw = &m->pcpu[0].hw->hw;

	(void)state;
	vpmu_hw_write(hw, ARMV8_PMEVTYPER(5), INST);
	vpmu_hw_write(hw, ARMV8_PMEVCNTR(5), 1000);
	vpmu_hw_write(hw, ARMV8_PMINTENSET, 1 << 5);
	vpmu_hw_write(hw, ARMV8_PMCNTENSET, 1 << 5);
	machine_switch(m, 0, 0);
	machine_write(m, 0, ARMV8_PMCNTENCLR, 0xffffffff);
	machine_write(m, 0, ARMV8_PMINTENCLR, 0xffffffff);
	machine_write(m, 0, ARMV8_PMCR, ARMV8_PMCR_P);
	machine_write(m, 0, ARMV8_PMEVCNTR(5), 7);
	machine_run(m, 0, USER, INST, 234);
	machine_switch(m, 0, 1);
	machine_run(m, 0, USER, INST, 1000);
	assert_int_equal(vpmu_hw_read(hw, ARMV8_PMEVCNTR(5)), 2234);
	machine_free(m);
}

static void a_switch_with_nobody_else_leaves_the_counters_where_they_are(void **state)
{
	struct machine *m = machine();

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0);
	machine_writes(m, 0);
	for (int i = 0; i < 10; i++) {
		machine_switch(m, 0, 1);
		machine_run(m, 0, USER, INST, 1000);
		machine_switch(m, 0, 0);
		machine_run(m, 0, USER, INST, 3);
	}
	/* Enables and PMUSERENR, out and in. */
	assert_int_equal(machine_writes(m, 0), 10 * 4);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), 30);
	machine_free(m);
}

static void a_reset_vcpu_traps_again(void **state)
{
	struct machine *m = machine();

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 5);
	machine_write(m, 0, ARMV8_PMOVSSET, 2);
	machine_switch(m, 0, -1);
	vpmu_vcpu_reset(&m->vcpu[0].v);
	assert_false(m->vcpu[0].untrapped);
	machine_switch(m, 0, 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMCNTENSET), 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSSET), 0);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_first_access_traps),
		cmocka_unit_test(two_vcpus_with_different_events_are_exact),
		cmocka_unit_test(an_overflow_traps_until_the_guest_has_cleared_it),
		cmocka_unit_test(whatever_it_does_before_it_clears_takes_effect),
		cmocka_unit_test(an_overflow_at_a_switch_is_its_own_vcpus),
		cmocka_unit_test(nothing_of_another_is_left_in_any_register),
		cmocka_unit_test(el0_is_judged_by_its_own_guest),
		cmocka_unit_test(the_hosts_counters_are_out_of_reach),
		cmocka_unit_test(
			a_switch_with_nobody_else_leaves_the_counters_where_they_are),
		cmocka_unit_test(a_reset_vcpu_traps_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
