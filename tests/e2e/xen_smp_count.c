/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domU of test_xen_smp: reads its counters as often as it can while it is moved, until
 * dom0 says so, and holds each reading against the last and against the clock. QEMU's
 * cycles are nanoseconds of the clock that CNTVCT shows, so that what was counted between
 * two readings fits in the time between before the first and after the second.
 */
#include "bare.h"

#define CYCLES 0x11
#define CYCLE_COUNTER 31

struct reading {
	uint64_t before, cycles, events, after; /* ns, counts, ns */
};

static uint64_t ns_per_tick;

static uint64_t clock(void)
{
	__asm__ volatile("isb" : : : "memory");
	return sysreg_read(cntvct_el0) * ns_per_tick;
}

static void read(struct reading *r)
{
	r->before = clock();
	r->cycles = sysreg_read(pmccntr_el0);
	r->events = sysreg_read(pmevcntr0_el0);
	r->after = clock();
}

static void begin(void)
{
	for (ns_per_tick = 0; ns_per_tick * sysreg_read(cntfrq_el0) < 1000000000;)
		ns_per_tick++;
	sysreg_write(pmccfiltr_el0, 0);
	sysreg_write(pmevtyper0_el0, CYCLES);
	/* E, P, C, LC; with PMUv3p5 LP */
	sysreg_write(pmcr_el0, 0xc7);
	sysreg_write(pmcntenset_el0, 1ull << CYCLE_COUNTER | 1);
}

static uint64_t backwards, ahead;

static void check(uint64_t before, uint64_t now, uint64_t time)
{
	backwards += now < before;
	ahead += now - before > time;
}

/* Xen wakes who waits for an interrupt when its timer expires, wanted or not. */
static void wait(void)
{
	print("testbed: waiting\n");
	while (!told_to_go()) {
		sysreg_write(cntv_tval_el0, sysreg_read(cntfrq_el0) / 10);
		sysreg_write(cntv_ctl_el0, 1);
		__asm__ volatile("wfi" : : : "memory");
	}
	sysreg_write(cntv_ctl_el0, 0);
}

int bare_main(void)
{
	struct reading first, last, now;
	uint64_t readings = 0;

	wait();
	begin();
	read(&first);
	for (last = first; !told_to_go(); last = now) {
		read(&now);
		check(last.cycles, now.cycles, now.after - last.before + ns_per_tick);
		check(last.events, now.events, now.after - last.before + ns_per_tick);
		readings++;
	}
	result("readings", readings);
	result("backwards", backwards);
	result("ahead", ahead);
	result("cycles", last.cycles - first.cycles);
	result("events", last.events - first.events);
	result("time", last.after - first.before);
	return 0;
}
