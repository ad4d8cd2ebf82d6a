/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Included by target/i386/tcg/translate.c: the code that counts. */

static void gen_update_cc_op(DisasContext *s);
static void gen_update_eip_cur(DisasContext *s);

#define PMU_OFFSET(field) offsetof(CPUX86State, pmu.field)

/* Takes @count off what is left; returns the operation, for who learns the count later. */
static TCGOp *pmu_take(DisasContext *s, X86PMUChannel channel, int count,
		       void (*gen_none_left)(TCGv_ptr))
{
	intptr_t offset = PMU_OFFSET(left[channel][x86_pmu_mode(s->flags)]);
	TCGv_i64 left = tcg_temp_new_i64();
	TCGLabel *some = gen_new_label();
	TCGOp *op;

	tcg_gen_ld_i64(left, cpu_env, offset);
	tcg_gen_sub_i64(left, left, tcg_constant_i64(count));
	op = tcg_last_op();
	tcg_gen_st_i64(left, cpu_env, offset);
	tcg_gen_brcondi_i64(TCG_COND_GT, left, 0, some);
	gen_none_left(cpu_env);
	gen_set_label(some);
	tcg_temp_free_i64(left);
	return op;
}

static void pmu_give_back(DisasContext *s, X86PMUChannel channel)
{
	intptr_t offset = PMU_OFFSET(left[channel][x86_pmu_mode(s->flags)]);
	TCGv_i64 left = tcg_temp_new_i64();

	tcg_gen_ld_i64(left, cpu_env, offset);
	tcg_gen_addi_i64(left, left, 1);
	tcg_gen_st_i64(left, cpu_env, offset);
	tcg_temp_free_i64(left);
}

/*
 * Where accesses are counted, a block goes on by single instructions if it might have more
 * of them than are left until a counter overflows. Two an instruction: few have more, and
 * then the interrupt may come so late.
 */
static void pmu_check_memory(DisasContext *s)
{
	TCGv_i64 left;
	TCGLabel *some;

	s->pmu_accesses = NULL;
	if (!(s->flags & HF_PMU_MEMORY_MASK) || s->base.max_insns == 1) {
		return;
	}
	left = tcg_temp_new_i64();
	some = gen_new_label();
	tcg_gen_ld_i64(left, cpu_env, PMU_OFFSET(memory_left));
	tcg_gen_sub_i64(left, left, tcg_constant_i64(0));
	s->pmu_accesses = tcg_last_op();
	tcg_gen_brcondi_i64(TCG_COND_GE, left, 0, some);
	gen_helper_memory_check(cpu_env);
	gen_set_label(some);
	tcg_temp_free_i64(left);
}

/* A block counts all its instructions at once; how many, pmu_end_block() fills in. */
static void pmu_begin_block(DisasContext *s)
{
	pmu_check_memory(s);
	s->pmu_count = NULL;
	if (s->flags & HF_PMU_BRANCHES_MASK) {
		tcg_gen_st_i32(tcg_constant_i32(-1), cpu_env, PMU_OFFSET(branch_at));
	}
	if (s->flags & HF_PMU_INSNS_MASK) {
		s->pmu_count = pmu_take(s, X86_PMU_INSNS, 0, gen_helper_pmu_check);
	}
}

static void pmu_end_block(DisasContext *s)
{
	if (s->pmu_count) {
		TCGv_i64 count = tcg_constant_i64(s->base.num_insns);

		tcg_set_insn_param(s->pmu_count, 2, tcgv_i64_arg(count));
	}
	if (s->pmu_accesses) {
		TCGv_i64 most = tcg_constant_i64(2 * s->base.num_insns);

		tcg_set_insn_param(s->pmu_accesses, 2, tcgv_i64_arg(most));
	}
}

/*
 * The byte at *@pc, which is moved on; or -1 where the instruction goes on in another
 * page and will be translated again, as the first of a block.
 */
static int pmu_peek(DisasContext *s, CPUX86State *env, target_ulong *pc)
{
	if (s->base.num_insns > 1 && !is_same_page(&s->base, *pc)) {
		return -1;
	}
	return translator_ldub(env, &s->base, (*pc)++);
}

