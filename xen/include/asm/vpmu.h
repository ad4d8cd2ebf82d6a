/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ASM_ARM_VPMU_H
#define ASM_ARM_VPMU_H

/*
 * What Xen calls: one function per hook of the graft. Without CONFIG_VPMU they are
 * nothing; with it, and vpmu= not given at boot, they find no PMU and do nothing.
 */

#include <xen/types.h>

struct cpu_user_regs;
struct domain;
struct dt_device_node;
struct vcpu;
struct vpmu_vcpu;
struct vpmu_vm;

#ifdef CONFIG_VPMU

#include "core/vpmu.h"

/* Life. create returns 0 or -errno and leaves nothing behind when it fails. */
bool vpmu_hook_available(bool stock);
int vpmu_hook_domain_create(struct domain *d);
/* Its destruction begins, its vCPUs stopped for good. -ERESTART: to be called again. */
int vpmu_hook_relinquish(struct domain *d);
void vpmu_hook_domain_destroy(struct domain *d);
int vpmu_hook_vcpu_create(struct vcpu *v);
void vpmu_hook_vcpu_destroy(struct vcpu *v);
void vpmu_hook_vcpu_reset(struct vcpu *v);

/* Configuration: XEN_DOMCTL_CDF_… flags to add, and the node in a guest's device tree. */
unsigned int vpmu_hook_dom0_flags(void);
unsigned int vpmu_hook_domU_flags(const struct dt_device_node *node);
int vpmu_hook_fdt(struct domain *d, void *fdt, uint32_t gic_phandle);

/*
 * Running. The inline parts are all that a vCPU costs which neither has used a PMU nor
 * is counted by the host.
 */
void vpmu_fetch_from_afar(struct vpmu_vcpu *g);
void vpmu_switch_from(struct vpmu_vcpu *g);
void vpmu_switch_to(struct vpmu_vcpu *g);
void vpmu_line_again(struct vcpu *v);

static inline void vpmu_hook_fetch(struct vpmu_vcpu *g)
{
	/* held at all only if in use, which changes nowhere but where it runs */
	if (g && g->in_use && vpmu_holder(g))
		vpmu_fetch_from_afar(g);
}

static inline void vpmu_hook_switch_from(struct vpmu_vcpu *g)
{
	if (g && !vpmu_idle_out(g))
		vpmu_switch_from(g);
}

static inline void vpmu_hook_switch_to(struct vpmu_vcpu *g)
{
	if (g && !vpmu_idle_in(g))
		vpmu_switch_to(g);
}

/* True: the list registers have been read. */
static inline bool vpmu_hook_line(bool raised, struct vcpu *v)
{
	if (raised)
		vpmu_line_again(v);
	return raised;
}

/* Trapped accesses, @hsr the syndrome: true when handled, false when none of ours. */
bool vpmu_sysreg(struct vpmu_vcpu *g, struct cpu_user_regs *regs, register_t hsr);
bool vpmu_cp15_32(struct vpmu_vcpu *g, struct cpu_user_regs *regs, register_t hsr);
bool vpmu_cp15_64(struct vpmu_vcpu *g, struct cpu_user_regs *regs, register_t hsr);

static inline bool vpmu_hook_sysreg(struct vpmu_vcpu *g, struct cpu_user_regs *regs,
				    register_t hsr)
{
	return g && vpmu_sysreg(g, regs, hsr);
}

static inline bool vpmu_hook_cp15_32(struct vpmu_vcpu *g, struct cpu_user_regs *regs,
				     register_t hsr)
{
	return g && vpmu_cp15_32(g, regs, hsr);
}

static inline bool vpmu_hook_cp15_64(struct vpmu_vcpu *g, struct cpu_user_regs *regs,
				     register_t hsr)
{
	return g && vpmu_cp15_64(g, regs, hsr);
}

#else /* !CONFIG_VPMU */

static inline bool vpmu_hook_available(bool stock)
{
	return stock;
}

static inline bool vpmu_hook_sysreg(struct vpmu_vcpu *g, struct cpu_user_regs *regs,
				    register_t hsr)
{
	return false;
}

#define vpmu_hook_cp15_32 vpmu_hook_sysreg
#define vpmu_hook_cp15_64 vpmu_hook_sysreg

#define vpmu_hook_domain_create(d) ((void)(d), 0)
#define vpmu_hook_relinquish(d) ((void)(d), 0)
#define vpmu_hook_domain_destroy(d) ((void)(d))
#define vpmu_hook_vcpu_create(v) ((void)(v), 0)
#define vpmu_hook_vcpu_destroy(v) ((void)(v))
#define vpmu_hook_vcpu_reset(v) ((void)(v))
#define vpmu_hook_dom0_flags() 0U
#define vpmu_hook_domU_flags(node) ((void)(node), 0U)
#define vpmu_hook_fdt(d, fdt, gic_phandle) ((void)(fdt), 0)
#define vpmu_hook_fetch(g) ((void)(g))
#define vpmu_hook_switch_from(g) ((void)(g))
#define vpmu_hook_switch_to(g) ((void)(g))
#define vpmu_hook_line(raised, v) ((void)(raised), (void)(v), false)

#endif /* CONFIG_VPMU */

#endif
