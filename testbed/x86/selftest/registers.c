/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the counters' registers do. */
#include "counters.h"
#include "programs.h"
#include "tests.h"

#define LAPS 100
#define CR4_PCE (1 << 8)

#define INTEL_DEBUGCTL 0x1d9
#define FREEZE_ON_PMI (1 << 12)
#define INTEL_CAPABILITIES 0x345
#define INTEL_WIDE 0x4c1
#define INTEL_FIXED 0x309
#define INTEL_FIXED_CTRL 0x38d
#define AMD_OLD_SELECT 0xc0010000
#define AMD_OLD_COUNTER 0xc0010004

static void run(void)
{
	run_user(mixed_user, LAPS, scratch());
}

static uint64_t length(void)
{
	return user_length(&mixed_program, LAPS);
}

static void user_may_read(bool may)
{
	uint64_t cr4;

	__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
	cr4 = may ? cr4 | CR4_PCE : cr4 & ~CR4_PCE;
	__asm__ volatile("mov %0, %%cr4" : : "r"(cr4));
}

/* Both instructions have two bytes. */
static bool faults(bool write, uint32_t index, uint64_t value)
{
	struct cpu *cpu = this_cpu();

	cpu->may_trap = true;
	cpu->skip = 2;
	cpu->faults = 0;
	if (write)
		wrmsr(index, value);
	else
		rdpmc(index);
	cpu->may_trap = false;
	return cpu->faults;
}

static void values(void)
{
	uint64_t event = find_pmu()->instructions | USER;

	counter_start(0, event, 0);
	run();
	counter_stop(0);
	run();
	expect("a counter that is stopped stands", counter_read(0), length());
	wrmsr(find_pmu()->counter, 7);
	expect("a counter that is written has the value", counter_read(0), 7);
	counter_start(0, event, 0);
	run();
	wrmsr(find_pmu()->counter, 7);
	run();
	expect("so has one that runs", counter_stop(0), 7 + length());
	counter_start(0, event, -10);
	run();
	expect("a counter wraps at 48 bits", counter_stop(0), length() - 10);
}

static void reads(void)
{
	const struct pmu *pmu = find_pmu();

	counter_start(1, pmu->instructions | USER, 0);
	user_may_read(true);
	expect("RDPMC at CPL 3 sees what ran before it", run_user(read_user, 1UL), 1);
	user_may_read(false);
	expect("RDPMC is counted afterwards", counter_stop(1), 5);
	expect("RDPMC reads like RDMSR", rdpmc(1), counter_read(1));
	expect("RDPMC of no counter faults", faults(false, 31, 0), true);
	expect("nothing is read without CR4.PCE", faults(false, 0, 0), false);
}

static void masked_interrupts(void)
{
	struct samples *samples =
		samples_start(0, find_pmu()->instructions | USER, 10, true);

	apic_write(APIC_LVT_COUNTERS, APIC_NMI | APIC_MASKED);
	run();
	samples_stop();
	expect("no interrupt where the APIC's entry is masked", samples->count, 0);
	apic_write(APIC_LVT_COUNTERS, APIC_NMI);
	counter_start(0, find_pmu()->instructions | USER, -10);
	run();
	counter_stop(0);
	expect("nor without the select register's bit", samples->count, 0);
	apic_write(APIC_LVT_COUNTERS, APIC_MASKED);
}

/* Registers that start and stop all counters at once. */
static void global_registers(void)
{
	const struct pmu *pmu = find_pmu();
	uint64_t all = (1 << pmu->counters) - 1, first, equal = 0;

	expect("all counters are enabled after a reset", rdmsr(pmu->control) & all, all);
	wrmsr(pmu->clear, all);
	wrmsr(pmu->control, 0);
	for (int i = 0; i < pmu->counters; i++)
		counter_start(i, pmu->instructions | USER | OS, 0);
	run();
	expect("none counts that is not enabled", counter_read(0), 0);
	wrmsr(pmu->control, all & ~4);
	run();
	wrmsr(pmu->control, 0);
	first = counter_read(0);
	for (int i = 0; i < pmu->counters; i++)
		equal += counter_stop(i) == (i == 2 ? 0 : first);
	expect("the others count the same", equal, pmu->counters);
	expect("nothing has overflowed", rdmsr(pmu->status), 0);
	wrmsr(pmu->control, all);
	counter_start(3, pmu->instructions | USER, -10);
	run();
	counter_stop(3);
	expect("an overflow is told", rdmsr(pmu->status), 8);
	wrmsr(pmu->clear, 4);
	expect("until it is cleared", rdmsr(pmu->status), 8);
	wrmsr(pmu->clear, 8);
	expect("and no longer", rdmsr(pmu->status), 0);
	expect("the status is not written", faults(true, pmu->status, 0), true);
}

