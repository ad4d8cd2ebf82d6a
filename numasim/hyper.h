/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_HYPER_H
#define NUMASIM_HYPER_H

/* The hypervisor: which vCPU has a pCPU, for how long; and the order of the pCPUs. */

#include "numasim/sim_impl.h"

/* Puts all vCPUs on pCPUs, waiting, at time 0. */
void hyper_start(struct sim *s);
/* Runs the pCPU whose time is least for a moment. */
void hyper_step(struct sim *s);
/* @v may run on other pCPUs from now on: leaves the one it is on, if it has to. */
void hyper_repin(struct sim *s, struct vcpu *v);
/* What @core is at. */
void hyper_where(void *sim, unsigned core, struct vpmu_where *out);
/* Time that @v has spent in a state, up to the time of the host. */
uint64_t hyper_time(const struct sim *s, const struct vcpu *v, enum vcpu_state state);

const struct sim_symbol *hyper_symbols(size_t *n);

/* ---- policy.c: who goes where. */
static inline bool vcpu_may(const struct vcpu *v, unsigned pcpu)
{
	return v->affinity[pcpu / 64] >> pcpu % 64 & 1;
}
/* Where a new vCPU begins; the others' p->nqueue tell how full pCPUs are. */
struct pcpu *policy_place(struct sim *s, struct vcpu *v);
/* Where one that wakes goes on. */
struct pcpu *policy_wake(struct sim *s, struct vcpu *v);
/* @p chooses: a vCPU that waits elsewhere and had less than @vtime, or NULL. */
struct vcpu *policy_steal(struct sim *s, struct pcpu *p, uint64_t vtime);
/* Now and then, on @p: a vCPU that waits elsewhere and had better wait here, or NULL. */
struct vcpu *policy_balance(struct sim *s, struct pcpu *p);

/* ---- migrate.c: the memory of a VM moves, while it does nothing else. */
#define MIGRATE_LINES (1u << 20) /* more than any LLC has: no copy is found there again */
/* Begins, or goes on to another node; -ENOMEM. */
int migrate_begin(struct vm *vm, unsigned node);
/* One of the VM's vCPUs copies on @p until @until; frees vm->move when all is done. */
uint64_t migrate_run(struct sim *s, struct pcpu *p, struct vm *vm, uint64_t until);

#endif
