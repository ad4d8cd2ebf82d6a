/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What translated code calls; target/i386/helper.h includes it, more than once. */
#ifndef CONFIG_USER_ONLY
DEF_HELPER_1(pmu_check, void, env)
DEF_HELPER_1(pmu_request, void, env)
DEF_HELPER_1(pmu_rdpmc, void, env)
DEF_HELPER_FLAGS_3(memory_access, TCG_CALL_NO_RWG, void, env, tl, i32)
DEF_HELPER_1(memory_check, void, env)
#endif
