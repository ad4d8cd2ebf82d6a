/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/ticker.h"

#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

int ticker_open(void)
{
	const struct itimerspec second = { { 1, 0 }, { 1, 0 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 && timerfd_settime(fd, 0, &second, NULL)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool ticker_due(int fd)
{
	uint64_t times;

	return fd >= 0 && read(fd, &times, sizeof(times)) == sizeof(times);
}
