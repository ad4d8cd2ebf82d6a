/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fault of x86 kernels from 5.17 (e1bfc24577cc "KVM: Move x86's perf guest info
 * callbacks to generic KVM") to 6.6, mended by 547c91929f43 "KVM: x86: Get CPL directly
 * when checking if loaded vCPU is in kernel mode": whether a guest's sample is of its
 * kernel is told by where the vCPU was when it was last preempted. The address is right.
 */
#include <stdio.h>
#include <string.h>

#include "source/kvm/kvm.h"

bool cpl_kernel_faulty(const struct machine *machine)
{
	unsigned major = 0, minor = 0;

	if (strcmp(machine->arch, "x86_64") ||
	    sscanf(machine->release, "%u.%u", &major, &minor) != 2)
		return false;
	return (major == 5 && minor >= 17) || (major == 6 && minor < 7);
}
