/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_MACHINE_H
#define TESTS_CORE_MACHINE_H

/*
 * A machine of Armv8 pCPUs with a hypervisor as small as can be around the core, as
 * Xen's glue is: it switches vCPUs, hands trapped accesses and interrupts to the core,
 * and keeps what the core tells it about each vCPU.
 */

#include "core/vpmu.h"
#include "tests/core/hw_armv8.h"

#define MACHINE_PCPUS 2
#define MACHINE_VCPUS 4 /* each a VM of its own */

struct machine_vcpu {
	struct vpmu_vm vm;
	struct vpmu_vcpu v;
	struct machine *machine;
	unsigned raised; /* calls of raise() */
	bool pending;	 /* its interrupt, until the guest takes it */
	bool untrapped;
};

struct machine_pcpu {
	struct hw *hw;
	struct vpmu_pcpu p;
	struct machine_vcpu *runs;
};

struct machine {
	struct vpmu m;
	uint64_t clock;
	struct vpmu_where where; /* what is interrupted, or where a vCPU leaves off */
	struct machine_pcpu pcpu[MACHINE_PCPUS];
	struct machine_vcpu vcpu[MACHINE_VCPUS];
	unsigned interrupts; /* physical ones that were handed to the core */
	unsigned spurious;   /* of these, those it knew nothing of */
	bool late;	     /* interrupts wait: the test delivers them */
};

/* Ends the test where the core refuses. */
struct machine *machine_new(const struct hw_armv8_config *hw,
			    const struct vpmu_config *config);
void machine_free(struct machine *m);

/* The vCPU that @pcpu runs from here on (-1: none); fetched from where it is held. */
void machine_switch(struct machine *m, unsigned pcpu, int vcpu);
/* Hands the interrupt to the core where the line is up. */
void machine_interrupt(struct machine *m, unsigned pcpu);
/*
 * @count of @event happen in the vCPU that runs on @pcpu (or, in VPMU_MODE_HYP, in the
 * hypervisor); interrupts arrive after the very event, unless m->late.
 */
void machine_run(struct machine *m, unsigned pcpu, enum vpmu_mode mode, uint64_t event,
		 uint64_t count);

/* The running vCPU's access, as its processor would end it; TRAPPED: trapped to EL1. */
enum vpmu_access machine_access(struct machine *m, unsigned pcpu, enum vpmu_mode mode,
				uint32_t reg, bool write, uint64_t *value);
/* By a kernel that knows what it does: ends the test if it is refused. */
uint64_t machine_read(struct machine *m, unsigned pcpu, uint32_t reg);
void machine_write(struct machine *m, unsigned pcpu, uint32_t reg, uint64_t value);

/* Accesses of the core to @pcpu's registers since the last time this was asked. */
uint64_t machine_writes(struct machine *m, unsigned pcpu);
uint64_t machine_reads(struct machine *m, unsigned pcpu);

#endif
