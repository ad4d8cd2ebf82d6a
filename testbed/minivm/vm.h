/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One KVM virtual machine: a memory slot, and a thread for each vCPU. */
#ifndef MINIVM_VM_H
#define MINIVM_VM_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "program.h"

#define MAX_VCPUS 256

/* Sent to the main thread by a vCPU's that has finished. */
#define SIGNAL_FINISHED SIGRTMIN

struct vm_options {
	const struct program *program;
	struct shape shape;
	uint64_t laps;	   /* 0: until stopped */
	uint64_t pause_ms; /* between laps, outside the guest */
	uint64_t memory_mb;
	int node;		 /* NUMA node of the memory, or -1 */
	const char *thread_name; /* format with one %u, or NULL to leave it alone */
	bool vpmu;
	bool untouched; /* leave the vCPUs without a KVM_RUN until the start */
};

enum vcpu_state { VCPU_WAITING, VCPU_RUNNING, VCPU_FINISHED, VCPU_STOPPED, VCPU_FAILED };

struct vcpu {
	struct vm *vm;
	unsigned int id;
	int fd;
	pid_t tid;
	pthread_t thread;
	pthread_barrier_t ready; /* passed once tid is set */
	struct kvm_run *run;
	atomic_int state;
	/* of whole laps */
	uint64_t laps, kernel, user, hot, cold;
	uint64_t own; /* what the guest says that it counted */
};

struct vm {
	struct vm_options options;
	int kvm_fd, fd;
	void *memory;
	int run_size;
	pthread_t owner;
	unsigned int vcpus;
	struct vcpu *vcpu[MAX_VCPUS];
	pthread_mutex_t lock;
	pthread_cond_t started;
	bool go;
	atomic_bool stop;
};

/*
 * All return 0 or -errno; where that alone would not say enough, a line on stderr
 * says what failed.
 */
int vm_create(struct vm *vm, const struct vm_options *options);
int vm_add_vcpu(struct vm *vm);
void vm_start(struct vm *vm);

/* Stops every vCPU at once, also one that is blocked inside KVM_RUN. */
void vm_stop(struct vm *vm);

bool vm_finished(const struct vm *vm);

#endif
