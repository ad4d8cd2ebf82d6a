/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encodings: perfmon's NHM-EP and WSM-EP-DP tables (core), libpfm4's
 * intel_{nhm,wsm}_unc_events.h (uncore). Counters that an event is bound to: Linux,
 * arch/x86/events/intel/core.c. A machine may have more memory channels than these CPUs'
 * three: what the third channel counts, all beyond it count, too.
 */
#include "numasim/pmu_wires.h"

#include <stddef.h>

#include "numasim/events.h"

#define NEHALEM 0x1a

enum cpus { NHM = 1, WSM = 2, BOTH = 3 };

struct row {
	uint32_t config;
	uint8_t cpus;
	bool adds; /* unit masks of rows that add can be or'ed, and count the sum */
	uint8_t n;
	uint8_t raw[6];
	uint8_t counters; /* of the programmable ones; 0: any */
};

#define ROW(umask, event, cpus, adds, ...)                                                 \
	{                                                                                  \
		(umask) << 8 | (event), cpus, adds, sizeof((uint8_t[]) { __VA_ARGS__ }),   \
		{                                                                          \
			__VA_ARGS__                                                        \
		}                                                                          \
	}
#define ALONE(umask, event, cpus, ...) ROW(umask, event, cpus, false, __VA_ARGS__)
#define ADDS(umask, event, ...) ROW(umask, event, BOTH, true, __VA_ARGS__)
#define NEVER(umask, event)                                                                \
	{                                                                                  \
		(umask) << 8 | (event), BOTH, true, 0,                                     \
		{                                                                          \
			0                                                                  \
		}                                                                          \
	}
#define CMASK1 (1u << 24)

static const struct row core[] = {
	/* architectural */
	ALONE(0x00, 0xc0, BOTH, CORE_INSTRUCTIONS),
	ALONE(0x01, 0xc0, BOTH, CORE_INSTRUCTIONS),
	ALONE(0x00, 0x3c, BOTH, CORE_CYCLES),
	ALONE(0x03, 0x00, BOTH, CORE_REF_CYCLES),
	ALONE(0x4f, 0x2e, BOTH, CORE_LLC_REF),
	ALONE(0x41, 0x2e, BOTH, CORE_LLC_MISS),
	/* MEM_INST_RETIRED */
	ADDS(0x01, 0x0b, CORE_LOADS),
	ADDS(0x02, 0x0b, CORE_STORES),
	/* MEM_LOAD_RETIRED; the model does not tell loads from stores here */
	ADDS(0x01, 0xcb, CORE_L1_HIT),
	ADDS(0x02, 0xcb, CORE_L2_HIT),
	ADDS(0x04, 0xcb, CORE_LLC_UNSHARED_HIT),
	ADDS(0x08, 0xcb, CORE_OTHER_CORE_HIT, CORE_OTHER_CORE_HITM),
	ADDS(0x10, 0xcb, CORE_LLC_MISS),
	ADDS(0x40, 0xcb, CORE_LFB_HIT),
	/* MEM_UNCORE_RETIRED: its unit masks are another CPU's with the other model */
	ROW(0x02, 0x0f, BOTH, true, CORE_OTHER_CORE_HITM),
	ROW(0x08, 0x0f, NHM, true, CORE_REMOTE_CACHE),
	ROW(0x10, 0x0f, NHM, true, CORE_REMOTE_DRAM),
	ROW(0x20, 0x0f, NHM, true, CORE_LOCAL_DRAM),
	ROW(0x04, 0x0f, WSM, true, CORE_REMOTE_HITM),
	ROW(0x08, 0x0f, WSM, true, CORE_LOCAL_DRAM, CORE_REMOTE_CACHE),
	ROW(0x10, 0x0f, WSM, true, CORE_REMOTE_DRAM),
	/* RESOURCE_STALLS.ANY, LOAD; OFFCORE_REQUESTS_SQ_FULL, SQ_FULL_STALL_CYCLES: in
	 * this machine, a core's queue to the uncore is its line-fill buffers */
	ALONE(0x01, 0xa2, BOTH, CORE_STALL),
	ALONE(0x02, 0xa2, BOTH, CORE_STALL),
	ALONE(0x01, 0xb2, BOTH, CORE_LFB_FULL),
	ALONE(0x01, 0xf6, BOTH, CORE_LFB_FULL),
	/* OFFCORE_REQUESTS_OUTSTANDING.DEMAND.READ_DATA, and cycles with any */
	{ 0x0160, WSM, false, 1, { CORE_OUTSTANDING }, 1 },
	{ CMASK1 | 0x0160, WSM, false, 1, { CORE_OUTSTANDING_CYCLES }, 1 },
};

