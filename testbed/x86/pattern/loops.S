/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * void run_loop(int go, int done, const struct loop *loop): for ever, waits for a byte from
 * @go, runs the loop, writes a byte to @done. All that user mode executes from one wait to
 * the next is here, and of memory it touches only the loop's lines. pattern.c knows how
 * many instructions and branches that are: change one, change the other.
 *
 * A loop has %rdi base, %rsi lines, %rdx laps, %r10d thread; it leaves alone %rbx, %rbp,
 * %r12 to %r15.
 */
#include <sys/syscall.h>

	.text
	.globl run_loop
run_loop:
	mov %edi, %ebx
	mov %esi, %ebp
	mov 0(%rdx), %r12
	mov 8(%rdx), %r13
	mov 16(%rdx), %r14
	mov 24(%rdx), %r15
	mov 32(%rdx), %r10

	/* 16 instructions, of which 5 are branches (SYSCALL is one), and the loop's */
wait:
	mov $SYS_read, %eax
	mov %ebx, %edi
	lea byte(%rip), %rsi
	mov $1, %edx
	syscall
	mov %r13, %rdi
	mov %r14, %rsi
	mov %r15, %rdx
	jmp *%r12
finished:
	mov $SYS_write, %eax
	mov %ebp, %edi
	lea byte(%rip), %rsi
	mov $1, %edx
	syscall
	jmp wait

	.macro LOOP name
	.globl \name
\name:
	.endm

	/* laps * (4 * lines + 4) */
	.macro WALK name, access
	LOOP \name
1:	mov %rdi, %rax
	mov %rsi, %rcx
2:	\access
	add $64, %rax
	dec %rcx
	jnz 2b
	dec %rdx
	jnz 1b
	jmp finished
	.endm

	/* each line in turn */
	WALK walk_loads, "mov (%rax), %r9"
	WALK walk_stores, "mov %r9, (%rax)"

	/* laps * (3 * lines + 3): from line to line by what stands in each */
	LOOP chase
1:	mov %rsi, %rcx
2:	mov (%rdi), %rdi
	dec %rcx
	jnz 2b
	dec %rdx
	jnz 1b
	jmp finished

	/* laps * (9 * lines + 3) + 4; lines is a power of 2. Knuth's MMIX generator */
	LOOP random_loads
	movabs $6364136223846793005, %r8
	movabs $1442695040888963407, %r11
	mov $1, %eax
	lea -1(%rsi), %r10
1:	mov %rsi, %rcx
2:	imul %r8, %rax
	add %r11, %rax
	mov %rax, %r9
	shr $33, %r9
	and %r10, %r9
	shl $6, %r9
	mov (%rdi, %r9), %r9
	dec %rcx
	jnz 2b
	dec %rdx
	jnz 1b
	jmp finished

	/* waits for its turn by a line; %eax is who is next */
	.macro WAIT_FOR_TURN
1:	cmp %r10d, (%rdi)
	je 2f
	pause
	jmp 1b
2:
	.endm

	/* one line: each in turn makes it the other's */
	LOOP ping_pong
	mov %r10d, %eax
	xor $1, %eax
3:	WAIT_FOR_TURN
	mov %eax, (%rdi)
	dec %rdx
	jnz 3b
	jmp finished

	/* the same, and each time the next of the lines behind it, for both the same */
	LOOP follow
	mov %r10d, %eax
	xor $1, %eax
3:	mov %rsi, %rcx
	mov %rdi, %r8
4:	WAIT_FOR_TURN
	add $64, %r8
	mov (%r8), %r9
	mov %eax, (%rdi)
	dec %rcx
	jnz 4b
	dec %rdx
	jnz 3b
	jmp finished

	.bss
byte:	.zero 1

	.section .note.GNU-stack, "", @progbits
