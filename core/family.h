/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORE_FAMILY_H
#define CORE_FAMILY_H

/*
 * A PMU family: one const descriptor, one file in core/pmu/. Counters are numbered
 * by their bit in the family's enable and overflow registers (PMCNTENSET_EL0;
 * IA32_PERF_GLOBAL_CTRL), so that a set of counters is one 64-bit mask everywhere.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/event.h"
#include "core/hw.h"

#define VPMU_COUNTERS 64 /* no family numbers its counters higher */

/* What one pCPU's PMU has; found by probe(), split by vpmu_init(). */
struct vpmu_caps {
	uint64_t counters;    /* all that are implemented */
	uint64_t guest;	      /* those that VMs own: counters without host */
	uint64_t host;	      /* those that the hypervisor keeps for itself */
	uint64_t given;	      /* those that it gave away: vpmu_host_give() */
	uint32_t version;     /* the family's own numbering */
	uint32_t features;    /* the family's own bits */
	uint64_t id[4];	      /* the family's own: event identification registers … */
	uint8_t programmable; /* how many of the counters can count any event */
	uint8_t width;	      /* bits of a programmable counter */
	uint8_t fixed_width;  /* bits of a fixed or cycle counter */
	bool topbit;	      /* no overflow status register; see overflowed() */
	bool kick; /* an event's overflow is noticed only with a second counter of the
		    * same event that overflows one event later (an emulator's fault) */
};

/* How an access of a guest to a PMU register ended. */
enum vpmu_access {
	VPMU_DONE,
	VPMU_UNDEFINED, /* undefined instruction, or #GP: the register is not there for it
			 */
	VPMU_FOREIGN,	/* no register of this PMU: the caller looks elsewhere */
	VPMU_TRAPPED,	/* Arm: EL0 access that PMUSERENR_EL0 does not allow: trap to EL1 */
};

/*
 * A VM's own PMU as its vCPU sees it: the registers' architectural values while they
 * are not in the hardware. @count of a counter that is live is stale; bank.h tells.
 */
struct vpmu_bank {
	uint64_t count[VPMU_COUNTERS];
	uint64_t select[VPMU_COUNTERS]; /* event selection as the guest wrote it */
	uint64_t enable;   /* the guest's enable bits (PMCNTENSET, GLOBAL_CTRL) */
	uint64_t irq;	   /* its interrupt enable bits (PMINTENSET) */
	uint64_t overflow; /* its overflow status */
	uint64_t quiet;	   /* x86: those of @overflow that no interrupt is due for */
	uint64_t ctl[4];   /* the family's own: PMCR, PMSELR, PMUSERENR … */
};

struct vpmu_vcpu; /* core/vpmu.h */

struct vpmu_family {
	const char *name; /* "armv8-pmuv3" */

	/* ---- the physical PMU */
	/* Fills @caps but for the split. 0; -ENODEV (19): none here, or not usable. */
	int (*probe)(const struct vpmu_hw *hw, struct vpmu_caps *caps);
	/* The counters out of @caps->counters to keep for the host if it wants @n. */
	uint64_t (*keep)(const struct vpmu_caps *caps, unsigned n);
	/*
	 * Puts a pCPU's PMU into its known state: everything stopped and zero, the
	 * split in effect, guest interrupts off. Also at take-down.
	 */
	void (*reset)(const struct vpmu_hw *hw, const struct vpmu_caps *caps);
	unsigned (*width)(const struct vpmu_caps *caps, unsigned counter);
	uint64_t (*read)(const struct vpmu_hw *hw, unsigned counter);
	/* A guest's counter takes any @value of its width(); see the family for a host's.
	 */
	void (*write)(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
		      unsigned counter, uint64_t value);
	/* @select as encode() or guest_select() made it; the counter is stopped. */
	void (*select)(const struct vpmu_hw *hw, unsigned counter, uint64_t select);
	/*
	 * Starts and stops the counters in @mask; @select[] holds what each was selected
	 * with (families without a global enable register need it).
	 */
	void (*start)(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask,
		      const uint64_t *select);
	void (*stop)(const struct vpmu_hw *hw, const struct vpmu_caps *caps, uint64_t mask,
		     const uint64_t *select);
	/* Which counters in @mask may raise the interrupt; the others may not. */
	void (*irq)(const struct vpmu_hw *hw, uint64_t on, uint64_t off);
	/*
	 * Which of @mask have overflowed since last cleared. Families without a status
	 * register (they have @topbit) tell by the counter's top bit: @mask must then be
	 * counters that were written with a value whose top bit is set, and not told yet.
	 */
	uint64_t (*overflowed)(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			       uint64_t mask);
	void (*clear)(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
		      uint64_t mask);
	/*
	 * Checks a host's event and makes the value for select(). @may: the counters
	 * that can count it, of the host's and those given away. 0; -EINVAL (22): a bit
	 * that means nothing; -EOPNOTSUPP (95): this PMU has no such event or cannot filter
	 * so.
	 */
	int (*encode)(const struct vpmu_caps *caps, const struct vpmu_event *event,
		      uint64_t *select, uint64_t *may);

