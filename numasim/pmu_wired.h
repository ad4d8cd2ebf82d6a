/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_PMU_WIRED_H
#define NUMASIM_PMU_WIRED_H

/*
 * A PMU's counters on the machine's running totals. Nothing is done while events happen:
 * a counter is brought up to date, by what its raw counts have grown, when someone is
 * about to look at it or to change what it does.
 */

#include "numasim/pmu_wires.h"
#include "numasim/pmu_x86.h"

struct pmu_wired {
	struct pmu_x86 *pmu;
	const uint64_t *raw;
	bool (*find)(unsigned model, uint32_t config, struct wire *out);
	unsigned model;
	enum vpmu_mode mode; /* that the CPU is in */
	uint64_t on;	     /* counters that count now */
	struct {
		uint64_t event; /* that @wire is for; 0: none yet */
		struct wire wire;
		uint64_t total; /* of the raw counts, when last looked at */
	} counter[PMU_X86_COUNTERS];
};

/* Brings all counters up to date. */
void pmu_wired_fold(struct pmu_wired *w);
/* After that, and a change of registers or mode: who counts from here on, and what. */
void pmu_wired_follow(struct pmu_wired *w);

#endif
