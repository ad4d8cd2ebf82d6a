/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_LIKWID_H
#define EVENTS_LIKWID_H

/* What the files that import LIKWID's groups share. */

#include "base/str.h"
#include "events/profile.h"

struct likwid_counter {
	char name[32], event[100];
	int input; /* of the model; -1: it is left out */
	bool box;  /* of one box of several */
	bool more; /* the model's input is counted for another box already */
};

struct likwid {
	const char *file;
	unsigned line;
	struct profile_model *p;
	struct likwid_counter *counters; /* owned */
	size_t ncounters, capcounters;
	struct event_table **tables; /* all there are; owned, read when first needed */
	size_t ntables, captables;
	struct strbuf remarks, text;
	char why[240]; /* the last metric that was left out, and why */
	struct err *err;
};

/* "FILE:LINE: …"; returns -EINVAL. */
int likwid_bad(struct likwid *k, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A line for whoever reads the model's file. */
void likwid_remark(struct likwid *k, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A line of EVENTSET or METRICS, which it may change. 0, -EINVAL with words, -ENOMEM. */
int likwid_counter(struct likwid *k, char *line);
int likwid_metric(struct likwid *k, char *line);

#endif
