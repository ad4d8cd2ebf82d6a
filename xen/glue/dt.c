/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <xen/device_tree.h>
#include <xen/init.h>
#include <xen/libfdt/libfdt.h>
#include <xen/sched.h>

#include "glue.h"

unsigned int __init vpmu_hook_dom0_flags(void)
{
	return vpmu_on && vpmu_options.dom0 ? XEN_DOMCTL_CDF_vpmu : 0;
}

unsigned int __init vpmu_hook_domU_flags(const struct dt_device_node *node)
{
	return vpmu_on && dt_property_read_bool(node, "vpmu") ? XEN_DOMCTL_CDF_vpmu : 0;
}

/*
 * The PMU's node, at the end of the root's: Linux, Documentation/devicetree/bindings/
 * arm/pmu.yaml and interrupt-controller/arm,gic.yaml. A 32-bit Linux before 6.4 knows
 * Armv8's PMU by the name of an older one only, which it is compatible with. 0 or libfdt's
 * error.
 */
int __init vpmu_hook_fdt(struct domain *d, void *fdt, uint32_t gic_phandle)
{
	static const char names[] __initconst = "arm,armv8-pmuv3\0arm,cortex-a15-pmu";
	uint32_t interrupt[3] = {
		cpu_to_be32(1), /* a PPI */
		cpu_to_be32(vpmu_virq(d) - 16),
		cpu_to_be32(0xf00 | DT_IRQ_TYPE_LEVEL_HIGH),
	};
	int rc;

	if (!d->arch.vpmu || !d->arch.vpmu->guest_pmu)
		return 0;
	rc = fdt_begin_node(fdt, "pmu");
	if (!rc)
		rc = fdt_property(fdt, "compatible", names, sizeof(names));
	if (!rc)
		rc = fdt_property(fdt, "interrupts", interrupt, sizeof(interrupt));
	if (!rc)
		rc = fdt_property_u32(fdt, "interrupt-parent", gic_phandle);
	return rc ?: fdt_end_node(fdt);
}
