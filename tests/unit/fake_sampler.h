/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_FAKE_SAMPLER_H
#define TESTS_UNIT_FAKE_SAMPLER_H

/* Samplers for the fake source, whose rings a test fills. */

#include "source/source.h"

#define FAKE_RING 4096
#define FAKE_SAMPLERS 32

/* A sampler whose ring the test fills; found again by thread and view. */
struct sampler {
	pid_t tid;
	bool inside, open, stopped;
	struct event_set set; /* borrowed */
	struct perf_event_header ring[FAKE_RING / 8];
	size_t words;  /* waiting */
	uint64_t lost; /* by PERF_FORMAT_LOST */
	struct sampler_tally next;
	uint64_t raw, enabled_ns, running_ns;
	int pipe[2];
};

extern struct sampler samplers[FAKE_SAMPLERS]; /* in the order of their opening */
extern size_t nsamplers;
extern int fake_refuse;			/* -errno of sampler_open(), 0: it works */
extern const char *fake_wrong_in_turns; /* of all events, for the next open */
extern const char *fake_unsupported;	/* name of an event that cannot be opened */

/* The fake source with samplers; no sampler is open. */
struct source_ops fake_sampling_ops(void);
/* The open sampler of a thread and view. */
struct sampler *sampler_of(pid_t tid, bool inside);
/* @n samples of 8 bytes come into the ring. */
void put_samples(struct sampler *s, size_t n);

#endif
