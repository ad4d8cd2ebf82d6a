/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_GUEST_H
#define NUMASIM_GUEST_H

/* A guest's scheduler: which thread has a vCPU, for how long; sleep. */

#include "numasim/sim_impl.h"

/* @v has got @p: one of its threads goes on. v->runs is NULL if none is ready; until
 * when, guest_wake_at() says. */
void guest_enter(struct sim *s, struct pcpu *p, struct vcpu *v);
void guest_leave(struct sim *s, struct pcpu *p, struct vcpu *v);
/* Its thread runs until @until or until it sleeps; returns the core's clock. */
uint64_t guest_run(struct sim *s, struct pcpu *p, struct vcpu *v, uint64_t until);
/* When the first of its threads, which all sleep, wakes; SIM_NEVER: it has none. */
uint64_t guest_wake_at(const struct sim *s, const struct vcpu *v);

#endif
