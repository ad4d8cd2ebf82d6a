/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_VPMU_H
#define CORE_VPMU_H

/*
 * The core as its host (Xen, a simulator, a test) sees it. The host allocates all
 * structs, zeroed, and calls in at four moments: a vCPU is switched out or in, a guest
 * touches a PMU register, the PMU interrupts, a host's set opens or closes.
 * Everything that takes a struct vpmu_pcpu runs on that pCPU with interrupts off.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bank.h"
#include "core/budget.h"
#include "core/family.h"
#include "core/host.h"
#include "core/hw.h"

/* What the core asks of its host. */
struct vpmu_upcalls {
	/* The guest's PMU interrupt line went up: make it pending for @v. */
	void (*raise)(struct vpmu_vcpu *v);
	/*
	 * Traps of @v on (its accesses come to vpmu_guest_access(); so they begin) or
	 * off: at once where it runs, else from when it next does.
	 */
	void (*trap)(struct vpmu_vcpu *v, bool on);
	/* A ring of @set is half full: wake who reads it. May be called from interrupts. */
	void (*wake)(struct vpmu_set *set);
};

struct vpmu_config {
	bool direct;	    /* guests reach the registers themselves once they have touched
			     * them, where the family can */
	bool always_switch; /* save and restore at every switch, for comparison */
	bool kick;	    /* see struct vpmu_caps */
	int host_counters;  /* < 0: by vpmu_budget_host()'s rule */
	uint64_t turn_ns;   /* 0: VPMU_TURN_NS */
	uint64_t hyp_exit;  /* the hypervisor's way out: where an overflow of its own came
			     * from that is noticed only in a guest, interrupts having been
			     * off */
};

/* The machine. One per hypervisor. */
struct vpmu {
	const struct vpmu_family *family;
	const struct vpmu_upcalls *upcalls;
	struct vpmu_caps caps;
	struct vpmu_config config;
	struct vpmu_set *hyp_sets; /* on the hypervisor itself */
	struct vpmu_plan plans[2]; /* the hypervisor's: in use and next */
	const struct vpmu_plan *hyp_plan;
	struct vpmu_vm *vms; /* those with sets of the host */
};

/* A VM. */
struct vpmu_vm {
	struct vpmu *m;
	bool guest_pmu;		      /* it sees a PMU of its own */
	struct vpmu_set *sets;	      /* the host's on it */
	struct vpmu_plan plans[2];    /* in use and next */
	const struct vpmu_plan *plan; /* NULL: none; read at every switch */
	/* A vCPU has used its PMU, or there was a plan: one look is enough for the others.
	 */
	bool stirred;
	struct vpmu_vm *next; /* in m->vms */
	void *cookie;	      /* the host's */
};

/* A vCPU. */
struct vpmu_vcpu {
	struct vpmu_vm *vm;
	unsigned index;
	void *cookie; /* the host's */
	struct vpmu_bank bank;
	struct vpmu_pcpu *held; /* the pCPU that holds the bank; NULL: memory does */
	struct vpmu_pcpu *on;	/* the pCPU it runs on; NULL: it does not */
	uint64_t loaded;	/* counters of the bank whose values are in the hardware */
	bool touched;		/* it has used its PMU at least once */
	bool in_use;		/* its bank counts, or is held: switches have work to do */
	bool direct;		/* held, and all of it: memory has only what is stopped */
	bool untrapped;		/* as told to trap() */
	bool line;		/* its interrupt line, as told to raise() */
	uint8_t turn;		/* of its VM's plan */
	uint64_t turn_ns;	/* how long that has been, in its own running time */
};

/* A pCPU. */
struct vpmu_pcpu {
	struct vpmu *m;
	struct vpmu_hw hw;
	unsigned index;
	struct vpmu_vcpu *holds; /* whose bank is in the guest's counters; NULL: nobody's */
	struct vpmu_vcpu *runs;	 /* NULL: no vCPU, or one without any use of the PMU */
	const struct vpmu_plan *plan, *hyp_plan; /* loaded */
	uint64_t select[VPMU_COUNTERS]; /* what is programmed, guests' and host's */
	uint64_t counting;		/* counters that are started */
	uint64_t irqs;			/* those that may interrupt */
	uint64_t armed;	   /* those that were written with the top bit set (caps.topbit) */
	uint64_t control;  /* as told to family->control() */
	uint64_t since_ns; /* tallies of the VM are right up to then */
	uint64_t hyp_since_ns;
};

