/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domU that takes its PMU's interrupts, by asking the GIC for them: one per overflow, and
 * again as long as the overflow stands, as a level has it. GICv3: Arm IHI 0069, 12.
 */
#include "regs.h"

/* xen/include/public/arch-arm.h: GUEST_GICV3_GICD_BASE, GUEST_GICV3_GICR0_BASE */
#define GICD_CTLR ((volatile uint32_t *)0x03001000)
#define GICR_ISENABLER0 ((volatile uint32_t *)0x03030100)
#define GROUP1 2
#define PMU_PPI 23
#define NONE 1023
#define OVERFLOWS 100
#define CYCLES (1u << ARMV8_CYCLES)

static void gic_begin(void)
{
	*GICD_CTLR = GROUP1;
	*GICR_ISENABLER0 = 1u << PMU_PPI;
	sysreg_write(s3_0_c12_c12_5, 1);  /* ICC_SRE_EL1: by registers */
	sysreg_write(s3_0_c4_c6_0, 0xff); /* ICC_PMR_EL1: all priorities */
	sysreg_write(s3_0_c12_c12_7, 1);  /* ICC_IGRPEN1_EL1 */
}

/* Which is pending; it is active then. Xen puts it there on its way out. */
static unsigned int taken(void)
{
	yield();
	return sysreg_read(s3_0_c12_c12_0); /* ICC_IAR1_EL1 */
}

static void done(void)
{
	sysreg_write(s3_0_c12_c12_1, PMU_PPI); /* ICC_EOIR1_EL1 */
}

/* The cycle counter overflows in the middle of a loop. */
static void overflow(void)
{
	set(ARMV8_PMCCNTR, -1000ull);
	set(ARMV8_PMCNTENSET, CYCLES);
	for (volatile int i = 0; i < 2000; i++)
		;
	set(ARMV8_PMCNTENCLR, CYCLES);
}

static void clear(void)
{
	set(ARMV8_PMOVSCLR, ~0u);
}

static void one_each(void)
{
	unsigned int interrupts = 0, more = 0;

	for (int i = 0; i < OVERFLOWS; i++) {
		overflow();
		interrupts += taken() == PMU_PPI;
		clear();
		done();
		more += taken() != NONE;
	}
	result("overflows", OVERFLOWS);
	result("interrupts", interrupts);
	result("more", more);
}

static void again_until_cleared(void)
{
	unsigned int again = 0, after;

	overflow();
	for (int i = 0; i < 10; i++) {
		again += taken() == PMU_PPI;
		done();
	}
	/* it is pending once more, as nobody has cleared the overflow until now */
	after = taken();
	clear();
	if (after == PMU_PPI)
		done();
	result("again", again);
	result("after_clearing", taken());
}

int bare_main(void)
{
	make_accessors();
	gic_begin();
	set(ARMV8_PMCR, ARMV8_PMCR_E | ARMV8_PMCR_LC);
	overflow();
	result("not_enabled", taken());
	clear();
	set(ARMV8_PMINTENSET, CYCLES);
	one_each();
	again_until_cleared();
	set(ARMV8_PMINTENCLR, CYCLES);
	overflow();
	result("disabled", taken());
	set(ARMV8_PMINTENSET, CYCLES);
	result("enabled_late", taken());
	return 0;
}
