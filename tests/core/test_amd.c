/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AMD core performance counters, from the hypervisor's side and from a guest's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/pmu/amd_regs.h"
#include "core/pmu/intel_regs.h"
#include "tests/core/hw_amd.h"
#include "tests/core/hw_intel.h"
#include "tests/core/x86_machine.h"

#define USER VPMU_MODE_USER
#define KERNEL VPMU_MODE_KERNEL
#define INST 0xc0u
#define ON (X86_SEL_EN | X86_SEL_USR | X86_SEL_OS)

static const struct hw_amd_config k10 = { .extension = false };
static const struct hw_amd_config fam15h = { .extension = true };
static const struct hw_amd_config v2 = { .v2 = 6 };

static struct x86_machine *machine(const struct hw_amd_config *config, int host)
{
	return x86_machine_new(hw_amd_new(config, NULL), &vpmu_amd, host);
}

static uint64_t guests(const struct hw_amd_config *config, int host)
{
	struct x86_machine *m = machine(config, host);
	uint64_t counters = m->m.caps.guest;

	x86_machine_free(m);
	return counters;
}

static void a_guest_has_four_counters_or_six_before_perfmonv2(void **state)
{
	(void)state;
	assert_int_equal(guests(&k10, 0), 0xf);
	assert_int_equal(guests(&k10, 2), 0xf);
	assert_int_equal(guests(&k10, 4), 0);
	assert_int_equal(guests(&fam15h, 0), 0x3f);
	assert_int_equal(guests(&fam15h, 1), 0xf);
	assert_int_equal(guests(&fam15h, 2), 0xf);
	assert_int_equal(guests(&fam15h, 6), 0);
	assert_int_equal(guests(&v2, 1), 0x1f);
	assert_int_equal(guests(&v2, 4), 0x3);
}

static void a_guest_is_told_of_its_own_counters_only(void **state)
{
	struct x86_machine *m = machine(&v2, 2);
	uint32_t r[4] = { 0, 0, ~0u, 0 };

	(void)state;
	amd_guest_cpuid(&m->m.caps, 0x80000001, r);
	assert_int_equal(r[X86_ECX], ~(AMD_CPUID_EXT_NB | AMD_CPUID_EXT_LLC));
	amd_guest_cpuid(&m->m.caps, 0x80000022, r);
	assert_int_equal(r[X86_EAX], AMD_CPUID_V2);
	assert_int_equal(r[X86_EBX], 4);
	assert_int_equal(x86_wrmsr(m, AMD_CTL(3), 0), VPMU_DONE);
	assert_int_equal(x86_wrmsr(m, AMD_CTL(4), 0), VPMU_UNDEFINED);
	x86_machine_free(m);
	m = machine(&fam15h, 2);
	amd_guest_cpuid(&m->m.caps, 0x80000001, r);
	assert_false(r[X86_ECX] & AMD_CPUID_EXT_CORE);
	amd_guest_cpuid(&m->m.caps, 0x80000022, r);
	assert_int_equal(r[X86_EAX] | r[X86_EBX], 0);
	assert_int_equal(x86_wrmsr(m, AMD_LEGACY_CTL(3), 0), VPMU_DONE);
	assert_int_equal(x86_wrmsr(m, AMD_CTL(3), 0), VPMU_UNDEFINED);
	assert_int_equal(x86_wrmsr(m, AMD_GLOBAL_CTL, 0), VPMU_UNDEFINED);
	x86_machine_free(m);
}

static void another_vendors_processor_is_refused(void **state)
{
	const struct pmu_intel_config intel = { .version = 4, .gp = 4, .gp_width = 48 };
	struct hw *hw = hw_intel_new(&intel, NULL);
	struct vpmu_caps caps = { .version = 0 };

	(void)state;
	assert_true(vpmu_amd.probe(&hw->hw, &caps) < 0);
	free(hw);
	hw = hw_amd_new(&v2, NULL);
	assert_true(vpmu_intel.probe(&hw->hw, &caps) < 0);
	free(hw);
}