static bool pmu_is_prefix(DisasContext *s, int byte)
{
	static const uint8_t prefixes[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3,
	};

	return (byte >= 0 && memchr(prefixes, byte, sizeof(prefixes))) ||
	       (CODE64(s) && byte >= 0x40 && byte <= 0x4f);
}

/*
 * [SDM2] appendix A: jumps, calls and returns near and far, loops, software interrupts,
 * IRET, SYSCALL, SYSENTER and their returns.
 */
static bool pmu_is_branch(DisasContext *s, CPUX86State *env)
{
	target_ulong pc = s->base.pc_next, start = pc;
	int byte, reg;

	do {
		byte = pmu_peek(s, env, &pc);
	} while (pmu_is_prefix(s, byte) && pc - start < 14);

	switch (byte) {
	case 0x70 ... 0x7f: /* Jcc */
	case 0xc2:	    /* RET, near and far */
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcc: /* INT3, INT n */
	case 0xcd:
	case 0xcf:	    /* IRET */
	case 0xe0 ... 0xe3: /* LOOPcc, JCXZ */
	case 0xe8:	    /* CALL */
	case 0xe9 ... 0xeb: /* JMP, near and far */ return byte != 0xea || !CODE64(s);
	case 0x9a: /* CALL far */ return !CODE64(s);
	case 0xff: /* CALL and JMP, indirect */
		byte = pmu_peek(s, env, &pc);
		reg = byte >> 3 & 7;
		return byte >= 0 && reg >= 2 && reg <= 5;
	case 0x0f:
		byte = pmu_peek(s, env, &pc);
		return byte == 0x05 || byte == 0x07 || /* SYSCALL, SYSRET */
		       byte == 0x34 || byte == 0x35 || /* SYSENTER, SYSEXIT */
		       (byte >= 0x80 && byte <= 0x8f);
	default: return false;
	}
}

/* 16 and 32 bytes are moved in pieces of eight, which are not counted, but the whole is. */
static void pmu_begin_pieces(void)
{
	tcg_ctx->count_accesses = false;
}

static void pmu_end_pieces(DisasContext *s, MemOp size, bool store)
{
	uint32_t what = make_memop_idx(size, s->mem_index) | (store ? X86_MEMORY_STORE : 0);

	if (s->flags & HF_PMU_MEMORY_MASK) {
		gen_helper_memory_access(cpu_env, s->A0, tcg_constant_i32(what));
	}
}

static void pmu_begin_insn(DisasContext *s, CPUState *cs)
{
	tcg_ctx->count_accesses = s->flags & HF_PMU_MEMORY_MASK;
	s->pmu_branch = (s->flags & HF_PMU_BRANCHES_MASK) && pmu_is_branch(s, cs->env_ptr);
	if (s->pmu_branch) {
		int offset = s->base.pc_next & ~TARGET_PAGE_MASK;

		tcg_gen_st_i32(tcg_constant_i32(offset), cpu_env, PMU_OFFSET(branch_at));
		pmu_take(s, X86_PMU_BRANCHES, 1, gen_helper_pmu_request);
	}
}

/* The instruction, the block's last, does not retire, or not now. */
static void pmu_uncount_insn(DisasContext *s)
{
	if (s->flags & HF_PMU_INSNS_MASK) {
		pmu_give_back(s, X86_PMU_INSNS);
	}
	if (s->pmu_branch) {
		pmu_give_back(s, X86_PMU_BRANCHES);
	}
}

static void pmu_begin_msr(DisasContext *s)
{
	if (tb_cflags(s->base.tb) & CF_USE_ICOUNT) {
		gen_io_start();
	}
}

static void pmu_end_after_read(DisasContext *s)
{
	if (s->flags & HF_PMU_INSNS_MASK || tb_cflags(s->base.tb) & CF_USE_ICOUNT) {
		s->base.is_jmp = DISAS_EOB_NEXT;
	}
}

/* RDPMC, where the CPU has counters */
static bool pmu_rdpmc(DisasContext *s, CPUState *cs)
{
	CPUX86State *env = cs->env_ptr;

	if (!env->pmu.kind) {
		return false;
	}
	gen_update_cc_op(s);
	gen_update_eip_cur(s);
	gen_helper_pmu_rdpmc(cpu_env);
	s->base.is_jmp = DISAS_EOB_NEXT;
	return true;
}
