/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

/* What --vm, -e and -p ask for together: the source, and the targets of a run. */

#include "cli/command.h"
#include "cli/common.h"
#include "cli/model_set.h"
#include "session/watch.h"

struct plan_options {
	struct string_list vms;	   /* --vm PATTERN[:EVENTS] */
	struct string_list events; /* -e EVENTS: on top of a VM's own */
	struct string_list pids;   /* -p PID[,PID...] */
	struct string_list models; /* -m MODEL[,MODEL...] */
};

struct plan {
	const struct source_ops *ops;
	struct source *src;	/* open; owned, and all below */
	struct target *targets; /* 0 of them: only nodes are asked for */
	size_t ntargets, captargets;
	struct event_set node_events; /* those of models, then of -e, that sockets count */
	struct model_set models;      /* their events come first in each target's */
	char **patterns;
	size_t npatterns, cappatterns;
	pid_t *pids; /* plain processes for the source */
	size_t npids, cappids;
};

/*
 * Opens the source for zero-initialised @plan. 0, or -errno with words: -EINVAL for a
 * wrong command line.
 */
int plan_open(const struct plan_options *opt, const struct common_options *common,
	      struct plan *plan, struct err *err);
/*
 * Then reads the events, as the source's machine has them. A target that has none of its
 * own and gets none from models and -e counts @fallback; without --vm and -p there is one
 * target, every VM. @sampling: to be sampled, which a socket's events cannot be. Same
 * errors.
 */
int plan_make(const struct plan_options *opt, const struct common_options *common,
	      const char *fallback, bool sampling, struct plan *plan, struct err *err);
void plan_free(struct plan *plan);

#endif
