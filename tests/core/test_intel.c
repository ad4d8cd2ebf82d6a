/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intel architectural perfmon, from the hypervisor's side and from a guest's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/pmu/intel_regs.h"
#include "tests/core/hw_intel.h"
#include "tests/core/x86_machine.h"

#define USER VPMU_MODE_USER
#define KERNEL VPMU_MODE_KERNEL
#define INST 0xc0u
#define ON (X86_SEL_EN | X86_SEL_USR | X86_SEL_OS)

static const struct pmu_intel_config v1 = { .version = 1, .gp = 2, .gp_width = 40 };
static const struct pmu_intel_config v2 = {
	.version = 2, .gp = 2, .gp_width = 40, .fixed = 3, .fixed_width = 40
};
static const struct pmu_intel_config v4 = { .version = 4,
					    .gp = 4,
					    .gp_width = 48,
					    .fixed = 3,
					    .fixed_width = 48,
					    .full_width = true };
static const struct pmu_intel_config v5 = { .version = 5,
					    .gp = 8,
					    .gp_width = 48,
					    .fixed = 3,
					    .fixed_width = 48,
					    .fixed_map = 1 << 3,
					    .full_width = true,
					    .absent = 1 << 4 };

static struct x86_machine *machine(const struct pmu_intel_config *config, int host)
{
	return x86_machine_new(hw_intel_new(config, NULL), &vpmu_intel, host);
}

static void a_pmu_is_what_cpuid_says(void **state)
{
	struct x86_machine *m = machine(&v5, 2);

	(void)state;
	assert_int_equal(m->m.caps.version, 5);
	assert_int_equal(m->m.caps.counters, 0xf000000ff);
	assert_int_equal(m->m.caps.host, 0xc0);
	assert_int_equal(m->m.caps.guest, 0xf0000003f);
	assert_int_equal(vpmu_intel.width(&m->m.caps, 0), 48);
	x86_machine_free(m);
}

static void a_processor_without_perfmon_is_refused(void **state)
{
	const struct pmu_intel_config none = { .version = 0, .gp_width = 48 };
	struct hw *hw = hw_intel_new(&none, NULL);
	struct vpmu_caps caps = { .version = 0 };

	(void)state;
	assert_true(vpmu_intel.probe(&hw->hw, &caps) < 0);
	free(hw);
}

static void a_guest_is_told_of_its_own_counters_only(void **state)
{
	struct x86_machine *m = machine(&v5, 2);
	uint32_t r[4] = { 0 };

	(void)state;
	intel_guest_cpuid(&m->m.caps, 0xa, r);
	assert_int_equal(r[X86_EAX], 5 | 6 << 8 | 48 << 16 | 8 << 24);
	assert_int_equal(r[X86_EBX], 1 << 4);
	assert_int_equal(r[X86_ECX], 0xf);
	assert_int_equal(r[X86_EDX], 4 | 48 << 5 | 1 << 15);
	r[X86_ECX] = 0;
	intel_guest_cpuid(&m->m.caps, 1, r);
	assert_int_equal(r[X86_ECX], INTEL_CPUID_PDCM);
	assert_int_equal(x86_wrmsr(m, INTEL_EVTSEL(5), 0), VPMU_DONE);
	assert_int_equal(x86_wrmsr(m, INTEL_EVTSEL(6), 0), VPMU_UNDEFINED);
	assert_int_equal(x86_wrmsr(m, INTEL_PMC(6), 0), VPMU_UNDEFINED);
	x86_machine_free(m);
}

