/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the model of memory.h and the rest of QEMU: the machine it is made for, the
 * accesses that come in, and what CPUID says of the caches.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "memory.h"
#include "exec/cpu_ldst.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "hw/boards.h"
#include "sysemu/hostmem.h"
#include "sysemu/numa.h"
#include "sysemu/tcg.h"

int x86_memory_users;

/* The memory of node @i; NULL if it has none. */
static MemoryRegion *ram_of(MachineState *ms, int i)
{
	NodeInfo *info = &ms->numa_state->nodes[i];

	if (ms->numa_state->num_nodes == 0) {
		return ms->ram;
	}
	if (info->node_memdev) {
		return host_memory_backend_get_memory(info->node_memdev);
	}
	if (info->node_mem) {
		error_report("memory events: the memory of node %d needs a memdev", i);
		exit(1);
	}
	return NULL;
}

static void make_node(MachineState *ms, int i)
{
	Node *node = &x86_memory.node[i];
	MemoryRegion *ram = ram_of(ms, i);

	node->index = i;
	node->llc = g_new0(Line, x86_memory.llc_sets * LLC_WAYS);
	if (ram) {
		node->ram = memory_region_get_ram_ptr(ram);
		node->ram_size = memory_region_size(ram);
	}
}

static X86MemoryCore *make_core(X86CPU *cpu)
{
	CPUX86State *env = &cpu->env;
	CPUCaches *caches =
		IS_INTEL_CPU(env) ? &env->cache_info_cpuid4 : &env->cache_info_amd;
	X86MemoryCore *core = g_new0(X86MemoryCore, 1);

	core->index = CPU(cpu)->cpu_index;
	core->node = &x86_memory.node[MAX(cpu->node_id, 0)];
	core->l1_sets = caches->l1d_cache->sets;
	core->l1_ways = caches->l1d_cache->associativity;
	core->l2_sets = caches->l2_cache->sets;
	core->l2_ways = caches->l2_cache->associativity;
	core->l1 = g_new0(uint64_t, core->l1_sets * core->l1_ways);
	core->l2 = g_new0(uint64_t, core->l2_sets * core->l2_ways);
	return core;
}

/* Data sheets: Nehalem-EP has three channels a socket, EPYC eight, K10 two. */
static int channels(CPUX86State *env)
{
	return IS_INTEL_CPU(env) ? 3 : env->pmu.kind & X86_PMU_K10 ? 2 : 8;
}

static void make_machine(void)
{
	MachineState *ms = MACHINE(qdev_get_machine());
	X86CPU *first = X86_CPU(first_cpu);
	int i, nodes = MAX(ms->numa_state->num_nodes, 1);
	CPUState *cs;

	if (nodes > MOST_NODES || ms->smp.max_cpus > MOST_CPUS) {
		error_report("memory events: %d NUMA nodes and %d CPUs at most", MOST_NODES,
			     MOST_CPUS);
		exit(1);
	}
	qemu_mutex_init(&x86_memory.lock);
	x86_memory.threads = qemu_tcg_mttcg_enabled();
	x86_memory.channels = channels(&first->env);
	x86_memory.shared_answers = first->env.pmu.kind & X86_PMU_INTEL;
	x86_memory.llc_sets = first->llc_size / 64 / LLC_WAYS;
	for (i = 0; i < nodes; i++) {
		make_node(ms, i);
	}
	CPU_FOREACH(cs)
	{
		X86CPU *cpu = X86_CPU(cs);

		x86_memory.core[cs->cpu_index] = cpu->env.pmu.core = make_core(cpu);
	}
	qatomic_store_release(&x86_memory.nodes, nodes);
}

void memory_make(void)
{
	bool locked = qemu_mutex_iothread_locked();

	if (qatomic_load_acquire(&x86_memory.nodes)) {
		return;
	}
	if (!locked) {
		qemu_mutex_lock_iothread();
	}
	if (!x86_memory.nodes) {
		make_machine();
	}
	if (!locked) {
		qemu_mutex_unlock_iothread();
	}
}

X86MemoryCore *memory_core(CPUX86State *env)
{
	int i = env_cpu(env)->cpu_index;

	if (x86_memory.nodes && !x86_memory.core[i]) {
		x86_memory.core[i] =
			make_core(env_archcpu(env)); /* it was plugged in later */
	}
	return x86_memory.core[i];
}

/* When accesses begin to count, the other CPUs must leave code that does not count them. */
void memory_use(int change)
{
	CPUState *cs;

	qatomic_set(&x86_memory_users, x86_memory_users + change);
	if (change > 0 && x86_memory_users == change) {
		CPU_FOREACH(cs)
		{
			if (cs != current_cpu) {
				cpu_exit(cs);
			}
		}
	}
}

