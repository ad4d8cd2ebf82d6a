/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

/* "-- COMMAND": started when all is ready, and its end is the run's end. */

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct child {
	const char *name; /* the caller's argv[0] */
	pid_t pid;	  /* 0: there is none */
	int hold;	  /* the other end lets it go */
	bool over;
	/* As a shell shows it, 128 + the signal that ended it; 0 if we ended it. */
	int status;
};

/*
 * Makes the process, held back before its exec; @mask is the signal mask that
 * COMMAND gets, NULL: ours. 0 or -errno.
 */
int child_prepare(struct child *c, char **argv, const sigset_t *mask, struct err *err);
/* Lets it run. 0, or -errno with words if it cannot be executed. */
int child_release(struct child *c, struct err *err);
/* Has it ended? Never waits. */
bool child_over(struct child *c);
/*
 * Ends it if it still runs (SIGTERM), and waits for that; one that is still there
 * after 5 s is killed, with a line on stderr.
 */
void child_end(struct child *c);

/* Was it ignored when we came? So nohup(1) has it for SIGHUP. */
bool signal_ignored(int sig);

#endif