static void a_narrow_one_is_told_to_be_narrow(void **state)
{
	struct x86_machine *m = machine(&v2, 1);
	uint32_t r[4] = { 0, 0, ~0u, 0 };

	(void)state;
	intel_guest_cpuid(&m->m.caps, 0xa, r);
	assert_int_equal(r[X86_EAX] >> 16 & 0xff, 32);
	assert_int_equal(r[X86_EDX] >> 5 & 0xff, 40);
	intel_guest_cpuid(&m->m.caps, 1, r);
	assert_false(r[X86_ECX] & INTEL_CPUID_PDCM);
	assert_int_equal(x86_wrmsr(m, INTEL_A_PMC(0), 0), VPMU_UNDEFINED);
	assert_int_equal(x86_access(m, INTEL_PERF_CAPABILITIES, false, false),
			 VPMU_UNDEFINED);
	x86_wrmsr(m, INTEL_PMC(0), 0xfffffffe);
	assert_int_equal(x86_rdmsr(m, INTEL_PMC(0)), 0xfffffffe);
	x86_wrmsr(m, INTEL_EVTSEL(0), ON | INST);
	x86_run(m, USER, INST, 5);
	assert_int_equal(x86_rdmsr(m, INTEL_PMC(0)), 3);
	assert_int_equal(x86_rdmsr(m, INTEL_GLOBAL_STATUS), 1);
	x86_machine_free(m);
}

static void legacy_writes_sign_extend_and_full_width_ones_do_not(void **state)
{
	struct x86_machine *m = machine(&v4, 1);

	(void)state;
	assert_int_equal(x86_rdmsr(m, INTEL_PERF_CAPABILITIES), INTEL_CAP_FW_WRITE);
	x86_wrmsr(m, INTEL_PMC(0), 0x1234580000000);
	assert_int_equal(x86_rdmsr(m, INTEL_PMC(0)), 0xffff80000000);
	x86_wrmsr(m, INTEL_A_PMC(0), 0x123480000000);
	assert_int_equal(x86_rdmsr(m, INTEL_PMC(0)), 0x123480000000);
	assert_int_equal(x86_wrmsr(m, INTEL_A_PMC(0), 1ULL << 48), VPMU_UNDEFINED);
	assert_int_equal(x86_rdmsr(m, INTEL_A_PMC(0)), 0x123480000000);
	x86_machine_free(m);
}

static void reserved_bits_are_refused_and_change_nothing(void **state)
{
	static const struct {
		uint32_t reg;
		uint64_t value;
	} bad[] = {
		{ INTEL_EVTSEL(0), X86_SEL_ANY },
		{ INTEL_EVTSEL(0), 1ULL << 32 },
		{ INTEL_FIXED_CTR_CTRL, INTEL_FIXED_ANY },
		{ INTEL_FIXED_CTR_CTRL, 0xb000 }, /* a fourth fixed counter */
		{ INTEL_FIXED_CTR(0), 1ULL << 48 },
		{ INTEL_FIXED_CTR(3), 0 },
		{ INTEL_GLOBAL_CTRL, 1 << 3 }, /* the host's */
		{ INTEL_GLOBAL_CTRL, 1ULL << 35 },
		{ INTEL_GLOBAL_OVF_CTRL, 1 << 3 },
		{ INTEL_GLOBAL_STATUS, 0 },
		{ INTEL_GLOBAL_STATUS_SET, 1 << 3 },
		{ INTEL_GLOBAL_INUSE, 0 },
		{ INTEL_PERF_CAPABILITIES, 0 },
		{ X86_RDPMC, 0 },
		{ 0x3f1, 0 }, /* PEBS */
	};
	struct x86_machine *m = machine(&v4, 1);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(x86_wrmsr(m, bad[i].reg, bad[i].value), VPMU_UNDEFINED);
	assert_int_equal(x86_rdmsr(m, INTEL_EVTSEL(0)), 0);
	assert_int_equal(x86_rdmsr(m, INTEL_FIXED_CTR_CTRL), 0);
	assert_int_equal(x86_rdmsr(m, INTEL_GLOBAL_CTRL), 7);
	x86_machine_free(m);
}

static void other_registers_are_somebody_elses(void **state)
{
	struct x86_machine *m = machine(&v4, 1);

	(void)state;
	assert_int_equal(x86_access(m, 0x1d9, false, false), VPMU_FOREIGN); /* DEBUGCTL */
	assert_int_equal(x86_access(m, 0xc0010000, true, false), VPMU_FOREIGN);
	assert_int_equal(x86_access(m, INTEL_PMC(0), false, true), VPMU_UNDEFINED);
	x86_machine_free(m);
}

