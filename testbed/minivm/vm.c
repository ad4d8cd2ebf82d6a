/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch.h"
#include "image.h"

#define SIGNAL_KICK SIGUSR2
#define MPOL_BIND 2 /* linux/mempolicy.h, which libc headers do not carry */

static int failed(const char *what)
{
	int error = errno;

	fprintf(stderr, "minivm: %s: %s\n", what, strerror(error));
	return -error;
}

static void on_kick(int signal)
{
	(void)signal; /* its arrival alone ends KVM_RUN */
}

static int memory_create(struct vm *vm)
{
	size_t size = vm->options.memory_mb << 20;
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = IMAGE_BASE,
		.memory_size = size,
	};

	vm->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	if (vm->memory == MAP_FAILED)
		return failed("guest memory");
	if (vm->options.node >= 0) {
		unsigned long nodes = 1ul << vm->options.node;

		if (syscall(SYS_mbind, vm->memory, size, MPOL_BIND, &nodes,
			    8 * sizeof(nodes), 0))
			return failed("binding memory to its node");
	}
	/* all of it resident, so that numa_maps shows a true size */
	memset(vm->memory, 0, size);
	region.userspace_addr = (uintptr_t)vm->memory;
	if (ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &region))
		return failed("KVM_SET_USER_MEMORY_REGION");
	return image_load(vm->memory, size);
}

int vm_create(struct vm *vm, const struct vm_options *options)
{
	struct sigaction kick = { .sa_handler = on_kick };
	int ret;

	memset(vm, 0, sizeof(*vm));
	vm->options = *options;
	vm->owner = pthread_self();
	pthread_mutex_init(&vm->lock, NULL);
	pthread_cond_init(&vm->started, NULL);
	sigaction(SIGNAL_KICK, &kick, NULL);

	vm->kvm_fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->kvm_fd < 0)
		return failed("/dev/kvm");
	vm->fd = ioctl(vm->kvm_fd, KVM_CREATE_VM, 0);
	if (vm->fd < 0)
		return failed("KVM_CREATE_VM");
	vm->run_size = ioctl(vm->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (vm->run_size < 0)
		return failed("KVM_GET_VCPU_MMAP_SIZE");
	ret = arch_vm_init(vm->fd, options->vpmu);
	if (ret) {
		fprintf(stderr, "minivm: preparing the VM: %s\n", strerror(-ret));
		return ret;
	}
	return memory_create(vm);
}

/* Enters the guest until a lap ends: 0, -EINTR where stopped, or another -errno. */
static int run_lap(struct vcpu *vcpu)
{
	uint64_t own;

	while (!vcpu->vm->stop) {
		if (ioctl(vcpu->fd, KVM_RUN, 0)) {
			if (errno == EINTR)
				continue;
			return failed("KVM_RUN");
		}
		if (vcpu->run->exit_reason == KVM_EXIT_MMIO &&
		    vcpu->run->mmio.phys_addr == EXIT_LAP) {
			memcpy(&own, vcpu->run->mmio.data, sizeof(own));
			vcpu->own += own;
			return 0;
		}
		fprintf(stderr,
			"minivm: vcpu %u left the guest for reason %u, address 0x%llx\n",
			vcpu->id, vcpu->run->exit_reason,
			(unsigned long long)vcpu->run->mmio.phys_addr);
		return -EIO;
	}
	return -EINTR;
}

static void pause_ms(uint64_t ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&left, NULL); /* a kick ends it early, as it should */
}

static int run_laps(struct vcpu *vcpu)
{
	const struct vm_options *options = &vcpu->vm->options;

	while (!options->laps || vcpu->laps < options->laps) {
		bool first = !vcpu->laps;
		struct lap lap = { 0 };
		int ret;

		if (!first && options->pause_ms)
			pause_ms(options->pause_ms);
		ret = options->program->plan(&options->shape, first, &lap);
		if (!ret)
			ret = arch_vcpu_lap(vcpu->fd, &lap, first);
		if (!ret)
			ret = run_lap(vcpu);
		if (ret)
			return ret;
		vcpu->laps++;
		vcpu->kernel += lap.kernel;
		vcpu->user += lap.user;
		vcpu->hot += lap.hot;
		vcpu->cold += lap.cold;
	}
	return 0;
}

