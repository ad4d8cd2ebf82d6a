/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Included by tcg/tcg-op.c: what it does at each load and store, where accesses count. */
#include "exec/helper-proto.h"
#include "exec/helper-gen.h"

/* The address, for after the access: a load may overwrite it. */
static TCGv pmu_keep_address(TCGv address)
{
	TCGv copy = tcg_temp_new();

	tcg_gen_mov_tl(copy, address);
	return copy;
}

/* After the access, so that the TLB has its translation, and that it did not fault. */
static void pmu_count_access(TCGv address, MemOpIdx oi, bool store)
{
	uint32_t what = oi | (store ? X86_MEMORY_STORE : 0);

	gen_helper_memory_access(cpu_env, address, tcg_constant_i32(what));
	tcg_temp_free(address);
}
