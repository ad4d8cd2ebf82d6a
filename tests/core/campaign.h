/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_CORE_CAMPAIGN_H
#define TESTS_CORE_CAMPAIGN_H

/*
 * A random campaign against the whole core: a machine of several pCPUs (register models),
 * VMs with and without a PMU, sets of the host, threads in the guests. After each step
 * everything is held against an oracle that is simpler than the core can be:
 *   - each vCPU has a bare machine of its own, a second model on which the same events
 *     run and the same accesses are made with no hypervisor beside: what a guest reads,
 *     and its interrupt line, must be the bare machine's;
 *   - each event of a set has a plain sum of what was run.
 * A list of steps does the same each time, and any part of a list is a valid list.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/vpmu.h"
#include "tests/core/hw.h"

enum {
	CAMPAIGN_PCPUS = 3,
	CAMPAIGN_VMS = 3,   /* the last one has no PMU of its own */
	CAMPAIGN_VCPUS = 3, /* of each */
	CAMPAIGN_EVENTS = 4,
};

/* A guest's access to a register. */
struct campaign_access {
	uint32_t reg;
	bool write, user;
	uint64_t value;
};

struct campaign_random {
	uint64_t state;
};
uint64_t campaign_random(struct campaign_random *r);
/* Less than @n. */
uint32_t campaign_below(struct campaign_random *r, uint32_t n);

#define CAMPAIGN_DRIVER 16 /* most accesses of a driver's sequence */

/* A kind of machine. */
struct campaign_variant {
	const char *name;
	const struct vpmu_family *family;
	struct vpmu_config config;
	const void *model; /* for machine() and bare() */
	struct hw *(*machine)(const struct campaign_variant *v, const uint64_t *clock);
	/* As a guest with @caps sees it. */
	struct hw *(*bare)(const struct campaign_variant *v, const struct vpmu_caps *caps,
			   const uint64_t *clock);
	bool (*line)(const struct hw *bare);
	uint64_t events[CAMPAIGN_EVENTS];
	/* Registers whose value is compared after each step: how many, and the i-th. */
	unsigned (*view)(const struct vpmu_caps *caps, uint32_t regs[64]);
	/* What a driver does with a counter: program, read, handle an interrupt. */
	unsigned (*driver)(const struct campaign_variant *v, struct campaign_random *r,
			   const struct vpmu_caps *caps,
			   struct campaign_access out[CAMPAIGN_DRIVER]);
	/* Anything at all. */
	struct campaign_access (*wild)(const struct campaign_variant *v,
				       struct campaign_random *r,
				       const struct vpmu_caps *caps);
};

struct campaign_family {
	const char *name;
	const struct campaign_variant *const *variants; /* NULL ends it */
};
extern const struct campaign_family campaign_families[]; /* .name NULL ends it */

enum campaign_op {
	STEP_RUN,      /* @a: mode; @value: seed of the counts; interrupts at once */
	STEP_RUN_LATE, /* the same, the interrupt waits for STEP_IRQ */
	STEP_IRQ,
	STEP_SWITCH, /* to vCPU @b of VM @a, or to none; @value: skip what is idle */
	STEP_ACCESS, /* @reg, @a: write, @b: user, @value */
	STEP_OPEN, /* set @b on VM @a (CAMPAIGN_VMS: on the hypervisor); @value: of what */
	STEP_CLOSE,
	STEP_DRAIN,   /* at most @value records of each ring of that set */
	STEP_RUBBISH, /* its consumer writes rubbish */
	STEP_THREAD,  /* of the vCPU that runs */
	STEP_TURN,    /* @value: ns later */
	STEP_FOLD,
	STEP_DESTROY, /* VM @a, and a new one in its place */
	STEP_RESET,   /* vCPU @b of VM @a */
	STEP_PLUG,    /* the pCPU goes down, or up */
	STEPS,
};

struct campaign_step {
	uint8_t op, pcpu, a, b;
	uint32_t reg;
	uint64_t value;
};

/* @n random steps for @variant. */
void campaign_generate(const struct campaign_variant *variant, uint64_t seed,
		       struct campaign_step *steps, size_t n);
void campaign_print(const struct campaign_step *step, char *line, size_t size);

struct campaign_result {
	bool failed;
	size_t step; /* that failed */
	char why[512];
	/* so that a test can tell that what it is for was reached */
	uint64_t steps[STEPS], interrupts, samples, lost, late, raised, multiplexed;
};

/* Runs @steps until one fails. In this process; the core may crash it. */
void campaign_run(const struct campaign_variant *variant, const struct campaign_step *steps,
		  size_t n, struct campaign_result *result);
/* The same in a process of its own; a crash and a hang are failures too. */
void campaign_try(const struct campaign_variant *variant, const struct campaign_step *steps,
		  size_t n, struct campaign_result *result);
/*
 * Shrinks failing @steps in place to fewer that still fail: those that it can do without
 * one by one are gone. Returns how many are left; @result is theirs.
 */
size_t campaign_shrink(const struct campaign_variant *variant, struct campaign_step *steps,
		       size_t n, struct campaign_result *result);

#endif
