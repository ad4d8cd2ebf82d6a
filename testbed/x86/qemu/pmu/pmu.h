/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Performance counters of x86 CPUs for TCG: exact, and without skid.
 *
 * What can be counted is a channel. Translated code counts down, per channel and mode
 * (SVM guest or not, CPL > 0 or not), what is left until some counter of that channel
 * overflows; it does so only in blocks that are translated while a counter of the
 * channel is active in their mode, so that all others run as fast as ever. Everything
 * else happens at instruction boundaries: the counters are settled with what has been
 * counted, and what is left is worked out again. No block runs past an overflow.
 *
 * A cycle is an instruction: no CPU here executes more than one at a time, and none waits.
 *
 * [SDM] is Intel's Software Developer's Manual, [APM] AMD's Architecture Programmer's
 * Manual.
 */
#ifndef I386_PMU_H
#define I386_PMU_H

typedef enum X86PMUChannel {
	X86_PMU_INSNS, /* retired instructions, which are cycles too */
	X86_PMU_BRANCHES,
	X86_PMU_CHANNELS,
	X86_PMU_MEMORY = X86_PMU_CHANNELS, /* memory/ counts it, by its own means */
	X86_PMU_NONE = -1
} X86PMUChannel;

/* Flags of a translation block, bits that HF_* leaves free. */
#define HF_PMU_BRANCHES_MASK (1u << 2)
#define HF_PMU_INSNS_MASK (1u << 29)
#define HF_PMU_MEMORY_MASK (1u << 30)

#define X86_PMU_MODES 4
#define X86_PMU_GENERAL 6
#define X86_PMU_FIXED 3
#define X86_PMU_DF 4 /* of a node: data fabric */
#define X86_PMU_COUNTERS (X86_PMU_GENERAL + X86_PMU_FIXED)

/* An interrupt of the emulator's own: the counters are to be settled. */
#define CPU_INTERRUPT_PMU CPU_INTERRUPT_TGT_EXT_0

/* What a CPU's counters are like; a bit each, for tables. */
#define X86_PMU_K10 1	/* AMD, four counters: [APM2] 13.2 */
#define X86_PMU_CORE 2	/* AMD, six "extended" counters, of family 15h and later */
#define X86_PMU_V2 4	/* the same with global registers: PerfMonV2 */
#define X86_PMU_INTEL 8 /* Intel, architectural version 2: [SDM3] 20.2 */
#define X86_PMU_SIX (X86_PMU_CORE | X86_PMU_V2)
#define X86_PMU_AMD (X86_PMU_K10 | X86_PMU_SIX)

typedef struct X86PMU {
	/* by translated code: it goes down, and may not go below 0 */
	int64_t left[X86_PMU_CHANNELS][X86_PMU_MODES];
	uint32_t tb_flags[X86_PMU_MODES];
	int32_t branch_at; /* the block's branch that began: its offset in its page, or -1
			    */

	int64_t settled[X86_PMU_CHANNELS][X86_PMU_MODES]; /* left, when last settled */
	uint64_t counter[X86_PMU_COUNTERS];
	uint64_t select[X86_PMU_GENERAL];
	uint8_t modes[X86_PMU_COUNTERS];  /* in which it counts, as armed */
	int8_t channel[X86_PMU_COUNTERS]; /* what it counts */
	uint64_t fixed_ctrl, global_ctrl, global_status, debugctl;
	uint8_t kind; /* X86_PMU_K10 …, or 0 */
	bool pmi;     /* is to be delivered */

	struct X86MemoryCore
		*core;	     /* its caches, or NULL: no memory event was counted yet */
	int64_t memory_left; /* memory events, until a counter may overflow */
	uint64_t offcore_response;
} X86PMU;

struct CPUArchState;

static inline int x86_pmu_mode(uint32_t hflags)
{
	return (hflags & HF_CPL_MASK ? 1 : 0) + (hflags & HF_GUEST_MASK ? 2 : 0);
}

