/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bare machine. */
#include "machine.h"
#include "tests.h"

#include <stdarg.h>

#define DEBUG_PORT 0xe9
#define EXIT_PORT 0xf4 /* QEMU ends with twice the value plus 1; its own errors are 1 */
#define GS_BASE 0xc0000101
#define TSS 0x30

struct gate {
	uint16_t low, selector;
	uint8_t ist, type;
	uint16_t middle;
	uint32_t high, reserved;
} __attribute__((packed));

struct task_state {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1, ist[7], reserved2;
	uint16_t reserved3, io_map;
} __attribute__((packed));

extern char stubs[], pmi_entry[], empty_entry[], trampoline[], trampoline_end[];
extern uint64_t gdt[];
void user_done(long result) __attribute__((noreturn));

static struct gate idt[256];
static struct task_state task_states[CPUS];
static char trap_stacks[CPUS][16384] __attribute__((aligned(16)));
static char user_stacks[CPUS][16384] __attribute__((aligned(16)));
static struct cpu cpus[CPUS];
static struct cpu *cpu_pointers[CPUS];
static volatile int second_is_up, at_begin, at_end, failed, lock;
static int cpu_count = 1;

static void out(uint16_t port, uint8_t byte)
{
	__asm__ volatile("outb %0, %1" : : "a"(byte), "Nd"(port));
}

struct cpu *this_cpu(void)
{
	struct cpu *cpu;

	__asm__("mov %%gs:0, %0" : "=r"(cpu));
	return cpu;
}

static void put(const char *text)
{
	while (*text)
		out(DEBUG_PORT, *text++);
}

static void put_number(uint64_t value)
{
	char digits[21];
	int i = sizeof(digits) - 1;

	digits[i] = 0;
	do {
		digits[--i] = '0' + value % 10;
		value /= 10;
	} while (value);
	put(digits + i);
}

/* %s and %u, a uint64_t; a whole line at a time */
static void say(const char *text, ...)
{
	va_list arguments;

	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	va_start(arguments, text);
	for (; *text; text++) {
		if (*text != '%') {
			out(DEBUG_PORT, *text);
		} else if (*++text == 's') {
			put(va_arg(arguments, const char *));
		} else {
			put_number(va_arg(arguments, uint64_t));
		}
	}
	va_end(arguments);
	out(DEBUG_PORT, '\n');
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

bool check(const char *name, uint64_t got, uint64_t wanted)
{
	struct cpu *cpu = this_cpu();

	if (got == wanted)
		return true;
	failed = 1;
	say("not ok CPU %u: %s: %s: expected %u, got %u", (uint64_t)cpu->id, cpu->subject,
	    name, wanted, got);
	return false;
}

void expect(const char *name, uint64_t got, uint64_t wanted)
{
	struct cpu *cpu = this_cpu();

	if (check(name, got, wanted))
		say("ok CPU %u: %s: %s", (uint64_t)cpu->id, cpu->subject, name);
}

/* Every trap but those of the counters. Called by start.S. */
void trap(struct frame *frame)
{
	struct cpu *cpu = this_cpu();

	if (frame->number == 0x80)
		user_done(frame->rax);
	if (frame->number == VECTOR_OWN) {
		cpu->interrupts++;
		apic_write(APIC_EOI, 0);
		return;
	}
	if (cpu->may_trap && frame->number < 32) {
		cpu->faults++;
		frame->rip += cpu->skip;
		return;
	}
	say("not ok unexpected trap %u at %u", frame->number, frame->rip);
	out(EXIT_PORT, 17);
	for (;;)
		__asm__ volatile("hlt");
}

void *scratch(void)
{
	static char pages[CPUS][4096] __attribute__((aligned(4096)));

	return pages[this_cpu()->id];
}

static void set_gate(int number, const void *entry, uint8_t type)
{
	uint64_t address = (uint64_t)entry;

	idt[number] =
		(struct gate) { address, 0x08, 0, type, address >> 16, address >> 32, 0 };
}

static void set_gates(void)
{
	for (int i = 0; i < 256; i++)
		set_gate(i, stubs + 16 * i, 0x8e);
	set_gate(2, pmi_entry, 0x8e);
	set_gate(3, stubs + 16 * 3, 0xee);
	set_gate(0x80, stubs + 16 * 0x80, 0xee);
	set_gate(0x81, empty_entry, 0xee); /* for the program "calls" */
	set_gate(VECTOR_PMI, pmi_entry, 0x8e);
}

static void set_up_cpu(int id)
{
	struct cpu *cpu = &cpus[id];
	struct task_state *task = &task_states[id];
	uint64_t base = (uint64_t)task, *descriptor = &gdt[TSS / 8 + 2 * id];
	struct {
		uint16_t limit;
		const void *base;
	} __attribute__((packed)) pointer = { sizeof(idt) - 1, idt };

	cpu->id = id;
	cpu->user_stack = (uint64_t)user_stacks[id] + sizeof(user_stacks[id]);
	cpu_pointers[id] = cpu;
	wrmsr(GS_BASE, (uint64_t)&cpu_pointers[id]);
	task->rsp[0] = (uint64_t)trap_stacks[id] + sizeof(trap_stacks[id]);
	descriptor[0] = (sizeof(*task) - 1) | (base & 0xffffff) << 16 | 0x89ULL << 40 |
			(base >> 24 & 0xff) << 56;
	descriptor[1] = base >> 32;
	__asm__ volatile("lidt %0; ltr %w1" : : "m"(pointer), "r"(TSS + 16 * id));
	apic_write(APIC_SPURIOUS, 0x1ff);
}

/* [SDM3] 9.4.4.1: INIT, and the page where it is to begin */
static void wake_second(void)
{
	char *to = (char *)0x8000;

	for (const char *from = trampoline; from < trampoline_end; from++)
		*to++ = *from;
	apic_write(APIC_COMMAND_HIGH, 1 << 24);
	apic_write(APIC_COMMAND, 0x4500);
	apic_write(APIC_COMMAND, 0x4608);
	while (!second_is_up)
		__builtin_ia32_pause();
}

/* Both are there when either goes on. */
static void meet(volatile int *arrived)
{
	__atomic_add_fetch(arrived, 1, __ATOMIC_SEQ_CST);
	while (*arrived < cpu_count)
		__builtin_ia32_pause();
}

/* The first code in long mode, on each CPU. Called by start.S. */
void begin(int id)
{
	if (id == 0) {
		set_gates();
		out(0x21, 0xff); /* no interrupts of the two PICs */
		out(0xa1, 0xff);
		cpu_count = cpuid(1).ebx >> 16 & 0xff;
	}
	set_up_cpu(id);
	second_is_up = id;
	if (id == 0 && cpu_count > 1)
		wake_second();
	meet(&at_begin);
	test_all();
	meet(&at_end);
	if (id == 0)
		out(EXIT_PORT, failed ? 17 : 16);
	for (;;)
		__asm__ volatile("cli; hlt");
}
