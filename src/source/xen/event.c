/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf's events as the numbers that Xen's PMU counts, or in words why not. */
#include <linux/perf_event.h>
#include <string.h>

#include "base/vec.h"
#include "source/xen/state.h"

#define ARMV8 "armv8-pmuv3"
#define EVENT_MAX 0xffff /* PMEVTYPER<n>_EL0.evtCount */

/*
 * perf's generic events on Armv8 as the kernel's driver has them
 * (drivers/perf/arm_pmuv3.c, armv8_pmuv3_perf_map and _cache_map), by the numbers of
 * the Arm architecture (DDI 0487, D13.12 "PMU events").
 */
static const struct hosted_generic armv8[] = {
	HOSTED_HW(CPU_CYCLES, 0x11),
	HOSTED_HW(INSTRUCTIONS, 0x08),
	HOSTED_HW(CACHE_REFERENCES, 0x04),
	HOSTED_HW(CACHE_MISSES, 0x03),
	HOSTED_HW(BRANCH_INSTRUCTIONS, 0x0c),
	HOSTED_HW(BRANCH_MISSES, 0x10),
	HOSTED_HW(BUS_CYCLES, 0x1d),
	HOSTED_HW(STALLED_CYCLES_FRONTEND, 0x23),
	HOSTED_HW(STALLED_CYCLES_BACKEND, 0x24),
	HOSTED_CACHE(L1D, READ, ACCESS, 0x04),
	HOSTED_CACHE(L1D, READ, MISS, 0x03),
	HOSTED_CACHE(L1I, READ, ACCESS, 0x14),
	HOSTED_CACHE(L1I, READ, MISS, 0x01),
	HOSTED_CACHE(LL, READ, ACCESS, 0x36),
	HOSTED_CACHE(LL, READ, MISS, 0x37),
	HOSTED_CACHE(DTLB, READ, ACCESS, 0x25),
	HOSTED_CACHE(DTLB, READ, MISS, 0x05),
	HOSTED_CACHE(ITLB, READ, ACCESS, 0x26),
	HOSTED_CACHE(ITLB, READ, MISS, 0x02),
	HOSTED_CACHE(BPU, READ, ACCESS, 0x12),
	HOSTED_CACHE(BPU, READ, MISS, 0x10),
};

static bool encode(const struct source *src, const struct event *ev, uint64_t *config,
		   struct opened *opened)
{
	bool raw = ev->type == PERF_TYPE_RAW || ev->type >= PERF_TYPE_MAX;

	if (ev->kind != EVENT_HARDWARE)
		return opened_say(opened, READ_UNSUPPORTED,
				  "Xen counts what the PMU counts; of other events stat "
				  "has task-clock, of domains");
	if (raw && !ev->config1 && !ev->config2 && ev->config <= EVENT_MAX) {
		*config = ev->config;
		return true;
	}
	if (!strcmp(src->info.family, ARMV8) &&
	    hosted_number(armv8, ARRAY_SIZE(armv8), ev, config))
		return true;
	return opened_say(opened, READ_UNSUPPORTED,
			  "this event has no number on Xen's PMU (%.40s): give the PMU's "
			  "own number, rNN",
			  src->info.family);
}

bool xen_event(void *ctx, const struct hosted_target *t, const struct event *ev,
	       bool sampling, struct vpmu_event *out, struct opened *opened)
{
	const struct source *src = ctx;

	*out = (struct vpmu_event) { 0 };
	*opened = (struct opened) { .state = READ_COUNTED };
	if (!xen_can_count(src)) {
		opened->state = src->graft == -EPERM ? READ_DENIED : READ_UNSUPPORTED;
		xen_why_not(src, opened->reason, sizeof(opened->reason));
		return false;
	}
	return encode(src, ev, &out->config, opened) &&
	       hosted_modes(&xen_hosted, t, ev, &out->flags, opened) &&
	       (!sampling || hosted_period(&xen_hosted, ev, &out->period, opened));
}
