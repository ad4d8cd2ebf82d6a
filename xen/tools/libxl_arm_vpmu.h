/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of libxl_arm.c, whose functions it uses: the PMU's node in the device tree of a
 * domain with vpmu=1, as Xen makes it for domains that it starts itself. Only where the
 * running Xen virtualizes the PMU: elsewhere vpmu=1 means raw registers that nobody
 * should be led to.
 */

#define GUEST_VPMU_PPI 23 /* xen/arch/arm/vpmu/glue.h */

/* Is the last vpmu= of Xen's command line one that turns it on? */
static bool vpmu_is_on(libxl__gc *gc, const libxl_version_info *vers)
{
	static const char *const offs[] = { "0", "no", "off", "false", "disable" };
	char *line = libxl__strdup(gc, vers->commandline), *word, *save, *save2;
	bool on = false;

	for (word = strtok_r(line, " \t", &save); word;
	     word = strtok_r(NULL, " \t", &save)) {
		if (!strcmp(word, "no-vpmu") || !strcmp(word, "vpmu"))
			on = *word == 'v';
		if (strncmp(word, "vpmu=", 5))
			continue;
		for (word = strtok_r(word + 5, ",", &save2); word;
		     word = strtok_r(NULL, ",", &save2)) {
			unsigned int i;

			on = true;
			for (i = 0; i < ARRAY_SIZE(offs); i++)
				on = on && strcmp(word, offs[i]);
		}
	}
	return on;
}

static int make_vpmu_node(libxl__gc *gc, void *fdt, const libxl_domain_build_info *info,
			  const libxl_version_info *vers)
{
	gic_interrupt interrupt;
	int res;

	if (!libxl_defbool_val(info->vpmu) || !vpmu_is_on(gc, vers))
		return 0;
	set_interrupt(interrupt, GUEST_VPMU_PPI, 0xf, DT_IRQ_TYPE_LEVEL_HIGH);
	res = fdt_begin_node(fdt, "pmu");
	if (!res)
		res = fdt_property_compat(gc, fdt, 2, "arm,armv8-pmuv3",
					  "arm,cortex-a15-pmu");
	if (!res)
		res = fdt_property_interrupts(gc, fdt, &interrupt, 1);
	if (!res)
		res = fdt_end_node(fdt);
	return res;
}
