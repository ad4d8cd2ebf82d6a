/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spin N: retires N instructions in user mode, from the first of _start to the call of
 * exit, both counted. N is decimal, at least 100, unchecked.
 */
	.text
	.globl _start, spin_loop
	.type _start, %function
_start:
	ldr	x1, [sp, #16]		/* argv[1] */
	mov	x0, #0			/* the number */
	mov	x2, #14			/* instructions outside of loops, and 7 per digit */
next_digit:
	ldrb	w3, [x1], #1
	cbz	w3, known
	sub	w3, w3, #'0'
	add	x0, x0, x0, lsl #2
	add	x0, x3, x0, lsl #1
	add	x2, x2, #7
	b	next_digit
known:
	sub	x0, x0, x2
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
