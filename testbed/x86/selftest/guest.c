/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AMD's host and guest bits, samples of a guest, and interrupts that wait for its host. */
#include "counters.h"
#include "programs.h"
#include "tests.h"

#define EFER 0xc0000080
#define EFER_SVME (1 << 12)
#define HOST_SAVE 0xc0010117

#define EXIT_INTERRUPT 0x60
#define EXIT_NMI 0x61
#define EXIT_VMMCALL 0x81

/* [APM2] appendix B, as far as it is used */
struct segment {
	uint16_t selector, attributes;
	uint32_t limit;
	uint64_t base;
};

struct vmcb {
	uint32_t reserved0[3], intercepts1, intercepts2;
	uint32_t reserved1[17], asid, reserved2, interrupts, reserved3[3];
	uint64_t exit_code, reserved4[113];
	struct segment es, cs, ss, ds, fs, gs, gdtr, ldtr, idtr, tr;
	uint8_t reserved5[43], cpl, reserved6[4];
	uint64_t efer, reserved7[14];
	uint64_t cr4, cr3, cr0, dr7, dr6, rflags, rip, reserved8[11], rsp, reserved9[3],
		rax;
	uint8_t reserved10[0x1000 - 0x600];
};
_Static_assert(sizeof(struct vmcb) == 0x1000, "a page");
_Static_assert(__builtin_offsetof(struct vmcb, exit_code) == 0x70, "the exit code's place");
_Static_assert(__builtin_offsetof(struct vmcb, es) == 0x400, "the state's place");
_Static_assert(__builtin_offsetof(struct vmcb, rip) == 0x578,
	       "the program counter's place");

#define ROUNDS 40000 /* one to three seconds */

struct registers {
	uint64_t rcx, rdx, rdi, rsi;
};

extern char guest_begin[];
void enter_guest(struct vmcb *vmcb, struct registers *registers);

static struct vmcb vmcbs[CPUS] __attribute__((aligned(4096)));
static char host_saves[CPUS][4096] __attribute__((aligned(4096)));
static char guest_stacks[CPUS][4096] __attribute__((aligned(16)));

static uint64_t read_cr(int number)
{
	uint64_t value;

	if (number == 0)
		__asm__ volatile("mov %%cr0, %0" : "=r"(value));
	else if (number == 3)
		__asm__ volatile("mov %%cr3, %0" : "=r"(value));
	else
		__asm__ volatile("mov %%cr4, %0" : "=r"(value));
	return value;
}

static struct vmcb *set_up_guest(int cpl)
{
	int id = this_cpu()->id;
	struct vmcb *vmcb = &vmcbs[id];

	*vmcb = (struct vmcb) {
		.intercepts1 = 1 << 1,		/* NMI */
		.intercepts2 = 1 << 0 | 1 << 1, /* VMRUN, VMMCALL */
		.asid = 1,
		.cs = { cpl ? 0x2b : 0x08, cpl ? 0x2fb : 0x29b, -1, 0 },
		.ss = { cpl ? 0x23 : 0x10, cpl ? 0xcf3 : 0xc93, -1, 0 },
		.ds = { 0x10, 0xc93, -1, 0 },
		.es = { 0x10, 0xc93, -1, 0 },
		.cpl = cpl,
		.efer = rdmsr(EFER),
		.cr4 = read_cr(4),
		.cr3 = read_cr(3),
		.cr0 = read_cr(0),
		.dr7 = 0x400,
		.dr6 = 0xffff0ff0,
		.rflags = 2,
		.rip = (uint64_t)guest_begin,
		.rsp = (uint64_t)guest_stacks[id] + sizeof(guest_stacks[id]),
	};
	return vmcb;
}

/* The guest's instructions are a call and the program. */
static uint64_t guest_length(uint64_t laps)
{
	return 1 + kernel_length(&mixed_program, laps);
}

static uint64_t run_guest(uint64_t select, int cpl, uint64_t laps)
{
	struct registers registers = { .rdi = laps, .rsi = (uint64_t)scratch() };
	struct vmcb *vmcb = set_up_guest(cpl);

	counter_start(0, select, 0);
	enter_guest(vmcb, &registers);
	check("the guest's exit", vmcb->exit_code, EXIT_VMMCALL);
	return counter_stop(0);
}

