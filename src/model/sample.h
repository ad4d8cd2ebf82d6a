/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MODEL_SAMPLE_H
#define MODEL_SAMPLE_H

#include <stdint.h>
#include <sys/types.h>

enum sample_mode {
	MODE_UNKNOWN,
	MODE_KERNEL,
	MODE_USER,
	MODE_HYPERVISOR,
	MODE_GUEST_KERNEL,
	MODE_GUEST_USER,
};

/* One overflow of one event on one vCPU. */
struct sample {
	uint64_t time_ns; /* clock_now_ns() */
	uint64_t ip;
	uint64_t period; /* events that this sample stands for */
	pid_t pid, tid;	 /* the vCPU's thread on the host; vm_key() and vcpu_key() */
	uint32_t cpu;	 /* pCPU */
	uint32_t event;	 /* index into the file's events */
	enum sample_mode mode;
};

#endif
