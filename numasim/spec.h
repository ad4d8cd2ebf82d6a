/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_SPEC_H
#define NUMASIM_SPEC_H

/*
 * A simulated machine's data sheet: one line of text, or a file of data/machines.
 * Times are picoseconds, sizes bytes, rates bytes per second. Latencies are those of an
 * idle machine, from the core's issue to the data's arrival (load to use).
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/lines.h"

#define SPEC_NODES 8
#define SPEC_CORES 24 /* per node */
#define SPEC_CHANNELS 8
#define SPEC_LINE 64u /* bytes of a cache line */

struct spec_cache {
	uint64_t bytes;
	unsigned ways;
	uint32_t latency;
};

struct machine_spec {
	char name[32];		/* "nehalem-ep" */
	char cpu[64];		/* as topology shows it: "Intel Xeon X5570 (simulated)" */
	unsigned family, model; /* whose data sheet this is; 0, 0: no real CPU's */
	unsigned pmu;		/* its PMU's model: 0x1a Nehalem-EP, 0x2c Westmere-EP */
	unsigned nodes, cores;	/* cores per node */
	uint64_t core_hz, uncore_hz;
	struct spec_cache l1, l2, llc;
	unsigned lfb;		/* misses in flight per core */
	unsigned rt, wt, ppt;	/* entries of the read, write and peer-probe trackers */
	unsigned home;		/* entries of a home agent, for its own and for others */
	unsigned channels;	/* of memory, per node */
	uint64_t channel_rate;	/* peak */
	double efficiency;	/* of that, what reads can reach */
	uint32_t local, remote; /* DRAM, of the own and of a neighbour node */
	uint32_t shared,
		modified; /* LLC hit that another core's copy delays, clean; dirty */
	uint32_t remote_cache, remote_modified; /* another socket's cache, clean; dirty */
	uint64_t link_rate;			/* per direction and link */
	uint8_t hops[SPEC_NODES][SPEC_NODES];	/* links between two nodes; 0: the same */
	uint64_t node_bytes;			/* memory per node */
};

/* Reads the statements of a machine's file, or of one line with commas. 0, or -EINVAL
 * with file, line and what was expected; a machine that cannot be is refused. */
int machine_spec_parse(const char *file, const char *text, size_t size,
		       struct machine_spec *out, struct err *err);
/* @what: a preset's name, a path, or the line itself (it has a comma). */
int machine_spec_load(const char *what, struct machine_spec *out, struct err *err);

#endif
