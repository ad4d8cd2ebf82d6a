/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters' registers: MSRs, RDPMC, CPUID. */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "tcg/helper-tcg.h"

#define COUNT_BITS 48
#define COUNT_MASK ((1ULL << COUNT_BITS) - 1)
#define INTEL_GENERAL 4
#define PERF_L3 (1u << 28)	       /* CPUID leaf 80000001, ECX: PerfCtrExtLLC */
#define FULL_WIDTH_WRITES (1ULL << 13) /* of IA32_PERF_CAPABILITIES: [SDM3] 20.2.8 */

typedef enum What {
	SELECT,
	COUNTER,
	NARROW, /* the same counter, but 32 bits are written, and extended by their sign */
	FIXED,
	FIXED_CTRL,
	GLOBAL_CTRL,
	GLOBAL_STATUS,
	STATUS_CLEAR,
	STATUS_SET,
	DEBUGCTL,
	CAPABILITIES,
	OFFCORE,
} What;

/* [SDM4] 2.1; [APM2] appendix A. Core's and V2's first four have the K10's names too. */
static const struct {
	int kinds;
	uint32_t first, count, step;
	What what;
} registers[] = {
	{ X86_PMU_INTEL, 0x0c1, INTEL_GENERAL, 1, NARROW },
	{ X86_PMU_INTEL, 0x186, INTEL_GENERAL, 1, SELECT },
	{ X86_PMU_INTEL, 0x1a6, 1, 1, OFFCORE },
	{ X86_PMU_INTEL, 0x1d9, 1, 1, DEBUGCTL },
	{ X86_PMU_INTEL, 0x309, X86_PMU_FIXED, 1, FIXED },
	{ X86_PMU_INTEL, 0x345, 1, 1, CAPABILITIES },
	{ X86_PMU_INTEL, 0x38d, 1, 1, FIXED_CTRL },
	{ X86_PMU_INTEL, 0x38e, 1, 1, GLOBAL_STATUS },
	{ X86_PMU_INTEL, 0x38f, 1, 1, GLOBAL_CTRL },
	{ X86_PMU_INTEL, 0x390, 1, 1, STATUS_CLEAR },
	{ X86_PMU_INTEL, 0x4c1, INTEL_GENERAL, 1, COUNTER },
	{ X86_PMU_V2, 0xc0000300, 1, 1, GLOBAL_STATUS },
	{ X86_PMU_V2, 0xc0000301, 1, 1, GLOBAL_CTRL },
	{ X86_PMU_V2, 0xc0000302, 1, 1, STATUS_CLEAR },
	{ X86_PMU_V2, 0xc0000303, 1, 1, STATUS_SET },
	{ X86_PMU_AMD, 0xc0010000, 4, 1, SELECT },
	{ X86_PMU_AMD, 0xc0010004, 4, 1, COUNTER },
	{ X86_PMU_SIX, 0xc0010200, X86_PMU_GENERAL, 2, SELECT },
	{ X86_PMU_SIX, 0xc0010201, X86_PMU_GENERAL, 2, COUNTER },
};

static bool find(X86PMU *pmu, uint32_t msr, What *what, int *index)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(registers); i++) {
		uint32_t offset = msr - registers[i].first, step = registers[i].step;

		if (registers[i].kinds & pmu->kind && offset % step == 0 &&
		    offset / step < registers[i].count) {
			*what = registers[i].what;
			*index = offset / step;
			return true;
		}
	}
	return false;
}

static int general_counters(X86PMU *pmu)
{
	return pmu->kind & X86_PMU_SIX ? X86_PMU_GENERAL : 4;
}

/* [SDM3] 20.2.8: bits beyond the counter's width; and what can only be read */
static bool refused(X86PMU *pmu, What what, uint64_t val)
{
	switch (what) {
	case COUNTER:
	case FIXED: return pmu->kind & X86_PMU_INTEL && val & ~COUNT_MASK;
	case GLOBAL_STATUS:
	case CAPABILITIES: return true;
	default: return false;
	}
}

bool x86_pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val, uintptr_t ra)
{
	X86PMU *pmu = &env->pmu;
	What what;
	int i;

	if (!find(pmu, msr, &what, &i)) {
		return x86_memory_wrmsr(env, msr, val);
	}
	if (refused(pmu, what, val)) {
		raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
	}
	x86_pmu_fold(env);
	switch (what) {
	case SELECT: pmu->select[i] = val; break;
	case COUNTER: pmu->counter[i] = val & COUNT_MASK; break;
	case NARROW: pmu->counter[i] = (int32_t)val & COUNT_MASK; break;
	case FIXED: pmu->counter[X86_PMU_GENERAL + i] = val; break;
	case FIXED_CTRL: pmu->fixed_ctrl = val; break;
	case GLOBAL_CTRL: pmu->global_ctrl = val; break;
	case STATUS_CLEAR: pmu->global_status &= ~val; break;
	case STATUS_SET: pmu->global_status |= val; break;
	case DEBUGCTL: pmu->debugctl = val; break;
	case OFFCORE: pmu->offcore_response = val; break;
	case GLOBAL_STATUS:
	case CAPABILITIES: break;
	}
	x86_pmu_arm(env);
	return true;
}

/* What counter @i has counted before the instruction that now reads it. */
static uint64_t read_counter(CPUX86State *env, int i)
{
	X86PMU *pmu = &env->pmu;
	int mode = x86_pmu_mode(env->hflags);
	bool itself = pmu->modes[i] >> mode & 1 && pmu->channel[i] == X86_PMU_INSNS;

	return (pmu->counter[i] - itself) & COUNT_MASK;
}

