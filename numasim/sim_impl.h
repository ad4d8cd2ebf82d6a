/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_SIM_IMPL_H
#define NUMASIM_SIM_IMPL_H

/*
 * The inside of struct sim, for numasim/ alone. Who does what: sim.c puts a host
 * together and runs the core whose time is least; hyper.c gives pCPUs to vCPUs,
 * policy.c says which; guest.c gives vCPUs to threads, program.c performs a thread's
 * steps; migrate.c moves memory. All times are ps.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/vpmu.h"
#include "numasim/machine.h"
#include "numasim/pmu.h"
#include "numasim/scenario.h"
#include "numasim/sim.h"

#define SIM_NEVER UINT64_MAX
#define SIM_TICK (PMU_TURN_NS * 1000ull) /* each pCPU's timer */
#define SIM_PAGE_LINES 64
#define SIM_PLACES 256 /* a VM's pages are on nodes by their number modulo this */

struct thread; /* of program.h */
struct move;   /* of migrate.c */

enum vcpu_state { VCPU_BLOCKED, VCPU_WAITS, VCPU_RUNS };

struct vcpu {
	unsigned vm, index; /* in the VM */
	unsigned number;    /* in the host: those of VM 0 first */
	enum vcpu_state state;
	uint64_t since;			  /* it is in that state */
	uint64_t in_state[VCPU_RUNS + 1]; /* ps before that, by state */
	unsigned pcpu; /* runs or ran there, waits there, will wake there */
	uint64_t affinity[SCENARIO_SETS];
	uint64_t wake_at;    /* blocked: until then; SIM_NEVER */
	struct vcpu *next;   /* waiting on the same pCPU, or blocked there */
	struct thread *runs; /* of the guest's threads; NULL: none is ready */
	uint64_t event_at;   /* running: the guest has something to do then */
	uint64_t slice_end;  /* running: of the guest's scheduler */
	uint64_t entered;    /* running: the thread does since then */
	uint64_t vtime;	     /* how much it has had, for the scheduler */
	int prefers;	     /* a node; -1: none */
};

struct pcpu {
	unsigned core, node;
	uint64_t now;	   /* the core's clock; of an idle one: when it acts next */
	size_t rank;	   /* its place in sim.order */
	struct vcpu *runs; /* NULL: idle */
	struct vcpu *queue, **queue_end; /* waiting */
	unsigned nqueue;
	struct vcpu *blocked;
	uint64_t wake_at;   /* the first of those */
	uint64_t slice_end; /* of who runs */
	uint64_t tick_at;
	enum vpmu_mode mode;		 /* as the PMU was told */
	const struct sim_symbol *kernel; /* what runs of it; NULL: a program's function */
};

struct vm {
	const struct scenario_vm *sc;
	struct vcpu *vcpus;
	struct thread *threads;
	size_t nthreads;
	uint64_t line, lines;	    /* its memory in use */
	uint8_t place[SIM_PLACES];  /* the node of a page, by number modulo SIM_PLACES */
	struct sim_symbol *symbols; /* ascending */
	size_t nsymbols;
	struct move *move; /* of its memory; NULL: none */
};

struct sim {
	struct scenario sc;
	struct machine *machine;
	struct vm *vms;
	struct vcpu *vcpus; /* of all VMs */
	size_t nvcpus;
	struct pcpu *pcpus;
	unsigned npcpus;
	struct pcpu **order; /* a heap: the one whose time is least comes first */
	uint64_t now;	     /* sim_run() came as far as that */
	struct pmu *pmu;
	uint64_t copy_line; /* beyond all VMs' memory: what migrate.c copies by */
	uint64_t copy_lines, copied;
};

/* Tells the PMU whether @p is in the guest's user or kernel mode, if that is new. */
static inline void pcpu_mode(struct sim *s, struct pcpu *p, enum vpmu_mode mode)
{
	if (p->mode != mode)
		pmu_enter(s->pmu, p->core, mode);
	p->mode = mode;
}

/* The node of a line of a VM's memory. */
static inline uint8_t vm_home(const struct vm *vm, uint64_t line)
{
	return vm->place[line / SIM_PAGE_LINES % SIM_PLACES];
}

#endif
