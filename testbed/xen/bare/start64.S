/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AArch64: the header of a Linux Image (Documentation/arm64/booting.rst), exceptions, EL0. */

	.section .start, "ax"
	b	start
	.long	0
	.quad	0			/* text_offset: where memory begins */
	.quad	image_size
	.quad	0, 0, 0, 0
	.ascii	"ARM\x64"
	.long	0

	.text
start:
	ldr	x0, =stack_top
	mov	sp, x0
	ldr	x0, =vectors
	msr	vbar_el1, x0
	ldr	x0, =bss_start
	ldr	x1, =bss_end
1:	cmp	x0, x1
	b.hs	2f
	str	xzr, [x0], #8
	b	1b
2:	isb
	b	bare_start

/* EC 0: undefined; 0x18: a system register, refused with a syndrome; 0x15: SVC */
sync:
	stp	x29, x30, [sp, #-16]!
	mrs	x30, esr_el1
	lsr	x30, x30, #26
	cmp	x30, #0x15
	b.eq	el0_done
	cbz	x30, undefined
	cmp	x30, #0x18
	b.ne	lost
undefined:
	sub	sp, sp, #160
	stp	x0, x1, [sp, #0]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	str	x18, [sp, #144]
	mrs	x0, elr_el1
	add	x0, x0, #4
	msr	elr_el1, x0
	bl	bare_undefined
	ldp	x0, x1, [sp, #0]
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x9, [sp, #64]
	ldp	x10, x11, [sp, #80]
	ldp	x12, x13, [sp, #96]
	ldp	x14, x15, [sp, #112]
	ldp	x16, x17, [sp, #128]
	ldr	x18, [sp, #144]
	add	sp, sp, #160
	ldp	x29, x30, [sp], #16
	eret

lost:
	mrs	x0, elr_el1
	mrs	x1, esr_el1
	b	bare_lost

/* at_el0(fn, arg): what a call must keep waits on the stack for el0_done */
	.globl	at_el0
at_el0:
	stp	x19, x20, [sp, #-96]!
	stp	x21, x22, [sp, #16]
	stp	x23, x24, [sp, #32]
	stp	x25, x26, [sp, #48]
	stp	x27, x28, [sp, #64]
	stp	x29, x30, [sp, #80]
	ldr	x2, =el0_stack_top
	msr	sp_el0, x2
	mov	x2, #0x3c0		/* EL0, everything masked */
	msr	spsr_el1, x2
	adr	x2, el0_start
	msr	elr_el1, x2
	mov	x2, x0
	mov	x0, x1
	eret
el0_start:
	blr	x2
	svc	#0
el0_done:
	add	sp, sp, #16
	adr	x1, 1f
	msr	elr_el1, x1
	mov	x1, #0x3c5		/* EL1 with its own stack */
	msr	spsr_el1, x1
	eret
1:	ldp	x21, x22, [sp, #16]
	ldp	x23, x24, [sp, #32]
	ldp	x25, x26, [sp, #48]
	ldp	x27, x28, [sp, #64]
	ldp	x29, x30, [sp, #80]
	ldp	x19, x20, [sp], #96
	ret

	.p2align 11
vectors:
	.irp	handler, lost, lost, lost, lost, sync, lost, lost, lost, \
			 sync, lost, lost, lost, lost, lost, lost, lost
	b	\handler
	.p2align 7
	.endr
