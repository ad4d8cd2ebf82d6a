/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guests' own counters while they trap: exact, cheap, nobody else's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/core/machine.h"

#define INST ARMV8_EVENT_INST_RETIRED
#define E ARMV8_PMCR_E
#define USER VPMU_MODE_USER

static const struct hw_armv8_config hw = { .counters = 6, .version = 6 };

static struct machine *machine_of(bool always_switch)
{
	struct vpmu_config config = { .host_counters = -1, .always_switch = always_switch };

	return machine_new(&hw, &config);
}

/* What runs on pCPU 0 counts @event on @c from @from, and wants to know. */
static void begin(struct machine *m, unsigned c, uint64_t event, uint64_t from)
{
	machine_write(m, 0, ARMV8_PMEVTYPER(c), event);
	machine_write(m, 0, ARMV8_PMEVCNTR(c), from);
	machine_write(m, 0, ARMV8_PMINTENSET, 1ULL << c);
	machine_write(m, 0, ARMV8_PMCNTENSET, 1ULL << c);
	machine_write(m, 0, ARMV8_PMCR, E);
}

static void happen(struct machine *m, unsigned pcpu, uint64_t inst, uint64_t cycles)
{
	machine_run(m, pcpu, USER, INST, inst);
	machine_run(m, pcpu, USER, 0x11, cycles);
	machine_run(m, pcpu, VPMU_MODE_HYP, INST, 3);
	machine_run(m, pcpu, VPMU_MODE_HYP, 0x11, 5);
}

/* Three vCPUs take turns: the first counts instructions, the second cycles, the third
 * nothing. */
static void count_in_turns(struct machine *m, unsigned turns)
{
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0);
	machine_switch(m, 0, 1);
	begin(m, 0, 0x11, 0);
	for (unsigned i = 0; i < turns; i++) {
		machine_switch(m, 0, (int)(i % 3));
		happen(m, 0, 100 + i, 1000 + i);
	}
}

static uint64_t sum(unsigned turns, unsigned who, uint64_t each)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < turns; i++)
		if (i % 3 == who)
			all += each + i;
	return all;
}

static void two_vcpus_with_different_events_are_exact(void **state)
{
	(void)state;
	for (int always = 0; always < 2; always++) {
		struct machine *m = machine_of(always);

		count_in_turns(m, 1000);
		machine_switch(m, 0, 0);
		assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), sum(1000, 0, 100));
		machine_switch(m, 0, 1);
		assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), sum(1000, 1, 1000));
		machine_free(m);
	}
}

static void a_vcpu_moves_between_pcpus_and_takes_its_counts_along(void **state)
{
	struct machine *m = machine_of(false);

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 2, INST, 0);
	for (unsigned i = 0; i < 100; i++) {
		machine_switch(m, i % 2, 0);
		happen(m, i % 2, 10 + i, 1);
		machine_switch(m, i % 2, i % 3 ? -1 : 1);
		happen(m, i % 2, 77, 77);
	}
	machine_switch(m, 1, 0);
	assert_int_equal(machine_read(m, 1, ARMV8_PMEVCNTR(2)), 100 * 10 + 99 * 100 / 2);
	machine_free(m);
}

/* ---- what it costs */

static void a_guest_that_only_probes_costs_nothing_at_switches(void **state)
{
	struct machine *m = machine_of(false);

	(void)state;
	machine_switch(m, 0, 0);
	machine_read(m, 0, ARMV8_PMCR);
	machine_write(m, 0, ARMV8_PMCNTENCLR, 0xffffffff);
	machine_write(m, 0, ARMV8_PMOVSCLR, 0xffffffff);
	machine_write(m, 0, ARMV8_PMCR, ARMV8_PMCR_P | ARMV8_PMCR_C | ARMV8_PMCR_LC);
	machine_switch(m, 0, 1);
	machine_writes(m, 0);
	machine_reads(m, 0);
	for (int i = 0; i < 10; i++)
		machine_switch(m, 0, i % 2);
	assert_int_equal(machine_writes(m, 0), 0);
	assert_int_equal(machine_reads(m, 0), 0);
	assert_true(vpmu_idle_in(&m->vcpu[0].v));
	machine_free(m);
}

