/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_PERFDATA_WRITE_H
#define RECORD_PERFDATA_WRITE_H

/* The writer's own state, shared by its two files. */

#include "base/vec.h"
#include "record/perfdata.h"
#include "record/perfdata_format.h"

struct perfdata_event {
	struct perf_event_attr attr;
	char *name;
	uint64_t *ids; /* one per vCPU */
	size_t nids, ids_cap;
	uint64_t ids_at; /* where the file has them */
	size_t ids_room; /* how many fit there */
};

struct perfdata_writer {
	int fd;
	char *path;
	struct perfdata_event *events;
	size_t nevents;
	uint64_t salvaged;	  /* samples of a write that failed half way */
	uint64_t data_start, end; /* [data_start, end) are whole records */
	uint64_t features;	  /* bitmap of the sections behind the data */
	struct machine machine;	  /* without nodes */
	char *hostname, *cmdline;
};

int perfdata_pwrite(struct perfdata_writer *w, const void *data, size_t size, uint64_t at,
		    struct err *err);
int perfdata_put_header(struct perfdata_writer *w, struct err *err);
/* perfdata_features.c: all feature sections, then the header that counts them. */
int perfdata_put_features(struct perfdata_writer *w, struct err *err);

#endif