static void a_counter_counts_in_the_modes_that_it_was_asked_for(void **state)
{
	struct x86_machine *m = machine(&v4, 1);

	(void)state;
	x86_wrmsr(m, INTEL_EVTSEL(0), X86_SEL_EN | X86_SEL_USR | INST);
	x86_wrmsr(m, INTEL_EVTSEL(1), X86_SEL_EN | X86_SEL_OS | INST);
	x86_wrmsr(m, INTEL_FIXED_CTR_CTRL, INTEL_FIXED_USR);
	x86_wrmsr(m, INTEL_GLOBAL_CTRL, 3 | 1ULL << 32);
	x86_run(m, USER, INST, 30);
	x86_run(m, KERNEL, INST, 400);
	x86_run(m, VPMU_MODE_HYP, INST, 5000);
	assert_int_equal(x86_rdmsr(m, INTEL_PMC(0)), 30);
	assert_int_equal(x86_rdmsr(m, INTEL_PMC(1)), 400);
	assert_int_equal(x86_rdmsr(m, INTEL_FIXED_CTR(0)), 30);
	x86_wrmsr(m, INTEL_GLOBAL_CTRL, 2);
	x86_run(m, KERNEL, INST, 7);
	x86_run(m, USER, INST, 7);
	assert_int_equal(x86_rdmsr(m, INTEL_PMC(0)), 30);
	assert_int_equal(x86_rdmsr(m, INTEL_PMC(1)), 407);
	x86_machine_free(m);
}

static void what_is_no_event_of_the_guests_stays_out_of_the_hardware(void **state)
{
	struct x86_machine *m = machine(&v4, 1);
	uint64_t in_hardware;

	(void)state;
	x86_wrmsr(m, INTEL_EVTSEL(0), ON | X86_SEL_PC | INST);
	assert_int_equal(x86_rdmsr(m, INTEL_EVTSEL(0)), ON | X86_SEL_PC | INST);
	in_hardware = vpmu_hw_read(&m->hw->hw, INTEL_EVTSEL(0));
	assert_int_equal(in_hardware, ON | INST);
	x86_machine_free(m);
}

static void an_overflow_stays_in_the_status_until_it_is_cleared(void **state)
{
	struct x86_machine *m = machine(&v4, 1);

	(void)state;
	x86_wrmsr(m, INTEL_A_PMC(0), 0xfffffffffff0);
	x86_wrmsr(m, INTEL_EVTSEL(0), ON | X86_SEL_INT | INST);
	x86_run(m, USER, INST, 15);
	assert_int_equal(x86_rdmsr(m, INTEL_GLOBAL_STATUS), 0);
	assert_int_equal(m->raised[0], 0);
	x86_run(m, USER, INST, 5);
	assert_int_equal(x86_rdmsr(m, INTEL_PMC(0)), 4);
	assert_int_equal(x86_rdmsr(m, INTEL_GLOBAL_STATUS), 1);
	assert_int_equal(m->raised[0], 1);
	assert_true(vpmu_line(&m->v[0]));
	x86_wrmsr(m, INTEL_GLOBAL_OVF_CTRL, 1);
	assert_int_equal(x86_rdmsr(m, INTEL_GLOBAL_STATUS), 0);
	assert_false(vpmu_line(&m->v[0]));
	x86_machine_free(m);
}

static void only_an_overflow_interrupts(void **state)
{
	struct x86_machine *m = machine(&v4, 1);

	(void)state;
	x86_wrmsr(m, INTEL_A_PMC(0), 0xffffffffffff);
	x86_wrmsr(m, INTEL_EVTSEL(0), ON | INST);
	x86_run(m, USER, INST, 1);
	/* neither turning the interrupt on later … */
	x86_wrmsr(m, INTEL_EVTSEL(0), ON | X86_SEL_INT | INST);
	/* … nor setting the status */
	x86_wrmsr(m, INTEL_GLOBAL_STATUS_SET, 1 | 1ULL << 33);
	assert_int_equal(x86_rdmsr(m, INTEL_GLOBAL_STATUS), 1 | 1ULL << 33);
	assert_int_equal(m->raised[0], 0);
	/* … but the next one does, though the status was there */
	x86_wrmsr(m, INTEL_A_PMC(0), 0xffffffffffff);
	x86_run(m, USER, INST, 1);
	assert_int_equal(m->raised[0], 1);
	x86_machine_free(m);
}

