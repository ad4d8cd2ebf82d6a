/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_CAMPAIGN_MUTANTS_H
#define TESTS_CORE_CAMPAIGN_MUTANTS_H

/* Bugs to plant in the core, so that a campaign can show that it would find them. */

#include "tests/core/campaign.h"

struct campaign_mutant {
	const char *name;
	const struct campaign_variant *const *variants; /* that it is to be found in */
	/* In a family's descriptor … */
	void (*plant)(struct vpmu_family *family);
	/* … or between vpmu.c and the rest: by the linker (--wrap), where this is set. */
	bool *flag;
};

extern const struct campaign_mutant campaign_mutants[]; /* .name NULL ends it */

/* @base with @m in it, until the next call. NULL: without any again. */
const struct campaign_variant *campaign_plant(const struct campaign_mutant *m,
					      const struct campaign_variant *base);

#endif
