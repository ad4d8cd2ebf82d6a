/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs from one instruction set to another: one file each implements this. */
#ifndef MINIVM_ARCH_H
#define MINIVM_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "program.h"

/* Where a guest's stores exit to the VMM: no memory slot is there. */
#define EXIT_LAP 0x10000000ull	      /* the lap is over */
#define EXIT_UNEXPECTED 0x10000008ull /* the guest took an exception that none should */

/* What the VM needs besides memory, before it has vCPUs; vpmu: they may have one. */
int arch_vm_init(int vm_fd, bool vpmu);

/* Makes a fresh vCPU runnable; vpmu: give it a virtual PMU. 0 or -errno. */
int arch_vcpu_init(int vm_fd, int vcpu_fd, bool vpmu);

/* Sets the registers for a lap. The first lap also sets where to start. */
int arch_vcpu_lap(int vcpu_fd, const struct lap *lap, bool first_lap);

#endif
