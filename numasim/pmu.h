/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_PMU_H
#define NUMASIM_PMU_H

/*
 * The PMUs of a simulated machine, and the hypervisor's handling of them by core/: its
 * event sets on VMs and on sockets. The hypervisor calls in where Xen would: where a
 * vCPU enters or leaves a core, and on its tick.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/abi/event.h"
#include "core/abi/ring.h"
#include "core/abi/xenpmu.h"
#include "core/vpmu.h"
#include "numasim/machine.h"
#include "numasim/sim.h"
#include "numasim/spec.h"

struct pmu;

/* Asked for at an interrupt: what runs on @core at this moment, and where. */
typedef void pmu_where(void *ctx, unsigned core, struct vpmu_where *out);

/* The PMUs of @m, as after power-on, and VMs' vCPUs to come; takes the machine's alarm.
 * 0, or -ENOMEM. */
int pmu_new(struct machine *m, const struct machine_spec *spec, pmu_where *where, void *ctx,
	    struct pmu **out);
void pmu_free(struct pmu *u);
/* The next VM: they are numbered from 0. 0, -ENOMEM; -ENOSPC: it is beyond SIM_VMS. */
int pmu_add_vm(struct pmu *u, unsigned nvcpus);

/*
 * A vCPU enters @core, in the guest's user mode, or leaves it, at @w. Until it enters,
 * the core is in the hypervisor, whose cycles are no VM's.
 */
void pmu_in(struct pmu *u, unsigned core, unsigned vm, unsigned vcpu);
void pmu_out(struct pmu *u, unsigned core, const struct vpmu_where *w);
/* The core goes to another mode: the guest's kernel and back, an exit and an entry. */
void pmu_enter(struct pmu *u, unsigned core, enum vpmu_mode mode);
/* The tick, every PMU_TURN_NS or so of @core's time, whoever runs there. */
void pmu_tick(struct pmu *u, unsigned core);
#define PMU_TURN_NS SIM_TURN_NS

/* As their namesakes in sim.h. */
void pmu_info(const struct pmu *u, struct sim_pmu_info *out);
int pmu_set_open(struct pmu *u, int vm, const struct vpmu_event *events, unsigned n,
		 size_t ring_bytes, uint32_t *handle, unsigned *bad);
int pmu_set_read(struct pmu *u, uint32_t handle, unsigned vcpu, struct xenpmu_count *out);
void *pmu_set_ring(struct pmu *u, uint32_t handle, unsigned vcpu, size_t *bytes);
void pmu_set_close(struct pmu *u, uint32_t handle);
int pmu_uncore_open(struct pmu *u, unsigned node, const uint64_t *config, unsigned n,
		    uint32_t *handle, unsigned *bad);
int pmu_uncore_read(struct pmu *u, uint32_t handle, struct xenpmu_count *out);
void pmu_uncore_close(struct pmu *u, uint32_t handle);
void pmu_take_counters(struct pmu *u, unsigned core, unsigned uncore);

#endif
