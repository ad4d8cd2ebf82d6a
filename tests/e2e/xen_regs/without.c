/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domU that has no PMU, and tries each of its registers from EL1 and EL0: what it is
 * refused and what it reads is always the same.
 */
#include "regs.h"

#define ROUNDS 20

int bare_main(void)
{
	unsigned int refused = 0, differently = 0;
	uint64_t seen = 0, which = 0;

	make_accessors();
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t these = 0;

		refused = 0;
		for (unsigned int n = 0; n < 4 * REGS; n++) {
			uint64_t value = n & 1 ? draw() : 0;
			bool done = reg_access(n / 4, n & 1, n & 2, &value);

			refused += !done;
			/* FNV-1a, of what is refused */
			these = (these ^ done) * 0x100000001b3;
			if (done && !(n & 1))
				seen |= value;
		}
		if (round && these != which)
			differently++;
		which = these;
		yield();
	}
	result("seen", seen);
	result("refused", refused);
	result("refused_which", which);
	result("differently", differently);
	return 0;
}
