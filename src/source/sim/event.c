/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf's events as the simulated PMUs take them, or in words why not. */
#include <linux/perf_event.h>

#include "base/vec.h"
#include "source/sim/state.h"

/*
 * perf's generic events on Intel as the kernel's driver has them
 * (arch/x86/events/intel/core.c: intel_perfmon_event_map, and of
 * nehalem_hw_cache_event_ids what needs no offcore-response register), as event select
 * and umask (SDM vol. 3, "Architectural Performance Monitoring").
 */
static const struct hosted_generic intel[] = {
	HOSTED_HW(CPU_CYCLES, 0x003c),
	HOSTED_HW(INSTRUCTIONS, 0x00c0),
	HOSTED_HW(REF_CPU_CYCLES, 0x0300),
	HOSTED_HW(BUS_CYCLES, 0x013c),
	HOSTED_HW(CACHE_REFERENCES, 0x4f2e),
	HOSTED_HW(CACHE_MISSES, 0x412e),
	HOSTED_HW(BRANCH_INSTRUCTIONS, 0x00c4),
	HOSTED_HW(BRANCH_MISSES, 0x00c5),
	HOSTED_CACHE(L1D, READ, ACCESS, 0x010b),
	HOSTED_CACHE(L1D, READ, MISS, 0x0151),
	HOSTED_CACHE(L1D, WRITE, ACCESS, 0x020b),
	HOSTED_CACHE(L1I, READ, ACCESS, 0x0380),
	HOSTED_CACHE(L1I, READ, MISS, 0x0280),
	HOSTED_CACHE(DTLB, READ, MISS, 0x0108),
	HOSTED_CACHE(ITLB, READ, MISS, 0x01c8),
};

static bool encode_generic(const struct event *ev, uint64_t *config, struct opened *opened)
{
	if (hosted_number(intel, ARRAY_SIZE(intel), ev, config))
		return true;
	return opened_say(opened, READ_UNSUPPORTED,
			  "this event has no number on the simulated PMU; its own events "
			  "have the names of the CPU's event table");
}

static bool encode(const struct hosted_target *t, const struct event *ev, uint64_t *config,
		   struct opened *opened)
{
	bool generic = ev->type == PERF_TYPE_HARDWARE || ev->type == PERF_TYPE_HW_CACHE;

	if (ev->kind != (t->kind == HOSTED_NODE ? EVENT_UNCORE : EVENT_HARDWARE))
		return opened_say(opened, READ_UNSUPPORTED,
				  "the simulated host counts what its PMUs count; of "
				  "other events stat has task-clock and waited");
	if (ev->config1 || ev->config2)
		return opened_say(opened, READ_UNSUPPORTED,
				  "the simulated PMU has no registers beside the event "
				  "select: offcore responses and latencies are not there");
	if (generic)
		return encode_generic(ev, config, opened);
	*config = ev->config;
	return true;
}

bool sim_event(void *ctx, const struct hosted_target *t, const struct event *ev,
	       bool sampling, struct vpmu_event *out, struct opened *opened)
{
	(void)ctx;
	*out = (struct vpmu_event) { 0 };
	*opened = (struct opened) { .state = READ_COUNTED };
	if (!encode(t, ev, &out->config, opened))
		return false;
	if (t->kind == HOSTED_NODE)
		return true; /* a socket knows no modes and is not sampled */
	return hosted_modes(&sim_hosted, t, ev, &out->flags, opened) &&
	       (!sampling || hosted_period(&sim_hosted, ev, &out->period, opened));
}
