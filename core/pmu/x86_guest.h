/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_PMU_X86_GUEST_H
#define CORE_PMU_X86_GUEST_H

/* What guests see alike on Intel and AMD. */

#include <stdbool.h>

#include "core/family.h"

/*
 * An interrupt comes of an overflow while the counter's interrupt bit is set; neither
 * setting that bit later nor writing the status makes one. bank->quiet holds the status
 * bits that came so, until they are cleared.
 */
bool x86_guest_line(const struct vpmu_caps *caps, const struct vpmu_bank *bank);
void x86_clear_status(struct vpmu_vcpu *v, uint64_t bits);
/* Is @reg one of the @n from @base on? */
static inline bool x86_in(uint32_t reg, uint32_t base, unsigned n)
{
	return reg >= base && reg < base + n;
}

#endif