static void legacy_registers_are_the_first_four(void **state)
{
	struct x86_machine *m = machine(&v2, 0);

	(void)state;
	x86_wrmsr(m, AMD_LEGACY_CTL(2), ON | INST);
	x86_wrmsr(m, AMD_LEGACY_CTR(2), 5);
	assert_int_equal(x86_rdmsr(m, AMD_CTL(2)), ON | INST);
	x86_run(m, USER, INST, 10);
	assert_int_equal(x86_rdmsr(m, AMD_CTR(2)), 15);
	assert_int_equal(x86_rdmsr(m, x86_rdpmc(2)), 15);
	assert_int_equal(x86_access(m, x86_rdpmc(2), false, true), VPMU_DONE);
	assert_int_equal(x86_access(m, x86_rdpmc(6), false, true), VPMU_UNDEFINED);
	assert_int_equal(x86_access(m, AMD_CTR(2), false, true), VPMU_UNDEFINED);
	assert_int_equal(x86_access(m, INTEL_PMC(0), false, false), VPMU_FOREIGN);
	x86_machine_free(m);
}

static void reserved_bits_read_as_zero_and_ignore_writes(void **state)
{
	struct x86_machine *m = machine(&v2, 1);

	(void)state;
	assert_int_equal(x86_wrmsr(m, AMD_CTL(0), ~0ULL), VPMU_DONE);
	assert_int_equal(x86_rdmsr(m, AMD_CTL(0)), AMD_SEL_GUEST);
	assert_int_equal(x86_wrmsr(m, AMD_CTR(0), ~0ULL), VPMU_DONE);
	assert_int_equal(x86_rdmsr(m, AMD_CTR(0)), 0xffffffffffff);
	assert_int_equal(x86_wrmsr(m, AMD_GLOBAL_CTL, ~0ULL), VPMU_DONE);
	assert_int_equal(x86_rdmsr(m, AMD_GLOBAL_CTL), 0x1f);
	assert_int_equal(x86_wrmsr(m, AMD_GLOBAL_STATUS, ~0ULL), VPMU_DONE);
	assert_int_equal(x86_rdmsr(m, AMD_GLOBAL_STATUS), 0);
	x86_machine_free(m);
}

static void a_guest_counts_itself_whatever_side_it_asks_for(void **state)
{
	struct x86_machine *m = machine(&k10, 0);
	uint64_t in_hardware;

	(void)state;
	x86_wrmsr(m, AMD_LEGACY_CTL(0), ON | INST | AMD_SEL_HOST_ONLY);
	assert_int_equal(x86_rdmsr(m, AMD_LEGACY_CTL(0)), ON | INST);
	in_hardware = vpmu_hw_read(&m->hw->hw, AMD_LEGACY_CTL(0));
	assert_int_equal(in_hardware, ON | INST | AMD_SEL_GUEST_ONLY);
	x86_run(m, USER, INST, 3);
	x86_run(m, KERNEL, INST, 40);
	x86_run(m, VPMU_MODE_HYP, INST, 500);
	assert_int_equal(x86_rdmsr(m, AMD_LEGACY_CTR(0)), 43);
	x86_machine_free(m);
}

static void without_a_status_the_top_bit_tells_of_an_overflow(void **state)
{
	struct x86_machine *m = machine(&k10, 0);

	(void)state;
	x86_wrmsr(m, AMD_LEGACY_CTR(1), -(uint64_t)20);
	x86_wrmsr(m, AMD_LEGACY_CTL(1), ON | X86_SEL_INT | INST);
	x86_run(m, USER, INST, 19);
	assert_int_equal(m->raised[0], 0);
	x86_run(m, USER, INST, 1);
	assert_int_equal(m->raised[0], 1);
	/* from below the top bit there is nothing to tell */
	x86_run(m, USER, INST, 100);
	assert_int_equal(m->raised[0], 1);
	assert_int_equal(x86_rdmsr(m, AMD_LEGACY_CTR(1)), 100);
	x86_wrmsr(m, AMD_LEGACY_CTR(1), -(uint64_t)20);
	assert_false(vpmu_line(&m->v[0]));
	x86_run(m, USER, INST, 20);
	assert_int_equal(m->raised[0], 2);
	x86_machine_free(m);
}

