/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/role.h"

#include <string.h>

static const struct {
	const char *name, *unit, *what;
} rows[ROLES] = {
	[ROLE_INSTRUCTIONS] = { "instructions", "", "instructions retired" },
	[ROLE_CYCLES] = { "cycles", "cycles", "core cycles, not halted" },
	[ROLE_REF_CYCLES] = { "ref-cycles", "cycles", "cycles at the nominal clock" },
	[ROLE_LOADS] = { "loads", "", "loads retired" },
	[ROLE_PRIVATE_HITS] = { "private.hits", "lines",
				"that a core's own L2 gave its L1" },
	[ROLE_LLC_REFS] = { "llc.refs", "lines",
			    "requests that missed the private caches" },
	[ROLE_LLC_MISSES] = { "llc.misses", "lines", "requests that missed the LLC" },
	[ROLE_SHARED_CLEAN] = { "shared.clean", "lines",
				"LLC hits that another core of the socket had clean" },
	[ROLE_SHARED_HITM] = { "shared.hitm", "lines",
			       "LLC hits that another core of the socket had dirty" },
	[ROLE_SHARED_ANY] = { "shared.any", "lines",
			      "LLC hits that another core of the socket had" },
	[ROLE_REMOTE_CACHE] = { "remote.cache", "lines", "given clean by another socket" },
	[ROLE_REMOTE_HITM] = { "remote.hitm", "lines", "given dirty by another socket" },
	[ROLE_DRAM_LOCAL] = { "dram.local", "lines", "from the own node's memory" },
	[ROLE_DRAM_REMOTE] = { "dram.remote", "lines", "from another node's memory" },
	[ROLE_OUTSTANDING] = { "outstanding", "cycles",
			       "requests to the uncore in flight, summed over cycles" },
	[ROLE_OUTSTANDING_CYCLES] = { "outstanding.cycles", "cycles",
				      "with a request to the uncore in flight" },
	[ROLE_STALL_MEMORY] = { "stall.memory", "cycles", "only waiting for memory" },
	[ROLE_STALL_LFB] = { "stall.lfb", "cycles", "with all miss buffers taken" },
	[ROLE_WAITED] = { "waited", "ns", "ready to run, but no pCPU: steal" },
	[ROLE_LLC_OCCUPANCY] = { "llc.occupancy", "bytes", "of the LLC held now" },
	[ROLE_MEM_BYTES] = { "mem.bytes", "bytes", "moved from and to memory" },
	[ROLE_MEM_BYTES_LOCAL] = { "mem.bytes.local", "bytes",
				   "of those, of the own node" },
	[ROLE_NODE_CLOCK] = { "node.clock", "cycles", "of the uncore" },
	[ROLE_TRACKER_FULL] = { "tracker.full", "cycles", "with the read tracker full" },
	[ROLE_TRACKER_BUSY] = { "tracker.busy", "cycles", "with it not empty" },
	[ROLE_TRACKER_OCCUPANCY] = { "tracker.occupancy", "cycles",
				     "its entries in use, summed over cycles" },
	[ROLE_TRACKER_ALLOCS] = { "tracker.allocs", "", "entries taken" },
	[ROLE_TRACKER_MISSES] = { "tracker.misses", "", "of those, for LLC misses" },
	[ROLE_TRACKER_WRITE_FULL] = { "tracker.write.full", "cycles",
				      "with the write tracker full" },
	[ROLE_TRACKER_PROBE_FULL] = { "tracker.probe.full", "cycles",
				      "with the peer-probe tracker full" },
	[ROLE_TRACKER_REQUESTS] = { "tracker.requests", "",
				    "to queues that send back what they cannot take" },
	[ROLE_TRACKER_RETRIES] = { "tracker.retries", "",
				   "of those, sent back: the queue was full" },
	[ROLE_FILL_CYCLES] = { "fill.cycles", "cycles",
			       "that lines from beyond the LLC took, summed" },
	[ROLE_FILLS] = { "fills", "lines", "that came in that time" },
	[ROLE_LLC_LINES_IN] = { "llc.lines.in", "lines", "filled into the LLC" },
	[ROLE_LLC_LINES_OUT] = { "llc.lines.out", "lines", "put out of the LLC" },
	[ROLE_MEM_READS] = { "mem.reads", "lines", "read from the node's memory" },
	[ROLE_MEM_WRITES] = { "mem.writes", "lines", "written to the node's memory" },
	[ROLE_MEM_READ_OCCUPANCY] = { "mem.read.occupancy", "cycles",
				      "reads waiting or in service, summed over cycles" },
	[ROLE_MEM_FULL] = { "mem.full", "cycles", "with a channel's queue full" },
	[ROLE_MEM_BUSY] = { "mem.busy", "cycles", "with a channel at work" },
	[ROLE_HOME_LOCAL_READS] = { "home.local.reads", "lines",
				    "asked of its home agent by the own socket" },
	[ROLE_HOME_REMOTE_READS] = { "home.remote.reads", "lines",
				     "asked of its home agent by others" },
	[ROLE_HOME_REMOTE_WRITES] = { "home.remote.writes", "lines",
				      "sent there by others" },
	[ROLE_HOME_CONFLICTS] = { "home.conflicts", "",
				  "requests for a line that is being fetched" },
	[ROLE_LINK_LINES] = { "link.lines", "lines", "sent to other nodes" },
	[ROLE_LINK_STALLED] = { "link.stalled", "cycles",
				"in which one waited to be sent" },
	[ROLE_SNOOP_HITM] = { "snoop.hitm", "", "snoops answered by a dirty line" },
};

const char *role_name(enum role role)
{
	return rows[role].name;
}

const char *role_what(enum role role)
{
	return rows[role].what;
}

const char *role_unit(enum role role)
{
	return rows[role].unit;
}

bool role_find(const char *name, enum role *out)
{
	for (unsigned i = 0; i < ROLES; i++)
		if (!strcmp(rows[i].name, name)) {
			*out = (enum role)i;
			return true;
		}
	return false;
}