static void sides(uint64_t event)
{
	uint64_t both = USER | OS, host, all, length = guest_length(1000);

	expect("the guest alone, at CPL 0", run_guest(event | both | GUEST_ONLY, 0, 1000),
	       length);
	expect("the guest alone, at CPL 3", run_guest(event | both | GUEST_ONLY, 3, 1000),
	       length);
	expect("its CPL 3", run_guest(event | USER | GUEST_ONLY, 3, 1000), length);
	expect("its CPL 3 is not its CPL 0", run_guest(event | OS | GUEST_ONLY, 3, 1000),
	       0);
	expect("its CPL 0 is not its CPL 3", run_guest(event | USER | GUEST_ONLY, 0, 1000),
	       0);
	host = run_guest(event | both | HOST_ONLY, 0, 10);
	expect("the host alone, whatever the guest does",
	       run_guest(event | both | HOST_ONLY, 0, 1000), host);
	all = run_guest(event | both, 0, 1000);
	expect("both, without the bits", all, host + length);
	expect("both, with both bits",
	       run_guest(event | both | GUEST_ONLY | HOST_ONLY, 0, 1000), all);
}

/* Where the guest is when the host is told: what a hypervisor takes a sample from. */
static void samples_the_guest(uint64_t event, uint64_t period)
{
	uint64_t laps = 300 * period / lap_of(&mixed_program) + 1, exits = 0, astray = 0;
	struct registers registers = { .rdi = laps, .rsi = (uint64_t)scratch() };
	const uint64_t *table = mixed_program.table;
	struct vmcb *vmcb = set_up_guest(0);
	struct samples *samples;

	samples = samples_start(0, event | USER | OS | GUEST_ONLY, period, true);
	for (;;) {
		enter_guest(vmcb, &registers);
		if (vmcb->exit_code != EXIT_NMI)
			break;
		exits++;
		if (exits * period <= guest_length(laps) - 2)
			astray += vmcb->rip !=
				  table[(exits * period - 1) % lap_of(&mixed_program)];
	}
	samples_stop();
	check("the guest's last exit", vmcb->exit_code, EXIT_VMMCALL);
	check("samples", samples->count, guest_length(laps) / period);
	check("exits", exits, samples->count);
	expect("all samples of the guest, none elsewhere", astray, 0);
}

static volatile bool restoring, done;

static void restore_until_done(void)
{
	char *page = scratch();

	__asm__ volatile("fnstenv (%0)" : : "r"(page) : "memory");
	restoring = true;
	while (!done)
		__asm__ volatile(".rept 16; fldenv (%0); .endr" : : "r"(page) : "memory");
}

/*
 * An interrupt ends the guest each time, and the host never takes it, whatever another CPU
 * does: QEMU's FLDENV there, and FXRSTOR, may write this one's flags. That shows only while
 * the two threads of QEMU run at once, each on a core of the real machine.
 */
static void waits_for_the_host(void)
{
	struct registers registers = { .rdi = 1, .rsi = (uint64_t)scratch() };
	struct vmcb *vmcb = set_up_guest(0);
	struct cpu *cpu = this_cpu();
	uint64_t others = 0;

	while (!restoring)
		__builtin_ia32_pause();
	vmcb->intercepts1 |= 1 << 0; /* INTR */
	vmcb->interrupts |= 1 << 24; /* V_INTR_MASKING */
	for (int i = 0; i < ROUNDS; i++) {
		apic_write(APIC_COMMAND, APIC_TO_ITSELF | VECTOR_OWN);
		enter_guest(vmcb, &registers);
		others += vmcb->exit_code != EXIT_INTERRUPT;
	}
	done = true;
	expect("an interrupt ends the guest", others, 0);
	expect("the host that switched it off does not take it, whatever another CPU does",
	       cpu->interrupts, 0);
	__asm__ volatile("sti; nop; cli" : : : "memory");
	expect("once it is on it does", cpu->interrupts, 1);
}

void test_guest(void)
{
	uint64_t event = find_pmu()->instructions;

	if (find_pmu()->intel)
		return;
	this_cpu()->subject = "SVM";
	counter_start(0, event | USER | OS | GUEST_ONLY | HOST_ONLY, 0);
	run_user(mixed_user, 10UL, scratch());
	expect("without EFER.SVME the bits let nothing be counted", counter_stop(0), 0);
	wrmsr(EFER, rdmsr(EFER) | EFER_SVME);
	wrmsr(HOST_SAVE, (uint64_t)host_saves[this_cpu()->id]);
	sides(event);
	samples_the_guest(event, 101);
	samples_the_guest(event, 7);
	if ((cpuid(1).ebx >> 16 & 0xff) > 1) {
		if (this_cpu()->id == 0)
			waits_for_the_host();
		else
			restore_until_done();
	}
	wrmsr(EFER, rdmsr(EFER) & ~EFER_SVME);
}