/*
 * With thread=single CPUs take turns, each much longer than a line takes from one cache to
 * the next: a line that two of them write would hardly ever move. So while accesses count,
 * a turn is of so many only.
 */
#define TURN 100

static void shorten_turn(CPUX86State *env)
{
	X86MemoryCore *core = env->pmu.core;

	if (++core->turn >= TURN) {
		core->turn = 0;
		cpu_exit(env_cpu(env));
	}
}

static void access_line(CPUX86State *env, uint64_t line, bool store)
{
	X86MemoryCore *core = env->pmu.core;
	int mode = x86_pmu_mode(env->hflags), outcome;
	Source source = FROM_L1;

	memory_lock();
	if (!memory_at_hand(core, line, store)) {
		source = memory_use_line(core, line, store);
	}
	memory_unlock();
	if (!x86_memory.threads) {
		shorten_turn(env);
	}
	outcome = OUTCOME(source, store);
	core->n[mode][outcome]++;
	if (core->watched[mode] >> outcome & 1 && --env->pmu.memory_left == 0) {
		x86_pmu_request(env);
	}
}

/* The line at an address that was accessed just now, so that the TLB knows it. */
static bool find_line(CPUX86State *env, target_ulong addr, int idx, bool store,
		      uint64_t *line)
{
	CPUTLBEntry *entry = tlb_entry(env, idx, addr);
	CPUTLBEntryFull *full = &env_tlb(env)->d[idx].fulltlb[tlb_index(env, idx, addr)];
	target_ulong tag = store ? tlb_addr_write(entry) : entry->addr_read;
	uintptr_t host = addr + entry->addend;
	int i;

	if (!tlb_hit(tag, addr) || tag & TLB_MMIO) {
		return false;
	}
	for (i = 0; i < x86_memory.nodes; i++) {
		Node *node = &x86_memory.node[i];

		if (host - (uintptr_t)node->ram < node->ram_size) {
			*line = (full->phys_addr | (addr & ~TARGET_PAGE_MASK)) >> 6 |
				(uint64_t)i << 56;
			return true;
		}
	}
	return false; /* a ROM, or a device's memory */
}

void x86_memory_access(CPUX86State *env, target_ulong addr, uint32_t oi, bool store)
{
	int idx = get_mmuidx(oi);
	target_ulong last = addr + memop_size(get_memop(oi)) - 1;
	uint64_t line;

	if (!x86_memory_users || !env->pmu.core || idx >= MMU_PHYS_IDX) {
		return;
	}
	if (find_line(env, addr, idx, store, &line)) {
		access_line(env, line, store);
	}
	if ((addr ^ last) >> 6 && find_line(env, last, idx, store, &line)) {
		access_line(env, line, store);
	}
}

void helper_memory_access(CPUX86State *env, target_ulong addr, uint32_t oi)
{
	x86_memory_access(env, addr, oi & ~X86_MEMORY_STORE, oi & X86_MEMORY_STORE);
}

/*
 * At the start of a block that might have more of the events than are left until a counter
 * overflows: only its first instruction runs, in a block of its own.
 */
void helper_memory_check(CPUX86State *env)
{
	CPUState *cs = env_cpu(env);

	cpu_restore_state(cs, GETPC());
	cs->cflags_next_tb = (curr_cflags(cs) & ~CF_COUNT_MASK) | 1;
	cpu_loop_exit_noexc(cs);
}

static void set_cache(CPUCacheInfo **cache, uint64_t size, int ways)
{
	*cache = g_memdup2(*cache, sizeof(**cache));
	(*cache)->size = size;
	(*cache)->associativity = ways;
	(*cache)->sets = size / 64 / ways;
}

/* CPUID tells the caches as they are here; QEMU's Nehalem does not have a Nehalem's L2. */
bool x86_memory_realize(X86CPU *cpu, Error **errp)
{
	CPUX86State *env = &cpu->env;

	if (!cpu->enable_pmu) {
		return true;
	}
	if (cpu->llc_size < 64 * KiB || cpu->llc_size > GiB ||
	    !is_power_of_2(cpu->llc_size)) {
		error_setg(errp, "llc-size=%" PRIu64 ": expected a power of 2, 64K to 1G",
			   cpu->llc_size);
		return false;
	}
	set_cache(&env->cache_info_amd.l3_cache, cpu->llc_size, LLC_WAYS);
	set_cache(&env->cache_info_cpuid4.l3_cache, cpu->llc_size, LLC_WAYS);
	set_cache(&env->cache_info_cpuid4.l2_cache, 256 * KiB, 8);
	return true;
}
