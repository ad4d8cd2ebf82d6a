/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PMUv3 as the hypervisor drives it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/err.h"
#include "tests/core/machine.h"

static const uint64_t clock_of_tests;
static const struct vpmu_config plain = { .host_counters = -1 };
static const struct hw_armv8_config v3p5 = { .counters = 6, .version = 6 };
static const struct hw_armv8_config v3 = { .counters = 6, .version = 1 };

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

static const char *why_refused(struct hw_armv8_config hw, int host_counters)
{
	struct vpmu_config config = { .host_counters = host_counters };
	struct hw *model = hw_armv8_new(&hw, &clock_of_tests);
	struct vpmu m = { 0 };
	const char *why;
	int rc = vpmu_init(&m, &vpmu_armv8, NULL, &config, &model->hw, &why);

	free(model);
	assert_int_equal(rc, why ? -VPMU_ENODEV : 0);
	return why;
}

static void a_pmu_that_cannot_be_shared_is_refused_in_words(void **state)
{
	(void)state;
	assert_non_null(
		strstr(why_refused((struct hw_armv8_config) { 6, 0 }, -1), "no PMU"));
	assert_non_null(
		strstr(why_refused((struct hw_armv8_config) { 6, 0xf }, -1), "no PMU"));
	assert_non_null(strstr(why_refused((struct hw_armv8_config) { 0, 6 }, -1),
			       "no event counter"));
	assert_non_null(strstr(why_refused(v3p5, 7), "fewer event counters"));
	assert_null(why_refused(v3p5, 6));
	assert_null(why_refused((struct hw_armv8_config) { 1, 1 }, -1));
}

static void a_lesser_processor_is_refused_and_a_better_one_is_not(void **state)
{
	struct hw_armv8_config fewer = { 5, 6 }, older = { 6, 5 }, more = { 8, 9 };
	struct machine *m = machine_of(&v3p5);
	struct vpmu_pcpu p = { 0 };
	const char *why;
	struct hw *hw;

	(void)state;
	hw = hw_armv8_new(&fewer, &m->clock);
	assert_int_equal(vpmu_pcpu_up(&p, &m->m, 9, &hw->hw, &why), -VPMU_ENODEV);
	assert_non_null(strstr(why, "less than the first"));
	free(hw);
	hw = hw_armv8_new(&older, &m->clock);
	assert_int_equal(vpmu_pcpu_up(&p, &m->m, 9, &hw->hw, &why), -VPMU_ENODEV);
	free(hw);
	hw = hw_armv8_new(&more, &m->clock);
	assert_int_equal(vpmu_pcpu_up(&p, &m->m, 9, &hw->hw, &why), 0);
	free(hw);
	machine_free(m);
}

static void the_highest_counters_are_the_hosts_by_hpmn(void **state)
{
	struct machine *m = machine_of(&v3p5);
	uint64_t mdcr = hw_read(m, ARMV8_MDCR_EL2);

	(void)state;
	assert_int_equal(m->m.caps.host, 0x30);
	assert_int_equal(m->m.caps.guest, 0xf | 1ULL << 31);
	assert_int_equal(mdcr & ARMV8_MDCR_HPMN, 4);
	assert_int_equal(mdcr & ~(uint64_t)ARMV8_MDCR_HPMN,
			 ARMV8_MDCR_HPME | ARMV8_MDCR_HPMD | ARMV8_MDCR_HCCD |
				 ARMV8_MDCR_HLP | ARMV8_MDCR_TPM | ARMV8_MDCR_TPMCR |
				 1 << 11 /* TDRA, the hypervisor's own */);
	assert_int_equal(machine_read(m, 0, ARMV8_PMCR) >> 11 & 0x1f, 4);
	machine_free(m);
}

static void one_counter_stays_with_the_guests_unless_hpmn_may_be_zero(void **state)
{
	struct hw_armv8_config hw = { 6, 9, .hpmn0 = true };
	struct vpmu_config all = { .host_counters = 6 };
	struct machine *m = machine_new(&v3p5, &all);

	(void)state;
	assert_int_equal(m->m.caps.host, 0x3e);
	machine_free(m);
	m = machine_new(&hw, &all);
	assert_int_equal(m->m.caps.host, 0x3f);
	machine_switch(m, 0, 0);
	assert_int_equal(machine_read(m, 0, ARMV8_PMCR) >> 11 & 0x1f, 0);
	machine_free(m);
}