static void a_guest_that_has_ceased_to_count_costs_nothing_in_the_end(void **state)
{
	struct machine *m = machine_of(false);

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0);
	machine_write(m, 0, ARMV8_PMCNTENCLR, 1);
	machine_switch(m, 0, 1);
	begin(m, 0, INST, 0);
	assert_null(vpmu_holder(&m->vcpu[0].v));
	machine_switch(m, 0, 0);
	machine_switch(m, 0, 1);
	assert_true(vpmu_idle_in(&m->vcpu[0].v));
	machine_free(m);
}

static void a_switch_costs_one_write_where_nobody_else_counts(void **state)
{
	struct machine *m = machine_of(false);

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0);
	begin(m, 1, INST, 0);
	machine_writes(m, 0);
	machine_reads(m, 0);
	machine_switch(m, 0, 1);
	assert_int_equal(machine_writes(m, 0), 1);
	assert_int_equal(machine_reads(m, 0), 1);
	machine_switch(m, 0, 2);
	assert_int_equal(machine_writes(m, 0) + machine_reads(m, 0), 0);
	machine_switch(m, 0, 0);
	assert_int_equal(machine_writes(m, 0), 1);
	assert_int_equal(machine_reads(m, 0), 0);
	machine_free(m);
}

static void a_stopped_vcpu_costs_nothing_and_one_more_counter_one_more_write(void **state)
{
	struct machine *m = machine_of(false);
	uint64_t one, two;

	(void)state;
	count_in_turns(m, 0);
	machine_writes(m, 0);
	machine_switch(m, 0, 0);
	one = machine_writes(m, 0);
	begin(m, 1, INST, 0);
	machine_switch(m, 0, 1);
	machine_writes(m, 0);
	machine_switch(m, 0, 0);
	two = machine_writes(m, 0);
	/* Stop; events are as they were or not, counts; start. */
	assert_true(one <= 4 && two <= one + 2);
	machine_write(m, 0, ARMV8_PMCR, 0);
	machine_writes(m, 0);
	machine_switch(m, 0, -1);
	machine_switch(m, 0, 0);
	assert_int_equal(machine_writes(m, 0), 0);
	machine_free(m);
}

static void always_switching_costs_at_least_twice_as_much(void **state)
{
	uint64_t cost[2];

	(void)state;
	for (int always = 0; always < 2; always++) {
		struct machine *m = machine_of(always);

		machine_switch(m, 0, 0);
		begin(m, 0, INST, 0);
		machine_switch(m, 0, 1);
		machine_write(m, 0, ARMV8_PMCNTENCLR, 1);
		machine_writes(m, 0);
		machine_reads(m, 0);
		for (int i = 0; i < 100; i++)
			machine_switch(m, 0, i % 2);
		cost[always] = machine_writes(m, 0) + machine_reads(m, 0);
		machine_free(m);
	}
	assert_true(cost[1] >= 2 * cost[0]);
}

/* ---- overflow */

static void an_overflow_at_a_switch_is_its_own_vcpus(void **state)
{
	struct machine *m = machine_of(false);

	(void)state;
	machine_switch(m, 0, 1);
	begin(m, 0, INST, 0);
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0xffffffff);
	m->late = true;
	happen(m, 0, 1, 0);
	machine_switch(m, 0, 1);
	assert_int_equal(m->vcpu[0].raised, 1);
	/* The interrupt that was on its way finds nothing. */
	assert_false(m->pcpu[0].hw->model->irq_line(m->pcpu[0].hw));
	assert_false(vpmu_interrupt(&m->pcpu[0].p, &(struct vpmu_where) { USER, 0 }));
	assert_int_equal(m->vcpu[1].raised, 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSSET), 0);
	machine_switch(m, 0, 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSSET), 1);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), 0x100000000);
	machine_free(m);
}

static void an_overflow_is_not_seen_twice(void **state)
{
	struct machine *m = machine_of(false);

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0xffffffff);
	m->late = true;
	happen(m, 0, 1, 0);
	machine_write(m, 0, ARMV8_PMOVSCLR, 1);
	machine_switch(m, 0, 1);
	machine_switch(m, 0, 0);
	machine_interrupt(m, 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSSET), 0);
	assert_int_equal(m->interrupts, 0);
	machine_free(m);
}

