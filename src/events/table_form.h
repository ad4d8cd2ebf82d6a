/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_TABLE_FORM_H
#define EVENTS_TABLE_FORM_H

/* An event table as its file says it; table_read.c reads it, data/events/README.md has
 * the form for people. */

#include "base/lines.h"
#include "events/lookup.h"
#include "events/table.h"

#define TABLE_EVENTS 1024
#define TABLE_PMUS 32
#define TABLE_FIELDS 24
#define TABLE_CPUS 32
#define TABLE_SOURCES 16
#define TABLE_COUNTERS 64

/* A field of a PMU's configuration, as the newest kernel has it under format/. */
struct table_field {
	const char *name;
	struct pmu_bits bits;
};

struct table_pmu {
	const char *name;
	const char *driver; /* which kernels have it; NULL: not said */
	const char *source;
	uint64_t counters; /* that its rows may use where they say nothing */
	uint64_t fixed;	   /* more of them, each for one event */
	struct table_field fields[TABLE_FIELDS];
	size_t nfields;
};

struct table_cpu {
	char vendor[16];
	unsigned family, model[2], stepping[2]; /* from, to */
};

struct table_source {
	const char *id, *what;
};

struct table_role {
	const char *no;
	size_t row[ROLE_EVENTS];
	size_t n;
};

struct event_table {
	char name[32];
	const char *title;
	struct table_cpu cpus[TABLE_CPUS];
	size_t ncpus;
	struct table_source sources[TABLE_SOURCES];
	size_t nsources;
	struct table_pmu pmus[TABLE_PMUS];
	size_t npmus;
	struct table_event *rows;
	size_t n, cap;
	struct table_role roles[ROLES];
	char **texts; /* what all the strings point into */
	size_t ntexts, captexts;
};

/* Reads a file's text; 0, -ENOMEM, or -EINVAL with file and line. */
int table_read(const char *name, const char *file, const char *text, size_t size,
	       struct event_table **out, struct err *err);
const struct table_pmu *table_pmu(const struct event_table *t, const char *name);
const struct table_field *table_field(const struct table_pmu *pmu, const char *name);
/* A copy that lives as long as the table; NULL: no memory. */
const char *table_keep(struct event_table *t, const char *text);
/*
 * Cuts "event=0x35,umask=1" at its first comma: the field and its value. 1; 0: nothing is
 * left; -EINVAL: not such a list. @text moves on; @name has @size bytes.
 */
int table_term(const char **text, char *name, size_t size, uint64_t *value);

#endif
