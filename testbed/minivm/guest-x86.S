/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest programs of minivm, in long mode at CPL 0 (and, where said, CPL 3), no
 * interrupts and no stack, so that nothing but the instructions below ever retires. program.c knows
 * how many they are: change one, change the other.
 *
 * Set by the VMM before each lap:
 *   rax rounds             rbx, rdx  iterations of the first and second function
 *   r8 the exit register (MMIO); r9 where the next lap begins; r10 user_phase
 */

	.macro FINISH own=$0		/* own: what the guest has counted itself */
	movq	\own, (%r8)		/* ends the lap: traps, so it never retires */
	jmp	*%r9			/* first instruction of the next lap */
	.endm

	.macro FUNCTION name
	.globl	\name
	.type	\name, %function
\name:
	.endm

	.macro END name
	.size	\name, . - \name
	.endm

	/* lap = 2 * rax; one more when entered by its nop */
	.section .text.loop, "ax"
	FUNCTION count_down_odd
	nop
	END	count_down_odd
	FUNCTION count_down
1:	dec	%rax
	jnz	1b
	FINISH
	END	count_down

	/* lap = rax * (6 + hot_path + cold_path), each path = 2 * iterations + 1 */
	.section .text.two, "ax"
	FUNCTION run_two
1:	mov	%rbx, %rsi
	jmp	hot_path
after_hot:
	mov	%rdx, %rsi
	jmp	cold_path
after_cold:
	dec	%rax
	jnz	1b
	FINISH
	END	run_two

	.section .text.hot, "ax"
	FUNCTION hot_path
1:	dec	%rsi
	jnz	1b
	jmp	after_hot		/* a call would need a stack for each vCPU */
	END	hot_path

	.section .text.cold, "ax"
	FUNCTION cold_path
1:	dec	%rsi
	jnz	1b
	jmp	after_cold
	END	cold_path

	/* lap = rax * ((2 * rbx + 7) at CPL 0 + (2 * rdx + 2) at CPL 3) */
	.section .text.phases, "ax"
	FUNCTION kernel_phase
1:	mov	%rbx, %rsi
2:	dec	%rsi
	jnz	2b
	mov	%r10, %rcx
	mov	$2, %r11d		/* RFLAGS of user mode */
	sysretq
	END	kernel_phase
	FUNCTION from_user
	nop				/* as many as on Arm, whose vector branches here */
	dec	%rax
	jnz	1b
	FINISH
	END	from_user

	.section .text.user, "ax"
	FUNCTION user_phase
	mov	%rdx, %rsi
1:	dec	%rsi
	jnz	1b
	syscall				/* to from_user, by LSTAR */
	END	user_phase

	/* lap = rax * (4 * rbx + 4) */
	.section .text.sweep, "ax"
	FUNCTION sweep
1:	mov	%rdx, %rsi
	mov	%rbx, %rcx
2:	mov	(%rsi), %rdi
	add	$64, %rsi
	dec	%rcx
	jnz	2b
	dec	%rax
	jnz	1b
	FINISH
	END	sweep

	/* lap = 5 * rax */
	.section .text.bounce, "ax"
	FUNCTION bounce
1:	lock incq (%rdx)
	nop				/* as many as on Arm */
	nop
	dec	%rax
	jnz	1b
	FINISH
	END	bounce

	/*
	 * lap = 2 * rax + 7; it counts the loop by a counter of its own. KVM emulates RDMSR
	 * and WRMSR of the counters, and so they do not retire, but adds one to the guest's
	 * counter for each that the counter is on after: the WRMSR that starts it.
	 */
	.section .text.counts, "ax"
	.set	PERF_CTL0, 0xc0010000	/* APM vol. 2, 13.2 */
	.set	PERF_CTR0, 0xc0010004
	.set	INSTRUCTIONS, 0x4300c0	/* retired, at any CPL; enabled */
	FUNCTION count_itself
	mov	%rax, %rsi
	mov	$PERF_CTR0, %ecx
	xor	%eax, %eax
	wrmsr				/* rdx is 0 */
	mov	$PERF_CTL0, %ecx
	mov	$INSTRUCTIONS, %eax
	wrmsr				/* from here */
1:	dec	%rsi
	jnz	1b
	xor	%eax, %eax
	wrmsr				/* to here */
	mov	$PERF_CTR0, %ecx
	rdmsr
	FINISH	%rax			/* its lower half, as much as a counter on Arm has */
	END	count_itself

	/* never ends: nothing can wake it, so the vCPU stays blocked in KVM_RUN */
	.section .text.idle, "ax"
	FUNCTION wait_forever
1:	hlt
	jmp	1b
	END	wait_forever

	/* the first two GiB as they are, in pages of 2 MiB, for CPL 3 too; and at the end of
	   the upper half, where kernel mode runs */
	.section .text.tables, "ax"
	.set	ALLOWED, 0x7		/* present, writable, user */
	.set	LARGE, 0x80
	.globl	page_tables
page_tables:
	.quad	lower + ALLOWED
	.fill	510, 8, 0
	.quad	upper + ALLOWED
lower:
	.quad	pages + ALLOWED, pages + 4096 + ALLOWED
	.fill	510, 8, 0
upper:
	.fill	510, 8, 0
	.quad	pages + ALLOWED, pages + 4096 + ALLOWED
pages:
	.set	page, 0
	.rept	1024
	.quad	page + ALLOWED + LARGE
	.set	page, page + 0x200000
	.endr
