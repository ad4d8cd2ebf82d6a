/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_PMU_AMD_H
#define CORE_PMU_AMD_H

/* Between amd.c, the physical PMU, and amd_guest.c, the one that a guest sees. */

#include "core/family.h"

void amd_guest_reset(const struct vpmu_caps *caps, struct vpmu_bank *bank);
uint64_t amd_guest_active(const struct vpmu_caps *caps, const struct vpmu_bank *bank);
uint64_t amd_guest_select(const struct vpmu_caps *caps, const struct vpmu_bank *bank,
			  unsigned counter);
enum vpmu_access amd_guest_read(struct vpmu_vcpu *v, uint32_t reg, bool user,
				uint64_t *value);
enum vpmu_access amd_guest_write(struct vpmu_vcpu *v, uint32_t reg, bool user,
				 uint64_t value);

#endif
