/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access patterns. Each is a function whose first argument is the MSR of a counter, and
 * that returns by how much it rose meanwhile; all else that is touched is registers.
 */
	.macro begin name
	.text
	.globl \name
\name:
	mov %rdx, %r9
	mov %rcx, %r10
	mov %edi, %ecx
	rdmsr
	mov %eax, %r8d
	shl $32, %rdx
	or %rdx, %r8
	mov %ecx, %r11d
	.endm

	.macro end
	mov %r11d, %ecx
	rdmsr
	shl $32, %rdx
	or %rdx, %rax
	sub %r8, %rax
	ret
	.endm

	/* a lap's instructions; %rsi is the second argument, %r9 the laps */
	.macro laps name, words
	begin \name
1:	\words
	dec %r9
	jnz 1b
	end
	.endm

	laps walk_loads, "mov (%rsi), %rax; add $64, %rsi"
	laps walk_stores, "mov %rax, (%rsi); add $64, %rsi"
	laps chase, "mov (%rsi), %rsi"

/* As walk_loads, but it is known where the load's interrupt is to come from. */
	begin sampled_loads
1:	mov (%rsi), %rax
	.globl after_load
after_load:
	add $64, %rsi
	nop
	dec %r9
	jnz 1b
	end

/* (msr, line, laps, stride): other lines, one after the other, and each time the one again */
	begin hot_line
	mov %rsi, %rdi
1:	add %r10, %rdi
	mov (%rdi), %rax
	mov (%rsi), %rax
	dec %r9
	jnz 1b
	end

/* (msr, base, laps, lines - 1): lines of a power of two, at random; Knuth's MMIX generator */
	begin random_loads
	movabs $6364136223846793005, %rdi
	movabs $1442695040888963407, %rcx
	mov $1, %eax
1:	imul %rdi, %rax
	add %rcx, %rax
	mov %rax, %rdx
	shr $33, %rdx
	and %r10, %rdx
	shl $6, %rdx
	mov (%rsi, %rdx), %rdx
	dec %r9
	jnz 1b
	end

/* (msr, line, laps, me): waits for its turn, and makes it the other's */
	begin ping_pong
	mov %r10d, %edx
	xor $1, %edx
1:	cmp %r10d, (%rsi)
	je 2f
	pause
	jmp 1b
2:	mov %edx, (%rsi)
	dec %r9
	jnz 1b
	end

/* One instruction each, at the address. */
	laps load_8, "movb (%rsi), %al"
	laps load_64, "mov (%rsi), %rax"
	laps store_64, "mov %rax, (%rsi)"
	laps modify, "addl $1, (%rsi)"
	laps locked, "lock addl $1, (%rsi)"
	laps exchange, "xchg %eax, (%rsi)"
	laps load_sse, "movups (%rsi), %xmm0"
	laps store_sse, "movups %xmm0, (%rsi)"
	laps add_sse, "addps (%rsi), %xmm0"
	laps load_sse_64, "movsd (%rsi), %xmm0"
	laps load_x87, "fldl (%rsi); fstp %st(0)"
	laps load_x87_80, "fldt (%rsi); fstp %st(0)"
	laps call_return, "call just_return"
	laps push_pop, "push %rax; pop %rax"
	laps exchange_16, "cmpxchg16b (%rsi)"
	laps move_bytes, "mov %rsi, %rdi; mov $10, %ecx; rep movsb; sub $10, %rsi"
	laps fill_words, "mov %rsi, %rdi; mov $10, %ecx; rep stosq"
	laps load_avx, "vmovups (%rsi), %ymm0"
	laps store_avx, "vmovups %ymm0, (%rsi)"

just_return:
	ret

	.section .note.GNU-stack, "", @progbits
