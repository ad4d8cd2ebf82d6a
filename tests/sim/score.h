/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_SIM_SCORE_H
#define TESTS_SIM_SCORE_H

/*
 * Scores of the diagnosis and the advice: what the command line tool says of a scenario,
 * from its counters, beside what is so.
 */

#include "base/json.h"
#include "cli/gather.h"
#include "diagnose/diagnose.h"
#include "numasim/sim.h"

struct score_options {
	uint64_t warm_ns, window_ns; /* of the truth, and before a diagnosis */
	uint64_t windows;	     /* of a diagnosis … */
	double seconds;		     /* … each so long */
	bool trouble;	 /* counters are taken by someone else, readings get lost */
	bool advice;	 /* and nothing else */
	bool bold;	 /* also where the gain is known badly */
	unsigned search; /* other placements tried, to find the best; 0: none */
};

/* The tool, pointed at a scenario, and what it saw. */
struct look_at {
	struct gather g;
	struct gather_options options;
	struct source_ops ops; /* the source's, as the test makes them */
	struct out out;
	char *what; /* owned: "sim:" and the scenario */
	struct windows *windows;
	const struct diag_window **each; /* owned */
	struct diag_window all;
	uint64_t began, ended; /* of simulated time, ns */
	/* Meanwhile, each VM's steps of work: what its users got. */
	double work[SIM_VMS];
};

/* Opens the scenario and lets it run in. 0 or -errno with words. */
int look_open(struct look_at *l, const char *scenario, const struct score_options *o,
	      struct err *err);
/* Measures the windows; can be done again: what was seen before is forgotten. */
int look_measure(struct look_at *l, struct err *err);
void look_close(struct look_at *l);

/* The simulated host itself, for what a user would know of his own program. */
struct sim *look_sim(const struct look_at *l);

/*
 * Advice from what was seen, made, and measured against the same host left alone; beside
 * it what the policies of Xen and Linux make of the same VMs, and the best of other
 * placements. Writes an object's members. 0 or -errno with words.
 */
int score_advice(struct look_at *l, const char *scenario, const struct score_options *o,
		 struct json *j, struct err *err);

#endif
