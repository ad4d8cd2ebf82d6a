/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_HW_INTEL_H
#define TESTS_CORE_HW_INTEL_H

#include "tests/core/hw_x86.h"

/* What CPUID leaf 0xa and PERF_CAPABILITIES tell. */
struct hw_intel_config {
	unsigned version;
	unsigned gp, gp_width;
	unsigned fixed, fixed_width; /* v2 on */
	uint32_t fixed_map;	     /* v5 on: beyond the first @fixed */
	bool full_width;	     /* writes */
	uint32_t absent;	     /* architectural events that are not there */
};

/*
 * Fixed counters count 0xc0, 0x3c, 0x300, 0x1a4 (Linux's numbers for them), in this
 * order. As its host set up the VMCS, a VM exit stops all counters by GLOBAL_CTRL and
 * an entry brings them back: nothing is counted in the hypervisor.
 */
struct hw *hw_intel_new(const struct hw_intel_config *config, const uint64_t *clock);

#endif
