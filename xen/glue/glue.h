/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VPMU_GLUE_H
#define VPMU_GLUE_H

/* What the files of the glue know of each other. What Xen knows is asm/vpmu.h. */

#include <xen/percpu.h>
#include <xen/sched.h>

#include "core/vpmu.h"

/* The boot option vpmu=, docs/xen.md. */
struct vpmu_options {
	bool on, dom0, self;
	int8_t kick; /* -1: on a software model only */
	struct vpmu_config config;
};

extern struct vpmu_options vpmu_options;
/* The PMU is usable and vpmu= asks for it; does not change once domains exist. */
extern bool vpmu_on;
/* Why it is not, in words; "" when it is. */
extern const char *vpmu_why;
extern struct vpmu vpmu_machine;
extern const struct vpmu_hw vpmu_hw;
extern const struct vpmu_upcalls vpmu_upcalls;
DECLARE_PER_CPU(struct vpmu_pcpu, vpmu_pcpu);

/* The PMU's interrupt in domains that see a machine of Xen's making: free in it, and what
 * KVM's have. tools/libs/light/libxl_arm_vpmu.h agrees. */
#define GUEST_VPMU_PPI 23
/* The same on the host, a PPI, and in @d. */
extern unsigned int vpmu_ppi;
unsigned int vpmu_virq(const struct domain *d);

/* On each pCPU, its interrupts off: takes the PMU's interrupt and gives it back. */
int vpmu_irq_request(void);
void vpmu_irq_release(void);

/* Runs vpmu_host_refresh() on every pCPU and waits. Interrupts on. */
void vpmu_refresh_everywhere(void);
/* On each pCPU: the timer of vpmu_host_turn(), armed while it is needed. */
void vpmu_turns_init(void);
void vpmu_turns_arm(struct vpmu_pcpu *p);
void vpmu_turns_kill(void);

/* Bits of MDCR_EL2 that every vCPU has, from how the counters are split. */
register_t vpmu_mdcr(void);

/*
 * Has the pCPU that holds @g's counters, if one does, give them back to memory. Its vCPU
 * does not run; interrupts on.
 */
void vpmu_take_back(struct vpmu_vcpu *g);

#endif
