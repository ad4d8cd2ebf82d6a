/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For the programs of this folder, domUs without a kernel: the clock, Xen's hypercalls,
 * their PMU. With -icount shift=0 one instruction takes one nanosecond, whoever executes
 * it, and the clock ticks once in 16: a block of many equal steps is measured to less
 * than an instruction each. Xen's own timers interrupt some blocks, so the median counts.
 */
#ifndef BENCH_XEN_MEASURE_H
#define BENCH_XEN_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "bare.h"
#include "core/abi/xenpmu.h"

#define TICK_NS 16
#define BLOCKS 63

/* xen/include/public: xen.h, sched.h, version.h */
#define HYPERCALL_VERSION 17
#define HYPERCALL_SCHED 29

static inline long hypercall(uint64_t number, uint64_t op, const void *arg)
{
	register uint64_t x0 __asm__("x0") = op;
	register uint64_t x1 __asm__("x1") = (uintptr_t)arg;
	register uint64_t x16 __asm__("x16") = number;

	__asm__ volatile("hvc #0xea1" : "+r"(x0), "+r"(x1), "+r"(x16) : : "memory");
	return (long)x0;
}

static inline uint64_t ticks(void)
{
	__asm__ volatile("isb" : : : "memory");
	return sysreg_read(cntvct_el0);
}

static inline void sort(uint64_t *values, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		uint64_t value = values[i];
		unsigned at = i;

		for (; at && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

/* Of BLOCKS values, which are in order then. */
static inline uint64_t median(uint64_t *values)
{
	sort(values, BLOCKS);
	return values[BLOCKS / 2];
}

#define PMCR_E 1
#define PMCR_LC 64
#define INST_RETIRED 0x08
#define CPU_CYCLES 0x11
#define CYCLES_BIT (1u << 31)

#define select_counter(n, event)                                                           \
	do {                                                                               \
		sysreg_write(pmselr_el0, n);                                               \
		sysreg_write(pmxevtyper_el0, event);                                       \
	} while (0)

/* Counts instructions on each of the first @n event counters, and, @cycles, cycles. */
static inline void pmu_use(unsigned n, bool cycles)
{
	uint64_t mask = (1u << n) - 1;

	for (unsigned i = 0; i < n; i++)
		select_counter(i, INST_RETIRED);
	if (cycles)
		mask |= CYCLES_BIT;
	sysreg_write(pmcntenclr_el0, ~0u);
	sysreg_write(pmcntenset_el0, mask);
	sysreg_write(pmcr_el0, PMCR_E | PMCR_LC);
}

static inline void pmu_leave(void)
{
	sysreg_write(pmcntenclr_el0, ~0u);
}

static inline unsigned pmu_counters(void)
{
	return sysreg_read(pmcr_el0) >> 11 & 31;
}

static inline struct xenpmu_open set_on_self(uint64_t event)
{
	return (struct xenpmu_open) {
		.version = XENPMU_VERSION,
		.domid = XENPMU_DOMID_SELF,
		.nevents = 1,
		.event = { { .config = event,
			     .flags = VPMU_EVENT_USER | VPMU_EVENT_KERNEL } },
	};
}

/* A set that counts @event in this domain; 0 where that is not allowed here. */
static inline uint32_t set_open(uint64_t event)
{
	struct xenpmu_open open = set_on_self(event);

	if (hypercall(XENPMU_OP_HYPERCALL, XENPMU_OPEN, &open))
		return 0;
	return open.handle;
}

static inline void set_close(uint32_t handle)
{
	struct xenpmu_close close = { .version = XENPMU_VERSION, .handle = handle };

	hypercall(XENPMU_OP_HYPERCALL, XENPMU_CLOSE, &close);
}

#endif
