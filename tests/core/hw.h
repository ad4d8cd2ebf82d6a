/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_HW_H
#define TESTS_CORE_HW_H

/*
 * A register-level model of the PMU of one pCPU, written from its architecture manual
 * and knowing nothing of core/. A test lets events happen in it, and reaches its
 * registers both as the hypervisor does (through hw.ops) and as a guest does.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/ring.h"
#include "core/hw.h"

/* How a guest's own access to the hardware ended. */
enum hw_access {
	HW_DONE,
	HW_EXIT,    /* it trapped to the hypervisor */
	HW_REFUSED, /* an exception in the guest: undefined, #GP, not allowed to EL0 */
};

/* @count occurrences of one event, by the number that selects it. */
struct hw_event {
	uint64_t event;
	uint64_t count;
};

struct hw;

struct hw_model {
	const char *name;
	/* As after power-on: what the manual calls UNKNOWN holds rubbish. */
	void (*reset)(struct hw *hw);
	/*
	 * The @n kinds of events happen in @mode, at once: counters, overflow bits and
	 * the interrupt line follow. A test that wants the interrupt at once must not
	 * let more happen than until the first overflow (next_overflow()).
	 */
	void (*run)(struct hw *hw, enum vpmu_mode mode, const struct hw_event *events,
		    unsigned n);
	/* How many of @event in @mode until the first counter of it overflows; 0: never. */
	uint64_t (*next_overflow)(const struct hw *hw, enum vpmu_mode mode, uint64_t event);
	/* The interrupt to the pCPU (edge-triggered models: one waits; ack() takes it). */
	bool (*irq_line)(const struct hw *hw);
	void (*ack)(struct hw *hw); /* NULL: the line is a level */
	/* An access of a guest in @mode that runs on this pCPU, traps permitting. */
	enum hw_access (*guest)(struct hw *hw, enum vpmu_mode mode, uint32_t reg,
				bool write, uint64_t *value);
	/* What the host's trap() upcall does. NULL: guests always trap. */
	void (*trap)(struct hw *hw, bool on);
};

/* The first member of every model; made by hw_FAMILY_new(), given back by free(). */
struct hw {
	struct vpmu_hw hw; /* what the core is given */
	const struct hw_model *model;
	const uint64_t *clock;	       /* what now() tells, ns; the test's, for all pCPUs */
	uint64_t reads, writes, syncs; /* by the core; a test zeroes them at will */
};

#endif