static void an_overflow_of_a_counter_just_stopped_is_kept(void **state)
{
	struct machine *m = machine_of(false);

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0xffffffff);
	m->late = true;
	happen(m, 0, 1, 0);
	machine_write(m, 0, ARMV8_PMCNTENCLR, 1);
	assert_int_equal(m->vcpu[0].raised, 1);
	machine_switch(m, 0, 1);
	begin(m, 0, INST, 0);
	assert_int_equal(m->vcpu[1].raised, 0);
	machine_switch(m, 1, 0);
	assert_int_equal(machine_read(m, 1, ARMV8_PMOVSSET), 1);
	machine_free(m);
}

static void an_overflow_that_a_guest_sees_first_is_told_all_the_same(void **state)
{
	struct machine *m = machine_of(false);

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0xffffffff);
	m->late = true;
	happen(m, 0, 1, 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSCLR), 1);
	machine_interrupt(m, 0);
	assert_int_equal(m->vcpu[0].raised, 1);
	machine_free(m);
}

/* As Linux handles it: read and clear, stop, start anew. */
static void take_sample(struct machine *m, unsigned pcpu, uint64_t period,
			unsigned *samples)
{
	struct machine_vcpu *vcpu = m->pcpu[pcpu].runs;
	uint64_t bits;

	if (!vcpu->pending)
		return;
	vcpu->pending = false;
	bits = machine_read(m, pcpu, ARMV8_PMOVSCLR);
	machine_write(m, pcpu, ARMV8_PMOVSCLR, bits);
	machine_write(m, pcpu, ARMV8_PMCR, 0);
	machine_write(m, pcpu, ARMV8_PMEVCNTR(0), -period & 0xffffffff);
	machine_write(m, pcpu, ARMV8_PMCR, E);
	vcpu->pending = vpmu_line(&vcpu->v);
	assert_int_equal(bits, 1);
	++*samples;
}

static void sampling_loses_nothing_while_vcpus_switch_and_move(void **state)
{
	struct machine *m = machine_of(false);
	unsigned samples[2] = { 0 };

	(void)state;
	for (int v = 0; v < 2; v++) {
		machine_switch(m, 0, v);
		begin(m, 0, INST, -1000ULL - 7 * (unsigned)v);
	}
	machine_switch(m, 0, -1);
	for (unsigned i = 0; i < 20000; i++) {
		int v = i % 3 == 1;
		unsigned pcpu = i / 5 % 2;

		machine_switch(m, pcpu, v);
		machine_run(m, pcpu, USER, INST, 1 + i % 113);
		take_sample(m, pcpu, 1000 + 7 * (unsigned)v, &samples[v]);
		machine_switch(m, pcpu, -1);
	}
	/* No event of the run got lost between the periods and what is left of the last. */
	for (int v = 0; v < 2; v++) {
		uint64_t period = 1000 + 7 * (unsigned)v, events = 0, over = 0;

		for (unsigned i = 0; i < 20000; i++)
			if ((i % 3 == 1) == v)
				events += 1 + i % 113;
		machine_switch(m, 0, v);
		over = (machine_read(m, 0, ARMV8_PMEVCNTR(0)) + period) & 0xffffffff;
		assert_true(samples[v] >= events / (period + 113) &&
			    samples[v] <= events / period);
		assert_true(over < period);
		machine_switch(m, 0, -1);
	}
	assert_int_equal(m->spurious, 0);
	machine_free(m);
}

/* ---- whose it is */

static void after_another_used_the_pmu_a_guest_sees_reset_values(void **state)
{
	struct machine *m = machine_of(false);

	(void)state;
	machine_switch(m, 0, 0);
	for (unsigned c = 0; c < 4; c++)
		begin(m, c, INST, 0xdead0000 + c);
	machine_write(m, 0, ARMV8_PMCCNTR, 0xdead);
	machine_write(m, 0, ARMV8_PMCNTENSET, 1ULL << 31);
	machine_write(m, 0, ARMV8_PMSELR, 2);
	machine_write(m, 0, ARMV8_PMUSERENR, 0xf);
	happen(m, 0, 1000, 1000);
	machine_switch(m, 0, 1);
	for (unsigned c = 0; c < 32; c++) {
		if (c < 31)
			assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(c)), 0);
		assert_int_equal(machine_read(m, 0, ARMV8_PMEVTYPER(c)), 0);
	}
	assert_int_equal(machine_read(m, 0, ARMV8_PMCCNTR), 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMCNTENSET), 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMINTENSET), 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSSET), 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMSELR), 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMUSERENR), 0);
	/* A counter that it starts without having written it begins at its own value. */
	machine_write(m, 0, ARMV8_PMCNTENSET, 1);
	machine_write(m, 0, ARMV8_PMCR, E);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), 0);
	machine_free(m);
}