#define CHANNELS(event, umask0, umask1, umask2, cpus, first)                               \
	ROW(umask0, event, cpus, true, (first)),                                           \
		ROW(umask1, event, cpus, true, (first) + 1),                               \
		ROW(umask2, event, cpus, true, (first) + 2, (first) + 3, (first) + 4,      \
		    (first) + 5, (first) + 6, (first) + 7)

static const struct row uncore[] = {
	ALONE(0x00, 0xff, BOTH, NODE_CLOCK),
	/* GQ_CYCLES_FULL, GQ_CYCLES_NOT_EMPTY, GQ_OCCUPANCY */
	ALONE(0x01, 0x00, BOTH, NODE_RT_FULL),
	ALONE(0x02, 0x00, BOTH, NODE_WT_FULL),
	ALONE(0x04, 0x00, BOTH, NODE_PPT_FULL),
	ALONE(0x01, 0x01, BOTH, NODE_RT_NOT_EMPTY),
	ALONE(0x02, 0x01, BOTH, NODE_WT_NOT_EMPTY),
	ALONE(0x04, 0x01, BOTH, NODE_PPT_NOT_EMPTY),
	ALONE(0x01, 0x02, WSM, NODE_RT_OCCUPANCY),
	/* GQ_ALLOC */
	ADDS(0x01, 0x03, NODE_RT_ALLOC),
	ADDS(0x02, 0x03, NODE_RT_LLC_MISS),
	ADDS(0x04, 0x03, NODE_RT_TO_LLC_RESP),
	ADDS(0x08, 0x03, NODE_RT_TO_RTID),
	ADDS(0x10, 0x03, NODE_WT_TO_RTID),
	ADDS(0x20, 0x03, NODE_WT_ALLOC),
	ADDS(0x40, 0x03, NODE_PPT_ALLOC),
	/* GQ_DATA_FROM; the cores together, CORES_02 | CORES_13, only */
	ADDS(0x01, 0x04, NODE_DATA_FROM_LINK),
	ADDS(0x02, 0x04, NODE_DATA_FROM_MEMORY),
	ADDS(0x04, 0x04, NODE_DATA_FROM_LLC),
	ALONE(0x18, 0x04, BOTH, NODE_DATA_FROM_CORES),
	/* SNP_RESP_TO_LOCAL_HOME */
	ADDS(0x01, 0x06, NODE_SNOOP_LOCAL_I),
	ADDS(0x02, 0x06, NODE_SNOOP_LOCAL_S),
	ADDS(0x04, 0x06, NODE_SNOOP_LOCAL_FWD_S),
	ADDS(0x08, 0x06, NODE_SNOOP_LOCAL_FWD_I),
	ADDS(0x10, 0x06, NODE_SNOOP_LOCAL_CONFLICT),
	ADDS(0x20, 0x06, NODE_SNOOP_LOCAL_WB),
	/* SNP_RESP_TO_REMOTE_HOME; HITM is a unit mask of its own */
	ADDS(0x01, 0x07, NODE_SNOOP_REMOTE_I),
	ADDS(0x02, 0x07, NODE_SNOOP_REMOTE_S),
	ADDS(0x04, 0x07, NODE_SNOOP_REMOTE_FWD_S),
	ADDS(0x08, 0x07, NODE_SNOOP_REMOTE_FWD_I),
	ADDS(0x10, 0x07, NODE_SNOOP_REMOTE_CONFLICT),
	ADDS(0x20, 0x07, NODE_SNOOP_REMOTE_WB),
	ALONE(0x24, 0x07, BOTH, NODE_SNOOP_REMOTE_HITM),
	/* LLC_HITS, LLC_MISS, LLC_LINES_IN, LLC_LINES_OUT */
	ADDS(0x01, 0x08, NODE_LLC_READ_HIT),
	ADDS(0x02, 0x08, NODE_LLC_WRITE_HIT),
	ADDS(0x04, 0x08, NODE_LLC_PROBE_HIT),
	ADDS(0x01, 0x09, NODE_LLC_READ_MISS),
	ADDS(0x02, 0x09, NODE_LLC_WRITE_MISS),
	ADDS(0x04, 0x09, NODE_LLC_PROBE_MISS),
	ADDS(0x01, 0x0a, NODE_LINES_IN_M),
	ADDS(0x02, 0x0a, NODE_LINES_IN_E),
	ADDS(0x04, 0x0a, NODE_LINES_IN_S),
	ADDS(0x08, 0x0a, NODE_LINES_IN_F),
	ADDS(0x01, 0x0b, NODE_LINES_OUT_M),
	ADDS(0x02, 0x0b, NODE_LINES_OUT_E),
	ADDS(0x04, 0x0b, NODE_LINES_OUT_S),
	ADDS(0x08, 0x0b, NODE_LINES_OUT_I),
	ADDS(0x10, 0x0b, NODE_LINES_OUT_F),
	/* QHL_REQUESTS, QHL_CYCLES_FULL, QHL_OCCUPANCY */
	ADDS(0x10, 0x20, NODE_HOME_LOCAL_READS),
	ADDS(0x20, 0x20, NODE_HOME_LOCAL_WRITES),
	ADDS(0x04, 0x20, NODE_HOME_REMOTE_READS),
	ADDS(0x08, 0x20, NODE_HOME_REMOTE_WRITES),
	ALONE(0x04, 0x21, BOTH, NODE_HOME_LOCAL_FULL),
	ALONE(0x02, 0x21, BOTH, NODE_HOME_REMOTE_FULL),
	ADDS(0x04, 0x23, NODE_HOME_LOCAL_OCCUPANCY),
	ADDS(0x02, 0x23, NODE_HOME_REMOTE_OCCUPANCY),
	/* QHL_ADDRESS_CONFLICTS: here a third request conflicts as the second did;
	 * QHL_CONFLICT_CYCLES, local and remote */
	ADDS(0x02, 0x24, NODE_HOME_CONFLICTS),
	NEVER(0x04, 0x24),
	ALONE(0x06, 0x25, BOTH, NODE_HOME_CONFLICT_CYCLES),
	/* QMC_NORMAL_FULL, QMC_BUSY of reads, QMC_OCCUPANCY, QMC_NORMAL_READS, QMC_WRITES
	 * of full lines */
	CHANNELS(0x27, 0x01, 0x02, 0x04, NHM, NODE_CHANNEL_READ_FULL),
	CHANNELS(0x29, 0x01, 0x02, 0x04, BOTH, NODE_CHANNEL_BUSY),
	CHANNELS(0x2a, 0x01, 0x02, 0x04, BOTH, NODE_CHANNEL_READ_OCCUPANCY),
	CHANNELS(0x2c, 0x01, 0x02, 0x04, BOTH, NODE_CHANNEL_READS),
	CHANNELS(0x2f, 0x01, 0x02, 0x04, BOTH, NODE_CHANNEL_WRITES),
	/* QPI_TX_STALLED_MULTI_FLIT, LINK_0: all links to other sockets; LINK_1 goes to
	 * the I/O hub, which does nothing here */
	ALONE(0x07, 0x41, BOTH, NODE_LINK_STALLED),
	NEVER(0x38, 0x41),
};

