/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/ring.h"
#include "tests/sim/hosts.h"

#define INSTRUCTIONS 0xc0
#define CYCLES 0x3c
#define REF_CYCLES 0x300
#define LOADS 0x10b
#define STORES 0x20b
#define LLC_REF 0x4f2e
#define LLC_MISS 0x412e
#define LOCAL_HITM 0x20f
#define REMOTE_DRAM 0x100f
#define OUTSTANDING 0x160
#define OUTSTANDING_CYCLES 0x1000160
#define STALL 0x2a2

static const uint64_t seven[] = { INSTRUCTIONS, CYCLES,	  REF_CYCLES, LOADS,
				  LLC_REF,	LLC_MISS, OUTSTANDING };
static const enum core_event seven_raw[] = { CORE_INSTRUCTIONS, CORE_CYCLES,
					     CORE_REF_CYCLES,	CORE_LOADS,
					     CORE_LLC_REF,	CORE_LLC_MISS,
					     CORE_OUTSTANDING };

static void what_vms_count_on_shared_cores_is_what_happened_to_the_count(void **state)
{
	struct sim *s = host_shared();
	uint32_t web = set_on(s, 0, 7, seven, 0), db = set_on(s, 1, 7, seven, 0);

	(void)state;
	sim_run(s, 10 * MS);
	/* the hypervisor has no loads of its own */
	for (unsigned i = 3; i < 7; i++) {
		uint64_t a = set_sum(s, web, 2, i).value, b = set_sum(s, db, 2, i).value;

		assert_true(a && b);
		assert_int_equal(a + b, cores_truth(s, seven_raw[i]));
	}
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_vms_count_on_shared_cores_is_what_happened_to_the_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
