/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A domU of test_xen_itself: keeps Xen busy, with hypercalls that hand something out. */
#include "bare.h"

/* xen/include/public: xen.h, version.h */
#define HYPERCALL_XEN_VERSION 17
#define XENVER_COMMANDLINE 9

static char commandline[1024] __attribute__((aligned(8)));

int bare_main(void)
{
	for (;;) {
		register unsigned long x0 __asm__("x0") = XENVER_COMMANDLINE;
		register unsigned long x1 __asm__("x1") = (unsigned long)commandline;
		register unsigned long x16 __asm__("x16") = HYPERCALL_XEN_VERSION;

		__asm__ volatile("hvc #0xea1" : "+r"(x0), "+r"(x1), "+r"(x16) : : "memory");
	}
}