static void a_reset_vcpu_starts_anew(void **state)
{
	struct machine *m = machine_of(false);

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0xffffffff);
	happen(m, 0, 1, 1);
	machine_switch(m, 0, -1);
	vpmu_vcpu_reset(&m->vcpu[0].v);
	assert_true(vpmu_idle_in(&m->vcpu[0].v));
	assert_false(vpmu_line(&m->vcpu[0].v));
	machine_switch(m, 1, 0);
	happen(m, 1, 9, 9);
	assert_int_equal(machine_read(m, 1, ARMV8_PMEVCNTR(0)), 0);
	assert_int_equal(machine_read(m, 1, ARMV8_PMCR) & E, 0);
	assert_int_equal(machine_read(m, 1, ARMV8_PMOVSSET), 0);
	/* Where it was held, nobody has it any more. */
	machine_write(m, 1, ARMV8_PMEVTYPER(0), INST);
	machine_write(m, 1, ARMV8_PMCNTENSET, 1);
	machine_write(m, 1, ARMV8_PMCR, E);
	machine_switch(m, 0, 1);
	begin(m, 0, INST, 5);
	happen(m, 0, 1, 1);
	happen(m, 1, 8, 8);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), 6);
	assert_int_equal(machine_read(m, 1, ARMV8_PMEVCNTR(0)), 8);
	machine_free(m);
}

static void a_pcpu_that_goes_down_gives_back_what_it_holds(void **state)
{
	struct machine *m = machine_of(false);

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 3, INST, 0);
	happen(m, 0, 50, 0);
	machine_switch(m, 0, -1);
	vpmu_pcpu_down(&m->pcpu[0].p);
	assert_null(vpmu_holder(&m->vcpu[0].v));
	assert_int_equal(vpmu_hw_read(&m->pcpu[0].hw->hw, ARMV8_PMEVCNTR(3)), 0);
	machine_switch(m, 1, 0);
	happen(m, 1, 7, 0);
	assert_int_equal(machine_read(m, 1, ARMV8_PMEVCNTR(3)), 57);
	machine_free(m);
}

static void control_bits_follow_the_vcpu(void **state)
{
	struct machine *m = machine_of(false);

	(void)state;
	machine_switch(m, 0, 0);
	begin(m, 0, INST, 0xfffffff0);
	machine_write(m, 0, ARMV8_PMCR, E | ARMV8_PMCR_LP);
	machine_switch(m, 0, 1);
	begin(m, 0, INST, 0xfffffff0);
	happen(m, 0, 0x10, 0);
	assert_int_equal(m->vcpu[1].raised, 1);
	machine_switch(m, 0, 0);
	happen(m, 0, 0x10, 0);
	assert_int_equal(m->vcpu[0].raised, 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)), 0x100000000);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_vcpus_with_different_events_are_exact),
		cmocka_unit_test(a_vcpu_moves_between_pcpus_and_takes_its_counts_along),
		cmocka_unit_test(a_guest_that_only_probes_costs_nothing_at_switches),
		cmocka_unit_test(a_guest_that_has_ceased_to_count_costs_nothing_in_the_end),
		cmocka_unit_test(a_switch_costs_one_write_where_nobody_else_counts),
		cmocka_unit_test(
			a_stopped_vcpu_costs_nothing_and_one_more_counter_one_more_write),
		cmocka_unit_test(always_switching_costs_at_least_twice_as_much),
		cmocka_unit_test(an_overflow_at_a_switch_is_its_own_vcpus),
		cmocka_unit_test(an_overflow_is_not_seen_twice),
		cmocka_unit_test(an_overflow_of_a_counter_just_stopped_is_kept),
		cmocka_unit_test(an_overflow_that_a_guest_sees_first_is_told_all_the_same),
		cmocka_unit_test(sampling_loses_nothing_while_vcpus_switch_and_move),
		cmocka_unit_test(after_another_used_the_pmu_a_guest_sees_reset_values),
		cmocka_unit_test(a_reset_vcpu_starts_anew),
		cmocka_unit_test(a_pcpu_that_goes_down_gives_back_what_it_holds),
		cmocka_unit_test(control_bits_follow_the_vcpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
