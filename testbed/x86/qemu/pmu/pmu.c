/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting: pmu.h has the idea. */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "hw/i386/apic.h"

#define COUNT_BITS 48
#define COUNT_MASK ((1ULL << COUNT_BITS) - 1)

#define SELECT_USER (1ULL << 16)
#define SELECT_OS (1ULL << 17)
#define SELECT_INTERRUPT (1ULL << 20)
#define SELECT_ENABLE (1ULL << 22)
#define SELECT_GUEST_ONLY (1ULL << 40)
#define SELECT_HOST_ONLY (1ULL << 41)

/* [SDM3] 20.2.2: four bits of IA32_FIXED_CTR_CTRL for each */
#define FIXED_OS 1
#define FIXED_USER 2
#define FIXED_INTERRUPT 8

/* sets of x86_pmu_mode() */
#define MODES_OS 0x5
#define MODES_USER 0xa
#define MODES_HOST 0x3
#define MODES_GUEST 0xc

#define DEBUGCTL_FREEZE_ON_PMI (1ULL << 12)

static const uint32_t channel_flags[X86_PMU_CHANNELS] = {
	[X86_PMU_INSNS] = HF_PMU_INSNS_MASK,
	[X86_PMU_BRANCHES] = HF_PMU_BRANCHES_MASK,
};

static bool is_fixed(int i)
{
	return i >= X86_PMU_GENERAL;
}

static int fixed_ctrl(X86PMU *pmu, int i)
{
	return pmu->fixed_ctrl >> 4 * (i - X86_PMU_GENERAL) & 0xf;
}

/* Its bit in the global registers; PerfMonV2's are like Intel's. */
static uint64_t global_bit(int i)
{
	return 1ULL << (is_fixed(i) ? 32 + i - X86_PMU_GENERAL : i);
}

static bool wants_interrupt(X86PMU *pmu, int i)
{
	return is_fixed(i) ? fixed_ctrl(pmu, i) & FIXED_INTERRUPT
			   : pmu->select[i] & SELECT_INTERRUPT;
}

/* [APM2] 13.2.1: neither bit is either side, set or not; both need EFER.SVME. */
static int amd_sides(CPUX86State *env, uint64_t select)
{
	if (!(select & (SELECT_GUEST_ONLY | SELECT_HOST_ONLY))) {
		return MODES_GUEST | MODES_HOST;
	}
	if (!(env->efer & MSR_EFER_SVME)) {
		return 0;
	}
	return (select & SELECT_GUEST_ONLY ? MODES_GUEST : 0) |
	       (select & SELECT_HOST_ONLY ? MODES_HOST : 0);
}

/* The modes in which counter @i counts something. */
static int modes_of(CPUX86State *env, int i)
{
	X86PMU *pmu = &env->pmu;
	uint64_t select;
	int modes;

	if (pmu->kind & (X86_PMU_INTEL | X86_PMU_V2) &&
	    !(pmu->global_ctrl & global_bit(i))) {
		return 0;
	}
	if (is_fixed(i)) {
		return (fixed_ctrl(pmu, i) & FIXED_OS ? MODES_OS : 0) |
		       (fixed_ctrl(pmu, i) & FIXED_USER ? MODES_USER : 0);
	}
	select = pmu->select[i];
	if (!(select & SELECT_ENABLE)) {
		return 0;
	}
	modes = (select & SELECT_OS ? MODES_OS : 0) |
		(select & SELECT_USER ? MODES_USER : 0);
	return pmu->kind & X86_PMU_AMD ? modes & amd_sides(env, select) : modes;
}

void x86_pmu_request(CPUX86State *env)
{
	CPUState *cs = env_cpu(env);
	bool locked = qemu_mutex_iothread_locked();

	if (!locked) {
		qemu_mutex_lock_iothread();
	}
	cs->interrupt_request |= CPU_INTERRUPT_PMU;
	qatomic_set(&cpu_neg(cs)->icount_decr.u16.high, -1);
	if (!locked) {
		qemu_mutex_unlock_iothread();
	}
}

static void overflowed(CPUX86State *env, int i)
{
	X86PMU *pmu = &env->pmu;

	pmu->global_status |= global_bit(i);
	if (wants_interrupt(pmu, i)) {
		pmu->pmi = true;
		x86_pmu_request(env);
	}
}

void x86_pmu_fold(CPUX86State *env)
{
	X86PMU *pmu = &env->pmu;
	int i, m;

	for (i = 0; i < X86_PMU_COUNTERS; i++) {
		uint64_t value = pmu->counter[i];
		int c = pmu->channel[i];

		if (c == X86_PMU_MEMORY) {
			value += x86_memory_take(env, i);
		}
		for (m = 0; m < X86_PMU_MODES; m++) {
			if (c < X86_PMU_CHANNELS && pmu->modes[i] >> m & 1) {
				value += pmu->settled[c][m] - pmu->left[c][m];
			}
		}
		pmu->counter[i] = value & COUNT_MASK;
		if (value > COUNT_MASK) {
			overflowed(env, i);
		}
	}
	memcpy(pmu->settled, pmu->left, sizeof(pmu->settled));
}

