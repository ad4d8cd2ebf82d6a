/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_PROFILE_GROUPS_H
#define EVENTS_PROFILE_GROUPS_H

/* Which events are counted at the same time: groups of a PMU's events that fit it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

#define PARTS_MAX 512

/* An event on its way into a set. */
struct part {
	struct event ev; /* ev.group is what is decided here */
	uint64_t can;	 /* the counters that can count it; 0: it needs none */
	const char *pmu; /* whose counters these are */
	int wish;	 /* parts of one number >= 0 and one PMU belong together */
	size_t input;	 /* of the model */
};

struct parts {
	struct part *v; /* owned; at most PARTS_MAX */
	size_t n, cap;
};

/* Is there a counter for each of them? @in[i]: part i is one of them. */
bool groups_fit(const struct parts *p, const bool *in);
/*
 * Puts those of @wanted that share a PMU into one group, with what is in their groups
 * already, as far as that fits; what does not goes into others of theirs.
 */
void groups_join(struct parts *p, const bool *wanted);
/*
 * Two of @wanted that need counters of one PMU but are in different groups; false: there
 * are none.
 */
bool groups_split(const struct parts *p, const bool *wanted, size_t *a, size_t *b);
/* Groups of one are none: takes their number away. */
void groups_finish(struct parts *p);

#endif
