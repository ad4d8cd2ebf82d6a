/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters.h"
#include "programs.h"
#include "tests.h"

static char scratch_pages[CPUS][4096] __attribute__((aligned(4096)));

void *scratch(void)
{
	return scratch_pages[this_cpu()->id];
}

void test_all(void)
{
	test_counting();
	test_events();
	test_faults();
	test_sampling();
}
