/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PMUv3 as a guest sees it: held against a PMU that is all its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/core/machine.h"

#define INST ARMV8_EVENT_INST_RETIRED
#define E ARMV8_PMCR_E
#define LONG_REGS 64 /* PMEVCNTR0 to PMCCFILTR */

static const uint64_t clock_of_tests;
static const struct vpmu_config plain = { .host_counters = -1 };
static const struct hw_armv8_config v3p5 = { .counters = 6, .version = 6 };
static const struct hw_armv8_config v3 = { .counters = 6, .version = 1 };
static const struct hw_armv8_config qemu = { .counters = 6,
					     .version = 6,
					     .unprotected = true };

/* One vCPU on one pCPU. */
static struct machine *machine_of(const struct hw_armv8_config *hw)
{
	struct machine *m = machine_new(hw, &plain);

	machine_switch(m, 0, 0);
	return m;
}

static uint64_t hw_read(struct machine *m, uint32_t reg)
{
	return vpmu_hw_read(&m->pcpu[0].hw->hw, reg);
}

/* ---- the registers that a guest sees */

static uint32_t nth_reg(unsigned i)
{
	static const uint32_t others[] = {
		ARMV8_PMINTENSET, ARMV8_PMINTENCLR, ARMV8_PMMIR,     ARMV8_PMCR,
		ARMV8_PMCNTENSET, ARMV8_PMCNTENCLR, ARMV8_PMOVSCLR,  ARMV8_PMSWINC,
		ARMV8_PMSELR,	  ARMV8_PMCEID0,    ARMV8_PMCEID1,   ARMV8_PMCCNTR,
		ARMV8_PMXEVTYPER, ARMV8_PMXEVCNTR,  ARMV8_PMUSERENR, ARMV8_PMOVSSET,
	};

	if (i < LONG_REGS)
		return ARMV8_PMEVCNTR(0) + i;
	i -= LONG_REGS;
	return i < sizeof(others) / sizeof(*others) ? others[i] : 0;
}

/* A PMU of the guest's size that is all its own: what the core should look like. */
static struct hw *bare(const struct hw_armv8_config *of)
{
	struct hw_armv8_config config = { .counters = 4, .version = of->version };
	struct hw *hw = hw_armv8_new(&config, &clock_of_tests);
	uint64_t zero = 0;

	hw->model->trap(hw, false);
	for (unsigned i = 0; nth_reg(i); i++)
		hw->model->guest(hw, VPMU_MODE_KERNEL, nth_reg(i), true, &zero);
	zero = ~0ULL;
	hw->model->guest(hw, VPMU_MODE_KERNEL, ARMV8_PMCNTENCLR, true, &zero);
	hw->model->guest(hw, VPMU_MODE_KERNEL, ARMV8_PMINTENCLR, true, &zero);
	hw->model->guest(hw, VPMU_MODE_KERNEL, ARMV8_PMOVSCLR, true, &zero);
	return hw;
}

/* The same access to both; true where they agree in how it ends and in what is read. */
static bool alike(struct machine *m, struct hw *hw, enum vpmu_mode mode, uint32_t reg,
		  bool write, uint64_t value)
{
	uint64_t seen = value, expected = value;
	enum vpmu_access access = machine_access(m, 0, mode, reg, write, &seen);
	enum hw_access should = hw->model->guest(hw, mode, reg, write, &expected);

	return (access == VPMU_DONE) == (should == HW_DONE) && seen == expected;
}

static void every_register_is_as_on_hardware_for(const struct hw_armv8_config *config)
{
	static const uint64_t values[] = {
		0, ~0ULL, 0x55aa55aa55aa55aaULL, 0x8123456789abcde8ULL, 31, 3, 4
	};
	struct machine *m = machine_of(config);
	struct hw *hw = bare(config);

	for (unsigned v = 0; v < sizeof(values) / sizeof(*values); v++)
		for (unsigned i = 0; nth_reg(i); i++) {
			uint64_t value = values[(v + i) % 7];

			/* E stays off: nothing counts, so nothing can differ by that. */
			if (nth_reg(i) == ARMV8_PMCR)
				value &= ~E;
			assert_true(
				alike(m, hw, VPMU_MODE_KERNEL, nth_reg(i), true, value));
			for (unsigned r = 0; nth_reg(r); r++)
				assert_true(alike(m, hw, VPMU_MODE_KERNEL, nth_reg(r),
						  false, 0));
		}
	free(hw);
	machine_free(m);
}

