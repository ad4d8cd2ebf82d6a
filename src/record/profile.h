/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_PROFILE_H
#define RECORD_PROFILE_H

/* From samples to a profile: pure functions, no file and no output. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/sample.h"
#include "record/maps.h"
#include "symbols/symtab.h"

struct weight {
	uint64_t samples;
	uint64_t kernel; /* of them: in kernel mode, a guest's or the host's */
	uint64_t period; /* events they stand for; stops at UINT64_MAX */
};

/* What tells rows apart, besides the event. */
enum profile_keys {
	PROFILE_BY_ADDRESS = 1,
	PROFILE_BY_THREAD = 2,
	PROFILE_BY_MODE = 4,
};

struct profile;

/* @keys: enum profile_keys, ored; @nevents: samples of higher events are not taken. */
int profile_new(unsigned keys, size_t nevents, struct profile **out);
/* false: out of memory, the profile is as it was. Allocates once in thousands. */
bool profile_add(struct profile *p, const struct sample *s);
/* All samples of one event. */
struct weight profile_total(const struct profile *p, size_t event);
/* Smallest and largest time_ns of all samples; first > last: there were none. */
void profile_span(const struct profile *p, uint64_t *first, uint64_t *last);
void profile_free(struct profile *p);

struct profile_row {
	uint32_t event;
	enum sample_mode mode;	  /* MODE_UNKNOWN without PROFILE_BY_MODE */
	pid_t tid;		  /* 0 without PROFILE_BY_THREAD */
	uint64_t ip;		  /* the lowest of the row; 0 without PROFILE_BY_ADDRESS */
	const struct symbol *sym; /* NULL: none covers ip; owned by the symtab */
	const char *module;	  /* the mapped file's name, owned by the maps; NULL */
	uint64_t bias;		  /* run-time address less that of @sym */
	struct weight weight;
};

/*
 * One row per event and keys: per symbol, or per address where none covers it;
 * by event, heaviest first: by period, then samples, then thread and address.
 * @maps names user-mode addresses that @tabs does not cover. Both may be NULL. The caller
 * frees *rows. 0 or -ENOMEM.
 */
int profile_rows(const struct profile *p, const struct symtabs *tabs, struct maps *maps,
		 struct profile_row **rows, size_t *nrows);

/* ---- over time */

/* Slot i of event e is slot[e * n + i]: [start_ns + i * width_ns, … + width_ns). */
struct timeline {
	uint64_t start_ns, width_ns;
	size_t n, nevents;
	struct weight *slot; /* owned */
};

/*
 * Slots of 1, 2 or 5 times a power of ten ns, from @first to @last, at most @max
 * (>= 20) of them. 0 or -ENOMEM. Free with timeline_free().
 */
int timeline_init(struct timeline *t, uint64_t first, uint64_t last, size_t max,
		  size_t nevents);
/* Samples outside are not taken. */
void timeline_add(struct timeline *t, const struct sample *s);
void timeline_free(struct timeline *t);

#endif
