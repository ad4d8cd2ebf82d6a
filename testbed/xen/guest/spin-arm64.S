/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spin N [SECONDS]: retires N instructions in user mode, from the first of _start to the
 * call of exit, both counted. N is decimal, at least 200, unchecked. With SECONDS it
 * sleeps first, until so many have passed since the machine's start.
 */
	.text
	.globl _start, spin_loop
	.type _start, %function
_start:
	mov	x6, #19			/* instructions outside of loops, and 7 per digit */
	ldr	x1, [sp, #16]		/* argv[1] */
	bl	number
	mov	x7, x0
	ldr	x1, [sp, #24]		/* argv[2] */
	cbz	x1, begin
	bl	number
	add	x6, x6, #13
	stp	x0, xzr, [sp, #-16]!
	mov	x0, #1			/* CLOCK_MONOTONIC */
	mov	x1, #1			/* TIMER_ABSTIME */
	mov	x2, sp
	mov	x3, #0
	mov	x8, #115		/* clock_nanosleep */
	svc	#0
begin:
	sub	x0, x7, x6
	tbz	x0, #0, even
	nop
even:
	sub	x3, x0, #2		/* rounds of 32, and of 2 at least one */
	lsr	x3, x3, #5
	sub	x0, x0, x3, lsl #5
	lsr	x0, x0, #1
	.type spin_loop, %function
spin_loop:
	.rept	30			/* what the emulator is quick at */
	nop
	.endr
	subs	x3, x3, #1
	b.ne	spin_loop
.Lrest:
	subs	x0, x0, #1
	b.ne	.Lrest
	.size spin_loop, . - spin_loop
	mov	x8, #93			/* exit */
	mov	x0, #0
	svc	#0
	.size _start, . - _start

/* x0: the number at x1 */
	.type number, %function
number:
	mov	x0, #0
.Ldigit:
	ldrb	w3, [x1], #1
	cbz	w3, .Lknown
	sub	w3, w3, #'0'
	add	x0, x0, x0, lsl #2
	add	x0, x3, x0, lsl #1
	add	x6, x6, #7
	b	.Ldigit
.Lknown:
	ret
	.size number, . - number