/*
 * A KVM_RUN that returns at once: it tells KVM whose thread this is, which debugfs
 * then shows, and runs nothing.
 */
static void touch(struct vcpu *vcpu)
{
	vcpu->run->immediate_exit = 1;
	ioctl(vcpu->fd, KVM_RUN, 0);
	vcpu->run->immediate_exit = 0;
}

static void *vcpu_thread(void *opaque)
{
	struct vcpu *vcpu = opaque;
	struct vm *vm = vcpu->vm;
	char name[16];
	int ret;

	if (vm->options.thread_name) {
		snprintf(name, sizeof(name), vm->options.thread_name, vcpu->id);
		pthread_setname_np(pthread_self(), name);
	}
	vcpu->tid = gettid();
	if (!vm->options.untouched)
		touch(vcpu);
	pthread_barrier_wait(&vcpu->ready);

	pthread_mutex_lock(&vm->lock);
	while (!vm->go)
		pthread_cond_wait(&vm->started, &vm->lock);
	pthread_mutex_unlock(&vm->lock);

	vcpu->state = VCPU_RUNNING;
	ret = run_laps(vcpu);
	vcpu->state = !ret ? VCPU_FINISHED : ret == -EINTR ? VCPU_STOPPED : VCPU_FAILED;
	pthread_kill(vm->owner, SIGNAL_FINISHED);
	/* the thread stays, as a VMM's does: counters on it can still be read */
	for (;;)
		pause();
	return NULL;
}

int vm_add_vcpu(struct vm *vm)
{
	struct vcpu *vcpu;
	int ret;

	if (vm->vcpus == MAX_VCPUS)
		return -ENOSPC;
	vcpu = calloc(1, sizeof(*vcpu));
	if (!vcpu)
		return -ENOMEM;
	vcpu->vm = vm;
	vcpu->id = vm->vcpus;
	pthread_barrier_init(&vcpu->ready, NULL, 2);
	vcpu->fd = ioctl(vm->fd, KVM_CREATE_VCPU, vcpu->id);
	if (vcpu->fd < 0) {
		ret = failed("KVM_CREATE_VCPU");
		goto out_free;
	}
	vcpu->run =
		mmap(NULL, vm->run_size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu->fd, 0);
	if (vcpu->run == MAP_FAILED) {
		ret = failed("mapping kvm_run");
		goto out_close;
	}
	ret = arch_vcpu_init(vm->fd, vcpu->fd, vm->options.vpmu);
	if (ret) {
		fprintf(stderr, "minivm: preparing vcpu %u: %s\n", vcpu->id,
			strerror(-ret));
		goto out_unmap;
	}
	ret = -pthread_create(&vcpu->thread, NULL, vcpu_thread, vcpu);
	if (ret)
		goto out_unmap;
	pthread_barrier_wait(&vcpu->ready);
	vm->vcpu[vm->vcpus++] = vcpu;
	return 0;

out_unmap:
	munmap(vcpu->run, vm->run_size);
out_close:
	close(vcpu->fd);
out_free:
	free(vcpu);
	return ret;
}

void vm_start(struct vm *vm)
{
	pthread_mutex_lock(&vm->lock);
	vm->go = true;
	pthread_cond_broadcast(&vm->started);
	pthread_mutex_unlock(&vm->lock);
}

void vm_stop(struct vm *vm)
{
	vm->stop = true;
	for (unsigned int i = 0; i < vm->vcpus; i++) {
		/* for a thread that was about to enter: the kick alone could come too early
		 */
		vm->vcpu[i]->run->immediate_exit = 1;
		pthread_kill(vm->vcpu[i]->thread, SIGNAL_KICK);
	}
}

bool vm_finished(const struct vm *vm)
{
	for (unsigned int i = 0; i < vm->vcpus; i++)
		if (vm->vcpu[i]->state < VCPU_FINISHED)
			return false;
	return true;
}
