/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_HW_AMD_H
#define TESTS_CORE_HW_AMD_H

#include "tests/core/hw_x86.h"

struct hw_amd_config {
	bool extension; /* the core extension: six counters and their registers */
	unsigned v2;	/* PerfMonV2 with this many counters; 0: none */
};

/* EFER.SVME is set, as where guests run. */
struct hw *hw_amd_new(const struct hw_amd_config *config, const uint64_t *clock);

#endif
