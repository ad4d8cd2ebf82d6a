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
	mov	x2, #11			/* instructions outside of loops, and 7 per digit */
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
	lsr	x0, x0, #1
	.type spin_loop, %function
spin_loop:
	subs	x0, x0, #1
	b.ne	spin_loop
	.size spin_loop, . - spin_loop
	mov	x8, #93			/* exit */
	mov	x0, #0
	svc	#0
	.size _start, . - _start
