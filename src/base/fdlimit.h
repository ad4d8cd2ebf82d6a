/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_FDLIMIT_H
#define BASE_FDLIMIT_H

#include <stdint.h>

#include "base/err.h"

/* Descriptors of this process, as `vmmprof check` shows them. */
struct fdlimit {
	uint64_t in_use;
	uint64_t soft, hard; /* RLIMIT_NOFILE */
};

/* 0 or -errno. */
int fdlimit_read(struct fdlimit *out);
/* As far as this process may, without asking for more than its hard limit. */
void fdlimit_raise(void);
/*
 * Sees to it that @more descriptors can be opened on top of those in use, and
 * raises the limit where that is allowed. 0, or -EMFILE with the numbers and
 * the remedy.
 */
int fdlimit_reserve(uint64_t more, struct err *err);

#endif
