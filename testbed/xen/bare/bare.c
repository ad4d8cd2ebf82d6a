/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What start64.S and start32.S call, and what programs may. */
#include <stddef.h>

#include "bare.h"

/* Xen's virtual UART for guests (xen/include/public/arch-arm.h, GUEST_PL011_BASE). */
#define UART_DATA ((volatile uint32_t *)0x22000000)
#define UART_FLAGS ((volatile uint32_t *)0x22000018)
#define UART_FLAGS_RXFE (1u << 4) /* nothing was typed */
/* PSCI 1.1 (Arm DEN 0022), SYSTEM_OFF */
#define PSCI_SYSTEM_OFF 0x84000008u
#define STATUS_LOST 99
/* of a second */
#define FOCUS_PART 5

void bare_start(void);
void bare_undefined(void);
void bare_lost(uint64_t where, uint64_t why);

static volatile unsigned int faults;

/* The generic timer's virtual counter, and its Hz. */
#ifdef __aarch64__
#define counter_read() sysreg_read(cntvct_el0)
#define counter_frequency() sysreg_read(cntfrq_el0)
#else
static uint64_t counter_read(void)
{
	uint64_t value;

	__asm__ volatile("mrrc p15, 1, %Q0, %R0, c14" : "=r"(value) : : "memory");
	return value;
}

#define counter_frequency() cp15_read(0, 14, 0, 0)
#endif

void print(const char *text)
{
	for (; *text; text++)
		*UART_DATA = (unsigned char)*text;
}

static void print_hex(uint64_t value)
{
	char text[19], *at = text + sizeof(text) - 1;

	*at = '\0';
	do {
		*--at = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	*--at = 'x';
	*--at = '0';
	print(at);
}

void result(const char *name, uint64_t value)
{
	print("@@ ");
	print(name);
	print(" ");
	print_hex(value);
	print("\n");
}

/*
 * While Xen's console has its focus on this domain, Xen prints what it writes without its
 * name, and nobody knows whose it is. The focus leaves some characters after the one that
 * tells it to go, and QEMU hands over one at a time, on another processor.
 */
static void until_unfocused(void)
{
	uint64_t start = counter_read();

	while (counter_read() - start < counter_frequency() / FOCUS_PART)
		;
}

_Bool told_to_go(void)
{
	if (*UART_FLAGS & UART_FLAGS_RXFE)
		return 0;
	(void)*UART_DATA;
	until_unfocused();
	return 1;
}

void until_go(void)
{
	print("testbed: waiting\n");
	while (!told_to_go())
		;
}

unsigned int faults_taken(void)
{
	unsigned int taken = faults;

	faults = 0;
	return taken;
}

static void power_off(void)
{
#ifdef __aarch64__
	register uint64_t function __asm__("x0") = PSCI_SYSTEM_OFF;
#else
	register uint32_t function __asm__("r0") = PSCI_SYSTEM_OFF;
	__asm__ volatile(".arch_extension virt");
#endif
	__asm__ volatile("hvc #0" : "+r"(function) : : "memory");
	for (;;)
		;
}

static void end(int status)
{
	char digits[] = { '0' + status / 10 % 10, '0' + status % 10, '\n', '\0' };

	print("testbed: ended ");
	print(status < 10 ? digits + 1 : digits);
	power_off();
}

/* Called at an instruction that is undefined, or refused as if it were. */
void bare_undefined(void)
{
	faults++;
}

void bare_lost(uint64_t where, uint64_t why)
{
	result("lost_at", where);
	result("lost_why", why);
	end(STATUS_LOST);
}

void bare_start(void)
{
	end(bare_main());
}

/* What the compiler may call. */
void *memset(void *to, int byte, size_t size)
{
	for (unsigned char *at = to; size; size--)
		*at++ = byte;
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	const unsigned char *source = from;

	for (unsigned char *at = to; size; size--)
		*at++ = *source++;
	return to;
}
