/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The 32-bit part of the kernel file of an HVM domU, behind the 16-bit part of Debian's:
 * starts the unpacked Linux that the device model has put at 16 MB. The device model hands
 * a kernel file to SeaBIOS byte by byte, so that the whole one would take half a minute,
 * and its unpacking as long. See the kernel's Documentation/x86/boot.rst, "32-bit Boot
 * Protocol" and "64-bit Boot Protocol"; testbed/xen/x86.sh has the same addresses.
 */
#define TABLES 0x200000
#define RAMDISK_SIZE 0x4fffff8
#define RAMDISK 0x5000000
#define KERNEL 0x1000000

/* of boot_params */
#define RAMDISK_IMAGE_FIELD 0x218
#define RAMDISK_SIZE_FIELD 0x21c

	.code32
	.globl _start
_start:					/* at 1 MB; esi: boot_params */
	movl	$RAMDISK, RAMDISK_IMAGE_FIELD(%esi)
	movl	RAMDISK_SIZE, %eax
	movl	%eax, RAMDISK_SIZE_FIELD(%esi)

	movl	$TABLES, %edi		/* page tables: the first GB where it is */
	xorl	%eax, %eax
	movl	$(3 * 4096 / 4), %ecx
	rep stosl
	movl	$(TABLES + 0x1003), TABLES
	movl	$(TABLES + 0x2003), TABLES + 0x1000
	movl	$0x83, %eax		/* present, writable, 2 MB */
	movl	$(TABLES + 0x2000), %edi
next_page:
	movl	%eax, (%edi)
	addl	$8, %edi
	addl	$0x200000, %eax
	cmpl	$0x40000083, %eax
	jne	next_page

	movl	%cr4, %eax
	orl	$0x20, %eax		/* PAE */
	movl	%eax, %cr4
	movl	$TABLES, %eax
	movl	%eax, %cr3
	movl	$0xc0000080, %ecx	/* EFER */
	rdmsr
	orl	$0x100, %eax		/* LME */
	wrmsr
	movl	%cr0, %eax
	orl	$0x80000000, %eax	/* PG */
	movl	%eax, %cr0
	lgdt	pointer
	ljmp	$0x10, $long_mode
	.code64
long_mode:
	movl	$KERNEL, %eax
	jmp	*%rax

	.balign	8
segments:				/* 0x10: 64-bit code, 0x18: data */
	.quad	0, 0, 0x00af9a000000ffff, 0x00cf92000000ffff
pointer:
	.word	. - segments - 1
	.long	segments
