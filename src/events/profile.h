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
#include "base/str.h"
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
	char event[160]; /* else: a table's name for it, or one event in perf's grammar */
	enum profile_scope scope;
	bool optional; /* the model is whole without it; its metrics then have no value */
};

struct profile_metric {
	char name[64];
	char unit[24];
	char what[160];
	enum profile_scope scope;
	struct formula *formula; /* owned */
	double warn, bad;	 /* thresholds; NaN: none; warn > bad: little is bad */
};

struct profile_model {
	char name[32], title[96];
	char *description;	      /* owned; NULL: none */
	char *remarks;		      /* owned: lines for whoever reads the file; NULL */
	struct profile_input *inputs; /* owned */
	size_t ninputs, capinputs;
	struct profile_metric *metrics; /* owned */
	size_t nmetrics, capmetrics;
};

/* A number on its way through a formula. */
struct metric_value {
	double value;		  /* NaN: none, see state */
	double error;		  /* half width; 0: exact; NaN: unknown */
	enum reading_state state; /* of its worst input; READ_UNDEFINED: see reason */
	const char *reason; /* of that input, or "division by zero: NAME"; NULL: none */
	const char *of;	    /* the name of that input; NULL: of no input */
};

/* What formulas are computed from. */
struct profile_values {
	const struct metric_value *input; /* one per input of the model */
	double seconds;			  /* measured */
	double nodes;			  /* memory nodes of the machine */
	double cpus; /* vCPUs that the inputs are of, or the node's CPUs */
};

enum profile_mark { MARK_NONE, MARK_OK, MARK_WARN, MARK_BAD };

/*
 * By name or path, as data_load() finds it. 0, -EINVAL with file, line, column and what
 * was expected, -ENOENT, -ENOMEM. profile_model_free() it, also if it failed.
 */
int profile_model_load(const char *what, struct profile_model *out, struct err *err);
int profile_model_parse(const char *file, const char *text, size_t size,
			struct profile_model *out, struct err *err);
/*
 * A performance group of LIKWID (groups/ARCH/NAME.txt): its EVENTSET and METRICS. What
 * it has and models do not is left out, and said in remarks.
 */
int profile_model_import_likwid(const char *file, const char *text, size_t size,
				struct profile_model *out, struct err *err);
/* Writes it in the form that profile_model_parse() reads. */
void profile_model_write(const struct profile_model *p, struct strbuf *out);
void profile_model_free(struct profile_model *p);

/*
 * The value of a metric. Its error is first order and worst case: the sum of |partial
 * derivative| * error over the inputs (Taylor, An Introduction to Error Analysis, 2nd
 * ed., 3.11: errors of the inputs are not independent, so they are not added in
 * quadrature); unknown where a divisor is zero within its error.
 */
struct metric_value profile_metric_value(const struct profile_model *p, size_t metric,
					 const struct profile_values *values);
/* Against its thresholds; MARK_NONE: it has none, or no value. */
enum profile_mark profile_metric_mark(const struct profile_metric *metric, double value);
const char *profile_mark_name(enum profile_mark mark); /* "ok", "warn", "bad"; NULL */

/* ---- the events of a model on a machine */

/* What became of an input. */
struct profile_need {
	int code;	 /* 0: it can be had; else -errno */
	char words[240]; /* which events play it, or why none does */
};

/* Where its events are: ev[first] … ev[first + n - 1] of its scope's set, to be summed. */
struct profile_place {
	size_t first, n; /* n 0: it cannot be had */
};

struct profile_events {
	struct event_set vcpu, node;
	struct profile_place *place; /* one per input */
	struct profile_need *need;   /* likewise */
	/* Of each metric: "", or which of its events are not counted at the same time
	 * since there is no such group: "… cannot be scheduled together". */
	char (*split)[200];
};

/*
 * The events that @p needs here. Those of one formula share a counter group where they
 * fit: no more than the PMU has counters, and each on one that can count it.
 * @root NULL: the encodings are the CPU's own, as table_event_make() has it.
 * @table NULL: no CPU table: roles that perf's generic events play are still had.
 * 0, or -ENOMEM. profile_events_free() it.
 */
int profile_events_make(const struct profile_model *p, const struct event_table *table,
			const struct rootfs *root, struct profile_events *out,
			struct err *err);
/*
 * The table's row that a model's event "NAME" means: vendors, libpfm4 and LIKWID part
 * the same words by ".", ":" and "_". NULL: none.
 */
const struct table_event *profile_table_row(const struct event_table *table,
					    const char *name);
void profile_events_free(struct profile_events *e);
/* The sum of an input's readings, scaled as its events say; as bad as the worst. */
struct metric_value profile_input_value(const struct event *ev, const struct reading *r,
					size_t n);

#endif