	/* ---- the PMU that a guest sees */
	void (*guest_reset)(const struct vpmu_caps *caps, struct vpmu_bank *bank);
	/* The counters that count while the guest runs, by its own enables. */
	uint64_t (*guest_active)(const struct vpmu_caps *caps,
				 const struct vpmu_bank *bank);
	/* What to select() for a guest's counter: its own choice, kept out of the host. */
	uint64_t (*guest_select)(const struct vpmu_caps *caps, const struct vpmu_bank *bank,
				 unsigned counter);
	/*
	 * What the hardware must be told of the guest's control registers while it runs
	 * (PMCR_EL0.LC, LP, D), and the telling. NULL both: nothing.
	 */
	uint64_t (*guest_control)(const struct vpmu_bank *bank);
	void (*control)(const struct vpmu_hw *hw, uint64_t value);
	/* Is the guest's interrupt line up? */
	bool (*guest_line)(const struct vpmu_caps *caps, const struct vpmu_bank *bank);
	/*
	 * A register access of the guest, by its architectural rules. Reaches counters
	 * through bank.h, which knows which of them are live. @user: from EL0, ring 3.
	 */
	enum vpmu_access (*guest_read)(struct vpmu_vcpu *v, uint32_t reg, bool user,
				       uint64_t *value);
	enum vpmu_access (*guest_write)(struct vpmu_vcpu *v, uint32_t reg, bool user,
					uint64_t value);
	/*
	 * Direct access: all of the guest's registers into the hardware, where they count
	 * at once as their guest wants it, and nothing of anyone else's is left. NULL
	 * (all of direct_*): the family's guests always trap.
	 */
	void (*direct_load)(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			    const struct vpmu_bank *bank);
	/*
	 * At a switch: takes bank->enable, and what else must not stay, out of the
	 * hardware, so that it stands still and the next guest is not affected; and puts
	 * it back where nobody else used the counters meanwhile.
	 */
	void (*direct_stop)(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			    struct vpmu_bank *bank);
	void (*direct_start)(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			     const struct vpmu_bank *bank);
	/* After direct_stop(): takes all the rest out, the overflow bits too. */
	void (*direct_save)(const struct vpmu_hw *hw, const struct vpmu_caps *caps,
			    struct vpmu_bank *bank);
	/* Of the guest's own bits in the hardware: overflowed, and it wants to know. */
	uint64_t (*direct_overflowed)(const struct vpmu_hw *hw,
				      const struct vpmu_caps *caps);
	/* Does @reg tell and change nothing but bank->overflow? */
	bool (*direct_status)(uint32_t reg);
};

extern const struct vpmu_family vpmu_armv8;
extern const struct vpmu_family vpmu_intel;
extern const struct vpmu_family vpmu_amd;
extern const struct vpmu_family vpmu_nehalem_uncore;

#endif
