/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counters of a node: AMD's L3 and data fabric (Zen), Nehalem's uncore.  They count
 * whatever the node's LLC and memory do, for whoever; no interrupts.
 *
 * Sources: AMD, Processor Programming Reference for family 17h, models 00h-0Fh, MSRs
 * C0010230-C001023B and C0010240-C0010247, and RDPMC's numbers as in Linux,
 * arch/x86/events/amd/uncore.c; Intel SDM vol. 3, "Uncore Performance Monitoring
 * Management Facility", and vol. 4 for the numbers.
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "qemu/timer.h"
#include "memory.h"

#define COUNTER_MASK MAKE_64BIT_MASK(0, 48)
#define SEL_EN BIT_ULL(22)

#define AMD_L3_BASE 0xc0010230
#define AMD_DF_BASE 0xc0010240
#define AMD_RDPMC_DF 6
#define AMD_RDPMC_L3 10

#define UNC_GLOBAL_CTRL 0x391
#define UNC_GLOBAL_STATUS 0x392
#define UNC_GLOBAL_OVF_CTRL 0x393
#define UNC_FIXED 0x394
#define UNC_FIXED_CTRL 0x395
#define UNC_PMC 0x3b0
#define UNC_SEL 0x3c0
#define UNC_FIXED_BIT BIT_ULL(32)
#define UNC_MHZ 2133 /* of a Xeon 55xx, by its own clock */

static bool has_amd(CPUX86State *env)
{
	return env->pmu.kind & X86_PMU_SIX && x86_pmu_family(env) >= 0x17;
}

static uint64_t fixed_now(void)
{
	return muldiv64(qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL), UNC_MHZ, 1000);
}

static bool fixed_runs(const Node *node)
{
	return node->global_ctrl & UNC_FIXED_BIT && node->fixed_ctrl & 1;
}

/* Brings a counter's value up to date: whether it overflowed. */
static bool settle(Node *node, NodeCounter *c)
{
	uint64_t now = memory_node_sum(node, &c->sum), v = c->value + now - c->base;

	c->base = now;
	c->value = v & COUNTER_MASK;
	return v > COUNTER_MASK;
}

/* Has a counter, settled, count this from now on. */
static void set_sum(Node *node, NodeCounter *c, Sum sum)
{
	bool was = c->sum.mask;

	c->sum = sum;
	c->base = memory_node_sum(node, &sum);
	if (was != !!sum.mask) {
		memory_use(was ? -1 : 1);
	}
}

/* AMD: selects are the even registers, counters the odd ones. */

static NodeCounter *amd_counter(Node *node, uint32_t msr, bool *l3)
{
	uint32_t i = msr - AMD_L3_BASE;

	*l3 = i < 2 * ARRAY_SIZE(node->l3);
	if (*l3) {
		return &node->l3[i / 2];
	}
	i = msr - AMD_DF_BASE;
	return i < 2 * ARRAY_SIZE(node->df) ? &node->df[i / 2] : NULL;
}

static bool amd_wrmsr(CPUX86State *env, Node *node, uint32_t msr, uint64_t val)
{
	bool l3;
	NodeCounter *c = amd_counter(node, msr, &l3);
	Sum sum = { 0 };

	if (!c) {
		return false;
	}
	settle(node, c);
	if (msr & 1) {
		c->value = val & COUNTER_MASK;
		return true;
	}
	c->select = val;
	if (val & SEL_EN) {
		sum = l3 ? memory_l3_event(env, val) : memory_df_event(env, val);
	}
	set_sum(node, c, sum);
	return true;
}

static bool amd_rdmsr(Node *node, uint32_t msr, uint64_t *val)
{
	bool l3;
	NodeCounter *c = amd_counter(node, msr, &l3);

	if (!c) {
		return false;
	}
	settle(node, c);
	*val = msr & 1 ? c->value : c->select;
	return true;
}

/* Nehalem */

static void unc_settle(Node *node)
{
	uint64_t now = fixed_now();
	int i;

	for (i = 0; i < ARRAY_SIZE(node->uncore); i++) {
		node->global_status |= settle(node, &node->uncore[i]) ? BIT_ULL(i) : 0;
	}
	if (fixed_runs(node)) {
		node->fixed = (node->fixed + now - node->fixed_base) & COUNTER_MASK;
	}
	node->fixed_base = now;
}

