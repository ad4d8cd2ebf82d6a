/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_CAMPAIGN_FAMILIES_H
#define TESTS_CORE_CAMPAIGN_FAMILIES_H

#include "tests/core/campaign.h"

extern const struct campaign_variant *const campaign_armv8[];
extern const struct campaign_variant *const campaign_intel[];
extern const struct campaign_variant *const campaign_amd[];

#endif
