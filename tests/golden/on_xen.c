/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmmprof on a fake Xen, which the variable VMMPROF_FAKE_XEN describes: this file's
 * list of sources stands in for src/source/registry.c.
 */
#include <stdlib.h>
#include <string.h>

#include "fake_xen.h"
#include "source/kvm/kvm.h"
#include "source/xen/xen.h"

static bool is_word(const char *word)
{
	const char *words = getenv("VMMPROF_FAKE_XEN");

	return words && strstr(words, word);
}

static void make_domains(void)
{
	struct fake_domain *dom0 = &fake_xen.domain[0];
	struct fake_domain *dom1 = fake_domain_add(1, 1), *dom2 = fake_domain_add(2, 2);

	dom0->vcpu[0].running = 1;
	dom0->vcpu[1].blocked = 1;
	dom0->pmu = XENPMU_DOMAIN_PMU;
	dom1->vcpu[0].cpu = 2;
	dom1->affinity[0] = 0xc;
	dom1->pmu = XENPMU_DOMAIN_PMU | XENPMU_DOMAIN_USED;
	dom2->flags = XEN_DOMINF_PAUSED;
	dom2->pages = 131072;
	dom2->vcpu[1].online = 0;
}

static int open_on_fake(const struct source_config *config, struct source **out,
			struct err *err)
{
	fake_xen_reset();
	make_domains();
	if (is_word("plain"))
		fake_xen.graft = false;
	if (is_word("unknown"))
		fake_xen.domctl = 0x99;
	if (is_word("off")) {
		fake_xen.info.flags = XENPMU_INFO_PRIVILEGED;
		strcpy(fake_xen.info.why, "vpmu= is not given at boot");
	}
	return xen_source_open(&fake_xen_ops, config, out, err);
}

static struct source_ops fake_source;
const struct source_ops *const sources[] = { &fake_source, &kvm_source, NULL };

__attribute__((constructor)) static void make_source(void)
{
	fake_source = xen_source;
	fake_source.open = open_on_fake;
}
