/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_SIM_STATE_H
#define SOURCE_SIM_STATE_H

/* What the files of this room share. */

#include "numasim/sim.h"
#include "source/hosted/hosted.h"

struct sim_ring; /* of host.c */

struct source {
	struct sim *sim;
	struct sim_pmu_info info;
	struct hosted hosted;
	struct sim_ring *rings; /* that are mapped now */
	int wake;		/* an event descriptor: a ring is half full */
	char words[192];	/* what host this is */
};

/* sim.c: simulated time as clock_now_ns() has it: it began a second before the run. */
#define SIM_EPOCH_NS 1000000000u

/* host.c */
extern const struct hosted_ops sim_hosted;
/* Tells who waits for it that a ring is half full. */
void sim_look_at_rings(struct source *src);

/* event.c: what the simulated PMUs take for @ev; false: nothing, @opened says why. */
bool sim_event(void *ctx, const struct hosted_target *t, const struct event *ev,
	       bool sampling, struct vpmu_event *out, struct opened *opened);

/* topology.c */
int sim_topology(struct source *src, unsigned parts, struct topology *topo,
		 struct err *err);
/* The number of a VM that sim_topology() made. */
unsigned sim_number(const struct vm *vm);
int sim_symbols_each(struct source *src, const struct vm *vm, symbol_cb *cb, void *ctx);

/* moves.c */
int sim_move(struct source *src, const struct vm *vm, const struct move *move,
	     struct err *err);
void sim_say_move(struct source *src, const struct vm *vm, const struct move *move,
		  struct strbuf *out);

/* capabilities.c */
int sim_capabilities(struct source *src, const struct capability_ask *asks, size_t nasks,
		     struct capability_list *list, struct err *err);

#endif