static void every_register_reads_back_as_on_hardware(void **state)
{
	(void)state;
	every_register_is_as_on_hardware_for(&v3);
	every_register_is_as_on_hardware_for(
		&(struct hw_armv8_config) { .counters = 6, .version = 4 });
	every_register_is_as_on_hardware_for(&v3p5);
}

static void el0_may_what_pmuserenr_allows(void **state)
{
	struct machine *m = machine_of(&v3p5);
	struct hw *hw = bare(&v3p5);

	(void)state;
	for (uint64_t allow = 0; allow < 16; allow++)
		for (unsigned i = 0; nth_reg(i); i++)
			for (int write = 0; write < 2; write++) {
				assert_true(alike(m, hw, VPMU_MODE_KERNEL, ARMV8_PMUSERENR,
						  true, allow));
				assert_true(
					alike(m, hw, VPMU_MODE_USER, nth_reg(i), write, 0));
			}
	free(hw);
	machine_free(m);
}

static void what_el0_may_not_is_told_apart(void **state)
{
	struct machine *m = machine_of(&v3p5);
	uint64_t value = 0;

	(void)state;
	assert_int_equal(machine_access(m, 0, VPMU_MODE_USER, ARMV8_PMCCNTR, false, &value),
			 VPMU_TRAPPED);
	assert_true(m->vcpu[0].v.touched);
	machine_write(m, 0, ARMV8_PMUSERENR, ARMV8_PMUSERENR_CR);
	assert_int_equal(machine_access(m, 0, VPMU_MODE_USER, ARMV8_PMCCNTR, false, &value),
			 VPMU_DONE);
	assert_int_equal(machine_access(m, 0, VPMU_MODE_USER, ARMV8_PMCCNTR, true, &value),
			 VPMU_TRAPPED);
	/* Beyond this PMU, and where EL0 has nothing at all. */
	assert_int_equal(vpmu_guest_access(&m->pcpu[0].p, &m->vcpu[0].v, ARMV8_PMINTENSET,
					   false, true, &value),
			 VPMU_UNDEFINED);
	assert_int_equal(vpmu_guest_access(&m->pcpu[0].p, &m->vcpu[0].v, ARMV8_MDCR_EL2,
					   true, false, &value),
			 VPMU_FOREIGN);
	machine_switch(m, 0, 1);
	assert_int_equal(vpmu_guest_access(&m->pcpu[0].p, &m->vcpu[1].v, ARMV8_MDCR_EL2,
					   false, false, &value),
			 VPMU_FOREIGN);
	assert_false(m->vcpu[1].v.touched);
	machine_switch(m, 0, 0);
	m->vcpu[0].vm.guest_pmu = false;
	assert_int_equal(vpmu_guest_access(&m->pcpu[0].p, &m->vcpu[0].v, ARMV8_PMCR, false,
					   false, &value),
			 VPMU_FOREIGN);
	machine_free(m);
}

static void a_guest_never_programs_what_is_not_its_own(void **state)
{
	struct machine *m = machine_of(&v3p5);

	(void)state;
	for (unsigned c = 0; c < 32; c++) {
		machine_write(m, 0, ARMV8_PMEVTYPER(c), ~0ULL);
		machine_write(m, 0, ARMV8_PMSELR, c);
		machine_write(m, 0, ARMV8_PMXEVTYPER, ~0ULL);
		machine_write(m, 0, ARMV8_PMXEVCNTR, ~0ULL);
	}
	machine_write(m, 0, ARMV8_PMINTENSET, ~0ULL);
	machine_write(m, 0, ARMV8_PMCNTENSET, ~0ULL);
	machine_write(m, 0, ARMV8_PMCR, ~0ULL);
	assert_int_equal(hw_read(m, ARMV8_PMCNTENSET), m->m.caps.guest);
	assert_int_equal(hw_read(m, ARMV8_PMINTENSET), m->m.caps.guest);
	for (unsigned c = 0; c < 4; c++)
		assert_int_equal(hw_read(m, ARMV8_PMEVTYPER(c)) &
					 (ARMV8_TYPE_NSH | ARMV8_TYPE_MT | ARMV8_TYPE_SH),
				 0);
	assert_int_equal(hw_read(m, ARMV8_PMCCFILTR) & ARMV8_TYPE_NSH, 0);
	assert_int_equal(hw_read(m, ARMV8_PMEVTYPER(4)), 0);
	assert_int_equal(hw_read(m, ARMV8_PMEVCNTR(5)), 0);
	machine_free(m);
}

