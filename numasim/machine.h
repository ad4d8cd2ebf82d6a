/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_MACHINE_H
#define NUMASIM_MACHINE_H

/*
 * The hardware: cores with private caches, sockets with a shared cache, trackers, home
 * agent, memory channels and links. Who runs on a core is not its business.
 *
 * Each core has a clock of its own. The caller always runs the core whose clock is least
 * (within a few tens of ns), so that requests come to the queues in the order of time.
 * Deterministic: the same calls give the same times and counts.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "numasim/events.h"
#include "numasim/spec.h"

struct machine;	    /* opaque */
struct machine_off; /* truth.h */

/* One memory access of a program. */
struct access {
	uint64_t line; /* its number, unique in the machine: physical address / 64; less
			* than all nodes' memory has */
	uint16_t vm;   /* owner of the memory; < SIM_VMS */
	uint8_t home;  /* the node that the memory is on */
	bool write;
	bool dependent; /* its address comes from the access before: it waits for it */
	uint8_t window; /* at most so many accesses in flight, this one included; >= 1 */
	uint16_t instructions; /* retired up to and with it, >= 1 */
	uint16_t cycles;       /* those take, if all data are at hand, >= 1: after it */
};

/* @off NULL: a machine as it is. 0, -ENOMEM, or -EINVAL with words. */
int machine_new(const struct machine_spec *spec, const struct machine_off *off,
		uint64_t seed, struct machine **out, struct err *err);
void machine_free(struct machine *m);

/*
 * Cores are numbered node by node. Performs @a on @core and moves its clock: returned. If
 * it has to wait, only the clock moves, and it is performed with the core's next call.
 */
uint64_t machine_access(struct machine *m, unsigned core, const struct access *a);
/* @line will be accessed soon. Changes nothing in the machine but our waiting for it: a
 * few accesses ahead, it makes the simulation about twice as fast. */
void machine_expect(const struct machine *m, unsigned core, unsigned vm, uint64_t line);
/* Instructions without memory accesses. */
uint64_t machine_compute(struct machine *m, unsigned core, uint64_t instructions,
			 uint64_t cycles);
/* All accesses in flight are waited for: before another thread runs there. */
void machine_drain(struct machine *m, unsigned core);
/* Halted until @at, ps (the past: nothing): no cycle is counted. */
void machine_idle(struct machine *m, unsigned core, uint64_t at);
/* The core's clock, ps. */
uint64_t machine_now(const struct machine *m, unsigned core);
/* @n lines from @line on leave all caches, unwritten: their memory has moved. */
void machine_forget(struct machine *m, uint64_t line, uint64_t n);

/*
 * The counts that the PMU is wired to, up to now; occupancies and full times are right
 * up to @at (ps) after machine_settle(). The arrays live as long as the machine.
 */
const uint64_t *machine_core_events(const struct machine *m, unsigned core);
const uint64_t *machine_node_events(const struct machine *m, unsigned node);
void machine_settle(struct machine *m, unsigned node, uint64_t at);

/*
 * Overflow: @alarm is called, on that core, right after the access or computation with
 * which one of its counts reached its mark. Marks are absolute counts; UINT64_MAX: none.
 * Without marks it costs one comparison an access.
 */
void machine_alarm(struct machine *m, void (*alarm)(void *ctx, unsigned core), void *ctx);
void machine_mark(struct machine *m, unsigned core, enum core_event event, uint64_t at);

#endif
