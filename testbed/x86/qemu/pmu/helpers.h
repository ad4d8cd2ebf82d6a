/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What translated code calls; target/i386/helper.h includes it, more than once. */
#ifndef CONFIG_USER_ONLY
DEF_HELPER_1(pmu_check, void, env)
DEF_HELPER_1(pmu_request, void, env)
DEF_HELPER_1(pmu_rdpmc, void, env)
#endif
