/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * void enter_guest(vmcb, registers): runs the SVM guest until it exits. Of its registers
 * the four that programs use are kept: %rcx, %rdx, %rdi, %rsi. As in Linux, the host lets
 * interrupts end the guest, but not come itself; what waited for the exit, an NMI, comes
 * at the end.
 */
	.text
	.globl enter_guest
enter_guest:
	clgi
	sti
	push %rsi
	mov %rdi, %rax
	mov (%rsi), %rcx
	mov 8(%rsi), %rdx
	mov 16(%rsi), %rdi
	mov 24(%rsi), %rsi
	vmrun
	xchg %rsi, (%rsp)
	mov %rcx, (%rsi)
	mov %rdx, 8(%rsi)
	mov %rdi, 16(%rsi)
	pop %rcx
	mov %rcx, 24(%rsi)
	cli
	stgi
	ret

/* what the guest runs */
	.globl guest_begin
guest_begin:
	call mixed
	vmmcall

	.section .note.GNU-stack, "", @progbits