static void version_1_has_no_global_registers_and_overflows_all_the_same(void **state)
{
	struct x86_machine *m = machine(&v1, 1);

	(void)state;
	for (uint32_t reg = INTEL_FIXED_CTR_CTRL; reg <= INTEL_GLOBAL_INUSE; reg++)
		assert_int_equal(x86_access(m, reg, false, false), VPMU_UNDEFINED);
	x86_wrmsr(m, INTEL_PMC(0), 0xfffffff0);
	x86_wrmsr(m, INTEL_EVTSEL(0), ON | X86_SEL_INT | INST);
	x86_run(m, USER, INST, 15);
	assert_int_equal(m->raised[0], 0);
	x86_run(m, USER, INST, 1);
	assert_int_equal(m->raised[0], 1);
	x86_wrmsr(m, INTEL_PMC(0), 0xfffffff0);
	assert_false(vpmu_line(&m->v[0]));
	x86_run(m, USER, INST, 16);
	assert_int_equal(m->raised[0], 2);
	x86_machine_free(m);
}

static void registers_come_with_their_version(void **state)
{
	struct x86_machine *m = machine(&v2, 1);

	(void)state;
	assert_int_equal(x86_access(m, INTEL_GLOBAL_OVF_CTRL, false, false), VPMU_DONE);
	assert_int_equal(x86_access(m, INTEL_GLOBAL_STATUS_SET, false, false),
			 VPMU_UNDEFINED);
	assert_int_equal(x86_access(m, INTEL_GLOBAL_INUSE, false, false), VPMU_UNDEFINED);
	x86_machine_free(m);
	m = machine(&v4, 1);
	assert_int_equal(x86_rdmsr(m, INTEL_GLOBAL_INUSE), 0);
	x86_wrmsr(m, INTEL_EVTSEL(1), INST);
	x86_wrmsr(m, INTEL_FIXED_CTR_CTRL, 0xb0);
	assert_int_equal(x86_rdmsr(m, INTEL_GLOBAL_INUSE),
			 2 | 1ULL << 33 | INTEL_INUSE_PMI);
	x86_machine_free(m);
}

static void rdpmc_reads_counters_by_their_index(void **state)
{
	struct x86_machine *m = machine(&v4, 1);

	(void)state;
	x86_wrmsr(m, INTEL_A_PMC(1), 0xabcdef012345);
	x86_wrmsr(m, INTEL_FIXED_CTR(2), 77);
	assert_int_equal(x86_rdmsr(m, x86_rdpmc(1)), 0xabcdef012345);
	assert_int_equal(x86_rdmsr(m, x86_rdpmc(X86_RDPMC_FIXED | 2)), 77);
	assert_int_equal(x86_access(m, x86_rdpmc(1), false, true), VPMU_DONE);
	assert_int_equal(x86_access(m, x86_rdpmc(3), false, false), VPMU_UNDEFINED);
	assert_int_equal(x86_access(m, x86_rdpmc(X86_RDPMC_FIXED | 3), false, false),
			 VPMU_UNDEFINED);
	assert_int_equal(x86_access(m, x86_rdpmc(1u << 31), false, false), VPMU_UNDEFINED);
	assert_int_equal(x86_access(m, x86_rdpmc(0x10000), false, false), VPMU_UNDEFINED);
	x86_machine_free(m);
}

