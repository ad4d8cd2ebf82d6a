/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test VMM: VMs whose every guest instruction is known. See ../README.md. */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "image.h"
#include "vm.h"

#define NEVER UINT64_MAX

struct settings {
	struct vm_options vm;
	const char *name;
	const char *symbols;
	unsigned int vcpus;
	bool wait;
	uint64_t add_vcpu_ms, die_ms, linger_ms;
};

/* How VMMs name their vCPU threads. */
static const struct {
	const char *vmm, *format;
} thread_names[] = {
	{ "none", NULL },
	{ "qemu", "CPU %u/KVM" },
	{ "firecracker", "fc_vcpu %u" },
	{ "cloud-hypervisor", "vcpu%u" },
	{ "crosvm", "crosvm_vcpu%u" },
	{ "kvmtool", "kvm-vcpu-%u" },
};

/* clang-format off */
enum option_id {
	OPT_NAME = 256, OPT_VCPUS, OPT_PROGRAM, OPT_INSNS, OPT_ROUNDS, OPT_RATIO,
	OPT_FOOTPRINT,
	OPT_REPEAT, OPT_PAUSE, OPT_WAIT, OPT_LINGER, OPT_ADD_VCPU, OPT_DIE,
	OPT_THREAD_NAMES, OPT_MEMORY, OPT_NODE, OPT_CPU, OPT_UNTOUCHED, OPT_SYMBOLS,
	OPT_HELP,
};

static const struct {
	int id;
	const char *name, *argument, *help;
} options[] = {
	{OPT_NAME, "name", "NAME", "what to call the VM (minivm)"},
	{OPT_VCPUS, "vcpus", "N", "vCPUs, each running the program (1)"},
	{OPT_PROGRAM, "program", "PROGRAM", "see below (loop)"},
	{OPT_INSNS, "insns", "N", "guest instructions per vCPU and lap (10000000)"},
	{OPT_ROUNDS, "rounds", "N", "rounds per lap of two and phases (19)"},
	{OPT_RATIO, "ratio", "A:B", "shares of the two functions or phases (9:1)"},
	{OPT_FOOTPRINT, "footprint", "KB", "what sweep reads (64)"},
	{OPT_REPEAT, "repeat", "N", "laps; 0: until stopped (1)"},
	{OPT_PAUSE, "pause", "MS", "sleep between laps, outside the guest"},
	{OPT_WAIT, "wait", NULL, "start on SIGUSR1, the VM being there already"},
	{OPT_LINGER, "linger", "MS", "keep the VM afterwards; 0: until SIGUSR1"},
	{OPT_ADD_VCPU, "add-vcpu-after", "MS", "add one vCPU so long after the start"},
	{OPT_DIE, "die-after", "MS", "SIGKILL itself so long after the start"},
	{OPT_THREAD_NAMES, "thread-names", "VMM", "none, qemu, firecracker, crosvm, …"},
	{OPT_MEMORY, "memory", "MB", "guest memory, all resident (2)"},
	{OPT_NODE, "node", "N", "NUMA node of the memory"},
	{OPT_CPU, "cpu", "HOST", "host,pmu=on: with a virtual PMU, as QEMU has it"},
	{OPT_UNTOUCHED, "untouched", NULL, "no KVM_RUN before the start"},
	{OPT_SYMBOLS, "write-symbols", "FILE", "write the guest's ELF file and exit"},
	{OPT_HELP, "help", NULL, "this"},
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void usage(void)
{
	printf("usage: minivm [option …]\n\n");
	for (size_t i = 0; i < COUNT(options); i++) {
		char left[48];

		snprintf(left, sizeof(left), "--%s %s", options[i].name,
			 options[i].argument ? options[i].argument : "");
		printf("  %-22s %s\n", left, options[i].help);
	}
	printf("\nprograms:\n");
	for (unsigned int i = 0; program_at(i); i++)
		printf("  %-22s %s\n", program_at(i)->name, program_at(i)->help);
	printf("\nSIGTERM and SIGINT stop the vCPUs and end it. Each vCPU's exact counts "
	       "are printed.\n");
}

static uint64_t number(const char *text, uint64_t most)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || value > most)
		errx(2, "%s: not a number up to %" PRIu64, text, most);
	return value;
}

