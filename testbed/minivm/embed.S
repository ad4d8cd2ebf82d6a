/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The linked guest, carried inside minivm: loaded from, and written out, as one ELF. */
	.section .rodata
	.balign	16
	.globl	guest_elf_start, guest_elf_end
guest_elf_start:
	.incbin	GUEST_ELF
guest_elf_end:
	.section .note.GNU-stack, "", %progbits