bool x86_pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
	X86PMU *pmu = &env->pmu;
	What what;
	int i;

	if (!find(pmu, msr, &what, &i)) {
		return x86_memory_rdmsr(env, msr, val);
	}
	x86_pmu_settle(env);
	switch (what) {
	case SELECT: *val = pmu->select[i]; break;
	case COUNTER:
	case NARROW: *val = read_counter(env, i); break;
	case FIXED: *val = read_counter(env, X86_PMU_GENERAL + i); break;
	case FIXED_CTRL: *val = pmu->fixed_ctrl; break;
	case GLOBAL_CTRL: *val = pmu->global_ctrl; break;
	case GLOBAL_STATUS: *val = pmu->global_status; break;
	case STATUS_CLEAR:
	case STATUS_SET: *val = 0; break;
	case DEBUGCTL: *val = pmu->debugctl; break;
	case CAPABILITIES: *val = FULL_WIDTH_WRITES; break;
	case OFFCORE: *val = pmu->offcore_response; break;
	}
	return true;
}

/* [SDM2], [APM3] RDPMC: Intel's bit 30 means the fixed ones. */
void helper_pmu_rdpmc(CPUX86State *env)
{
	uint32_t i = env->regs[R_ECX];
	uint64_t val;

	if (!(env->cr[4] & CR4_PCE_MASK) && env->hflags & HF_CPL_MASK) {
		raise_exception_ra(env, EXCP0D_GPF, GETPC());
	}
	cpu_svm_check_intercept_param(env, SVM_EXIT_RDPMC, 0, GETPC());
	if (env->pmu.kind & X86_PMU_INTEL && i >> 30 == 1 && i << 2 >> 2 < X86_PMU_FIXED) {
		i = X86_PMU_GENERAL + (i << 2 >> 2);
	} else if (x86_memory_rdpmc(env, i, &val)) {
		i = X86_PMU_COUNTERS;
	} else if (i >= general_counters(&env->pmu)) {
		raise_exception_ra(env, EXCP0D_GPF, GETPC());
	}
	if (i < X86_PMU_COUNTERS) {
		x86_pmu_settle(env);
		val = read_counter(env, i);
	}
	env->regs[R_EAX] = (uint32_t)val;
	env->regs[R_EDX] = val >> 32;
}

int x86_pmu_family(CPUX86State *env)
{
	return (env->cpuid_version >> 8 & 0xf) + (env->cpuid_version >> 20 & 0xff);
}

/* A family below 15h has the four counters: [APM3] appendix E.4.2, PerfCtrExtCore. */
static int kind(CPUX86State *env)
{
	int family = x86_pmu_family(env);

	if (!env_archcpu(env)->enable_pmu) {
		return 0;
	}
	if (IS_INTEL_CPU(env)) {
		return X86_PMU_INTEL;
	}
	if (!IS_AMD_CPU(env)) {
		return 0;
	}
	if (family < 0x15) {
		return X86_PMU_K10;
	}
	return family >= 0x17 && env_archcpu(env)->perfmon_v2 ? X86_PMU_V2 : X86_PMU_CORE;
}

/* [SDM3] table 10-1, and PerfMonV2 likewise: all are enabled globally after a reset. */
void x86_pmu_reset(CPUX86State *env)
{
	X86PMU *pmu = &env->pmu;

	pmu->kind = kind(env);
	x86_memory_reset(env);
	pmu->global_ctrl = (1 << general_counters(pmu)) - 1;
}

/* [SDM2] CPUID leaf 0AH: events 0 to 5: all but mispredicted branches */
static void intel_cpuid(uint32_t leaf, uint32_t *eax, uint32_t *ebx, uint32_t *ecx,
			uint32_t *edx)
{
	if (leaf == 1) {
		*ecx |= CPUID_EXT_PDCM;
	} else if (leaf == 0xa) {
		*eax = 2 | INTEL_GENERAL << 8 | COUNT_BITS << 16 | 7 << 24;
		*ebx = 0x7f & ~(1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 |
				1 << 5); /* those missing */
		*ecx = 0;
		*edx = X86_PMU_FIXED | COUNT_BITS << 5;
	}
}

/* [APM3] appendix E.4.2 and E.4.24; the leaves before it are SEV's and others', absent */
static void amd_cpuid(CPUX86State *env, uint32_t leaf, uint32_t *eax, uint32_t *ebx,
		      uint32_t *ecx, uint32_t *edx)
{
	X86PMU *pmu = &env->pmu;
	bool v2 = pmu->kind == X86_PMU_V2;

	if (leaf == 0x80000001 && pmu->kind & X86_PMU_SIX) {
		*ecx |= CPUID_EXT3_PERFCORE;
		if (x86_pmu_family(env) >= 0x17) {
			*ecx |= CPUID_EXT3_TOPOEXT | CPUID_EXT3_PERFNB | PERF_L3;
		}
	} else if (leaf == 0x80000000 && v2) {
		*eax = MAX(*eax, 0x80000022);
	} else if (leaf > 0x8000001e && leaf <= 0x80000022 && v2) {
		*eax = leaf == 0x80000022 ? 1 : 0;
		*ebx = leaf == 0x80000022 ? X86_PMU_GENERAL | X86_PMU_DF << 10 : 0;
		*ecx = 0;
		*edx = 0;
	}
}

void x86_pmu_cpuid(CPUX86State *env, uint32_t leaf, uint32_t *eax, uint32_t *ebx,
		   uint32_t *ecx, uint32_t *edx)
{
	if (env->pmu.kind & X86_PMU_INTEL) {
		intel_cpuid(leaf, eax, ebx, ecx, edx);
	} else if (env->pmu.kind) {
		amd_cpuid(env, leaf, eax, ebx, ecx, edx);
	}
}
