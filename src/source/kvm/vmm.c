/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What we know of VMMs, as a table. It gives VMs their names; whether a process
 * holds a VM is the kernel's word (fds.c), never this table's.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "source/kvm/discover.h"

/* A comm has 15 characters: where the executable cannot be read, names end there. */
static const struct vmm_row rows[] = {
	{ "qemu", { "qemu-system-*", "qemu-kvm", "kvm", "qemu" }, "name", NAME_QEMU },
	{ "firecracker", { "firecracker*" }, "id" },
	{ "cloud-hypervisor", { "cloud-hyperviso*" }, "api-socket", NAME_SOCKET },
	{ "crosvm", { "crosvm*" }, "name", NAME_WHOLE, .pmu_off = "no-pmu" },
	{ "kvmtool", { "lkvm*", "kvmtool*" }, "name", NAME_WHOLE, .pmu_on_arm = "pmu" },
};

/* vCPU threads; % is the number. The name alone makes no VM (see vcpus.c). */
static const struct {
	const char *pattern;
	bool tcg;
} thread_names[] = {
	{ "CPU %/KVM", false }, /* QEMU */
	{ "CPU %/TCG", true },	/* QEMU */
	{ "fc_vcpu %", false }, /* Firecracker, libkrun */
	{ "vcpu%", false },	/* cloud-hypervisor, Dragonball */
	{ "crosvm_vcpu%", false }, { "kvm-vcpu-%", false }, /* kvmtool */
	{ "vcpu-%", false },	   { "vcpu_%", false },	    { "vcpu %", false },
};

static int match_number(const char *pattern, const char *name)
{
	const char *percent = strchr(pattern, '%');
	size_t before = percent - pattern;
	char digits[8];
	size_t n;
	uint64_t v;

	if (strncmp(name, pattern, before))
		return -1;
	name += before;
	n = strspn(name, "0123456789");
	/* QEMU's "CPU 1000/KVM" fits into a comm, a longer name may be cut: then no match.
	 */
	if (!n || n >= sizeof(digits) || strcmp(name + n, percent + 1))
		return -1;
	memcpy(digits, name, n);
	digits[n] = '\0';
	return str_u64(digits, 10, &v) ? -1 : (int)v;
}

int vcpu_name_index(const char *comm, bool tcg)
{
	for (size_t i = 0; i < ARRAY_SIZE(thread_names); i++) {
		int v = -1;

		if (thread_names[i].tcg == tcg)
			v = match_number(thread_names[i].pattern, comm);
		if (v >= 0)
			return v;
	}
	return -1;
}

static void set_base(struct program *prog, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *deleted;

	str_copy(prog->base, sizeof(prog->base), slash ? slash + 1 : path);
	deleted = strstr(prog->base, " (deleted)");
	if (deleted)
		*deleted = '\0';
	str_clean(prog->base);
}

static void find_row(struct program *prog)
{
	prog->row = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rows) && !prog->row; i++)
		for (size_t k = 0; k < ARRAY_SIZE(rows[i].programs); k++)
			if (rows[i].programs[k] &&
			    !fnmatch(rows[i].programs[k], prog->base, 0))
				prog->row = &rows[i];
}

int program_find(const struct rootfs *root, pid_t pid, struct program *prog)
{
	char exe[4096];
	ssize_t n = rootfs_readlink(root, exe, sizeof(exe), "proc/%d/exe", pid);

	prog->len = 0;
	if (n == -ENOENT || n == -ESRCH)
		return -ENOENT;
	if (n < 0) {
		/* Not ours to read; the words are. A kernel thread has none. */
		program_args(root, pid, prog);
		if (!prog->len)
			return -ENOENT;
	}
	set_base(prog, n < 0 ? prog->args : exe);
	find_row(prog);
	return 0;
}

void program_args(const struct rootfs *root, pid_t pid, struct program *prog)
{
	ssize_t n;

	if (prog->len)
		return;
	n = rootfs_read_head(root, prog->args, sizeof(prog->args), "proc/%d/cmdline", pid);
	prog->len = n > 0 ? n : 0;
	prog->args[prog->len] = '\0';
}

const char *program_word(const struct program *prog, const char *word)
{
	const char *next = word ? word + strlen(word) + 1 : prog->args;

	return next < prog->args + prog->len ? next : NULL;
}

/* What follows the dashes of an option; NULL if @word is none. */
static const char *option_name(const char *word)
{
	return *word != '-' ? NULL : word + 1 + (word[1] == '-');
}

bool program_flag(const struct program *prog, const char *name)
{
	const char *word = NULL;

	while ((word = program_word(prog, word))) {
		const char *s = option_name(word);

		if (s && !strcmp(s, name))
			return true;
	}
	return false;
}

const char *program_option(const struct program *prog, const char *name)
{
	const char *value = NULL, *word = NULL;
	size_t len = strlen(name);

	while ((word = program_word(prog, word))) {
		const char *s = option_name(word);

		if (!s || strncmp(s, name, len))
			continue;
		if (s[len] == '=') {
			value = s + len + 1;
		} else if (!s[len]) {
			word = program_word(prog, word);
			if (!word)
				break;
			value = word;
		}
	}
	return value;
}

/* The name of a socket's file, "web" of "path=/run/web.sock". */
static void name_of_socket(const char *value, char *out, size_t size)
{
	char path[512], *base, *dot;

	*out = '\0';
	if (!qemu_value(value, "path", true, path, sizeof(path)))
		return;
	base = strrchr(path, '/');
	base = base ? base + 1 : path;
	dot = strrchr(base, '.');
	if (dot && dot > base)
		*dot = '\0';
	str_copy(out, size, base);
}

void program_name(const struct program *prog, const char *comm, struct vm *vm)
{
	/* a VMM that nobody knows is asked for what most call it */
	static const struct vmm_row unknown = { NULL, { NULL }, "name", NAME_WHOLE };
	const struct vmm_row *row = prog->row ? prog->row : &unknown;
	const char *value = program_option(prog, row->name_option);

	vm->name[0] = '\0';
	str_copy(vm->vmm, sizeof(vm->vmm),
		 row->vmm      ? row->vmm
		 : *prog->base ? prog->base
			       : comm);
	if (value && row->form == NAME_WHOLE)
		str_copy(vm->name, sizeof(vm->name), value);
	else if (value && row->form == NAME_QEMU)
		qemu_value(value, "guest", true, vm->name, sizeof(vm->name));
	else if (value && row->form == NAME_SOCKET)
		name_of_socket(value, vm->name, sizeof(vm->name));
	if (!*vm->name)
		snprintf(vm->name, sizeof(vm->name), "%s-%d",
			 row->vmm ? row->vmm
			 : *comm  ? comm
				  : vm->vmm,
			 vm->pid);
	str_clean(vm->name);
}