static void a_pcpu_comes_up_with_everything_stopped_and_zero(void **state)
{
	struct machine *m = machine_of(&v3p5);

	(void)state;
	for (unsigned c = 0; c < 6; c++) {
		assert_int_equal(hw_read(m, ARMV8_PMEVCNTR(c)), 0);
		assert_int_equal(hw_read(m, ARMV8_PMEVTYPER(c)), 0);
	}
	assert_int_equal(hw_read(m, ARMV8_PMCCNTR), 0);
	assert_int_equal(hw_read(m, ARMV8_PMCCFILTR), 0);
	assert_int_equal(hw_read(m, ARMV8_PMCNTENSET), 0);
	assert_int_equal(hw_read(m, ARMV8_PMINTENSET), 0);
	assert_int_equal(hw_read(m, ARMV8_PMOVSSET), 0);
	machine_free(m);
}

/* By EN alone: SW, CR and ER let QEMU forget the trap. */
static void el0_is_trapped_to_el2_by_nothing_but_en(void **state)
{
	const struct vpmu_config direct = { .host_counters = -1, .direct = true };
	struct machine *m = machine_new(&v3p5, &direct);

	(void)state;
	machine_switch(m, 0, 0);
	assert_int_equal(hw_read(m, ARMV8_PMUSERENR), ARMV8_PMUSERENR_EN);
	machine_write(m, 0, ARMV8_PMUSERENR, ARMV8_PMUSERENR_ALL);
	assert_int_equal(hw_read(m, ARMV8_PMUSERENR), ARMV8_PMUSERENR_ALL);
	machine_switch(m, 0, 1);
	assert_int_equal(hw_read(m, ARMV8_PMUSERENR), ARMV8_PMUSERENR_EN);
	machine_free(m);
}

static void a_hosts_event_is_encoded_or_refused(void **state)
{
	const uint32_t user = VPMU_EVENT_USER, kernel = VPMU_EVENT_KERNEL;
	const uint32_t hyp = VPMU_EVENT_HYP;
	static const uint64_t none = ~0ULL;
	const struct {
		struct vpmu_event event;
		int rc;
		uint64_t select;
	} cases[] = {
		{ { .config = 0x11, .flags = user | kernel }, 0, 0x04000011 },
		{ { .config = 0x11, .flags = user }, 0, 0x80000011 },
		{ { .config = 0x11, .flags = kernel }, 0, 0x44000011 },
		{ { .config = 0x11, .flags = hyp }, 0, 0xc8000011 },
		{ { .config = 0xc0de, .flags = user | kernel }, 0, 0x0400c0de },
		{ { .config = 0x11 }, -VPMU_EINVAL, none },
		{ { .config = 0x11, .flags = 8 }, -VPMU_EINVAL, none },
		{ { .config = 0x11, .flags = user, .zero = 1 }, -VPMU_EINVAL, none },
		{ { .config = 0x10011, .flags = user }, -VPMU_EINVAL, none },
		/* not in PMCEID; not of its own; chained */
		{ { .config = 0x12, .flags = user }, -VPMU_EOPNOTSUPP, none },
		{ { .config = 0x4000, .flags = user }, -VPMU_EOPNOTSUPP, none },
		{ { .config = 0, .flags = user }, -VPMU_EOPNOTSUPP, none },
		{ { .config = 0x1e, .flags = user }, -VPMU_EOPNOTSUPP, none },
	};
	struct machine *m = machine_of(&v3p5);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t select = none, may = none;

		assert_int_equal(
			vpmu_armv8.encode(&m->m.caps, &cases[i].event, &select, &may),
			cases[i].rc);
		assert_int_equal(select, cases[i].select);
		assert_int_equal(may, cases[i].rc ? none : 0x30);
	}
	machine_free(m);
}

static void events_have_10_bits_before_v3p1(void **state)
{
	const struct vpmu_event wide = { .config = 0xc0de, .flags = VPMU_EVENT_USER };
	struct machine *m = machine_of(&v3);
	uint64_t select, may;

	(void)state;
	assert_int_equal(vpmu_armv8.encode(&m->m.caps, &wide, &select, &may),
			 -VPMU_EOPNOTSUPP);
	machine_write(m, 0, ARMV8_PMEVTYPER(0), 0xc0de);
	assert_int_equal(machine_read(m, 0, ARMV8_PMEVTYPER(0)), 0xde);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pmu_that_cannot_be_shared_is_refused_in_words),
		cmocka_unit_test(a_lesser_processor_is_refused_and_a_better_one_is_not),
		cmocka_unit_test(the_highest_counters_are_the_hosts_by_hpmn),
		cmocka_unit_test(one_counter_stays_with_the_guests_unless_hpmn_may_be_zero),
		cmocka_unit_test(a_pcpu_comes_up_with_everything_stopped_and_zero),
		cmocka_unit_test(el0_is_trapped_to_el2_by_nothing_but_en),
		cmocka_unit_test(a_hosts_event_is_encoded_or_refused),
		cmocka_unit_test(events_have_10_bits_before_v3p1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
