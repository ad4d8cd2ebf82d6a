/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tests of instructions and branches, and of the registers. */
#include "tests.h"

void test_all(void)
{
	test_counting();
	test_events();
	test_faults();
	test_sampling();
	test_registers();
	test_guest();
}
