/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_X86_MACHINE_H
#define TESTS_CORE_X86_MACHINE_H

/* One pCPU, two VMs of one vCPU each, the first of which runs; for the x86 families. */

#include "core/vpmu.h"
#include "tests/core/hw_x86.h"

struct x86_machine {
	struct vpmu m;
	uint64_t clock;
	struct hw *hw;
	struct vpmu_pcpu p;
	struct vpmu_vm vm[2];
	struct vpmu_vcpu v[2];
	unsigned raised[2]; /* interrupts */
};

/* Takes @hw. @host: how many counters to keep for the hypervisor. */
struct x86_machine *x86_machine_new(struct hw *hw, const struct vpmu_family *family,
				    int host);
void x86_machine_free(struct x86_machine *m);
/* VM @i runs from here on. */
void x86_switch(struct x86_machine *m, unsigned i);
/* @n of @event, each overflow with its interrupt. */
void x86_run(struct x86_machine *m, enum vpmu_mode mode, uint64_t event, uint64_t n);

/* Accesses of the kernel that runs; rdmsr() and rdpmc() end the test where refused. */
enum vpmu_access x86_wrmsr(struct x86_machine *m, uint32_t reg, uint64_t value);
uint64_t x86_rdmsr(struct x86_machine *m, uint32_t reg);
enum vpmu_access x86_access(struct x86_machine *m, uint32_t reg, bool write, bool user);

#endif
