/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters. */
#include "counters.h"

uint64_t pmi(uint64_t rip);

static const struct pmu k10 = {
	.counters = 4,
	.select = 0xc0010000,
	.counter = 0xc0010004,
	.step = 1,
	.cycles = 0x76,
	.instructions = 0xc0,
	.branches = 0xc2,
	.unknown = 0x1,
};

static const struct pmu core = {
	.counters = 6,
	.select = 0xc0010200,
	.counter = 0xc0010201,
	.step = 2,
	.cycles = 0x76,
	.instructions = 0xc0,
	.branches = 0xc2,
	.unknown = 0x1,
};

static const struct pmu v2 = {
	.global = true,
	.counters = 6,
	.select = 0xc0010200,
	.counter = 0xc0010201,
	.step = 2,
	.status = 0xc0000300,
	.control = 0xc0000301,
	.clear = 0xc0000302,
	.cycles = 0x76,
	.instructions = 0xc0,
	.branches = 0xc2,
	.unknown = 0x1,
};

static const struct pmu intel = {
	.intel = true,
	.global = true,
	.counters = 4,
	.select = 0x186,
	.counter = 0xc1,
	.step = 1,
	.status = 0x38e,
	.control = 0x38f,
	.clear = 0x390,
	.cycles = 0x3c,
	.instructions = 0xc0,
	.branches = 0xc4,
	.unknown = 0x1,
};

static struct samples all_samples[CPUS];

const struct pmu *find_pmu(void)
{
	if (cpuid(0).ebx == 0x756e6547) /* "Genu" */
		return &intel;
	if (!(cpuid(0x80000001).ecx & 1 << 23))
		return &k10;
	if (cpuid(0x80000000).eax >= 0x80000022 && cpuid(0x80000022).eax & 1)
		return &v2;
	return &core;
}

static uint32_t select_msr(int i)
{
	return find_pmu()->select + i * find_pmu()->step;
}

static uint32_t counter_msr(int i)
{
	return find_pmu()->counter + i * find_pmu()->step;
}

void counter_start(int i, uint64_t select, uint64_t value)
{
	wrmsr(select_msr(i), 0);
	wrmsr(counter_msr(i), value & COUNT_MASK);
	wrmsr(select_msr(i), select | ENABLE);
}

uint64_t counter_stop(int i)
{
	wrmsr(select_msr(i), 0);
	return counter_read(i);
}

uint64_t counter_read(int i)
{
	return rdmsr(counter_msr(i));
}

static void arm_interrupt(const struct samples *samples)
{
	const struct pmu *pmu = find_pmu();

	if (pmu->global) {
		wrmsr(pmu->clear, 1 << samples->counter);
		wrmsr(pmu->control, (1 << pmu->counters) - 1);
	}
	wrmsr(counter_msr(samples->counter), -samples->period & COUNT_MASK);
	apic_write(APIC_LVT_COUNTERS, samples->nmi ? APIC_NMI : VECTOR_PMI);
}

struct samples *samples_start(int counter, uint64_t select, uint64_t period, bool nmi)
{
	struct samples *samples = &all_samples[this_cpu()->id];

	samples->counter = counter;
	samples->select = select | INTERRUPT | ENABLE;
	samples->period = period;
	samples->nmi = nmi;
	samples->count = 0;
	this_cpu()->select_msr = select_msr(counter);
	arm_interrupt(samples);
	wrmsr(select_msr(counter), samples->select);
	return samples;
}

uint64_t samples_stop(void)
{
	uint64_t value = counter_stop(all_samples[this_cpu()->id].counter);

	apic_write(APIC_LVT_COUNTERS, APIC_MASKED);
	return value;
}

/* The handler: what it returns goes into the select register again. Called by start.S. */
uint64_t pmi(uint64_t rip)
{
	struct samples *samples = &all_samples[this_cpu()->id];
	uint64_t value = counter_stop(samples->counter);

	if (samples->count < MOST_SAMPLES) {
		samples->rip[samples->count] = rip;
		samples->value[samples->count] = value;
	}
	samples->count++;
	arm_interrupt(samples);
	if (!samples->nmi)
		apic_write(APIC_EOI, 0);
	return samples->select;
}
