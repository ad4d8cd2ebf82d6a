/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_HOST_WORLD_H
#define TESTS_CORE_HOST_WORLD_H

/*
 * Two pCPUs with the plainest of PMUs, two VMs with two vCPUs each, and the host's sets
 * on them. The world keeps its own account of what happened where, to be held against
 * the core's. Where a vCPU is (its pc) is how many of the event it has seen: a sample
 * that is right has been taken at a multiple of its period.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/vpmu.h"
#include "tests/core/fake_pmu.h"

#define PCPUS 2
#define VMS 2
#define VCPUS 2 /* of a VM */
#define EVENTS 16
#define RECORDS 64
#define RING_BYTES (VPMU_RING_PAGE + RECORDS * sizeof(struct vpmu_sample))

struct opened {
	struct vpmu_set set;
	struct vpmu_vm *vm; /* NULL: the hypervisor */
	struct vpmu_tally tally[VCPUS];
	struct vpmu_reader reader[VCPUS];
	unsigned char pages[VCPUS][RING_BYTES] __attribute__((aligned(VPMU_RING_PAGE)));
};

struct world {
	uint64_t clock;
	struct vpmu m;
	struct vpmu_pcpu p[PCPUS];
	struct fake_pmu f[PCPUS];
	struct vpmu_vm vm[VMS];
	struct vpmu_vcpu v[VMS][VCPUS];
	uint64_t truth[VMS][VCPUS][EVENTS];
	uint64_t hyp_truth[PCPUS][EVENTS];
	uint64_t ran_ns[VMS][VCPUS];
	unsigned woken;
};

extern struct world world;

/* A new world; for cmocka's setup, and for tests that want another width. */
int world_begin(void **state);
void world_begin_with(unsigned width);

/* Opens @n events of @vm (NULL: the hypervisor), with one period for all. */
int world_open(struct opened *o, struct vpmu_vm *vm, unsigned n, const unsigned *events,
	       uint64_t period);
/* The same, and both pCPUs have taken it up. Fails the test if that is not to be. */
void world_opened(struct opened *o, struct vpmu_vm *vm, unsigned n, const unsigned *events,
		  uint64_t period);
void world_close(struct opened *o);
void world_refresh(void);

void world_in(unsigned pcpu, unsigned vm, unsigned vcpu);
/* Its pc is how many of @event it has seen. */
void world_out(unsigned pcpu, unsigned event);
/* @n of @event in user mode, with interrupts as they come. */
void world_run(unsigned pcpu, unsigned event, uint64_t n);
/* The same, without any interrupt being taken. */
void world_run_deaf(unsigned pcpu, enum vpmu_mode mode, unsigned event, uint64_t n);
/* The interrupt, if the line is up. True: something had overflowed. */
bool world_interrupt(unsigned pcpu, enum vpmu_mode mode, uint64_t pc);
void world_sleep(uint64_t ns);

/* Folded, and a consistent copy; fails the test if the account disagrees. */
struct vpmu_count world_count(struct opened *o, unsigned tally, unsigned event_index);
/* The count is what happened; what the set says of events and samples fits together. */
void world_agrees(struct opened *o);
/* The next record of a tally's ring; false: none. */
bool world_sample(struct opened *o, unsigned tally, struct vpmu_sample *sample);

#endif