static const char *thread_name(const char *vmm)
{
	for (size_t i = 0; i < COUNT(thread_names); i++)
		if (!strcmp(thread_names[i].vmm, vmm))
			return thread_names[i].format;
	errx(2,
	     "%s: thread names are those of none, qemu, firecracker, cloud-hypervisor, "
	     "crosvm or kvmtool",
	     vmm);
}

/* QEMU's word for it, so that who looks at command lines finds what it knows. */
static bool with_vpmu(const char *cpu)
{
	bool on = !strcmp(cpu, "host,pmu=on");

	if (!on && strcmp(cpu, "host,pmu=off"))
		errx(2, "%s: host,pmu=on or host,pmu=off", cpu);
	return on;
}

static void set_option(struct settings *set, int option, const char *value)
{
	struct vm_options *vm = &set->vm;

	switch (option) {
	case OPT_NAME: set->name = value; break;
	case OPT_VCPUS: set->vcpus = number(value, MAX_VCPUS); break;
	case OPT_PROGRAM:
		vm->program = program_find(value);
		if (!vm->program)
			errx(2, "%s: no such program", value);
		break;
	case OPT_INSNS: vm->shape.insns = number(value, UINT64_MAX); break;
	case OPT_ROUNDS: vm->shape.rounds = number(value, UINT64_MAX); break;
	case OPT_RATIO:
		if (sscanf(value, "%u:%u", &vm->shape.first, &vm->shape.second) != 2)
			errx(2, "%s: not a ratio such as 9:1", value);
		break;
	case OPT_FOOTPRINT: vm->shape.footprint = number(value, 1 << 20) << 10; break;
	case OPT_REPEAT: vm->laps = number(value, UINT64_MAX); break;
	case OPT_PAUSE: vm->pause_ms = number(value, UINT32_MAX); break;
	case OPT_WAIT: set->wait = true; break;
	case OPT_LINGER:
		set->linger_ms = number(value, UINT32_MAX);
		if (!set->linger_ms)
			set->linger_ms = NEVER;
		break;
	case OPT_ADD_VCPU: set->add_vcpu_ms = number(value, UINT32_MAX); break;
	case OPT_DIE: set->die_ms = number(value, UINT32_MAX); break;
	case OPT_THREAD_NAMES: vm->thread_name = thread_name(value); break;
	case OPT_MEMORY: vm->memory_mb = number(value, 1 << 20); break;
	case OPT_NODE: vm->node = number(value, 63); break;
	case OPT_CPU: vm->vpmu = with_vpmu(value); break;
	case OPT_UNTOUCHED: vm->untouched = true; break;
	case OPT_SYMBOLS: set->symbols = value; break;
	case OPT_HELP: usage(); exit(0);
	default: exit(2);
	}
}

static void parse(struct settings *set, int argc, char **argv)
{
	struct option table[COUNT(options) + 1] = { 0 };
	struct lap lap = { 0 };
	int option;

	for (size_t i = 0; i < COUNT(options); i++)
		table[i] = (struct option) {
			.name = options[i].name,
			.has_arg = options[i].argument ? required_argument : no_argument,
			.val = options[i].id,
		};
	while ((option = getopt_long(argc, argv, "", table, NULL)) != -1)
		set_option(set, option, optarg);
	if (optind < argc)
		errx(2, "%s: not an option", argv[optind]);
	if (set->vm.program->plan(&set->vm.shape, true, &lap))
		errx(2, "--insns is too small for %s with its rounds and ratio",
		     set->vm.program->name);
	if (IMAGE_SIZE + set->vm.shape.footprint > set->vm.memory_mb << 20)
		errx(2, "--footprint is too large for --memory, of which the program "
			"takes 1 MB");
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static sigset_t signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGNAL_FINISHED);
	return set;
}

/* The next signal, or 0 once the deadline has passed. */
static int next_signal(uint64_t deadline)
{
	sigset_t set = signals();

	for (;;) {
		uint64_t now = now_ms();
		uint64_t left = now < deadline ? deadline - now : 0;
		struct timespec timeout = { .tv_sec = left / 1000,
					    .tv_nsec = left % 1000 * 1000000 };
		int signal = sigtimedwait(&set, NULL, deadline == NEVER ? NULL : &timeout);

		if (signal > 0)
			return signal;
		if (errno == EAGAIN)
			return 0;
	}
}

/* False where it was told to end instead. */
static bool wait_for_usr1(uint64_t deadline)
{
	int signal;

	do {
		signal = next_signal(deadline);
	} while (signal == SIGNAL_FINISHED);
	return signal == SIGUSR1 || !signal;
}

