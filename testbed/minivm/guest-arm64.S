/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest programs of minivm. They run at EL1 (and, where said, EL0) with the
 * MMU off, no interrupts and no stack, so that nothing but the instructions below
 * ever retires. program.c knows how many they are: change one, change the other.
 *
 * Set by the VMM before each lap:
 *   x0  rounds             x1, x2  iterations of the first and second function
 *   x19 the exit register (MMIO); x20 where the next lap begins; x21 user_phase
 */

	.macro FINISH own=xzr		/* own: what the guest has counted itself */
	str	\own, [x19]		/* ends the lap: traps, so it never retires */
	br	x20			/* first instruction of the next lap */
	.endm

	.macro FUNCTION name
	.globl	\name
	.type	\name, %function
\name:
	.endm

	.macro END name
	.size	\name, . - \name
	.endm

	/* exceptions that no program takes: tell the VMM, which says so and stops */
	.macro unexpected count
	.rept	\count
	str	xzr, [x19, #8]
	.balign	128
	.endr
	.endm

	/* lap = 2 * x0; one more when entered by its nop */
	.section .text.loop, "ax"
	FUNCTION count_down_odd
	nop
	END	count_down_odd
	FUNCTION count_down
1:	subs	x0, x0, #1
	b.ne	1b
	FINISH
	END	count_down

	/* lap = x0 * (6 + hot_path + cold_path), each path = 2 * iterations + 1 */
	.section .text.two, "ax"
	FUNCTION run_two
1:	mov	x3, x1
	bl	hot_path
	mov	x3, x2
	bl	cold_path
	subs	x0, x0, #1
	b.ne	1b
	FINISH
	END	run_two

	.section .text.hot, "ax"
	FUNCTION hot_path
1:	subs	x3, x3, #1
	b.ne	1b
	ret
	END	hot_path

	.section .text.cold, "ax"
	FUNCTION cold_path
1:	subs	x3, x3, #1
	b.ne	1b
	ret
	END	cold_path

	/* lap = x0 * ((2 * x1 + 7) at EL1 + (2 * x2 + 2) at EL0) */
	.section .text.phases, "ax"
	FUNCTION kernel_phase
1:	mov	x3, x1
2:	subs	x3, x3, #1
	b.ne	2b
	msr	elr_el1, x21
	msr	spsr_el1, xzr		/* EL0, AArch64 */
	eret
	END	kernel_phase
	FUNCTION from_user
	subs	x0, x0, #1
	b.ne	1b
	FINISH
	END	from_user

	.section .text.user, "ax"
	FUNCTION user_phase
	mov	x3, x2
1:	subs	x3, x3, #1
	b.ne	1b
	svc	#0
	END	user_phase

	/* lap = x0 * (4 * x1 + 4) */
	.section .text.sweep, "ax"
	FUNCTION sweep
1:	mov	x3, x2
	mov	x4, x1
2:	ldr	x5, [x3]
	add	x3, x3, #64
	subs	x4, x4, #1
	b.ne	2b
	subs	x0, x0, #1
	b.ne	1b
	FINISH
	END	sweep

	/* lap = 5 * x0; the MMU is off, where exclusive accesses may not work */
	.section .text.bounce, "ax"
	FUNCTION bounce
1:	ldr	x3, [x2]
	add	x3, x3, #1
	str	x3, [x2]
	subs	x0, x0, #1
	b.ne	1b
	FINISH
	END	bounce

	/*
	 * lap = 2 * x0 + 7; it counts the loop by a counter of its own, whose registers trap:
	 * KVM takes all of them, and moves past each
	 */
	.section .text.counts, "ax"
	FUNCTION count_itself
	mov	x3, #-1
	msr	pmcntenclr_el0, x3	/* what is on after a reset is unknown */
	mov	x3, #8			/* INST_RETIRED, at EL1 and EL0 */
	msr	pmevtyper0_el0, x3
	msr	pmevcntr0_el0, xzr
	mov	x3, #1
	msr	pmcntenset_el0, x3
	.rept	3			/* as many as on x86 */
	nop
	.endr
	msr	pmcr_el0, x3		/* E: from here */
1:	subs	x0, x0, #1
	b.ne	1b
	mov	x3, xzr
	msr	pmcr_el0, x3		/* to here */
	mrs	x3, pmevcntr0_el0
	FINISH	x3
	END	count_itself

	/* never ends: nothing can wake it, so the vCPU stays blocked in KVM_RUN */
	.section .text.idle, "ax"
	FUNCTION wait_forever
1:	wfi
	b	1b
	END	wait_forever

	.section .text.vectors, "ax"
	.balign 2048
	FUNCTION vectors
	unexpected 8
	b	from_user		/* 0x400: synchronous from EL0, the svc */
	.balign	128
	unexpected 7
	END	vectors
