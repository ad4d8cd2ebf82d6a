/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_PERFDATA_READER_H
#define RECORD_PERFDATA_READER_H

/*
 * What the files of the reader share: perfdata_read.c opens, perfdata_walk.c
 * walks, perfdata_name.c names events.
 *
 * A file is read through a small buffer and not mapped: it may shrink while it
 * is read, and a big recording should not cost its size in memory.
 */

#include <string.h>

#include "record/perfdata.h"
#include "record/perfdata_format.h"

#define EVENT_NAME_MAX 256
#define ID_CACHE 256 /* ids are handed out by counting up: few share a slot */

struct event_slot {
	struct perf_event_attr attr;
	char name[EVENT_NAME_MAX];
	uint16_t ip, tid, time, id, cpu, period; /* offsets in a sample, 0: absent */
	uint16_t min_size;			 /* of a sample that has them all */
	uint64_t fixed_period;			 /* where samples carry none */
};

struct id_slot {
	uint64_t id;
	uint32_t event;
};

struct perfdata_reader {
	char *path;
	int fd;		    /* -1: memory */
	const uint8_t *mem; /* the caller's */
	uint64_t size;	    /* of the file when it was opened */
	struct perfdata_section data;
	bool unfinished;
	struct event_slot *events;
	size_t nevents;
	struct id_slot *ids; /* ascending */
	size_t nids, max_ids;
	struct id_slot cache[ID_CACHE]; /* by the id's low bits; id 0: empty */
	uint8_t *window;		/* the buffer; files only */
};

/* Reads up to @len bytes at @offset: the number read, or -errno. */
ssize_t perfdata_read_some(const struct perfdata_reader *r, uint64_t offset, void *buf,
			   size_t len);
/* A name in perf's grammar for an event whose file names none. */
void perfdata_name_attr(const struct perf_event_attr *attr, char *name, size_t size);

/* Loads from checked ranges of any alignment. */
static inline uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint16_t get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

#endif
