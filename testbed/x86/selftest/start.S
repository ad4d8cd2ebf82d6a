/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what QEMU's -kernel enters (PVH: 32 bits, flat, no paging) to long mode; the second
 * CPU's way there; traps; and the ways to CPL 3 and back.
 */
#define CODE0 0x08
#define DATA0 0x10
#define DATA3 0x23
#define CODE3 0x2b
#define TSS 0x30
#define STACK 0x4000
#define TRAMPOLINE 0x8000

	.section .note.Xen, "a", @note
	.align 4
	.long 4, 8, 18 /* XEN_ELFNOTE_PHYS32_ENTRY, see Xen's public/elfnote.h */
	.asciz "Xen"
	.quad start

	.text
	.code32
	.globl start
start:
	lgdt gdt_pointer
	/* 4 GB, one to one, in pages of 2 MB, for CPL 3 too */
	movl $pages_2, pages_4
	orl $7, pages_4
	movl $pages_1 + 7, %eax
	xor %ecx, %ecx
1:	mov %eax, pages_2(, %ecx, 8)
	add $0x1000, %eax
	inc %ecx
	cmp $4, %ecx
	jne 1b
	mov $0x87, %eax
	xor %ecx, %ecx
1:	mov %eax, pages_1(, %ecx, 8)
	add $0x200000, %eax
	inc %ecx
	cmp $2048, %ecx
	jne 1b
	xor %edi, %edi /* the first CPU */
to_long_mode:
	mov $DATA0, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	xor %eax, %eax /* a null selector, and a base that lasts */
	mov %eax, %gs
	mov $0x620, %eax /* PAE, OSFXSR, OSXMMEXCPT */
	mov %eax, %cr4
	mov $pages_4, %eax
	mov %eax, %cr3
	mov $0xc0000080, %ecx /* EFER: LME */
	rdmsr
	or $0x100, %eax
	wrmsr
	mov $0x80000011, %eax /* PG, ET, PE */
	mov %eax, %cr0
	ljmp $CODE0, $long_mode

	.code64
long_mode:
	mov %edi, %eax
	inc %eax
	imul $STACK, %eax, %eax
	lea stacks(%rax), %rsp
	push $0
	jmp begin

/* CPU 1 begins here, copied below 1 MB, in real mode. */
	.code16
	.globl trampoline, trampoline_end
trampoline:
	cli
	xor %ax, %ax
	mov %ax, %ds
	lgdtl trampoline_gdt - trampoline + TRAMPOLINE
	mov $0x11, %eax
	mov %eax, %cr0
	ljmpl $0x18, $second
trampoline_gdt:
	.word gdt_end - gdt - 1
	.long gdt
trampoline_end:

	.code32
second:
	mov $1, %edi
	jmp to_long_mode

	.data
	.align 16
gdt_pointer:
	.word gdt_end - gdt - 1
	.quad gdt
	.globl gdt
gdt:
	.quad 0
	.quad 0x00af9b000000ffff /* CODE0 */
	.quad 0x00cf93000000ffff /* DATA0 */
	.quad 0x00cf9b000000ffff /* 32 bits */
	.quad 0x00cff3000000ffff /* DATA3 */
	.quad 0x00affb000000ffff /* CODE3 */
	.quad 0, 0, 0, 0 /* two task states, filled in */
gdt_end:

	.bss
	.align 4096
pages_4: .skip 4096
pages_2: .skip 4096
pages_1: .skip 4 * 4096
stacks: .skip 2 * STACK

	.text
	.code64
/* A trap's stub leaves the frame of machine.h on the stack. */
	.macro stub number, code
	.if \code == 0
	push $0
	.endif
	push $\number
	jmp common
	.balign 16
	.endm

	.balign 16
	.globl stubs
stubs:
	.set i, 0
	.rept 256
	.if i == 8 || (i >= 10 && i <= 14) || i == 17
	stub i, 1
	.else
	stub i, 0
	.endif
	.set i, i + 1
	.endr

	.macro save_most
	push %rbx
	push %rsi
	push %rdi
	push %rbp
	push %r8
	push %r9
	push %r10
	push %r11
	push %r12
	push %r13
	push %r14
	push %r15
	.endm
	.macro restore_most
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rbp
	pop %rdi
	pop %rsi
	pop %rbx
	.endm

common:
	push %rax
	push %rcx
	push %rdx
	save_most
	mov %rsp, %rdi
	cld
	call trap
	restore_most
	pop %rdx
	pop %rcx
	pop %rax
	add $16, %rsp
	iretq

/*
 * A counter's interrupt. pmi() stops the counter and returns what starts it again: that is
 * written last, and AFTER_RESTART (counters.h) instructions follow.
 */
	.globl pmi_entry
pmi_entry:
	push %rax
	push %rcx
	push %rdx
	save_most
	mov 15 * 8(%rsp), %rdi /* what it interrupted */
	cld
	call pmi
	restore_most
	mov %rax, %rdx
	shr $32, %rdx
	mov %gs:0, %rcx
	mov 24(%rcx), %ecx /* the select register */
	wrmsr
	pop %rdx
	pop %rcx
	pop %rax
	iretq

	.text
/* A way into the kernel that is one instruction there. */
	.globl empty_entry
empty_entry:
	iretq

/* long run_user(program, arguments…): at CPL 3; what it leaves in %rax at its int $0x80 */
	.globl run_user
run_user:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rdi, %rax
	mov %rsi, %rdi
	mov %rdx, %rsi
	mov %rcx, %rdx
	mov %gs:0, %r8 /* struct cpu: its task state's stack, and a stack for CPL 3 */
	mov %rsp, (%r8)
	mov 8(%r8), %r9
	push $DATA3
	push %r9
	push $2 /* no interrupt but NMI, unless the caller wants them */
	mov 16(%r8), %r10
	or %r10, (%rsp)
	push $CODE3
	push %rax
	iretq

	.globl user_done
user_done:
	mov %rdi, %rax
	mov %gs:0, %r8
	mov (%r8), %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret

/*
 * long count_call(counter, program, argument, argument): what RDPMC shows more after the call than
 * before it; 5 instructions of this are in it.
 */
	.globl count_call
count_call:
	push %rbx
	push %r12
	push %r13
	mov %edi, %r12d
	mov %rsi, %rbx
	mov %rdx, %rdi
	mov %rcx, %rsi
	mov %r12d, %ecx
	rdpmc
	mov %eax, %r13d
	mov %edx, %r11d
	call *%rbx
	mov %r12d, %ecx
	rdpmc
	shl $32, %rdx
	or %rdx, %rax
	shl $32, %r11
	or %r13, %r11
	sub %r11, %rax
	pop %r13
	pop %r12
	pop %rbx
	ret

	.section .note.GNU-stack, "", @progbits
