/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/*
 * The one clock of readings, samples and notes, and the one way to wait for it. It is
 * CLOCK_MONOTONIC unless a source brings its own: then all that is measured, and all
 * that is waited for, is in that source's time.
 */

#include <poll.h>
#include <stdint.h>
#include <time.h>

#define CLOCK_NEVER UINT64_MAX /* as a deadline: there is none */

struct clock_ops {
	uint64_t (*now)(void *ctx); /* ns; never 0, never less than before */
	/* As clock_wait(). */
	int (*wait)(void *ctx, struct pollfd *fds, nfds_t nfds, uint64_t deadline_ns);
};

/* From here on this is the clock; @ops NULL: CLOCK_MONOTONIC again. */
void clock_use(const struct clock_ops *ops, void *ctx);
/* In ns; starts anywhere. */
uint64_t clock_now_ns(void);
/*
 * As poll(2) until @deadline_ns of this clock: the number of descriptors that are ready,
 * 0 when the time has come, -EINTR after a signal, -errno.
 */
int clock_wait(struct pollfd *fds, nfds_t nfds, uint64_t deadline_ns);

/*
 * CPU time of this thread in ns, to hold what work costs against a period of the clock:
 * the time that others had the CPU meanwhile is not its cost. 0 where a source's own clock
 * stands still while we work.
 */
uint64_t clock_spent_ns(void);

/* CLOCK_MONOTONIC in ns whatever the clock is: for patience with processes and people. */
uint64_t clock_real_ns(void);
/* Wall-clock time in ns since 1970, for headings and recordings only. */
uint64_t clock_wall_ns(void);

#endif