static bool is_there(const struct row *r, unsigned model)
{
	return r->cpus & (model == NEHALEM ? NHM : WSM);
}

static void add(struct wire *w, const struct row *r)
{
	for (unsigned i = 0; i < r->n; i++)
		w->raw[w->n++] = r->raw[i];
	if (r->counters)
		w->counters = r->counters;
}

/* The rows that @config's unit mask is put together of; what of it is left. */
static uint32_t put_together(const struct row *rows, size_t n, unsigned model,
			     uint32_t config, struct wire *out)
{
	uint32_t left = config & ~0xffu;

	for (size_t i = 0; i < n && left; i++) {
		const struct row *r = &rows[i];

		if (!r->adds || !is_there(r, model) || (r->config ^ config) & 0xff ||
		    r->config >> 8 & ~(config >> 8))
			continue;
		left &= ~r->config | 0xff;
		add(out, r);
	}
	return left;
}

static bool find(const struct row *rows, size_t n, unsigned model, uint32_t config,
		 struct wire *out)
{
	*out = (struct wire) { .counters = ~0ULL };
	for (size_t i = 0; i < n; i++)
		if (rows[i].config == config && is_there(&rows[i], model)) {
			add(out, &rows[i]);
			return true;
		}
	return config & 0xff00 && !put_together(rows, n, model, config, out);
}

bool wire_core(unsigned model, uint32_t config, struct wire *out)
{
	return find(core, sizeof(core) / sizeof(*core), model, config, out);
}

bool wire_uncore(unsigned model, uint32_t config, struct wire *out)
{
	return find(uncore, sizeof(uncore) / sizeof(*uncore), model, config, out);
}