static void perfmonv2_has_a_status_and_a_control(void **state)
{
	struct x86_machine *m = machine(&v2, 1);

	(void)state;
	assert_int_equal(x86_rdmsr(m, AMD_GLOBAL_CTL), 0x1f);
	x86_wrmsr(m, AMD_CTR(4), -(uint64_t)5);
	x86_wrmsr(m, AMD_CTL(4), ON | X86_SEL_INT | INST);
	x86_wrmsr(m, AMD_GLOBAL_CTL, 0xf);
	x86_run(m, USER, INST, 50);
	assert_int_equal(x86_rdmsr(m, AMD_CTR(4)), 0xfffffffffffb);
	x86_wrmsr(m, AMD_GLOBAL_CTL, 0x10);
	x86_run(m, USER, INST, 5);
	assert_int_equal(x86_rdmsr(m, AMD_GLOBAL_STATUS), 0x10);
	assert_int_equal(m->raised[0], 1);
	x86_wrmsr(m, AMD_GLOBAL_STATUS_CLR, 0x10);
	assert_int_equal(x86_rdmsr(m, AMD_GLOBAL_STATUS), 0);
	assert_false(vpmu_line(&m->v[0]));
	x86_wrmsr(m, AMD_GLOBAL_STATUS_SET, 0x30);
	assert_int_equal(x86_rdmsr(m, AMD_GLOBAL_STATUS), 0x10);
	assert_int_equal(m->raised[0], 1);
	x86_machine_free(m);
}

static void another_vm_finds_reset_values(void **state)
{
	struct x86_machine *m = machine(&k10, 0);

	(void)state;
	x86_wrmsr(m, AMD_LEGACY_CTR(0), -(uint64_t)5);
	x86_wrmsr(m, AMD_LEGACY_CTL(0), ON | X86_SEL_INT | INST);
	x86_run(m, USER, INST, 3);
	x86_switch(m, 1);
	assert_int_equal(x86_rdmsr(m, AMD_LEGACY_CTR(0)), 0);
	assert_int_equal(x86_rdmsr(m, AMD_LEGACY_CTL(0)), 0);
	x86_wrmsr(m, AMD_LEGACY_CTL(0), ON | X86_SEL_INT | INST);
	x86_run(m, USER, INST, 1000);
	assert_int_equal(x86_rdmsr(m, AMD_LEGACY_CTR(0)), 1000);
	assert_int_equal(m->raised[1], 0);
	x86_switch(m, 0);
	assert_int_equal(x86_rdmsr(m, AMD_LEGACY_CTR(0)), 0xfffffffffffe);
	x86_run(m, USER, INST, 2);
	assert_int_equal(m->raised[0], 1);
	x86_machine_free(m);
}

static int encode(const struct x86_machine *m, uint64_t config, uint32_t flags,
		  uint64_t *select)
{
	struct vpmu_event event = { .config = config, .flags = flags };
	uint64_t may;

	return vpmu_amd.encode(&m->m.caps, &event, select, &may);
}

static void a_hosts_event_counts_one_side(void **state)
{
	struct x86_machine *m = machine(&v2, 2);
	uint64_t select;

	(void)state;
	assert_int_equal(encode(m, 0x1000000c1, VPMU_EVENT_USER, &select), 0);
	assert_int_equal(select,
			 0x1000000c1 | X86_SEL_EN | X86_SEL_USR | AMD_SEL_GUEST_ONLY);
	assert_int_equal(encode(m, INST, VPMU_EVENT_HYP, &select), 0);
	assert_int_equal(select, INST | X86_SEL_EN | X86_SEL_OS | AMD_SEL_HOST_ONLY);
	assert_true(encode(m, INST, VPMU_EVENT_HYP | VPMU_EVENT_USER, &select) < 0);
	assert_true(encode(m, INST | AMD_SEL_HOST_ONLY, VPMU_EVENT_USER, &select) < 0);
	assert_true(encode(m, INST | X86_SEL_EN, VPMU_EVENT_USER, &select) < 0);
	x86_machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guest_has_four_counters_or_six_before_perfmonv2),
		cmocka_unit_test(a_guest_is_told_of_its_own_counters_only),
		cmocka_unit_test(another_vendors_processor_is_refused),
		cmocka_unit_test(legacy_registers_are_the_first_four),
		cmocka_unit_test(reserved_bits_read_as_zero_and_ignore_writes),
		cmocka_unit_test(a_guest_counts_itself_whatever_side_it_asks_for),
		cmocka_unit_test(without_a_status_the_top_bit_tells_of_an_overflow),
		cmocka_unit_test(perfmonv2_has_a_status_and_a_control),
		cmocka_unit_test(another_vm_finds_reset_values),
		cmocka_unit_test(a_hosts_event_counts_one_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
