/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "arch.h"

#include <errno.h>
#include <linux/kvm.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include "image.h"

#define CORE_REG(field)                                                                    \
	(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | KVM_REG_ARM_CORE_REG(field))
#define VBAR_EL1 ARM64_SYS_REG(3, 0, 12, 0, 0)

#define PSTATE_EL1H_MASKED 0x3c5ull /* EL1, its own stack pointer, DAIF set */

static int set_reg(int vcpu_fd, uint64_t id, uint64_t value)
{
	struct kvm_one_reg reg = { .id = id, .addr = (uintptr_t)&value };

	return ioctl(vcpu_fd, KVM_SET_ONE_REG, &reg) ? -errno : 0;
}

static int set_x(int vcpu_fd, unsigned int n, uint64_t value)
{
	/* registers are numbered in units of 32 bits */
	return set_reg(vcpu_fd, CORE_REG(regs.regs[0]) + 2 * n, value);
}

static int vpmu_init(int vcpu_fd)
{
	struct kvm_device_attr attr = {
		.group = KVM_ARM_VCPU_PMU_V3_CTRL,
		.attr = KVM_ARM_VCPU_PMU_V3_INIT,
	};

	return ioctl(vcpu_fd, KVM_SET_DEVICE_ATTR, &attr) ? -errno : 0;
}

int arch_vm_init(int vm_fd, bool vpmu)
{
	(void)vm_fd;
	(void)vpmu;
	return 0;
}

int arch_vcpu_init(int vm_fd, int vcpu_fd, bool vpmu)
{
	struct kvm_vcpu_init init = { 0 };
	int ret;

	if (ioctl(vm_fd, KVM_ARM_PREFERRED_TARGET, &init))
		return -errno;
	if (vpmu)
		init.features[0] |= 1u << KVM_ARM_VCPU_PMU_V3;
	if (ioctl(vcpu_fd, KVM_ARM_VCPU_INIT, &init))
		return -errno;
	ret = vpmu ? vpmu_init(vcpu_fd) : 0;
	if (!ret)
		ret = set_reg(vcpu_fd, CORE_REG(regs.pstate), PSTATE_EL1H_MASKED);
	/* set from here, because KVM may emulate the guest's own write: not retired */
	if (!ret)
		ret = set_reg(vcpu_fd, VBAR_EL1, image_symbol("vectors"));
	if (!ret)
		ret = set_x(vcpu_fd, 19, EXIT_LAP);
	if (!ret)
		ret = set_x(vcpu_fd, 21, image_symbol("user_phase"));
	return ret;
}

int arch_vcpu_lap(int vcpu_fd, const struct lap *lap, bool first_lap)
{
	uint64_t entry = image_symbol(lap->entry);
	int ret = 0;

	for (unsigned int i = 0; i < 3 && !ret; i++)
		ret = set_x(vcpu_fd, i, lap->x[i]);
	if (ret)
		return ret;
	/*
	 * The store that ended the last lap is completed by the next KVM_RUN, which
	 * then adds 4 to the PC: so the PC is set once, and later laps are branched to.
	 */
	if (first_lap)
		return set_reg(vcpu_fd, CORE_REG(regs.pc), entry);
	return set_x(vcpu_fd, 20, entry);
}
