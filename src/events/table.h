/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_TABLE_H
#define EVENTS_TABLE_H

/*
 * Event tables, data/events/NAME.events: what a CPU calls the events that matter here,
 * keyed by its exact family and model, with the roles they play. Facts as linted data:
 * the form is described in data/events/README.md.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rootfs.h"
#include "model/event.h"
#include "model/role.h"

/* Which CPU, as /proc/cpuinfo tells; x86: family and model; Arm: implementer and part. */
struct cpu_id {
	char vendor[16]; /* "GenuineIntel", "AuthenticAMD", "HygonGenuine"; "0x41" */
	unsigned family, model, stepping;
};

/* One row. Encodings are the CPU's own; perf's terms are made of them at run time. */
struct table_event {
	const char *name;  /* "UNC_CHA_TOR_INSERTS.IA_MISS_DRD_LOCAL" */
	const char *pmu;   /* "cpu", "uncore_cha" (all its boxes), "amd_df" */
	const char *terms; /* perf's: "event=0x35,umask=0xc816fe01"; fields as in format/ */
	const char *what;
	double scale;	   /* of the count, in lines, bytes, … as the role wants it */
	uint64_t counters; /* that can count it, bit by bit, fixed ones from 32 on; 0: any
			    */
	bool mean;	   /* the role wants the mean of its PMU's boxes, not their sum */
	int group;	   /* rows of one number >= 0 are counted at the same time */
	const struct table_pmu *of; /* what the table says of its PMU */
};

struct event_table; /* opaque */

/* The machine's CPU. 0; -ENOENT with words: /proc/cpuinfo does not tell. */
int cpu_identify(const struct rootfs *root, struct cpu_id *out, struct err *err);
/*
 * The table for @cpu. 0; -ENOENT with words that name the CPU and the nearest table;
 * -EINVAL: the file is wrong (file, line). event_table_free() it.
 */
int event_table_load(const struct cpu_id *cpu, struct event_table **out, struct err *err);
/* The same by name or path. */
int event_table_open(const char *what, struct event_table **out, struct err *err);
void event_table_free(struct event_table *t);
const char *event_table_name(const struct event_table *t); /* "nehalem-ep" */
/* Which kernels have a driver for @pmu, in words; NULL: the table does not say. */
const char *event_table_driver(const struct event_table *t, const char *pmu);
size_t event_table_size(const struct event_table *t);
const struct table_event *event_table_row(const struct event_table *t, size_t i);
const struct table_event *event_table_find(const struct event_table *t, const char *name);
/*
 * The rows whose sum plays @role, at most @max of them: their number; 0: nothing here
 * plays it, with *@why in words (static, or the table's: "no queue-full event on AMD").
 */
size_t event_table_role(const struct event_table *t, enum role role,
			const struct table_event **rows, size_t max, const char **why);
/* Does the table say that nothing here plays @role (rather than nothing at all)? */
bool event_table_says_no(const struct event_table *t, enum role role);
/*
 * Makes an event of a row, checked against the kernel's format/ below @root: a field that
 * is missing or too narrow there is -EOPNOTSUPP with words that name the kernel's limit.
 * kind is EVENT_UNCORE for a socket's PMU. @root NULL: no kernel stands between (the
 * built-in host): the encoding is the CPU's own, by the table's format lines, and type is
 * PERF_TYPE_RAW.
 */
int table_event_make(const struct table_event *row, const struct rootfs *root,
		     struct event *out, struct err *err);

#define ROLE_EVENTS 16 /* most events of one role */

/* Is it told by a monitor (EVENT_MONITOR, its role in config) and not by a counter? */
bool role_is_monitored(enum role role);
/*
 * Appends to @set the events whose sum of value * scale is @role, in its unit: those of
 * @table (NULL: none is known), else perf's own event of that meaning, or a monitor. A
 * lone one has the role's name, several have their own. @root as table_event_make() wants
 * it. 0; -ENOENT with words: nothing here plays it; -EOPNOTSUPP: this kernel does not
 * offer it; -ENOMEM. On failure @set is as before.
 */
int role_events(enum role role, const struct event_table *table, const struct rootfs *root,
		struct event_set *set, struct err *err);

#endif