static void unc_program(CPUX86State *env, Node *node)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(node->uncore); i++) {
		NodeCounter *c = &node->uncore[i];
		Sum sum = { 0 };

		if (node->global_ctrl >> i & 1 && c->select & SEL_EN) {
			sum = memory_uncore_event(env, c->select);
		}
		set_sum(node, c, sum);
	}
}

static bool unc_wrmsr(CPUX86State *env, Node *node, uint32_t msr, uint64_t val)
{
	unc_settle(node);
	switch (msr) {
	case UNC_GLOBAL_CTRL: node->global_ctrl = val; break;
	case UNC_GLOBAL_OVF_CTRL: node->global_status &= ~val; break;
	case UNC_FIXED: node->fixed = val & COUNTER_MASK; break;
	case UNC_FIXED_CTRL: node->fixed_ctrl = val; break;
	case UNC_PMC ... UNC_PMC + 7:
		node->uncore[msr - UNC_PMC].value = val & COUNTER_MASK;
		break;
	case UNC_SEL ... UNC_SEL + 7: node->uncore[msr - UNC_SEL].select = val; break;
	default: return false;
	}
	unc_program(env, node);
	return true;
}

static bool unc_rdmsr(Node *node, uint32_t msr, uint64_t *val)
{
	unc_settle(node);
	switch (msr) {
	case UNC_GLOBAL_CTRL: *val = node->global_ctrl; break;
	case UNC_GLOBAL_STATUS: *val = node->global_status; break;
	case UNC_GLOBAL_OVF_CTRL: *val = 0; break;
	case UNC_FIXED: *val = node->fixed; break;
	case UNC_FIXED_CTRL: *val = node->fixed_ctrl; break;
	case UNC_PMC ... UNC_PMC + 7: *val = node->uncore[msr - UNC_PMC].value; break;
	case UNC_SEL ... UNC_SEL + 7: *val = node->uncore[msr - UNC_SEL].select; break;
	default: return false;
	}
	return true;
}

/* Whether the register is one of a node's counters, with the CPU's PMU on. */
static bool ours(CPUX86State *env, uint32_t msr)
{
	if (env->pmu.kind & X86_PMU_INTEL) {
		return msr >= UNC_GLOBAL_CTRL && msr < UNC_SEL + 8;
	}
	return has_amd(env) && msr >= AMD_L3_BASE && msr < AMD_DF_BASE + 8;
}

bool x86_memory_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
	Node *node;
	bool done;

	if (!ours(env, msr)) {
		return false;
	}
	memory_make();
	memory_lock();
	node = env->pmu.core->node;
	done = env->pmu.kind & X86_PMU_INTEL ? unc_wrmsr(env, node, msr, val)
					     : amd_wrmsr(env, node, msr, val);
	memory_unlock();
	return done;
}

bool x86_memory_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
	Node *node;
	bool done;

	if (!ours(env, msr)) {
		return false;
	}
	memory_make();
	memory_lock();
	node = env->pmu.core->node;
	done = env->pmu.kind & X86_PMU_INTEL ? unc_rdmsr(node, msr, val)
					     : amd_rdmsr(node, msr, val);
	memory_unlock();
	return done;
}

/* AMD's RDPMC reads them, too, by the numbers behind the core's. */
bool x86_memory_rdpmc(CPUX86State *env, uint32_t n, uint64_t *val)
{
	uint32_t msr;

	if (n >= AMD_RDPMC_L3 && n < AMD_RDPMC_L3 + 6) {
		msr = AMD_L3_BASE + 2 * (n - AMD_RDPMC_L3) + 1;
	} else if (n >= AMD_RDPMC_DF && n < AMD_RDPMC_L3) {
		msr = AMD_DF_BASE + 2 * (n - AMD_RDPMC_DF) + 1;
	} else {
		return false;
	}
	return has_amd(env) && x86_memory_rdmsr(env, msr, val);
}
