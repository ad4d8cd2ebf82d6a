/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of known length. Those that take laps come with a table of the addresses of
 * their instructions, in the order in which they run. %rdi is the laps, %rsi a page.
 */
	.macro i, words:vararg /* one instruction, and its place in the table */
	.pushsection .rodata
	.quad 99f
	.popsection
99:	\words
	.endm

	.macro table name
	.globl \name\()_user
	.pushsection .text.user, "ax"
\name\()_user: /* at CPL 3 */
	call \name
	int $0x80
	.popsection
	.pushsection .rodata
	.globl \name\()_table, \name\()_table_end
	.align 8
\name\()_table:
	.popsection
	.text
	.globl \name
\name:
	.endm

	.macro table_end name
	.pushsection .rodata
\name\()_table_end:
	.popsection
	ret
	.endm

/* instructions of all lengths, loads, stores, a call, two branches that fall through */
	table mixed
1:	i add $1, %rax
	i lea 3(%rax, %rax), %rdx
	i mov %rdx, (%rsi)
	i mov (%rsi), %rcx
	i imul %rcx, %rdx
	i push %rdx
	i pop %rcx
	i cmp %rcx, %rdx
	i jne 2f
2:	i movabs $0x1122334455667788, %rcx
	i lock incl 8(%rsi)
	i movups (%rsi), %xmm0
	i movups %xmm0, 16(%rsi)
	i call 3f
	.pushsection .rodata
	.quad 3f
	.popsection
	i jmp 4f
3:	ret
4:	i xchg %rcx, 32(%rsi)
	i nop
	i dec %rdi
	i jnz 1b
	table_end mixed

/* two instructions a lap */
	table tight
1:	i dec %rdi
	i jnz 1b
	table_end tight

/* one instruction that takes long */
	table strings
1:	i mov %rdi, %r9
	i mov %rsi, %r8
	i mov %rsi, %rdi
	i mov $300, %ecx
	i rep movsb
	i mov %r8, %rsi
	i mov %r8, %rdi
	i mov $100, %ecx
	i repe cmpsb
	i mov %r8, %rsi
	i xor %ecx, %ecx
	i rep stosb
	i mov %r9, %rdi
	i dec %rdi
	i jnz 1b
	table_end strings

/* to CPL 0 and back: one instruction there */
	table calls
1:	i add $1, %rax
	i int $0x81
	.pushsection .rodata
	.quad empty_entry
	.popsection
	i mov %rax, (%rsi)
	i dec %rdi
	i jnz 1b
	table_end calls

/* instructions that go on in the next page, branches among them */
	.macro at_the_end_of_a_page
	.balign 4096
	.skip 4096 - 2
	.endm

	at_the_end_of_a_page
	table crossing
1:	i nop
	i add $1, %rax
	i jmp 2f
	at_the_end_of_a_page
2:	i nop
	i .byte 0xe9, 0, 0, 0, 0 /* JMP to the next */
	i dec %rdi
	i jmp 3f
	at_the_end_of_a_page
3:	i nop
	i jnz 1b
	table_end crossing

/* %rdi times an instruction of 3 bytes that faults, and three that do not */
	.macro faulting name, words:vararg
	.globl \name\()_user
\name\()_user:
1:	nop
	\words
	dec %rdi
	jnz 1b
	int $0x80
	.endm

	.text
	faulting undefined, .byte 0x0f, 0xff, 0x00 /* UD0 %eax, (%rax) */
	faulting unmapped, mov (%rdx), %rax
	faulting divided, div %r8 /* by 0 */
	faulting privileged, .byte 0x66, 0x0f, 0x32 /* RDMSR, with a prefix that it ignores */
	faulting forbidden, .byte 0x66, 0x0f, 0x33 /* RDPMC likewise */

	.globl breakpoints_user
breakpoints_user:
1:	int3
	dec %rdi
	jnz 1b
	int $0x80

/* a call whose push faults, of 2 bytes; nothing is mapped below %rdx */
	.globl call_fault_user
call_fault_user:
	mov %rsp, %r8
1:	mov %rdx, %rsp
	call *%rax
	mov %r8, %rsp
	dec %rdi
	jnz 1b
	int $0x80

/* RDPMC of counter %rdi at CPL 3 */
	.globl read_user
read_user:
	mov %edi, %ecx
	rdpmc
	shl $32, %rdx
	or %rdx, %rax
	int $0x80

	.section .note.GNU-stack, "", @progbits