static void six_counters(void)
{
	const struct pmu *pmu = find_pmu();
	int same = 0;

	for (int i = 0; i < 4; i++) {
		wrmsr(AMD_OLD_COUNTER + i, 1000 + i);
		wrmsr(AMD_OLD_SELECT + i, pmu->instructions | USER | ENABLE);
	}
	run();
	for (int i = 0; i < 4; i++) {
		same += rdmsr(AMD_OLD_SELECT + i) == rdmsr(pmu->select + 2 * i);
		wrmsr(AMD_OLD_SELECT + i, 0);
		same += counter_read(i) == 1000 + i + length();
		same += counter_read(i) == rdmsr(AMD_OLD_COUNTER + i);
	}
	expect("the first four have the older names too", same, 12);
}

static void wide_writes(void)
{
	expect("full-width writes are offered", cpuid(1).ecx >> 15 & 1, 1);
	expect("and listed", rdmsr(INTEL_CAPABILITIES), 1 << 13);
	wrmsr(INTEL_WIDE + 1, 0x123456789abc);
	expect("all 48 bits are written", counter_read(1), 0x123456789abc);
	expect("no more", faults(true, INTEL_WIDE + 1, 1ULL << 48), true);
	wrmsr(find_pmu()->counter + 1, 0x80000000);
	expect("by the older name, 32 are, with their sign", rdpmc(1), 0xffff80000000);
}

static void fixed_counters(void)
{
	int right = 0;

	expect("three fixed counters", cpuid(0xa).edx & 0x1f, 3);
	for (int i = 0; i < 3; i++)
		wrmsr(INTEL_FIXED + i, i ? 0 : COUNT_MASK - 9);
	wrmsr(INTEL_FIXED_CTRL, 0x222);
	wrmsr(find_pmu()->control, 7ULL << 32);
	run();
	wrmsr(find_pmu()->control, 0xf);
	wrmsr(INTEL_FIXED_CTRL, 0);
	for (int i = 0; i < 3; i++)
		right += rdmsr(INTEL_FIXED + i) == length() - (i ? 0 : 10) &&
			 rdpmc(1 << 30 | i) == rdmsr(INTEL_FIXED + i);
	expect("they count exactly", right, 3);
	expect("and overflow", rdmsr(find_pmu()->status), 1ULL << 32);
	wrmsr(find_pmu()->clear, 1ULL << 32);
}

static void freezes(void)
{
	struct samples *samples;
	uint64_t counted = 0;

	for (int on = 0; on < 2; on++) {
		wrmsr(INTEL_DEBUGCTL, on ? FREEZE_ON_PMI : 0);
		samples = samples_start(0, find_pmu()->instructions | USER | OS, 101, true);
		run();
		samples_stop();
		counted = 0;
		for (int i = 0; i < samples->count; i++)
			counted += samples->value[i];
		if (on)
			expect("frozen, it counts nothing of its handler", counted, 0);
		else
			expect("not frozen, it does", counted > 0, true);
	}
	expect("all samples are there", samples->count > 10, true);
	wrmsr(INTEL_DEBUGCTL, 0);
}

void test_registers(void)
{
	const struct pmu *pmu = find_pmu();

	this_cpu()->subject = "registers";
	values();
	reads();
	masked_interrupts();
	if (pmu->global)
		global_registers();
	if (pmu->intel) {
		expect("CPUID tells what there is", cpuid(0xa).eax, 0x07300402);
		wide_writes();
		fixed_counters();
		freezes();
	} else if (pmu->counters == 6) {
		six_counters();
		if (pmu->global)
			expect("CPUID tells what there is", cpuid(0x80000022).ebx & 0xf, 6);
	}
}
