/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spin N [SECONDS]: retires N instructions in user mode, from the first of _start to the
 * call of exit, both counted. N is decimal, at least 300, unchecked. With SECONDS it
 * sleeps first, until so many have passed since the machine's start.
 */
	.text
	.globl _start, spin_loop
	.type _start, @function
_start:
	mov	$26, %r9d		/* instructions outside of loops, and 9 per digit */
	mov	16(%rsp), %rsi		/* argv[1] */
	call	number
	mov	%rax, %r12
	mov	24(%rsp), %rsi		/* argv[2] */
	test	%rsi, %rsi
	jz	begin
	call	number
	add	$17, %r9
	sub	$16, %rsp
	mov	%rax, (%rsp)
	movq	$0, 8(%rsp)
	mov	$1, %edi		/* CLOCK_MONOTONIC */
	mov	$1, %esi		/* TIMER_ABSTIME */
	mov	%rsp, %rdx
	xor	%r10d, %r10d
	mov	$230, %eax		/* clock_nanosleep */
	syscall
begin:
	mov	%r12, %rax
	sub	%r9, %rax
	test	$1, %al
	jz	even
	nop
even:
	lea	-2(%rax), %rcx		/* rounds of 32, and of 2 at least one */
	shr	$5, %rcx
	mov	%rcx, %rdx
	shl	$5, %rdx
	sub	%rdx, %rax
	shr	$1, %rax
	.type spin_loop, @function
spin_loop:
	.rept	30			/* what the emulator is quick at */
	nop
	.endr
	dec	%rcx
	jnz	spin_loop
.Lrest:
	dec	%rax
	jnz	.Lrest
	.size spin_loop, . - spin_loop
	mov	$60, %eax		/* exit */
	xor	%edi, %edi
	syscall
	.size _start, . - _start

/* rax: the number at rsi */
	.type number, @function
number:
	xor	%eax, %eax
.Ldigit:
	movzbl	(%rsi), %ecx
	inc	%rsi
	test	%ecx, %ecx
	jz	.Lknown
	sub	$'0', %ecx
	lea	(%rax,%rax,4), %rax
	lea	(%rcx,%rax,2), %rax
	add	$9, %r9
	jmp	.Ldigit
.Lknown:
	ret
	.size number, . - number
