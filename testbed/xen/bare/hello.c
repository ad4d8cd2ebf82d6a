/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bed's own: it runs, is refused what nobody has, and comes back from EL0. */
#include "bare.h"

static unsigned long twice(unsigned long number)
{
	return 2 * number;
}

/* Not for EL0, whichever the state: the exception must come from there. */
static unsigned long privileged(unsigned long number)
{
#ifdef __aarch64__
	sysreg_read(vbar_el1);
#else
	cp15_read(0, 12, 0, 0);
#endif
	return number + 1;
}

int bare_main(void)
{
	result("bits", 8 * sizeof(long));
	faults_taken();
	__asm__ volatile("udf #0");
	__asm__ volatile("udf #0");
	result("faults", faults_taken());
	result("twice_at_el0", at_el0(twice, 21));
	result("no_faults", faults_taken());
	result("behind_the_fault", at_el0(privileged, 6));
	result("faults_at_el0", faults_taken());
	return 0;
}
