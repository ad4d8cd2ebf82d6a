/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_SIM_H
#define NUMASIM_SIM_H

/*
 * The built-in host as its management sees it: a hypervisor with VMs on a simulated
 * machine. Its counters are reached by the same few calls as those of a real hypervisor
 * with core/ in it; nothing here tells what the hardware's registers would not.
 * One thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/abi/event.h"
#include "core/abi/ring.h"
#include "core/abi/xenpmu.h"
#include "numasim/spec.h"

#define SIM_VMS 256
#define SIM_VCPUS 32 /* per VM */
#define SIM_RING_MAX (64u << 20)
#define SIM_HYPERVISOR (-1) /* as a VM: the hypervisor itself, its pCPUs as vCPUs */

struct sim;
struct machine_off; /* numasim/truth.h: for tests only */

struct sim_vm {
	char name[64];
	unsigned nvcpus;
	uint64_t bytes;			 /* memory */
	uint64_t node_bytes[SPEC_NODES]; /* of that, on each node */
};

struct sim_vcpu {
	char state;		    /* r runs, w waits for a pCPU, b is blocked */
	int pcpu;		    /* it runs or ran on */
	uint64_t affinity[4];	    /* pCPUs that it may run on, bit by bit */
	uint64_t ran_ns, waited_ns; /* it was on a pCPU; it could have been, but was not */
};

struct sim_symbol {
	uint64_t address, size;
	const char *name;
};

/*
 * @what: a scenario's name, a path, or its text (it has a newline). @off NULL: nothing is
 * switched off. 0, or -errno with file, line and what was expected.
 */
int sim_open(const char *what, const struct machine_off *off, struct sim **out,
	     struct err *err);
void sim_free(struct sim *s);

const struct machine_spec *sim_machine(const struct sim *s);
const char *sim_name(const struct sim *s); /* the scenario's */
uint64_t sim_now_ns(const struct sim *s);
/* Runs on until @ns of simulated time. */
void sim_run(struct sim *s, uint64_t ns);

unsigned sim_vms(const struct sim *s);
int sim_vm(const struct sim *s, unsigned vm, struct sim_vm *out);
int sim_vcpu(const struct sim *s, unsigned vm, unsigned vcpu, struct sim_vcpu *out);
/* The functions of a VM's programs, ascending; lives as long as @s. */
const struct sim_symbol *sim_symbols(const struct sim *s, unsigned vm, size_t *n);
/* Steps of work that a VM's programs have done: what its user would call its speed. The
 * program says it itself (as a benchmark prints its score); no counter is involved. */
uint64_t sim_work(const struct sim *s, unsigned vm);

/* ---- placement. 0; -EINVAL with words: no such VM, vCPU, node, or an empty set. */
int sim_pin(struct sim *s, unsigned vm, unsigned vcpu, const uint64_t affinity[4],
	    struct err *err);
/* All of a VM's memory goes to @node; what that costs the VM, it pays. */
int sim_move_memory(struct sim *s, unsigned vm, unsigned node, struct err *err);

/* ---- counters per VM: as the hypercalls of core/abi/xenpmu.h, with their errors. */
#define SIM_TURN_NS                                                                        \
	100000 /* events that share counters are left on one so long at most               \
		*/
struct sim_pmu_info {
	const char *family;
	unsigned counters, fixed; /* of a core, that the hypervisor has for itself */
	unsigned uncore;	  /* programmable ones of a socket */
};
void sim_pmu_info(const struct sim *s, struct sim_pmu_info *out);
/*
 * A set of @n events on all vCPUs of @vm (SIM_HYPERVISOR: on the pCPUs), with a ring of
 * @ring_bytes for each: a power of two, two pages to SIM_RING_MAX; 0 where nothing is
 * sampled. Where there are counters for all of them they are counted at the same time;
 * else, and between sets, there are turns. -EOPNOTSUPP also for an event that cannot happen
 * in this machine; -EBUSY also where someone else took the counters that could count it.
 * *@bad == @n: no event's fault.
 */
int sim_set_open(struct sim *s, int vm, const struct vpmu_event *events, unsigned n,
		 size_t ring_bytes, uint32_t *handle, unsigned *bad);
int sim_set_read(struct sim *s, uint32_t handle, unsigned vcpu,
		 struct xenpmu_count out[VPMU_SET_EVENTS]);
/* The ring of one vCPU (core/abi/ring.h), until the set is closed. NULL: none. */
void *sim_set_ring(struct sim *s, uint32_t handle, unsigned vcpu, size_t *bytes);
void sim_set_close(struct sim *s, uint32_t handle);

/*
 * ---- counters of a socket: as many sets as wanted share them by turns. Configurations
 * are PERFEVTSEL's event and umask (SDM vol. 3, Nehalem uncore); a fixed counter counts
 * the clock: config 0xff. -EOPNOTSUPP with *bad: there is no such event here.
 */
int sim_uncore_open(struct sim *s, unsigned node, const uint64_t *config, unsigned n,
		    uint32_t *handle, unsigned *bad);
int sim_uncore_read(struct sim *s, uint32_t handle, struct xenpmu_count *out);
void sim_uncore_close(struct sim *s, uint32_t handle);
/* Someone else's tool takes so many programmable counters of every core and socket, the
 * highest, as far as open sets can do without them, and keeps them. */
void sim_take_counters(struct sim *s, unsigned core, unsigned uncore);

#endif