static uint64_t after(uint64_t start, uint64_t ms)
{
	return ms == NEVER ? NEVER : start + ms;
}

static void run(struct settings *set, struct vm *vm)
{
	uint64_t start = now_ms();
	uint64_t add = after(start, set->add_vcpu_ms);
	uint64_t die = after(start, set->die_ms);
	bool waits_to_add = add != NEVER;

	vm_start(vm);
	while (!vm_finished(vm) || (waits_to_add && !vm->stop)) {
		int signal = next_signal(add < die ? add : die);

		if (signal == SIGTERM || signal == SIGINT)
			vm_stop(vm);
		if (now_ms() >= die)
			kill(getpid(), SIGKILL);
		if (now_ms() >= add) {
			add = NEVER;
			waits_to_add = false;
			if (vm_add_vcpu(vm))
				errx(1, "could not add a vCPU");
			printf("minivm: added name=%s vcpu=%u tid=%d\n", set->name,
			       vm->vcpus - 1, vm->vcpu[vm->vcpus - 1]->tid);
		}
	}
}

static void print_ready(const struct settings *set, const struct vm *vm)
{
	struct lap first = { 0 }, later = { 0 };
	uint64_t more = set->vm.laps ? set->vm.laps - 1 : 0;

	set->vm.program->plan(&set->vm.shape, true, &first);
	set->vm.program->plan(&set->vm.shape, false, &later);
	for (unsigned int i = 0; i < vm->vcpus; i++)
		printf("minivm: ready name=%s pid=%d vcpu=%u tid=%d program=%s "
		       "laps=%" PRIu64 " insns=%" PRIu64 "\n",
		       set->name, getpid(), i, vm->vcpu[i]->tid, set->vm.program->name,
		       set->vm.laps,
		       first.kernel + first.user + more * (later.kernel + later.user));
}

static const char *const state_names[] = {
	[VCPU_WAITING] = "waiting",   [VCPU_RUNNING] = "running",
	[VCPU_FINISHED] = "finished", [VCPU_STOPPED] = "stopped",
	[VCPU_FAILED] = "failed",
};

/* False where a vCPU failed. */
static bool print_done(const struct settings *set, const struct vm *vm)
{
	bool well = true;

	for (unsigned int i = 0; i < vm->vcpus; i++) {
		const struct vcpu *v = vm->vcpu[i];

		printf("minivm: done name=%s vcpu=%u tid=%d program=%s state=%s "
		       "laps=%" PRIu64 " insns=%" PRIu64 " kernel=%" PRIu64 " user=%" PRIu64
		       " hot=%" PRIu64 " cold=%" PRIu64 " own=%" PRIu64 "\n",
		       set->name, v->id, v->tid, set->vm.program->name,
		       state_names[v->state], v->laps, v->kernel + v->user, v->kernel,
		       v->user, v->hot, v->cold, v->own);
		well = well && v->state != VCPU_FAILED;
	}
	return well;
}

int main(int argc, char **argv)
{
	struct settings set = {
		.vm = {
			.program = program_find("loop"),
			.shape = {
				.insns = 10000000,
				/* a twentieth would beat with sampling periods of 10^n */
				.rounds = 19,
				.first = 9,
				.second = 1,
				.footprint = 64 << 10,
			},
			.laps = 1,
			.memory_mb = 2,
			.node = -1,
		},
		.name = "minivm",
		.vcpus = 1,
		.add_vcpu_ms = NEVER,
		.die_ms = NEVER,
	};
	static struct vm vm;
	sigset_t blocked = signals();
	int ret;

	parse(&set, argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (set.symbols) {
		ret = image_write(set.symbols);
		if (ret)
			errx(1, "%s: %s", set.symbols, strerror(-ret));
		return 0;
	}

	/* before any thread exists, so that all inherit it: only this one takes them */
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	if (vm_create(&vm, &set.vm))
		return 1;
	for (unsigned int i = 0; i < set.vcpus; i++)
		if (vm_add_vcpu(&vm))
			return 1;
	print_ready(&set, &vm);
	if (set.wait && !wait_for_usr1(NEVER))
		return 0;
	run(&set, &vm);
	ret = print_done(&set, &vm) ? 0 : 1;
	if (set.linger_ms && !vm.stop)
		wait_for_usr1(after(now_ms(), set.linger_ms));
	return ret;
}
