/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Included by hw/intc/apic.c, for apic_local_deliver(). */
#include "cpu.h"

void apic_deliver_perf(DeviceState *apic, bool mask)
{
	APICCommonState *s = APIC(apic);

	apic_local_deliver(s, APIC_LVT_PERFORM);
	if (mask) {
		s->lvt[APIC_LVT_PERFORM] |= APIC_LVT_MASKED;
	}
}