/* Counter @i, at most, lets so much of its channel be counted in each of its modes. */
static void arm_counter(CPUX86State *env, int i)
{
	X86PMU *pmu = &env->pmu;
	int c = is_fixed(i) ? X86_PMU_INSNS : x86_pmu_channel(env, pmu->select[i]);
	int modes = c == X86_PMU_NONE ? 0 : modes_of(env, i);
	int64_t share;
	int m;

	pmu->channel[i] = c;
	pmu->modes[i] = modes;
	x86_memory_count(env, i, is_fixed(i) ? 0 : pmu->select[i],
			 c == X86_PMU_MEMORY ? modes : 0);
	if (!modes) {
		return;
	}
	if (c == X86_PMU_MEMORY) {
		x86_memory_arm(env, i, COUNT_MASK + 1 - pmu->counter[i]);
		return;
	}
	/* all modes together cannot run past the overflow */
	share = MAX(1, (COUNT_MASK + 1 - pmu->counter[i]) / ctpop8(modes));
	for (m = 0; m < X86_PMU_MODES; m++) {
		if (modes >> m & 1) {
			pmu->left[c][m] = MIN(pmu->left[c][m], share);
			pmu->tb_flags[m] |= channel_flags[c];
		}
	}
}

void x86_pmu_arm(CPUX86State *env)
{
	X86PMU *pmu = &env->pmu;
	int i, c, m;

	for (m = 0; m < X86_PMU_MODES; m++) {
		pmu->tb_flags[m] = 0;
		for (c = 0; c < X86_PMU_CHANNELS; c++) {
			pmu->left[c][m] = INT64_MAX;
		}
	}
	x86_memory_disarm(env);
	for (i = 0; i < X86_PMU_COUNTERS; i++) {
		arm_counter(env, i);
	}
	memcpy(pmu->settled, pmu->left, sizeof(pmu->settled));
}

void x86_pmu_settle(CPUX86State *env)
{
	x86_pmu_fold(env);
	x86_pmu_arm(env);
}

/*
 * [SDM3] 11.5.1: delivery masks the entry; AMD's does not. [SDM3] 18.4.7: version 2
 * freezes by clearing the enable bits.
 */
static void deliver(CPUX86State *env)
{
	X86PMU *pmu = &env->pmu;

	pmu->pmi = false;
	if (pmu->debugctl & DEBUGCTL_FREEZE_ON_PMI) {
		pmu->global_ctrl = 0;
		x86_pmu_arm(env);
	}
	apic_deliver_perf(env_archcpu(env)->apic_state, pmu->kind & X86_PMU_INTEL);
}

void x86_pmu_interrupt(CPUX86State *env)
{
	CPUState *cs = env_cpu(env);

	x86_pmu_settle(env);
	cs->interrupt_request &= ~CPU_INTERRUPT_PMU;
	if (env->pmu.pmi) {
		deliver(env);
	}
}

void x86_pmu_stop_again(CPUX86State *env)
{
	CPUState *cs = env_cpu(env);

	if (env->pmu.kind && cs->interrupt_request) {
		qatomic_set(&cpu_neg(cs)->icount_decr.u16.high, -1);
	}
}

void helper_pmu_request(CPUX86State *env)
{
	x86_pmu_request(env);
}

/* At the start of a block that would use up what is left of this mode, or more. */
void helper_pmu_check(CPUX86State *env)
{
	CPUState *cs = env_cpu(env);
	int64_t *left = &env->pmu.left[X86_PMU_INSNS][x86_pmu_mode(env->hflags)];

	if (*left < 0) {
		cpu_restore_state(cs, GETPC()); /* gives back what the block took */
		if (*left > 0) {
			cs->cflags_next_tb =
				(curr_cflags(cs) & ~CF_COUNT_MASK) | MIN(*left, 256);
		} else {
			x86_pmu_request(env);
		}
		cpu_loop_exit_noexc(cs);
	}
	x86_pmu_request(env);
}

void x86_pmu_not_run(CPUX86State *env, uint32_t tb_flags, int insns, uint64_t offset)
{
	X86PMU *pmu = &env->pmu;
	int m = x86_pmu_mode(tb_flags);

	if (tb_flags & HF_PMU_INSNS_MASK) {
		pmu->left[X86_PMU_INSNS][m] += insns;
	}
	/* a block's branch is its last instruction: it began, or none did */
	if (tb_flags & HF_PMU_BRANCHES_MASK && pmu->branch_at >= 0 &&
	    pmu->branch_at == (offset & ~TARGET_PAGE_MASK)) {
		pmu->left[X86_PMU_BRANCHES][m]++;
	}
}