/* What Linux's reset does on an emulator that lets EL1 reach all counters. */
static void a_guests_reset_leaves_the_hosts_counters_alone(void **state)
{
	struct machine *m = machine_of(&qemu);
	const struct vpmu_hw *hw = &m->pcpu[0].hw->hw;

	(void)state;
	vpmu_hw_write(hw, ARMV8_PMEVTYPER(5), INST);
	vpmu_hw_write(hw, ARMV8_PMEVCNTR(5), 1000);
	vpmu_hw_write(hw, ARMV8_PMINTENSET, 1 << 5);
	vpmu_hw_write(hw, ARMV8_PMCNTENSET, 1 << 5);
	machine_write(m, 0, ARMV8_PMCNTENCLR, 0xffffffff);
	machine_write(m, 0, ARMV8_PMINTENCLR, 0xffffffff);
	machine_write(m, 0, ARMV8_PMOVSCLR, 0xffffffff);
	machine_write(m, 0, ARMV8_PMCR, ARMV8_PMCR_P | ARMV8_PMCR_C | ARMV8_PMCR_LC);
	machine_run(m, 0, VPMU_MODE_KERNEL, INST, 234);
	assert_int_equal(hw_read(m, ARMV8_PMEVCNTR(5)), 1234);
	assert_int_equal(hw_read(m, ARMV8_PMINTENSET), 1 << 5);
	machine_free(m);
}

/* ---- counting */

static void begin(struct machine *m, unsigned c, uint64_t type, uint64_t from)
{
	machine_write(m, 0, ARMV8_PMEVTYPER(c), type);
	machine_write(m, 0, c == 31 ? ARMV8_PMCCNTR : ARMV8_PMEVCNTR(c), from);
	machine_write(m, 0, ARMV8_PMINTENSET, 1ULL << c);
	machine_write(m, 0, ARMV8_PMCNTENSET, 1ULL << c);
}

static void filters_choose_the_exception_level(void **state)
{
	static const struct {
		uint64_t filter, user, kernel;
	} cases[] = {
		{ 0, 5, 7 },
		{ ARMV8_TYPE_U, 0, 7 },
		{ ARMV8_TYPE_P, 5, 0 },
		{ ARMV8_TYPE_U | ARMV8_TYPE_NSU, 5, 7 },
		{ ARMV8_TYPE_NSK, 5, 0 },
		{ ARMV8_TYPE_NSH, 5, 7 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct machine *m = machine_of(&v3);

		machine_write(m, 0, ARMV8_PMCR, E);
		begin(m, 0, cases[i].filter | INST, 0);
		machine_run(m, 0, VPMU_MODE_USER, INST, 5);
		machine_run(m, 0, VPMU_MODE_KERNEL, INST, 7);
		machine_run(m, 0, VPMU_MODE_HYP, INST, 1000);
		assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(0)),
				 cases[i].user + cases[i].kernel);
		machine_free(m);
	}
}

