/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What QEMU's command line says of its guest; see qemu(1) and QEMU's qemu-options.hx. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "source/kvm/discover.h"

#define QEMU_CPUS_MAX 4096

bool qemu_runs(const struct program *prog)
{
	return prog->row && !strcmp(prog->row->vmm, "qemu");
}

/* Copies one element, ",," as ","; returns where the next one starts, NULL at the end. */
static const char *next_element(const char *s, char *out, size_t size)
{
	size_t n = 0;

	for (; *s; s++) {
		if (*s == ',' && *++s != ',')
			break;
		if (n + 1 < size)
			out[n++] = *s;
	}
	out[n] = '\0';
	return *s ? s : NULL;
}

bool qemu_value(const char *options, const char *key, bool implied, char *out, size_t size)
{
	size_t len = strlen(key);
	char element[512];

	for (const char *s = options; s;) {
		bool first = s == options;

		s = next_element(s, element, sizeof(element));
		if (!strncmp(element, key, len) && element[len] == '=') {
			str_copy(out, size, element + len + 1);
			return true;
		}
		if (first && implied && !strchr(element, '=')) {
			str_copy(out, size, element);
			return true;
		}
	}
	return false;
}

/* Accelerators can be listed, "kvm:tcg": then the later ones are for when KVM is not there.
 */
static bool asks_for_kvm(const struct program *prog)
{
	static const char *const options[] = { "accel", "machine", "M" };
	bool kvm = program_flag(prog, "enable-kvm");

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const char *value = program_option(prog, options[i]);
		char accel[64];

		if (!value || !qemu_value(value, "accel", i == 0, accel, sizeof(accel)))
			continue;
		if (strstr(accel, "tcg"))
			return false;
		kvm = kvm || strstr(accel, "kvm");
	}
	return kvm;
}

/* libvirt starts QEMUs with no machine to ask what they can; Xen to serve its own VMs. */
static bool has_no_guest(const struct program *prog)
{
	const char *machine = program_option(prog, "machine");
	char type[16];

	if (!machine)
		machine = program_option(prog, "M");
	return (machine && qemu_value(machine, "type", true, type, sizeof(type)) &&
		!strcmp(type, "none")) ||
	       program_flag(prog, "xen-domid") || program_flag(prog, "version") ||
	       program_flag(prog, "help");
}

bool qemu_emulates(const struct program *prog)
{
	return str_starts(prog->base, "qemu-system-") && !asks_for_kvm(prog) &&
	       !has_no_guest(prog);
}

size_t qemu_cpus(const struct program *prog)
{
	const char *value = program_option(prog, "smp");
	char cpus[16];
	uint64_t n;

	if (!value || !qemu_value(value, "cpus", true, cpus, sizeof(cpus)) ||
	    str_u64(cpus, 10, &n) || !n || n > QEMU_CPUS_MAX)
		return 1;
	return n;
}

enum vpmu_kind qemu_vpmu(const struct program *prog, const char **why)
{
	const char *cpu = program_option(prog, "cpu");
	char value[64];

	if (!cpu) {
		*why = "QEMU was not told which CPU to show the guest";
		return VPMU_UNKNOWN;
	}
	if (qemu_value(cpu, "pmu", false, value, sizeof(value))) {
		bool on = !strcmp(value, "on") || !strcmp(value, "yes") ||
			  !strcmp(value, "true");

		*why = on ? "QEMU's -cpu says pmu=on" : "QEMU's -cpu says pmu=off";
		return on ? VPMU_PERF : VPMU_NONE;
	}
	qemu_value(cpu, "model", true, value, sizeof(value));
	if (!strcmp(value, "host") || !strcmp(value, "max")) {
		*why = "QEMU's -cpu shows the host's CPU, PMU included";
		return VPMU_PERF;
	}
	*why = "QEMU's -cpu names a model that may or may not have a PMU";
	return VPMU_UNKNOWN;
}
