/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_PERFDATA_FORMAT_H
#define RECORD_PERFDATA_FORMAT_H

/*
 * The bytes of a perf.data file, as
 * linux/tools/perf/Documentation/perf.data-file-format.txt and
 * linux/tools/lib/perf/include/perf/event.h give them. Host byte order.
 */

#include <linux/perf_event.h>
#include <stdint.h>

#define PERFDATA_MAGIC 0x32454c4946524550ULL /* "PERFILE2" */

struct perfdata_section {
	uint64_t offset, size;
};

struct perfdata_header {
	uint64_t magic;
	uint64_t size;	    /* of this header */
	uint64_t attr_size; /* of one struct perfdata_attr */
	struct perfdata_section attrs, data, event_types;
	uint64_t features[4]; /* bitmap; their sections follow the data */
};

/* One event; @ids is an array of u64 anywhere in the file. */
struct perfdata_attr {
	struct perf_event_attr attr;
	struct perfdata_section ids;
};

enum perfdata_feature {
	FEAT_HOSTNAME = 3,
	FEAT_OSRELEASE = 4,
	FEAT_VERSION = 5,
	FEAT_ARCH = 6,
	FEAT_NRCPUS = 7,
	FEAT_CPUDESC = 8,
	FEAT_CMDLINE = 11,
	FEAT_EVENT_DESC = 12,
	FEAT_CLOCK_DATA = 29,
};

/* Records that user space makes. */
enum perfdata_record {
	RECORD_EVENT_TYPE = 65, /* long unused: every reader steps over it */
	RECORD_FINISHED_ROUND = 68,
};

#define PERFDATA_RECORD_MAX 65528 /* largest size that fits header.size, 8-aligned */
#define PERFDATA_NAME_ALIGN 64	  /* padding of strings in features */

#endif
