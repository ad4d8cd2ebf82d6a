/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMASIM_EVENTS_H
#define NUMASIM_EVENTS_H

/*
 * What happens in the machine, counted where it happens, since power-on: what the PMU's
 * counters are wired to. Nothing outside numasim/ sees these; software has registers.
 */

/* In a core. Cycles are of the core's clock. */
enum core_event {
	CORE_INSTRUCTIONS,
	CORE_CYCLES,	 /* not halted */
	CORE_REF_CYCLES, /* the same at the nominal clock */
	CORE_LOADS,
	CORE_STORES,
	CORE_L1_HIT,
	CORE_LFB_HIT, /* the line was on its way already */
	CORE_L2_HIT,
	CORE_LLC_REF, /* L2 misses: requests to the uncore */
	CORE_LLC_MISS,
	CORE_LLC_UNSHARED_HIT,
	CORE_OTHER_CORE_HIT,  /* LLC hit, another core of the socket had it clean */
	CORE_OTHER_CORE_HITM, /* … dirty */
	CORE_LOCAL_DRAM,
	CORE_REMOTE_DRAM,
	CORE_REMOTE_CACHE,	 /* another socket's cache gave it, clean */
	CORE_REMOTE_HITM,	 /* … dirty */
	CORE_OUTSTANDING,	 /* sum over cycles of requests to the uncore in flight */
	CORE_OUTSTANDING_CYCLES, /* cycles with at least one */
	CORE_STALL,    /* cycles in which it waited for memory and did nothing else */
	CORE_LFB_FULL, /* of those: all line-fill buffers were taken */
	CORE_EVENTS
};

#define NODE_CHANNELS 8

/*
 * In a socket's uncore, in the order of the Intel SDM vol. 3, 19 (Nehalem uncore);
 * cycles and occupancies in cycles of the uncore's clock.
 */
enum node_event {
	NODE_CLOCK,
	NODE_RT_FULL,
	NODE_WT_FULL,
	NODE_PPT_FULL,
	NODE_RT_NOT_EMPTY,
	NODE_WT_NOT_EMPTY,
	NODE_PPT_NOT_EMPTY,
	NODE_RT_OCCUPANCY,
	NODE_RT_ALLOC,
	NODE_RT_LLC_MISS,
	NODE_RT_TO_LLC_RESP,
	NODE_RT_TO_RTID,
	NODE_WT_TO_RTID,
	NODE_WT_ALLOC,
	NODE_PPT_ALLOC,
	NODE_DATA_FROM_LINK,
	NODE_DATA_FROM_MEMORY,
	NODE_DATA_FROM_LLC,
	NODE_DATA_FROM_CORES,
	NODE_SNOOP_LOCAL_I, /* answers to snoops, home here */
	NODE_SNOOP_LOCAL_S,
	NODE_SNOOP_LOCAL_FWD_S,
	NODE_SNOOP_LOCAL_FWD_I,
	NODE_SNOOP_LOCAL_CONFLICT,
	NODE_SNOOP_LOCAL_WB,
	NODE_SNOOP_REMOTE_I, /* home elsewhere */
	NODE_SNOOP_REMOTE_S,
	NODE_SNOOP_REMOTE_FWD_S,
	NODE_SNOOP_REMOTE_FWD_I,
	NODE_SNOOP_REMOTE_CONFLICT,
	NODE_SNOOP_REMOTE_WB,
	NODE_SNOOP_REMOTE_HITM,
	NODE_LLC_READ_HIT,
	NODE_LLC_WRITE_HIT,
	NODE_LLC_PROBE_HIT,
	NODE_LLC_READ_MISS,
	NODE_LLC_WRITE_MISS,
	NODE_LLC_PROBE_MISS,
	NODE_LINES_IN_M,
	NODE_LINES_IN_E,
	NODE_LINES_IN_S,
	NODE_LINES_IN_F,
	NODE_LINES_OUT_M,
	NODE_LINES_OUT_E,
	NODE_LINES_OUT_S,
	NODE_LINES_OUT_I,
	NODE_LINES_OUT_F,
	NODE_HOME_LOCAL_READS,
	NODE_HOME_LOCAL_WRITES,
	NODE_HOME_REMOTE_READS,
	NODE_HOME_REMOTE_WRITES,
	NODE_HOME_LOCAL_FULL,
	NODE_HOME_REMOTE_FULL,
	NODE_HOME_LOCAL_OCCUPANCY,
	NODE_HOME_REMOTE_OCCUPANCY,
	NODE_HOME_CONFLICTS, /* requests for a line that was asked for already */
	NODE_HOME_CONFLICT_CYCLES,
	NODE_CHANNEL_READS, /* one of each per channel: + channel */
	NODE_CHANNEL_WRITES = NODE_CHANNEL_READS + NODE_CHANNELS,
	NODE_CHANNEL_READ_OCCUPANCY = NODE_CHANNEL_WRITES + NODE_CHANNELS,
	NODE_CHANNEL_READ_FULL = NODE_CHANNEL_READ_OCCUPANCY + NODE_CHANNELS,
	NODE_CHANNEL_BUSY = NODE_CHANNEL_READ_FULL + NODE_CHANNELS,
	NODE_LINK_DATA = NODE_CHANNEL_BUSY + NODE_CHANNELS, /* lines sent to other nodes */
	NODE_LINK_STALLED, /* cycles in which one waited to be sent */
	NODE_EVENTS
};

#endif
