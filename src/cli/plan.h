/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

/* What --vm, -e and -p ask for together: the targets of a run. */

#include "cli/command.h"
#include "session/watch.h"

struct plan_options {
	struct string_list vms;	   /* --vm PATTERN[:EVENTS] */
	struct string_list events; /* -e EVENTS: on top of a VM's own */
	struct string_list pids;   /* -p PID[,PID...] */
};

struct plan {
	struct target *targets; /* owned, and all below */
	size_t ntargets, captargets;
	char **patterns;
	size_t npatterns, cappatterns;
	pid_t *pids; /* plain processes for the source */
	size_t npids, cappids;
};

/*
 * Fills zero-initialised @plan. A target that has no events of its own and gets
 * none from -e counts @fallback; without --vm and -p there is one target, every
 * VM. @root is where events are looked up ("/"). 0, or -errno with words:
 * -EINVAL for a wrong command line.
 */
int plan_make(const struct plan_options *opt, const char *fallback, const char *root,
	      struct plan *plan, struct err *err);
void plan_free(struct plan *plan);

#endif
