/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AArch32: the header of a zImage (Documentation/arm/booting.rst), exceptions, user mode. */

	.arch	armv8-a
	.arm
	.section .start, "ax"
	.rept	8
	nop
	.endr
	b	start
	.word	0x016f2818		/* at 0x24 */
	.word	image_start, image_end

	.text
start:
	cpsid	aif, #0x1b		/* undefined: its own stack */
	ldr	sp, =undefined_stack_top
	cpsid	aif, #0x13		/* supervisor: the program's */
	ldr	sp, =stack_top
	ldr	r0, =vectors
	mcr	p15, 0, r0, c12, c0, 0	/* VBAR */
	ldr	r0, =bss_start
	ldr	r1, =bss_end
	mov	r2, #0
1:	cmp	r0, r1
	strlo	r2, [r0], #4
	blo	1b
	isb
	b	bare_start

/*
 * Where it came from is kept by at_el0: QEMU forgets the SPSR_und that a hypervisor writes
 * which hands an undefined instruction on (the flags are lost with it).
 */
undefined:
	push	{r0-r3, r12, lr}
	bl	bare_undefined
	ldr	r0, =at_user
	ldr	r0, [r0]
	cmp	r0, #0
	movne	r0, #0x1d0
	moveq	r0, #0x1d3
	msr	spsr_cxsf, r0
	pop	{r0-r3, r12, lr}
	movs	pc, lr			/* behind the instruction */

/* bare_lost(where, why), each a pair of registers; why is the number of the vector */
	.macro	lost why
	mov	r0, lr
	mov	r1, #0
	mov	r2, #\why
	mov	r3, #0
	ldr	sp, =stack_top
	b	bare_lost
	.endm
prefetch_abort:
	lost	3
data_abort:
	lost	4
other:
	lost	5

/* at_el0(fn, arg): what a call must keep waits on the stack for el0_done */
	.globl	at_el0
at_el0:
	push	{r4-r11, lr}
	ldr	r2, =at_user
	str	sp, [r2]		/* not zero */
	cps	#0x1f			/* system mode has user mode's stack pointer */
	ldr	sp, =el0_stack_top
	cps	#0x13
	mov	r2, #0x1d0		/* user mode, everything masked */
	msr	spsr_cxsf, r2
	mov	r2, r0
	mov	r0, r1
	adr	lr, el0_start
	movs	pc, lr
el0_start:
	blx	r2
	svc	#0
el0_done:
	ldr	r2, =at_user
	mov	r3, #0
	str	r3, [r2]
	pop	{r4-r11, pc}

	.p2align 5
vectors:
	b	other
	b	undefined
	b	el0_done
	b	prefetch_abort
	b	data_abort
	b	other
	b	other
	b	other

	.bss
	.balign	4
at_user:
	.space	4