static void counting_obeys_e_and_the_enables(void **state)
{
	struct machine *m = machine_of(&v3p5);

	(void)state;
	begin(m, 1, INST, 10);
	machine_run(m, 0, VPMU_MODE_USER, INST, 1000);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(1)), 10);
	machine_write(m, 0, ARMV8_PMCR, E);
	machine_run(m, 0, VPMU_MODE_USER, INST, 3);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(1)), 13);
	machine_write(m, 0, ARMV8_PMCR, 0);
	assert_true(hw_read(m, ARMV8_PMCR) & E);
	machine_run(m, 0, VPMU_MODE_USER, INST, 1000);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(1)), 13);
	machine_write(m, 0, ARMV8_PMCR, E);
	machine_write(m, 0, ARMV8_PMCNTENCLR, 2);
	machine_run(m, 0, VPMU_MODE_USER, INST, 1000);
	machine_write(m, 0, ARMV8_PMCNTENSET, 2);
	machine_write(m, 0, ARMV8_PMCR, E | ARMV8_PMCR_P);
	machine_run(m, 0, VPMU_MODE_USER, INST, 4);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(1)), 4);
	machine_free(m);
}

static void counters_overflow_at_32_bits_or_at_64(void **state)
{
	static const struct {
		uint64_t pmcr;
		unsigned counter;
		uint64_t from;
		bool overflows;
	} cases[] = {
		{ 0, 0, 0xfffffffe, true },
		{ ARMV8_PMCR_LP, 0, 0xfffffffe, false },
		{ ARMV8_PMCR_LP, 0, ~1ULL, true },
		{ 0, 31, 0xfffffffe, true },
		{ ARMV8_PMCR_LC, 31, 0xfffffffe, false },
		{ ARMV8_PMCR_LC, 31, ~1ULL, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct machine *m = machine_of(&v3p5);

		machine_write(m, 0, ARMV8_PMCR, E | cases[i].pmcr);
		begin(m, cases[i].counter, 0x11, cases[i].from);
		machine_run(m, 0, VPMU_MODE_USER, 0x11, 2);
		assert_int_equal(machine_read(m, 0, ARMV8_PMOVSCLR),
				 (uint64_t)cases[i].overflows << cases[i].counter);
		assert_int_equal(m->vcpu[0].raised, cases[i].overflows);
		machine_free(m);
	}
}

static void a_pair_of_chained_counters_counts_64_bits(void **state)
{
	struct machine *m = machine_of(&v3);

	(void)state;
	machine_write(m, 0, ARMV8_PMCR, E);
	begin(m, 2, INST, 0xfffffff0);
	begin(m, 3, ARMV8_EVENT_CHAIN, 6);
	machine_run(m, 0, VPMU_MODE_USER, INST, 0x15);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(2)), 5);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVCNTR(3)), 7);
	machine_free(m);
}

static void software_increments_as_on_hardware(void **state)
{
	static const uint64_t types[] = { 0, ARMV8_TYPE_P, ARMV8_TYPE_U, INST,
					  ARMV8_EVENT_CHAIN };
	uint64_t which = 0x8000000f;

	(void)state;
	for (unsigned t = 0; t < 5 * 5; t++) {
		struct machine *m = machine_of(&v3);
		struct hw *hw = bare(&v3);
		const uint64_t begin_with[][2] = {
			{ ARMV8_PMEVTYPER(0), types[t % 5] },
			{ ARMV8_PMEVTYPER(1), types[t / 5] },
			{ ARMV8_PMEVCNTR(0), 0xffffffff },
			{ ARMV8_PMEVCNTR(1), 0xffffffff },
			{ ARMV8_PMCNTENSET, 3 },
			{ ARMV8_PMUSERENR, ARMV8_PMUSERENR_SW },
			{ ARMV8_PMCR, E },
		};

		for (unsigned i = 0; i < 7; i++)
			assert_true(alike(m, hw, VPMU_MODE_KERNEL,
					  (uint32_t)begin_with[i][0], true,
					  begin_with[i][1]));
		assert_true(alike(m, hw, VPMU_MODE_KERNEL, ARMV8_PMSWINC, true, which));
		assert_true(alike(m, hw, VPMU_MODE_USER, ARMV8_PMSWINC, true, which));
		for (unsigned r = 0; nth_reg(r); r++)
			assert_true(alike(m, hw, VPMU_MODE_KERNEL, nth_reg(r), false, 0));
		free(hw);
		machine_free(m);
	}
}