static void another_vm_finds_reset_values(void **state)
{
	struct x86_machine *m = machine(&v4, 1);

	(void)state;
	x86_wrmsr(m, INTEL_A_PMC(0), 0xfffffffffff0);
	x86_wrmsr(m, INTEL_EVTSEL(0), ON | X86_SEL_INT | INST);
	x86_wrmsr(m, INTEL_FIXED_CTR_CTRL, 0xbb);
	x86_wrmsr(m, INTEL_GLOBAL_CTRL, 3 | 3ULL << 32);
	x86_run(m, USER, INST, 100);
	x86_switch(m, 1);
	assert_int_equal(x86_rdmsr(m, INTEL_PMC(0)), 0);
	assert_int_equal(x86_rdmsr(m, INTEL_EVTSEL(0)), 0);
	assert_int_equal(x86_rdmsr(m, INTEL_FIXED_CTR(0)), 0);
	assert_int_equal(x86_rdmsr(m, INTEL_FIXED_CTR_CTRL), 0);
	assert_int_equal(x86_rdmsr(m, INTEL_GLOBAL_CTRL), 7);
	assert_int_equal(x86_rdmsr(m, INTEL_GLOBAL_STATUS), 0);
	x86_wrmsr(m, INTEL_EVTSEL(0), ON | INST);
	x86_run(m, KERNEL, INST, 1000);
	assert_int_equal(x86_rdmsr(m, INTEL_PMC(0)), 1000);
	x86_switch(m, 0);
	assert_int_equal(x86_rdmsr(m, INTEL_PMC(0)), 84);
	assert_int_equal(x86_rdmsr(m, INTEL_FIXED_CTR(0)), 100);
	assert_int_equal(x86_rdmsr(m, INTEL_GLOBAL_STATUS), 1);
	x86_machine_free(m);
}

static int encode(const struct x86_machine *m, uint64_t config, uint32_t flags)
{
	struct vpmu_event event = { .config = config, .flags = flags };
	uint64_t select, may;

	return vpmu_intel.encode(&m->m.caps, &event, &select, &may);
}

static void a_hosts_event_is_checked(void **state)
{
	struct x86_machine *m = machine(&v5, 2);

	(void)state;
	assert_int_equal(encode(m, INST, VPMU_EVENT_USER), 0);
	assert_int_equal(encode(m, 0x28404c3, VPMU_EVENT_USER), 0);
	assert_true(encode(m, X86_SEL_ANY | INST, VPMU_EVENT_USER) < 0);
	assert_true(encode(m, X86_SEL_OS | INST, VPMU_EVENT_USER) < 0);
	assert_true(encode(m, 1ULL << 32 | INST, VPMU_EVENT_USER) < 0);
	assert_true(encode(m, 0x412e, VPMU_EVENT_USER) < 0); /* told to be absent */
	assert_true(encode(m, INST, VPMU_EVENT_HYP) < 0);
	x86_machine_free(m);
}

/* The counters that @events of VM 0 are on, all at once. */
static uint64_t counters_of(struct x86_machine *m, struct vpmu_set *set, unsigned n,
			    const uint64_t *events, uint64_t period)
{
	unsigned bad;

	set->n = n;
	for (unsigned i = 0; i < n; i++)
		set->event[i] = (struct vpmu_event) { .config = events[i],
						      .period = period,
						      .flags = VPMU_EVENT_USER };
	assert_int_equal(vpmu_set_check(&m->m, set, false, &bad), 0);
	assert_int_equal(vpmu_host_add(&m->m, &m->vm[0], set), 0);
	vpmu_host_refresh(&m->p, &m->v[0]);
	return m->vm[0].plan->nturns == 1 ? m->vm[0].plan->used : 0;
}

static void a_host_that_keeps_all_counters_counts_on_the_fixed_ones_too(void **state)
{
	static const uint64_t events[] = { INTEL_CYCLES,    0x1c3, 0x2c3,
					   0x3c3,	    0x4c3, INTEL_INSTRUCTIONS,
					   INTEL_REF_CYCLES };
	struct x86_machine *m = machine(&v4, 4);
	struct vpmu_tally tally = { 0 };
	struct vpmu_set set = { .tally = &tally, .ntallies = 1 };

	(void)state;
	assert_int_equal(m->m.caps.guest, 0);
	assert_int_equal(counters_of(m, &set, 7, events, 0), 0x70000000f);
	for (unsigned i = 0; i < 7; i++) {
		x86_run(m, VPMU_MODE_USER, events[i], 100 + i);
		x86_run(m, VPMU_MODE_KERNEL, events[i], 1000);
	}
	x86_switch(m, 1);
	x86_run(m, VPMU_MODE_USER, INTEL_CYCLES, 5000);
	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(tally.count[i].offset.sum, 100 + i);
	x86_machine_free(m);
}

