/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MODEL_ROLE_H
#define MODEL_ROLE_H

/*
 * What an event means, whatever a CPU calls it. An event table (data/events) says which
 * of its events plays a role; profile models and the diagnosis know roles only. The
 * table of names is in role.c: one row per role.
 */

#include <stdbool.h>

enum role {
	/* of a vCPU */
	ROLE_INSTRUCTIONS,
	ROLE_CYCLES,
	ROLE_REF_CYCLES,
	ROLE_LOADS,
	ROLE_PRIVATE_HITS, /* requests of the L1 that the core's own L2 answered */
	ROLE_LLC_REFS,	   /* requests that missed the private caches */
	ROLE_LLC_MISSES,
	ROLE_SHARED_CLEAN, /* LLC hits that another core of the socket had clean */
	ROLE_SHARED_HITM,  /* … dirty */
	ROLE_SHARED_ANY,   /* … clean or dirty, where nothing tells clean alone */
	ROLE_REMOTE_CACHE, /* lines that another socket's cache gave, clean */
	ROLE_REMOTE_HITM,  /* … dirty */
	ROLE_DRAM_LOCAL,   /* lines from the own node's memory */
	ROLE_DRAM_REMOTE,
	ROLE_OUTSTANDING,	 /* sum over cycles of requests to the uncore in flight */
	ROLE_OUTSTANDING_CYCLES, /* cycles with at least one */
	ROLE_STALL_MEMORY,	 /* cycles that did nothing but wait for memory */
	ROLE_STALL_LFB,		 /* cycles with all line-fill buffers (MABs …) taken */
	ROLE_WAITED,		 /* ns that it could have run and did not: steal */
	ROLE_LLC_OCCUPANCY,	 /* bytes of the LLC that it holds now (resctrl) */
	ROLE_MEM_BYTES,		 /* it moved from and to memory (resctrl) */
	ROLE_MEM_BYTES_LOCAL,
	/* of a node: its socket's uncore */
	ROLE_NODE_CLOCK,
	ROLE_TRACKER_FULL, /* cycles with the read tracker full; on newer CPUs the TOR's
			    * or request queue's nearest kin */
	ROLE_TRACKER_BUSY, /* cycles with it not empty */
	ROLE_TRACKER_OCCUPANCY,
	ROLE_TRACKER_ALLOCS,
	ROLE_TRACKER_MISSES, /* of those: for lines that missed the LLC */
	ROLE_TRACKER_WRITE_FULL,
	ROLE_TRACKER_PROBE_FULL,
	ROLE_TRACKER_REQUESTS, /* to queues that send back what they have no entry for */
	ROLE_TRACKER_RETRIES,  /* of those, sent back: they ask again, who knows when */
	ROLE_FILL_CYCLES,      /* of the core: time of fills from beyond the LLC, summed */
	ROLE_FILLS,
	ROLE_LLC_LINES_IN,
	ROLE_LLC_LINES_OUT,
	ROLE_MEM_READS, /* lines */
	ROLE_MEM_WRITES,
	ROLE_MEM_READ_OCCUPANCY,
	ROLE_MEM_FULL, /* cycles with a channel's queue full */
	ROLE_MEM_BUSY,
	ROLE_HOME_LOCAL_READS, /* requests to this node's home agent */
	ROLE_HOME_REMOTE_READS,
	ROLE_HOME_REMOTE_WRITES,
	ROLE_HOME_CONFLICTS,
	ROLE_LINK_LINES,   /* sent to other nodes */
	ROLE_LINK_STALLED, /* cycles in which one waited to be sent */
	ROLE_SNOOP_HITM,
	ROLES
};

#define ROLE_OF_NODE ROLE_NODE_CLOCK /* from here on */

const char *role_name(enum role role); /* "dram.local", "mem.read.occupancy" */
const char *role_what(enum role role); /* a few words */
const char *role_unit(enum role role); /* "cycles", "lines", "bytes", "ns", "" */
/* False: there is none of that name. */
bool role_find(const char *name, enum role *out);

#endif
