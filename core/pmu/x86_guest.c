/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/bank.h"
#include "core/pmu/x86_guest.h"
#include "core/vpmu.h"

bool x86_guest_line(const struct vpmu_caps *caps, const struct vpmu_bank *bank)
{
	(void)caps;
	return bank->overflow & bank->irq & ~bank->quiet;
}

void x86_clear_status(struct vpmu_vcpu *v, uint64_t bits)
{
	v->bank.quiet &= ~bits;
	vpmu_bank_overflow_change(v, 0, bits);
	vpmu_bank_line(v);
}
