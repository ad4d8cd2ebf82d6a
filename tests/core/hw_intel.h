/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_HW_INTEL_H
#define TESTS_CORE_HW_INTEL_H

#include "numasim/pmu_intel.h"
#include "tests/core/hw_x86.h"

struct hw *hw_intel_new(const struct pmu_intel_config *config, const uint64_t *clock);

#endif
