/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <xen/acpi.h>
#include <xen/cpu.h>
#include <xen/device_tree.h>
#include <xen/init.h>
#include <xen/irq.h>
#include <xen/lib.h>
#include <xen/notifier.h>
#include <xen/param.h>

#include <asm/processor.h>
#include <asm/smp.h>
#include <asm/sysregs.h>

#include "core/pmu/armv8_regs.h"
#include "glue.h"

struct vpmu_options __read_mostly vpmu_options = {
	.dom0 = true,
	.kick = -1,
	.config = { .host_counters = -1 },
};
bool __read_mostly vpmu_on;
const char *__read_mostly vpmu_why = "vpmu= is not given at boot";
struct vpmu vpmu_machine;
DEFINE_PER_CPU(struct vpmu_pcpu, vpmu_pcpu);
unsigned int __read_mostly vpmu_ppi;

/* One word of vpmu=, from @s to @end. 0, or -EINVAL for a word that means nothing. */
static int __init parse_word(const char *s, const char *end)
{
	struct vpmu_options *o = &vpmu_options;
	int flag = parse_bool(s, end);
	const char *stop = NULL;
	unsigned long n;

	if (flag >= 0) {
		o->on = flag;
		return 0;
	}
	if (s == end) /* vpmu alone */
		;
	else if (!cmdline_strcmp(s, "trap"))
		o->config.direct = false;
	else if (!cmdline_strcmp(s, "direct"))
		o->config.direct = true;
	else if ((flag = parse_boolean("self", s, end)) >= 0)
		o->self = flag;
	else if ((flag = parse_boolean("kick", s, end)) >= 0)
		o->kick = flag;
	else if ((flag = parse_boolean("dom0", s, end)) >= 0)
		o->dom0 = flag;
	else if (!strncmp(s, "host=", 5)) {
		n = simple_strtoul(s + 5, &stop, 10);
		if (stop == s + 5 || stop != end || n > VPMU_COUNTERS)
			return -EINVAL;
		o->config.host_counters = n;
	} else
		return -EINVAL;
	o->on = true;
	return 0;
}

/* The last word that was refused: there is no console yet when they are parsed. */
static char __initdata refused[32];

static int __init parse_vpmu(const char *s)
{
	const char *end;
	int rc = 0;

	do {
		end = strchr(s, ',') ?: strchr(s, '\0');
		if (parse_word(s, end)) {
			strlcpy(refused, s, min_t(size_t, sizeof(refused), end - s + 1));
			rc = -EINVAL;
		}
		s = end + 1;
	} while (*end);
	return rc;
}
custom_param("vpmu", parse_vpmu);

/*
 * The node of the CPUs' PMU: every core has a name of its own for it. Other things are
 * named …-pmu too, but interrupt by SPIs.
 */
static struct dt_device_node *__init find_node(void)
{
	struct dt_device_node *node;
	const char *name;
	int irq;

	dt_for_each_device_node(dt_host, node)
	{
		if (dt_property_read_string(node, "compatible", &name) ||
		    !(strstr(name, "-pmu")) || !dt_number_of_irq(node))
			continue;
		irq = platform_get_irq(node, 0);
		if (irq >= 16 && irq < 32) {
			vpmu_ppi = irq;
			return node;
		}
	}
	return NULL;
}

/*
 * On the pCPU itself, its interrupts off. One whose PMU has less than the first one's
 * is not used, as Xen does with others that differ.
 */
static void pcpu_up(void)
{
	const char *why = "";
	int rc = vpmu_pcpu_up(&this_cpu(vpmu_pcpu), &vpmu_machine, smp_processor_id(),
			      &vpmu_hw, &why);

	if (!rc)
		rc = vpmu_irq_request();
	if (rc) {
		printk(XENLOG_ERR "CPU%u: its PMU is not usable (%s, error %d)\n",
		       smp_processor_id(), why, rc);
		stop_cpu();
	}
	vpmu_turns_init();
}

static int pcpu_callback(struct notifier_block *nfb, unsigned long action, void *hcpu)
{
	switch (action) {
	case CPU_STARTING: pcpu_up(); break;
	case CPU_DYING:
		vpmu_turns_kill();
		vpmu_irq_release();
		vpmu_pcpu_down(&this_cpu(vpmu_pcpu));
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block pcpu_nfb = {
	.notifier_call = pcpu_callback,
};

/*
 * A domain that reaches the registers itself may ask to count EL2. Only since PMUv3p5
 * does MDCR_EL2 forbid that for its cycle counter too (HCCD; DDI 0487, D17.3.17).
 */
static void __init choose_access(struct vpmu *m)
{
	if (!m->config.direct || m->caps.version >= ARMV8_PMUVER_V3P5)
		return;
	printk(XENLOG_WARNING
	       "vpmu: direct: this PMU would let domains count Xen; it takes a PMUv3p5\n");
	m->config.direct = false;
}

/* xen/arch/arm/traps.c; called by assembler only */
void leave_hypervisor_to_guest(void);

static const char *__init claim(void)
{
	struct vpmu_config *config = &vpmu_options.config;
	struct dt_device_node *node;
	const char *why = "the PMU is not usable";
	unsigned long flags;

	if (!acpi_disabled)
		return "the PMU's interrupt is known by the device tree only";
	node = find_node();
	if (!node)
		return "no PMU with a per-CPU interrupt is in the device tree";
	config->kick = vpmu_options.kick < 0 ? MIDR_IMPLEMENTOR(READ_SYSREG(MIDR_EL1)) == 0
					     : vpmu_options.kick;
	config->hyp_exit = (unsigned long)leave_hypervisor_to_guest;
	config->always_switch = IS_ENABLED(CONFIG_VPMU_ALWAYS_SWITCH);
	if (vpmu_init(&vpmu_machine, &vpmu_armv8, &vpmu_upcalls, config, &vpmu_hw, &why))
		return why;
	choose_access(&vpmu_machine);
	dt_device_set_used_by(node, DOMID_XEN);
	local_irq_save(flags);
	pcpu_up();
	local_irq_restore(flags);
	register_cpu_notifier(&pcpu_nfb);
	return NULL;
}

/* On the boot CPU, before there are others, and domains. */
static int __init vpmu_start(void)
{
	if (refused[0])
		printk(XENLOG_WARNING
		       "vpmu: \"%s\" means nothing here; expected a boolean, trap, direct, "
		       "host=<number>, self, kick, no-kick or dom0=<boolean>\n",
		       refused);
	if (!vpmu_options.on)
		return 0;
	vpmu_why = claim();
	vpmu_on = !vpmu_why;
	if (!vpmu_on) {
		printk(XENLOG_WARNING "vpmu: off: %s\n", vpmu_why);
		return 0;
	}
	vpmu_why = "";
	printk("vpmu: %s by %s access; %u counters for domains, cycles among them; %u for "
	       "the host%s%s\n",
	       vpmu_armv8.name, vpmu_machine.config.direct ? "direct" : "trapped",
	       hweight64(vpmu_machine.caps.guest), hweight64(vpmu_machine.caps.host),
	       vpmu_machine.caps.kick ? ", in pairs to sample" : "",
	       vpmu_options.self ? "; domains may count themselves" : "");
	return 0;
}
presmp_initcall(vpmu_start);

bool vpmu_hook_available(bool stock)
{
	return stock && (vpmu_on || !vpmu_options.on);
}
