/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a domain's visits to Xen cost: trapped accesses, hypercalls, interrupts of its own
 * PMU. The ticks of a block of STEPS are results, to be compared with those of "nothing",
 * the same loop. The interrupt is handled as Linux 6.1 does (arm_pmuv3's handler); as
 * long as the domain itself runs, its own PMU counts its instructions, so what the clock
 * shows more is Xen's.
 */
#include "measure.h"

#define STEPS 256
#define INTERRUPTS 32
#define PERIOD 20000

/* xen/include/public/arch-arm.h */
#define GICD ((volatile uint32_t *)0x03001000)
#define GICR_SGI ((volatile uint32_t *)0x03030000)
#define PPI 23
#define SPURIOUS 1023
#define ICC_PMR S3_0_C4_C6_0
#define ICC_IAR1 S3_0_C12_C12_0
#define ICC_EOIR1 S3_0_C12_C12_1
#define ICC_SRE S3_0_C12_C12_5
#define ICC_IGRPEN1 S3_0_C12_C12_7

/* sysreg_write() does not expand its name, which is one of these macros */
#define gic_read(name) sysreg_read(name)
#define gic_write(name, value) sysreg_write(name, value)

/* Not inlined: a loop of its own, the same for all but for one statement. */
#define COST(name, statement)                                                              \
	static __attribute__((noinline)) void cost_of_##name(void)                         \
	{                                                                                  \
		for (unsigned step = 0; step < STEPS; step++)                              \
			statement;                                                         \
	}

static struct xenpmu_read read = { .version = XENPMU_VERSION };

COST(nothing, __asm__ volatile("nop"))
COST(read_control, __asm__ volatile("mrs xzr, pmcr_el0"))
COST(read_status, __asm__ volatile("mrs xzr, pmovsset_el0"))
COST(read_counter, __asm__ volatile("mrs xzr, pmevcntr0_el0"))
COST(write_counter, __asm__ volatile("msr pmevcntr0_el0, xzr"))
COST(write_enable, __asm__ volatile("msr pmcntenset_el0, xzr"))
COST(hypercall, hypercall(HYPERCALL_VERSION, 0, NULL))
COST(xenpmu_read, hypercall(XENPMU_OP_HYPERCALL, XENPMU_READ, &read))

static void measure(const char *name, void (*cost)(void))
{
	uint64_t block[BLOCKS];

	for (unsigned b = 0; b < BLOCKS; b++) {
		uint64_t before = ticks();

		cost();
		block[b] = ticks() - before;
	}
	result(name, median(block));
}

static void take_interrupts(void)
{
	GICD[0] = 0x12; /* GICD_CTLR: ARE_NS, EnableGrp1A */
	GICR_SGI[0x80 / 4] = ~0u;
	GICR_SGI[0x100 / 4] = 1u << PPI;
	gic_write(ICC_SRE, 1);
	gic_write(ICC_PMR, 0xff);
	gic_write(ICC_IGRPEN1, 1);
}

/* The cycle counter has overflowed: what Linux does about it. */
static void handle(void)
{
	sysreg_write(pmovsclr_el0, sysreg_read(pmovsclr_el0));
	sysreg_write(pmcr_el0, sysreg_read(pmcr_el0) & ~(uint64_t)PMCR_E);
	sysreg_read(pmccntr_el0);
	sysreg_write(pmccntr_el0, -(uint64_t)PERIOD);
	sysreg_write(pmcr_el0, sysreg_read(pmcr_el0) | PMCR_E);
}

/*
 * One block: what Xen executed from its beginning to its end, in instructions; and the
 * ten or so of each handle() during which the domain's counters are off.
 */
static uint64_t interrupts(unsigned n)
{
	uint64_t before = ticks(), counted = sysreg_read(pmevcntr0_el0);

	while (n) {
		if (gic_read(ICC_IAR1) != PPI)
			continue;
		handle();
		gic_write(ICC_EOIR1, PPI);
		n--;
	}
	counted = sysreg_read(pmevcntr0_el0) - counted;
	return (ticks() - before) * TICK_NS - counted;
}

static void measure_interrupts(void)
{
	uint64_t block[BLOCKS], none[BLOCKS];

	for (unsigned b = 0; b < BLOCKS; b++)
		none[b] = interrupts(0);
	result("no_interrupt", median(none));
	sysreg_write(pmccntr_el0, -(uint64_t)PERIOD);
	sysreg_write(pmintenset_el1, CYCLES_BIT);
	for (unsigned b = 0; b < BLOCKS; b++)
		block[b] = interrupts(INTERRUPTS);
	sysreg_write(pmintenclr_el1, CYCLES_BIT);
	result("interrupts", median(block));
}

int bare_main(void)
{
	measure("nothing", cost_of_nothing);
	measure("hypercall", cost_of_hypercall);
	pmu_use(1, true);
	measure("read_control", cost_of_read_control);
	measure("read_status", cost_of_read_status);
	measure("read_counter", cost_of_read_counter);
	measure("write_counter", cost_of_write_counter);
	measure("write_enable", cost_of_write_enable);
	take_interrupts();
	measure_interrupts();
	pmu_leave();
	read.handle = set_open(INST_RETIRED);
	if (read.handle)
		measure("xenpmu_read", cost_of_xenpmu_read);
	return 0;
}
