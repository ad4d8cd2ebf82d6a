/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_HOSTED_STAGE_H
#define SOURCE_HOSTED_STAGE_H

/*
 * From Xen's ring to perf's records: samples are copied out, checked and written as
 * PERF_RECORD_SAMPLE, losses as PERF_RECORD_LOST, into memory of our own.
 */

#include "core/ring.h"
#include "source/source.h"

/* sample_type of what is written: perf_event_open(2) has the order of its fields. */
#define STAGE_SAMPLE_TYPE                                                                  \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |    \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

struct stage {
	struct vpmu_reader reader;
	uint32_t vcpu;	       /* whose samples may be in the ring */
	bool hypervisor;       /* of the target xen, whose samples are in its own mode */
	uint32_t pid, tid;     /* what they carry */
	uint64_t clock_offset; /* added to their times */
	unsigned nids;
	uint64_t ids[VPMU_SET_EVENTS]; /* by place in the set */
	char *out;		       /* owned */
	size_t size, used;
	uint32_t staged;     /* records of the ring that are in @out, or made no sense */
	uint64_t received;   /* and were given back */
	uint64_t lost;	     /* told so far */
	uint64_t known_lost; /* by the hypervisor's own account, when it was last asked */
	uint64_t time;	     /* of the last sample, on our clock */
};

/* Takes a mapped ring; -EINVAL where it is none, -ENOMEM. Zero-initialise @st before. */
int stage_init(struct stage *st, void *ring, size_t bytes);
/*
 * Brings what waits in the ring to @out, behind what is there already. @last: the ring
 * is written no more, so that what is neither there nor told as lost is lost, too.
 */
void stage_fill(struct stage *st, bool last, struct sampler_tally *tally);
/* Empties @out and gives the ring its room back. */
void stage_release(struct stage *st);
void stage_free(struct stage *st);

#endif
