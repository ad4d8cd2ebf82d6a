/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <errno.h>

#define SECOND_NS 1000000000u

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec;
}

uint64_t clock_real_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

static uint64_t real_now(void *ctx)
{
	(void)ctx;
	return clock_real_ns();
}

static int real_wait(void *ctx, struct pollfd *fds, nfds_t nfds, uint64_t deadline_ns)
{
	uint64_t now = clock_real_ns();
	struct timespec ts = { 0 };
	int ret;

	(void)ctx;
	if (deadline_ns > now) {
		ts.tv_sec = (time_t)((deadline_ns - now) / SECOND_NS);
		ts.tv_nsec = (long)((deadline_ns - now) % SECOND_NS);
	}
	ret = ppoll(fds, nfds, deadline_ns == CLOCK_NEVER ? NULL : &ts, NULL);
	return ret < 0 ? -errno : ret;
}

static const struct clock_ops real = { real_now, real_wait };
static const struct clock_ops *ops = &real;
static void *ops_ctx;

void clock_use(const struct clock_ops *use, void *ctx)
{
	ops = use ? use : &real;
	ops_ctx = use ? ctx : NULL;
}

uint64_t clock_now_ns(void)
{
	return ops->now(ops_ctx);
}

uint64_t clock_spent_ns(void)
{
	return ops == &real ? read_clock(CLOCK_THREAD_CPUTIME_ID) : 0;
}

int clock_wait(struct pollfd *fds, nfds_t nfds, uint64_t deadline_ns)
{
	return ops->wait(ops_ctx, fds, nfds, deadline_ns);
}
