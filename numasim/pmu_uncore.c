/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SDM vol. 3, "Uncore Performance Monitoring Management Facility"; vol. 4, Nehalem. */
#include <stddef.h>

#include "numasim/pmu_uncore.h"

enum {
	GLOBAL_CTRL = 0x391,
	GLOBAL_STATUS = 0x392,
	GLOBAL_OVF_CTRL = 0x393,
	FIXED_CTR = 0x394,
	FIXED_CTR_CTRL = 0x395,
	PMC = 0x3b0,
	EVTSEL = 0x3c0,
};
#define GP 8u
#define FIXED 32
#define WIDTH 48
#define COUNTERS (0xffULL | 1ULL << FIXED)
#define GLOBAL_KNOWN (COUNTERS | 0xfULL << 48 | 1ULL << 63) /* PMI_COREn, PMI_FRZ */
#define SELECT_KNOWN 0xffd6ffffu
#define CLOCK 0xff

static unsigned width(const struct pmu_x86 *x, unsigned counter)
{
	(void)x;
	(void)counter;
	return WIDTH;
}

static bool enabled(const struct pmu_x86 *x, unsigned i, enum vpmu_mode mode)
{
	(void)mode;
	return x->select[i] >> (i == FIXED ? 0 : 22) & 1;
}

static uint64_t event(const struct pmu_x86 *x, unsigned i)
{
	return i == FIXED ? CLOCK : x->select[i] & 0xff84ffff;
}

static bool interrupts(const struct pmu_x86 *x, unsigned i)
{
	return x->global >> 48 & 0xf && x->select[i] >> (i == FIXED ? 2 : 20) & 1;
}

/* The counter whose count @reg is, or -1. */
static int count_of(uint32_t reg)
{
	if (reg == FIXED_CTR)
		return FIXED;
	return reg >= PMC && reg < PMC + GP ? (int)(reg - PMC) : -1;
}

/* The counter whose selection @reg is, or -1. */
static int select_of(uint32_t reg)
{
	if (reg == FIXED_CTR_CTRL)
		return FIXED;
	return reg >= EVTSEL && reg < EVTSEL + GP ? (int)(reg - EVTSEL) : -1;
}

/* Family 6; the model's upper and lower half stand apart (SDM vol. 2, CPUID). */
static uint64_t signature(const struct pmu_uncore *u)
{
	return 6u << 8 | (u->model >> 4) << 16 | (u->model & 0xf) << 4;
}

static bool rdmsr(const struct pmu_x86 *x, uint32_t reg, uint64_t *value)
{
	if (reg == X86_CPUID(1, X86_EAX))
		*value = signature((const struct pmu_uncore *)x);
	else if (count_of(reg) >= 0)
		*value = x->value[count_of(reg)];
	else if (select_of(reg) >= 0)
		*value = x->select[select_of(reg)];
	else if (reg == GLOBAL_CTRL)
		*value = x->global;
	else if (reg == GLOBAL_STATUS)
		*value = x->status;
	else if (reg == GLOBAL_OVF_CTRL)
		*value = 0;
	else
		return false;
	return true;
}

static bool write_select(struct pmu_x86 *x, unsigned i, uint64_t value)
{
	if (value & ~(uint64_t)(i == FIXED ? 5 : SELECT_KNOWN))
		return false;
	x->select[i] = value;
	pmu_x86_written(x, i, true);
	return true;
}

static bool wrmsr(struct pmu_x86 *x, uint32_t reg, uint64_t value)
{
	if (select_of(reg) >= 0)
		return write_select(x, (unsigned)select_of(reg), value);
	if (count_of(reg) >= 0) {
		if (value >> WIDTH)
			return false;
		x->value[count_of(reg)] = value;
	} else if (reg == GLOBAL_CTRL && !(value & ~GLOBAL_KNOWN)) {
		x->global = value;
	} else if (reg == GLOBAL_OVF_CTRL) {
		x->status &= ~value;
		x->due &= ~value;
	} else {
		return false;
	}
	return true;
}

void pmu_uncore_init(struct pmu_uncore *u, unsigned model)
{
	*u = (struct pmu_uncore) {
		.model = model,
		.x86 = {
			.counters = COUNTERS,
			.width = width,
			.enabled = enabled,
			.event = event,
			.interrupts = interrupts,
			.rdmsr = rdmsr,
			.wrmsr = wrmsr,
		},
	};
	pmu_x86_rubbish(&u->x86, 0);
	u->x86.select[0] = 0x400000 | CLOCK; /* something that firmware has left on */
	u->x86.global = 1;
}