/* What was interrupted, or where a vCPU left off. */
struct vpmu_where {
	enum vpmu_mode mode;
	uint64_t pc;
};

/*
 * Probes the PMU of the pCPU of @hw and splits its counters. @m is zeroed. 0; -ENODEV
 * (19): no PMU, or one with too few counters, with *@why in words.
 */
int vpmu_init(struct vpmu *m, const struct vpmu_family *family,
	      const struct vpmu_upcalls *upcalls, const struct vpmu_config *config,
	      const struct vpmu_hw *hw, const char **why);
/*
 * A pCPU comes up (on it): its PMU into the known state, the hypervisor's own sets on.
 * -ENODEV with words where its PMU has less than @m's first one (big.LITTLE). Down: what
 * it holds is saved first.
 */
int vpmu_pcpu_up(struct vpmu_pcpu *p, struct vpmu *m, unsigned index,
		 const struct vpmu_hw *hw, const char **why);
void vpmu_pcpu_down(struct vpmu_pcpu *p);

void vpmu_vm_init(struct vpmu_vm *vm, struct vpmu *m, bool guest_pmu, void *cookie);
/* @v in reset state. */
void vpmu_vcpu_init(struct vpmu_vcpu *v, struct vpmu_vm *vm, unsigned index, void *cookie);
/*
 * As its reset line would (PSCI CPU_ON after CPU_OFF): reset values, nothing counting.
 * Not running; not held elsewhere (vpmu_fetch() first), or held and forgotten on @p.
 */
void vpmu_vcpu_reset(struct vpmu_vcpu *v);

/*
 * A vCPU leaves or enters @p. Cheap when there is nothing to do: callers may skip them
 * where these say so. Whoever has come in goes out, even if its VM's last set went
 * meanwhile; so does one whose way in was idle, and which used its PMU then.
 */
void vpmu_switch_out(struct vpmu_pcpu *p, struct vpmu_vcpu *v, const struct vpmu_where *w);
void vpmu_switch_in(struct vpmu_pcpu *p, struct vpmu_vcpu *v);
static inline bool vpmu_planned(const struct vpmu_vm *vm)
{
	return __atomic_load_n(&vm->plan, __ATOMIC_RELAXED);
}
static inline bool vpmu_idle_out(const struct vpmu_vcpu *v)
{
	return !v->on;
}
static inline bool vpmu_idle_in(const struct vpmu_vcpu *v)
{
	return !__atomic_load_n(&v->vm->stirred, __ATOMIC_RELAXED) ||
	       (!v->in_use && !vpmu_planned(v->vm));
}
/* The pCPU that holds its bank (NULL: none), for who is about to run it elsewhere. */
static inline struct vpmu_pcpu *vpmu_holder(const struct vpmu_vcpu *v)
{
	return __atomic_load_n(&v->held, __ATOMIC_ACQUIRE);
}
/*
 * Before @v enters a pCPU other than the one that holds its bank, on the holder (by
 * inter-processor interrupt), or before it is destroyed. Nothing if @p does not hold it.
 */
void vpmu_fetch(struct vpmu_pcpu *p, struct vpmu_vcpu *v);

/*
 * A trapped access of @v, which runs on @p, to register @reg as the family numbers
 * them. The first one of a vCPU brings its bank into being. VPMU_FOREIGN where its VM
 * has no PMU.
 */
enum vpmu_access vpmu_guest_access(struct vpmu_pcpu *p, struct vpmu_vcpu *v, uint32_t reg,
				   bool write, bool user, uint64_t *value);
/* The PMU's interrupt. False: none of its counters had overflowed. */
bool vpmu_interrupt(struct vpmu_pcpu *p, const struct vpmu_where *w);
/* The guest's interrupt line now, for hosts that ask at an end of interrupt. */
bool vpmu_line(const struct vpmu_vcpu *v);

#endif
