/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a guest has a PMU of its own, and of what kind. Nobody tells outright:
 * the VMM's command line says whether the guest gets one, KVM's module
 * parameters (arch/x86/kvm/x86.c) of what kind it then is.
 */
#include <string.h>

#include "base/vec.h"
#include "source/kvm/discover.h"

/* A boolean module parameter of whichever module has it: 'Y', 'N', or 0. */
static char parameter(const struct rootfs *root, const char *name)
{
	static const char *const modules[] = { "kvm", "kvm_intel", "kvm_amd" };
	char value[16];

	for (size_t i = 0; i < ARRAY_SIZE(modules); i++)
		if (rootfs_read(root, value, sizeof(value), "sys/module/%s/parameters/%s",
				modules[i], name) > 0)
			return *value == 'Y' || *value == '1' ? 'Y' : 'N';
	return 0;
}

enum vpmu_kind vpmu_of_host(const struct rootfs *root)
{
	if (parameter(root, "enable_pmu") == 'N')
		return VPMU_NONE;
	return parameter(root, "enable_mediated_pmu") == 'Y' ? VPMU_MEDIATED : VPMU_PERF;
}

static enum vpmu_kind given(const struct source *src, const struct program *prog,
			    const char **why)
{
	const struct vmm_row *row = prog->row;
	bool arm = !strcmp(src->machine.arch, "aarch64");

	if (qemu_runs(prog)) {
		enum vpmu_kind kind = qemu_vpmu(prog, why);

		if (kind != VPMU_NONE || !rootfs_exists(&src->root, "sys/module/kvm_amd"))
			return kind;
		/* KVM_CAP_PMU_CAPABILITY alone takes them: Linux, virt/kvm/api.rst */
		*why = "QEMU's -cpu says pmu=off, but AMD's first four counters stay "
		       "unless QEMU asks KVM to take them too, which 10.0 and older do not";
		return VPMU_UNKNOWN;
	}
	if (row && row->pmu_off && program_flag(prog, row->pmu_off)) {
		*why = "the VMM's command line switches the guest's PMU off";
		return VPMU_NONE;
	}
	if (row && row->pmu_on_arm && arm) {
		bool on = program_flag(prog, row->pmu_on_arm);

		*why = on ? "the VMM's command line gives the guest a PMU"
			  : "the VMM's command line does not ask for a PMU";
		return on ? VPMU_PERF : VPMU_NONE;
	}
	*why = "the VMM's command line does not say";
	return VPMU_UNKNOWN;
}

void vpmu_tell(const struct source *src, const struct program *prog, struct vm *vm)
{
	if (vm->accel == ACCEL_TCG) {
		vm->vpmu = VPMU_UNKNOWN;
		vm->vpmu_why = "an emulator has no PMU but one that it emulates itself";
		return;
	}
	if (src->host_vpmu == VPMU_NONE) {
		vm->vpmu = VPMU_NONE;
		vm->vpmu_why = "KVM's module parameter enable_pmu is off";
		return;
	}
	vm->vpmu = given(src, prog, &vm->vpmu_why);
	if (vm->vpmu == VPMU_PERF && src->host_vpmu == VPMU_MEDIATED) {
		vm->vpmu = VPMU_MEDIATED;
		vm->vpmu_why = "KVM's module parameter enable_mediated_pmu is on";
	}
}
