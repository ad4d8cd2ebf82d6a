/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which events there are: one row each. What has no row counts 0, and is logged. */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "cpu.h"

#define SELECT_EDGE (1ULL << 18)
#define SELECT_ENABLE (1ULL << 22)
#define SELECT_INVERT (1ULL << 23)

#define ANY_UMASK (-1)

/*
 * AMD: BKDG of family 10h, section 3.14, and PPRs of family 17h, section 2.1.15.4; a unit
 * mask that an event does not have is not looked at. Intel: [SDM3] 20.2.1.2, and the
 * names that Nehalem has for the same.
 */
static const struct {
	int kinds;
	int code, umask;
	X86PMUChannel channel;
} events[] = {
	{ X86_PMU_AMD, 0x076, ANY_UMASK, X86_PMU_INSNS }, /* cycles not in halt */
	{ X86_PMU_AMD, 0x0c0, ANY_UMASK, X86_PMU_INSNS },
	{ X86_PMU_AMD, 0x0c2, ANY_UMASK, X86_PMU_BRANCHES },
	{ X86_PMU_INTEL, 0x3c, 0x00, X86_PMU_INSNS }, /* unhalted core cycles */
	{ X86_PMU_INTEL, 0x3c, 0x01, X86_PMU_INSNS }, /* and reference cycles */
	{ X86_PMU_INTEL, 0xc0, 0x00, X86_PMU_INSNS },
	{ X86_PMU_INTEL, 0xc0, 0x01, X86_PMU_INSNS }, /* INST_RETIRED.ANY_P */
	{ X86_PMU_INTEL, 0xc4, 0x00, X86_PMU_BRANCHES },
};

static X86PMUChannel find(CPUX86State *env, uint64_t select)
{
	X86PMU *pmu = &env->pmu;
	int code = select & 0xff, umask = select >> 8 & 0xff, i;

	if (pmu->kind & X86_PMU_AMD) {
		code |= select >> 24 & 0xf00;
	}
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (events[i].kinds & pmu->kind && events[i].code == code &&
		    (events[i].umask == ANY_UMASK || events[i].umask == umask)) {
			return events[i].channel;
		}
	}
	return x86_memory_event(env, select) ? X86_PMU_MEMORY : X86_PMU_NONE;
}

/*
 * [SDM3] 20.2.1.1, [APM2] 13.2.1: with a counter mask, the cycles are counted in which
 * there were at least so many events, or, inverted, fewer. A cycle has one instruction;
 * how many accesses it has is not known.
 */
static X86PMUChannel masked(X86PMUChannel channel, int least, bool invert, bool *known)
{
	if (least == 0) {
		return channel;
	}
	if (channel == X86_PMU_MEMORY) {
		*known = false;
		return X86_PMU_NONE;
	}
	if (least > 1) {
		return invert ? X86_PMU_INSNS : X86_PMU_NONE;
	}
	if (!invert) {
		return channel;
	}
	*known = channel == X86_PMU_INSNS; /* no cycle is without an instruction */
	return X86_PMU_NONE;
}

X86PMUChannel x86_pmu_channel(CPUX86State *env, uint64_t select)
{
	X86PMUChannel channel = find(env, select);
	bool known = channel != X86_PMU_NONE && !(select & SELECT_EDGE);

	if (known) {
		channel = masked(channel, select >> 24 & 0xff, select & SELECT_INVERT,
				 &known);
	}
	if (!known && select & SELECT_ENABLE) {
		qemu_log_mask(LOG_UNIMP, "pmu: event select %" PRIx64 " counts nothing\n",
			      select);
	}
	return known ? channel : X86_PMU_NONE;
}
