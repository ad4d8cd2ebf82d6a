/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_THREAD_NAMES_H
#define RECORD_THREAD_NAMES_H

/* What the COMM records of a file call its threads. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_name {
	pid_t tid;
	uint32_t order; /* of arrival */
	char name[96];
};

/* Zero-initialise; thread_names_free() empties it. */
struct thread_names {
	struct thread_name *v; /* owned */
	size_t n, cap;
	uint32_t order;
	bool settled; /* ascending tid, one name each */
};

/* The last name that a thread is given counts. false: out of memory. */
bool thread_names_set(struct thread_names *t, pid_t tid, const char *name);
/* NULL if it has none. */
const char *thread_names_find(struct thread_names *t, pid_t tid);
void thread_names_free(struct thread_names *t);

#endif
