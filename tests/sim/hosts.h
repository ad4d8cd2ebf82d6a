/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_SIM_HOSTS_H
#define TESTS_SIM_HOSTS_H

/* Built-in hosts for tests of its counters, and what really happened on them. */

#include "numasim/machine.h"
#include "numasim/sim.h"

#define US 1000ull /* ns */
#define MS 1000000ull

/* Runs @scenario; fails the test if it cannot be. */
struct sim *host_of(const char *scenario);
/* Two VMs of two vCPUs each, on the same two pCPUs of a Westmere-EP with two nodes. */
struct sim *host_shared(void);
/* The same, each VM on pCPUs of its own. */
struct sim *host_apart(void);

/* The raw counts, up to now: of a core, of all cores, of a node. */
uint64_t core_truth(const struct sim *s, unsigned core, enum core_event event);
uint64_t cores_truth(const struct sim *s, enum core_event event);
uint64_t node_truth(const struct sim *s, unsigned node, enum node_event event);

/* A set of @n events, in all modes that its target has; fails the test if refused. */
uint32_t set_on(struct sim *s, int vm, unsigned n, const uint64_t *config, uint64_t period);
/* One event's counts over all vCPUs (pCPUs) of the set's target, @n of them. */
struct xenpmu_count set_sum(struct sim *s, uint32_t handle, unsigned n, unsigned event);
uint32_t uncore_on(struct sim *s, unsigned node, unsigned n, const uint64_t *config);

#endif
