/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_PROFILE_H
#define EVENTS_PROFILE_H

/*
 * Profile models, data/models/NAME.model and the user's own: events by role or by name,
 * formulas of them, units, thresholds. A metric carries its provenance: it is no better
 * than its worst input. The form is described in vmmprof-models(5).
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "events/table.h"
#include "model/event.h"
#include "model/reading.h"

enum profile_scope {
	SCOPE_VCPU, /* per vCPU and, of sums, per VM */
	SCOPE_NODE,
};

struct profile_input {
	char name[32]; /* as formulas call it */
	bool by_role;
	enum role role;	 /* by_role */
	char event[160]; /* else: in perf's grammar */
	enum profile_scope scope;
	bool optional; /* formulas with it are left out, with the reason, if it is not there
			*/
};

struct profile_metric {
	char name[48];
	char unit[24];
	char what[160];
	enum profile_scope scope;
	struct formula *formula; /* owned */
	double warn, bad;	 /* thresholds; NaN: none; warn > bad: little is bad */
};

struct profile {
	char name[32], title[96];
	char *description;	      /* owned */
	struct profile_input *inputs; /* owned */
	size_t ninputs;
	struct profile_metric *metrics; /* owned */
	size_t nmetrics;
};

/* Of an interval: also "seconds" (measured), "nodes", "cpus" stand in formulas. */
struct profile_values {
	const struct reading *input; /* one per input of the profile */
	double seconds;
	double nodes, cpus;
};

struct metric_value {
	double value; /* NaN: none, see state */
	double error; /* half width, carried through the formula; 0: exact; NaN: unknown */
	enum reading_state state; /* of its worst input */
	const char *reason;	  /* of that input, "division by zero: NAME"; NULL */
};

/* 0, -EINVAL with file, line and what was expected, -ENOENT, -ENOMEM. */
int profile_load(const char *what, struct profile *out, struct err *err);
int profile_parse(const char *file, const char *text, size_t size, struct profile *out,
		  struct err *err);
/* A performance group of LIKWID (groups/ARCH/NAME.txt): its EVENTSET and METRICS. */
int profile_import_likwid(const char *file, const char *text, size_t size,
			  struct profile *out, struct err *err);
/* Writes it in the form that profile_parse() reads. */
void profile_write(const struct profile *p, struct strbuf *out);
void profile_free(struct profile *p);
struct metric_value profile_metric(const struct profile *p, size_t metric,
				   const struct profile_values *values);

/* What became of an input on this machine. */
struct profile_need {
	const struct profile_input *input;
	int code;	 /* 0: it can be had */
	char words[200]; /* which event plays it, or why none does */
};

/*
 * The events that @p needs here, in two sets, so that those of one formula share a
 * counter group where their rows ask for it and they fit. @place[i]: the first event of
 * input i in its scope's set and how many are to be summed (0: it cannot be had, then
 * needs[i] says why). @table NULL: no CPU table: roles that perf's generic events play
 * are still had. 0 or -errno with words.
 */
struct profile_place {
	size_t first, n;
};
int profile_events(const struct profile *p, const struct event_table *table,
		   const struct rootfs *root, struct event_set *vcpu,
		   struct event_set *node, struct profile_place *place,
		   struct profile_need *needs, struct err *err);

#endif
