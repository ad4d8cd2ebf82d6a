/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bare machine: its output, its registers, its traps, its two CPUs. */
#ifndef SELFTEST_MACHINE_H
#define SELFTEST_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define CPUS 2
#define VECTOR_PMI 0x82
#define VECTOR_OWN 0x83 /* what a CPU sends itself */

/* What stubs leave on the stack. */
struct frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rbx, rdx, rcx, rax;
	uint64_t number, error;
	uint64_t rip, cs, flags, rsp, ss;
};

/* Of one CPU; start.S knows the first four. */
struct cpu {
	uint64_t *kernel_stack; /* where run_user() left it */
	uint64_t user_stack;
	uint64_t user_flags; /* beside those that are always set */
	uint64_t select_msr; /* of the counter that samples */
	int id;
	bool may_trap; /* and then it goes on so much later */
	uint64_t skip;
	int faults;	     /* that were skipped */
	int interrupts;	     /* by VECTOR_OWN */
	const char *subject; /* of what is now tested */
};

struct cpu *this_cpu(void);

long run_user(void *program, ...);
long count_call(int counter, void *program, uint64_t laps, void *page);

/* A line for the driver: "ok SUBJECT: NAME", or "not ok …: expected WANTED, got GOT". */
void expect(const char *name, uint64_t got, uint64_t wanted);
/* The same for a part of what one line is for: only a failure is told. */
bool check(const char *name, uint64_t got, uint64_t wanted);

static inline uint64_t rdmsr(uint32_t msr)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return low | (uint64_t)high << 32;
}

static inline void wrmsr(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr"
			 :
			 : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
			 : "memory");
}

static inline uint64_t rdpmc(uint32_t counter)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter) : "memory");
	return low | (uint64_t)high << 32;
}

struct cpuid {
	uint32_t eax, ebx, ecx, edx;
};

static inline struct cpuid cpuid(uint32_t leaf)
{
	struct cpuid c;

	__asm__ volatile("cpuid"
			 : "=a"(c.eax), "=b"(c.ebx), "=c"(c.ecx), "=d"(c.edx)
			 : "a"(leaf), "c"(0));
	return c;
}

/* The local APIC's registers: [SDM3] 11.4.1 */
#define APIC_ID 0x020
#define APIC_EOI 0x0b0
#define APIC_SPURIOUS 0x0f0
#define APIC_COMMAND 0x300
#define APIC_COMMAND_HIGH 0x310
#define APIC_LVT_COUNTERS 0x340
#define APIC_NMI 0x400
#define APIC_MASKED 0x10000

#define APIC_TO_ITSELF 0x44000

static inline void apic_write(int reg, uint32_t value)
{
	*(volatile uint32_t *)(uintptr_t)(0xfee00000 + reg) = value;
}

static inline uint32_t apic_read(int reg)
{
	return *(volatile uint32_t *)(uintptr_t)(0xfee00000 + reg);
}

#endif
