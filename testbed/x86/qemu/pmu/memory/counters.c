/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the counters of pmu.c take from the model of memory.h. */
#include "qemu/osdep.h"
#include "memory.h"

uint64_t memory_node_sum(const Node *node, const Sum *sum)
{
	uint64_t left, total = 0;

	for (left = sum->mask; left; left &= left - 1) {
		total += node->n[ctz64(left)];
	}
	return total * sum->weight;
}

static uint64_t counted(const X86MemoryCore *core, int i)
{
	const Sum *sum = &core->counter[i].sum;
	uint64_t left, total = 0;
	int m;

	if (sum->node) {
		return memory_node_sum(core->node, sum);
	}
	for (left = sum->mask; left; left &= left - 1) {
		for (m = 0; m < X86_PMU_MODES; m++) {
			if (core->counter[i].modes >> m & 1) {
				total += core->n[m][ctz64(left)];
			}
		}
	}
	return total * sum->weight;
}

bool x86_memory_event(CPUX86State *env, uint64_t select)
{
	return memory_core_event(env, select).weight;
}

void x86_memory_count(CPUX86State *env, int i, uint64_t select, int modes)
{
	X86MemoryCore *core;
	Sum sum = { 0 };
	bool was;

	if (modes) {
		memory_make();
		sum = memory_core_event(env, select);
	}
	core = env->pmu.core;
	if (!core || (!modes && !core->counter[i].sum.mask)) {
		return;
	}
	memory_lock();
	was = core->counter[i].sum.mask;
	core->counter[i].sum = sum;
	core->counter[i].modes = modes;
	core->counter[i].base = counted(core, i);
	if (was != !!sum.mask) {
		memory_use(was ? -1 : 1);
	}
	memory_unlock();
}

uint64_t x86_memory_take(CPUX86State *env, int i)
{
	X86MemoryCore *core = env->pmu.core;
	uint64_t now, base;

	if (!core || !core->counter[i].sum.mask) {
		return 0;
	}
	memory_lock();
	now = counted(core, i);
	base = core->counter[i].base;
	core->counter[i].base = now;
	memory_unlock();
	return now - base;
}

void x86_memory_disarm(CPUX86State *env)
{
	env->pmu.memory_left = INT64_MAX;
	if (env->pmu.core) {
		memset(env->pmu.core->watched, 0, sizeof(env->pmu.core->watched));
	}
}

void x86_memory_arm(CPUX86State *env, int i, uint64_t left)
{
	X86MemoryCore *core = env->pmu.core;
	int m;

	if (core->counter[i].sum.node) {
		return;
	}
	for (m = 0; m < X86_PMU_MODES; m++) {
		if (core->counter[i].modes >> m & 1) {
			core->watched[m] |= core->counter[i].sum.mask;
		}
	}
	env->pmu.memory_left = MIN(env->pmu.memory_left, left);
}

void x86_memory_reset(CPUX86State *env)
{
	int i;

	env->pmu.core = memory_core(env);
	for (i = 0; i < X86_PMU_COUNTERS; i++) {
		x86_memory_count(env, i, 0, 0);
	}
}