/* Counters, of CPUs and of nodes, that count memory events now. */
extern int x86_memory_users;

static inline uint32_t x86_pmu_tb_flags(const X86PMU *pmu, uint32_t hflags)
{
	uint32_t memory = qatomic_read(&x86_memory_users) ? HF_PMU_MEMORY_MASK : 0;

	return pmu->tb_flags[x86_pmu_mode(hflags)] | memory;
}

/* pmu.c: counting */
void x86_pmu_reset(struct CPUArchState *env);
/* Adds to the counters what has run since the last time, and goes on. */
void x86_pmu_settle(struct CPUArchState *env);
/* The two halves of it, for who changes registers in between. */
void x86_pmu_fold(struct CPUArchState *env);
void x86_pmu_arm(struct CPUArchState *env);
/* CPU_INTERRUPT_PMU: settles, and delivers what has overflowed. */
void x86_pmu_interrupt(struct CPUArchState *env);
/* After an interrupt, of any kind, was taken: stops again for those that wait. */
void x86_pmu_stop_again(struct CPUArchState *env);
/* Has it done, at the end of the block that now runs. */
void x86_pmu_request(struct CPUArchState *env);
/*
 * Of a block with these @tb_flags the last @insns did not run, the first of which is at
 * @offset of its page.
 */
void x86_pmu_not_run(struct CPUArchState *env, uint32_t tb_flags, int insns,
		     uint64_t offset);

/* events.c: the channel that an event select register counts; how often an instruction
 * can at most, is once */
X86PMUChannel x86_pmu_channel(struct CPUArchState *env, uint64_t select);

/* registers.c */
int x86_pmu_family(struct CPUArchState *env);
/* True if the MSR is one of the counters'. @ra is where translated code is. */
bool x86_pmu_wrmsr(struct CPUArchState *env, uint32_t msr, uint64_t val, uintptr_t ra);
bool x86_pmu_rdmsr(struct CPUArchState *env, uint32_t msr, uint64_t *val);
void x86_pmu_cpuid(struct CPUArchState *env, uint32_t leaf, uint32_t *eax, uint32_t *ebx,
		   uint32_t *ecx, uint32_t *edx);

/*
 * memory/: the CPU accesses memory, as @oi (a MemOpIdx) says. In a helper's argument @oi
 * has X86_MEMORY_STORE for a store.
 */
#define X86_MEMORY_STORE (1u << 31)
void x86_memory_access(struct CPUArchState *env, target_ulong addr, uint32_t oi,
		       bool store);

bool x86_memory_event(struct CPUArchState *env, uint64_t select);
/* Has counter @i count the event, in @modes; in none, it counts nothing here. */
void x86_memory_count(struct CPUArchState *env, int i, uint64_t select, int modes);
/* What it has counted since the last call. */
uint64_t x86_memory_take(struct CPUArchState *env, int i);
/*
 * First all are disarmed; then each that counts has so much left until it overflows.
 * x86_pmu_request() is called when the first of them may have. A node's events, in a
 * core's counters, overflow unseen.
 */
void x86_memory_disarm(struct CPUArchState *env);
void x86_memory_arm(struct CPUArchState *env, int i, uint64_t left);
void x86_memory_reset(struct CPUArchState *env);

/* Counters of nodes: true if the MSR, or RDPMC's number, is one of theirs. */
bool x86_memory_wrmsr(struct CPUArchState *env, uint32_t msr, uint64_t val);
bool x86_memory_rdmsr(struct CPUArchState *env, uint32_t msr, uint64_t *val);
bool x86_memory_rdpmc(struct CPUArchState *env, uint32_t n, uint64_t *val);

struct ArchCPU;
struct Error;
bool x86_memory_realize(struct ArchCPU *cpu, struct Error **errp);

/* apic.h */
struct DeviceState;
void apic_deliver_perf(struct DeviceState *apic, bool mask);

#endif