static void a_fixed_counter_s_event_is_sampled_to_the_event(void **state)
{
	static const uint64_t cycles = INTEL_REF_CYCLES;
	struct x86_machine *m = machine(&v4, 4);
	struct vpmu_tally tally = { 0 };
	struct vpmu_set set = { .tally = &tally, .ntallies = 1 };

	(void)state;
	assert_int_equal(counters_of(m, &set, 1, &cycles, 1000), 4ULL << INTEL_FIXED);
	x86_run(m, VPMU_MODE_USER, cycles, 3500);
	x86_switch(m, 1);
	assert_int_equal(tally.count[0].taken, 3);
	assert_int_equal(tally.count[0].left, 500);
	x86_machine_free(m);
}

static void with_vmx_the_hypervisor_counts_itself_and_nothing_else(void **state)
{
	struct pmu_intel_config config = v4;
	struct vpmu_tally hyp_tally = { 0 }, tally = { 0 };
	struct vpmu_set hyp = { .tally = &hyp_tally, .ntallies = 1, .n = 2 };
	struct vpmu_set set = { .tally = &tally, .ntallies = 1 };
	static const uint64_t event = INTEL_INSTRUCTIONS;
	struct x86_machine *m;
	unsigned bad;

	(void)state;
	config.vmx = true;
	m = machine(&config, 4);
	hyp.event[0] = (struct vpmu_event) { .config = event, .flags = VPMU_EVENT_HYP };
	hyp.event[1] = (struct vpmu_event) { .config = 0x4f2e,
					     .period = 10000,
					     .flags = VPMU_EVENT_HYP };
	assert_int_equal(vpmu_set_check(&m->m, &hyp, true, &bad), 0);
	assert_int_equal(vpmu_host_add(&m->m, NULL, &hyp), 0);
	assert_true(counters_of(m, &set, 1, &event, 0));
	for (unsigned i = 0; i < 10; i++) {
		x86_run(m, VPMU_MODE_KERNEL, event, 3);
		x86_run(m, VPMU_MODE_USER, event, 4);
		x86_run(m, VPMU_MODE_HYP, event, 100);
		x86_run(m, VPMU_MODE_HYP, 0x4f2e, 2500);
		x86_run(m, VPMU_MODE_KERNEL, 0x4f2e, 900);
		x86_switch(m, i % 2);
	}
	vpmu_host_fold(&m->p);
	assert_int_equal(hyp_tally.count[0].offset.sum, 1000);
	assert_int_equal(hyp_tally.count[1].offset.sum, 25000);
	assert_int_equal(hyp_tally.count[1].taken, 2);
	assert_int_equal(tally.count[0].offset.sum, 24);
	vpmu_host_remove(&m->m, NULL, &hyp);
	vpmu_host_refresh(&m->p, m->p.runs);
	x86_run(m, VPMU_MODE_HYP, event, 100);
	assert_int_equal(hyp_tally.count[0].offset.sum, 1000);
	x86_machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pmu_is_what_cpuid_says),
		cmocka_unit_test(a_processor_without_perfmon_is_refused),
		cmocka_unit_test(a_guest_is_told_of_its_own_counters_only),
		cmocka_unit_test(a_narrow_one_is_told_to_be_narrow),
		cmocka_unit_test(legacy_writes_sign_extend_and_full_width_ones_do_not),
		cmocka_unit_test(reserved_bits_are_refused_and_change_nothing),
		cmocka_unit_test(other_registers_are_somebody_elses),
		cmocka_unit_test(a_counter_counts_in_the_modes_that_it_was_asked_for),
		cmocka_unit_test(what_is_no_event_of_the_guests_stays_out_of_the_hardware),
		cmocka_unit_test(an_overflow_stays_in_the_status_until_it_is_cleared),
		cmocka_unit_test(only_an_overflow_interrupts),
		cmocka_unit_test(
			version_1_has_no_global_registers_and_overflows_all_the_same),
		cmocka_unit_test(registers_come_with_their_version),
		cmocka_unit_test(rdpmc_reads_counters_by_their_index),
		cmocka_unit_test(another_vm_finds_reset_values),
		cmocka_unit_test(a_hosts_event_is_checked),
		cmocka_unit_test(
			a_host_that_keeps_all_counters_counts_on_the_fixed_ones_too),
		cmocka_unit_test(a_fixed_counter_s_event_is_sampled_to_the_event),
		cmocka_unit_test(with_vmx_the_hypervisor_counts_itself_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
