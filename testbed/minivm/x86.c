/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Long mode with its page tables in the image; registers as AMD's APM vol. 2 has them. */
#include "arch.h"

#include <errno.h>
#include <linux/kvm.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include "image.h"

#define MSR_STAR 0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_SFMASK 0xc0000084

#define KERNEL_CS 0x08ull /* SS is the next one; there is no table to load them from */
#define USER_BASE 0x10ull /* SYSRET takes 16 more for CS, 8 more for SS */

#define CR0_PE_WP_PG 0x80010001ull
#define CR4_PAE 0x20ull
#define EFER_SCE_LME_LMA 0x501ull
#define RFLAGS_MASKED 0x2ull

int arch_vm_init(int vm_fd, bool vpmu)
{
	struct kvm_enable_cap none = {
		.cap = KVM_CAP_PMU_CAPABILITY,
		.args = { KVM_PMU_CAP_DISABLE },
	};

	/* for a HLT to block inside KVM_RUN */
	if (ioctl(vm_fd, KVM_CREATE_IRQCHIP, 0))
		return -errno;
	/* kvm.enable_pmu=0 leaves nothing to take */
	vpmu = vpmu || !ioctl(vm_fd, KVM_CHECK_EXTENSION, KVM_CAP_PMU_CAPABILITY);
	return !vpmu && ioctl(vm_fd, KVM_ENABLE_CAP, &none) ? -errno : 0;
}

static int segments_init(int vcpu_fd)
{
	struct kvm_segment code = {
		.limit = UINT32_MAX,
		.selector = KERNEL_CS,
		.type = 11, /* readable, accessed */
		.present = 1,
		.s = 1,
		.l = 1,
		.g = 1,
	};
	struct kvm_segment data = {
		.limit = UINT32_MAX,
		.selector = KERNEL_CS + 8,
		.type = 3, /* writable, accessed */
		.present = 1,
		.s = 1,
		.db = 1,
		.g = 1,
	};
	struct kvm_sregs sregs;

	if (ioctl(vcpu_fd, KVM_GET_SREGS, &sregs))
		return -errno;
	sregs.cs = code;
	sregs.ds = sregs.es = sregs.fs = sregs.gs = sregs.ss = data;
	sregs.cr0 = CR0_PE_WP_PG;
	sregs.cr3 = image_symbol("page_tables");
	sregs.cr4 = CR4_PAE;
	sregs.efer = EFER_SCE_LME_LMA;
	return ioctl(vcpu_fd, KVM_SET_SREGS, &sregs) ? -errno : 0;
}

/* Where SYSCALL goes, which also masks all flags, and SYSRET. */
static int syscall_init(int vcpu_fd)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry msr[3];
	} msrs = {
		.head.nmsrs = 3,
		.msr = {
			{ .index = MSR_STAR, .data = KERNEL_CS << 32 | USER_BASE << 48 },
			{ .index = MSR_LSTAR, .data = image_symbol("from_user") },
			{ .index = MSR_SFMASK, .data = UINT32_MAX },
		},
	};
	int set = ioctl(vcpu_fd, KVM_SET_MSRS, &msrs);

	return set < 0 ? -errno : set == 3 ? 0 : -EINVAL;
}

int arch_vcpu_init(int vm_fd, int vcpu_fd, bool vpmu)
{
	/* all but the first would wait for another one's interrupt */
	struct kvm_mp_state running = { .mp_state = KVM_MP_STATE_RUNNABLE };
	int ret;

	(void)vm_fd;
	(void)vpmu;
	if (ioctl(vcpu_fd, KVM_SET_MP_STATE, &running))
		return -errno;
	ret = segments_init(vcpu_fd);
	return ret ? ret : syscall_init(vcpu_fd);
}

int arch_vcpu_lap(int vcpu_fd, const struct lap *lap, bool first_lap)
{
	uint64_t entry = image_symbol(lap->entry);
	struct kvm_regs regs;

	if (ioctl(vcpu_fd, KVM_GET_REGS, &regs))
		return -errno;
	regs.rax = lap->x[0];
	regs.rbx = lap->x[1];
	regs.rdx = lap->x[2];
	regs.r8 = EXIT_LAP;
	regs.r9 = entry;
	regs.r10 = image_symbol("user_phase");
	/* later laps are branched to, from behind the store that ended the last one */
	if (first_lap) {
		regs.rip = entry;
		regs.rflags = RFLAGS_MASKED;
	}
	return ioctl(vcpu_fd, KVM_SET_REGS, &regs) ? -errno : 0;
}
