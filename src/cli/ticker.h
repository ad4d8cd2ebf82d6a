/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_TICKER_H
#define CLI_TICKER_H

/*
 * When a status line is due: once a second of real time, whatever the clock of what is
 * measured. A descriptor, so that waiting for that clock ends for it.
 */

#include <stdbool.h>

/* A descriptor that polls readable; -1 where there is none: then none is due. */
int ticker_open(void);
/* Is a line due? Takes what has come. */
bool ticker_due(int fd);

#endif