/* ---- the interrupt */

static void the_line_is_raised_once_and_again_after_it_was_down(void **state)
{
	struct machine *m = machine_of(&v3p5);

	(void)state;
	machine_write(m, 0, ARMV8_PMCR, E);
	begin(m, 0, INST, 0xffffffff);
	begin(m, 1, INST, 0xfffffffe);
	machine_run(m, 0, VPMU_MODE_USER, INST, 2);
	assert_int_equal(m->interrupts, 2);
	assert_int_equal(m->vcpu[0].raised, 1);
	assert_true(vpmu_line(&m->vcpu[0].v));
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSSET), 3);
	machine_write(m, 0, ARMV8_PMOVSCLR, 1);
	assert_true(vpmu_line(&m->vcpu[0].v));
	machine_write(m, 0, ARMV8_PMOVSCLR, 2);
	assert_false(vpmu_line(&m->vcpu[0].v));
	assert_int_equal(m->vcpu[0].raised, 1);
	machine_write(m, 0, ARMV8_PMOVSSET, 2);
	assert_int_equal(m->vcpu[0].raised, 2);
	machine_free(m);
}

static void the_line_obeys_e_and_the_interrupt_enables(void **state)
{
	struct machine *m = machine_of(&v3p5);

	(void)state;
	machine_write(m, 0, ARMV8_PMOVSSET, 1);
	assert_int_equal(m->vcpu[0].raised, 0);
	machine_write(m, 0, ARMV8_PMINTENSET, 1);
	assert_int_equal(m->vcpu[0].raised, 0);
	machine_write(m, 0, ARMV8_PMCR, E);
	assert_int_equal(m->vcpu[0].raised, 1);
	machine_write(m, 0, ARMV8_PMCR, 0);
	assert_false(vpmu_line(&m->vcpu[0].v));
	machine_write(m, 0, ARMV8_PMCR, E);
	assert_int_equal(m->vcpu[0].raised, 2);
	machine_write(m, 0, ARMV8_PMINTENCLR, 1);
	assert_false(vpmu_line(&m->vcpu[0].v));
	machine_free(m);
}

static void an_overflow_without_interrupt_is_seen_and_can_be_cleared(void **state)
{
	struct machine *m = machine_of(&v3p5);

	(void)state;
	machine_write(m, 0, ARMV8_PMCR, E);
	begin(m, 0, INST, 0xffffffff);
	machine_write(m, 0, ARMV8_PMINTENCLR, 1);
	machine_run(m, 0, VPMU_MODE_USER, INST, 1);
	assert_int_equal(m->interrupts, 0);
	machine_write(m, 0, ARMV8_PMOVSCLR, ~1ULL);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSCLR), 1);
	/* Told late is told all the same. */
	machine_write(m, 0, ARMV8_PMINTENSET, 1);
	assert_int_equal(m->vcpu[0].raised, 1);
	machine_write(m, 0, ARMV8_PMOVSCLR, 1);
	assert_int_equal(machine_read(m, 0, ARMV8_PMOVSCLR), 0);
	assert_int_equal(hw_read(m, ARMV8_PMOVSSET), 0);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_register_reads_back_as_on_hardware),
		cmocka_unit_test(el0_may_what_pmuserenr_allows),
		cmocka_unit_test(what_el0_may_not_is_told_apart),
		cmocka_unit_test(a_guest_never_programs_what_is_not_its_own),
		cmocka_unit_test(a_guests_reset_leaves_the_hosts_counters_alone),
		cmocka_unit_test(filters_choose_the_exception_level),
		cmocka_unit_test(counting_obeys_e_and_the_enables),
		cmocka_unit_test(counters_overflow_at_32_bits_or_at_64),
		cmocka_unit_test(a_pair_of_chained_counters_counts_64_bits),
		cmocka_unit_test(software_increments_as_on_hardware),
		cmocka_unit_test(the_line_is_raised_once_and_again_after_it_was_down),
		cmocka_unit_test(the_line_obeys_e_and_the_interrupt_enables),
		cmocka_unit_test(an_overflow_without_interrupt_is_seen_and_can_be_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
