/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thirteen places where public event tables contradict each other or a kernel, and what
 * ours say there. Each is true of the vendor's own table (intel/perfmon, libpfm4, the
 * kernel's tools/perf/pmu-events); the other reading counts something else in silence.
 * The thirteenth, that all tools of a socket share its counters, is in test_kvm_nodes.c.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "base/rootfs.h"
#include "events/lookup.h"
#include "events/table_form.h"

static struct event_table *open_table(const char *name)
{
	struct event_table *t;
	struct err err = { 0 };

	if (event_table_open(name, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

/* The encoding of @event by the table's own format lines. */
static struct event encode(const char *table, const char *event)
{
	struct event_table *t = open_table(table);
	const struct table_event *row = event_table_find(t, event);
	struct event ev;

	if (!row)
		fail_msg("%s has no %s", table, event);
	assert_int_equal(table_event_make(row, NULL, &ev, NULL), 0);
	event_table_free(t);
	return ev;
}

/* Event and umask, as far as config has them in its low 16 bits. */
static unsigned code(const char *table, const char *event)
{
	return encode(table, event).config & 0xffff;
}

static bool has(const char *table, const char *event)
{
	struct event_table *t = open_table(table);
	bool found = event_table_find(t, event);

	event_table_free(t);
	return found;
}

/* What plays @role in @table is one event: its name. */
static void plays(const char *table, enum role role, const char *event)
{
	struct event_table *t = open_table(table);
	const struct table_event *rows[ROLE_EVENTS];
	const char *why;
	size_t n = event_table_role(t, role, rows, ROLE_EVENTS, &why);

	if (!event) {
		assert_int_equal(n, 0);
		assert_true(event_table_says_no(t, role));
	} else {
		assert_int_equal(n, 1);
		assert_string_equal(rows[0]->name, event);
	}
	event_table_free(t);
}

static void table_for(unsigned model, unsigned stepping, const char *name)
{
	struct cpu_id cpu = { "GenuineIntel", 6, model, stepping };
	struct event_table *t;

	assert_int_equal(event_table_load(&cpu, &t, NULL), 0);
	assert_string_equal(event_table_name(t), name);
	event_table_free(t);
}

static void local_and_remote_memory_are_of_the_exact_model(void **state)
{
	(void)state;
	assert_int_equal(code("nehalem-ep", "MEM_UNCORE_RETIRED.LOCAL_DRAM"), 0x200f);
	assert_int_equal(code("nehalem-ep", "MEM_UNCORE_RETIRED.REMOTE_DRAM"), 0x100f);
	assert_int_equal(code("westmere-ep-sp", "MEM_UNCORE_RETIRED.LOCAL_DRAM"), 0x100f);
	assert_int_equal(code("westmere-ep-sp", "MEM_UNCORE_RETIRED.REMOTE_DRAM"), 0x200f);
	assert_false(has("westmere-ep", "MEM_UNCORE_RETIRED.LOCAL_DRAM"));
	plays("westmere-ep", ROLE_DRAM_LOCAL,
	      "MEM_UNCORE_RETIRED.LOCAL_DRAM_AND_REMOTE_CACHE_HIT");
	plays("westmere-ep", ROLE_REMOTE_CACHE, NULL);
	table_for(0x1a, 5, "nehalem-ep");
	table_for(0x25, 2, "westmere-ep-sp");
	table_for(0x2c, 2, "westmere-ep");
}

static void full_lines_read_and_written_leave_partial_ones_out(void **state)
{
	static const char *const tables[] = { "nehalem-ep", "westmere-ep" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(code(tables[i], "UNC_QMC_NORMAL_READS.ANY"), 0x072c);
		assert_int_equal(code(tables[i], "UNC_QMC_WRITES.FULL_ANY"), 0x072f);
		assert_int_equal(code(tables[i], "UNC_QMC_WRITES.PARTIAL_CH0"), 0x082f);
		plays(tables[i], ROLE_MEM_READS, "UNC_QMC_NORMAL_READS.ANY");
		plays(tables[i], ROLE_MEM_WRITES, "UNC_QMC_WRITES.FULL_ANY");
	}
}

static void stalls_of_the_links_data_are_event_41(void **state)
{
	(void)state;
	assert_int_equal(code("nehalem-ep", "UNC_QPI_TX_STALLED_MULTI_FLIT.LINK_0"),
			 0x0741);
	assert_int_equal(code("nehalem-ep", "UNC_QPI_TX_STALLED_SINGLE_FLIT.LINK_0"),
			 0x0740);
	assert_int_equal(code("westmere-ep", "UNC_QPI_TX_STALLED_MULTI_FLIT.LINK_0"),
			 0x0741);
}

static void occupancy_of_the_read_tracker_is_westmeres_and_spelled_right(void **state)
{
	(void)state;
	assert_int_equal(code("westmere-ep", "UNC_GQ_OCCUPANCY.READ_TRACKER"), 0x0102);
	assert_false(has("nehalem-ep", "UNC_GQ_OCCUPANCY.READ_TRACKER"));
	assert_false(has("westmere-ep", "UNC_GC_OCCUPANCY.READ_TRACKER"));
	plays("nehalem-ep", ROLE_TRACKER_OCCUPANCY, NULL);
	plays("westmere-ep", ROLE_TRACKER_OCCUPANCY, "UNC_GQ_OCCUPANCY.READ_TRACKER");
}

static void a_full_queue_of_the_memory_is_nehalems_only(void **state)
{
	(void)state;
	assert_int_equal(code("nehalem-ep", "UNC_QMC_NORMAL_FULL.READ_CH1"), 0x0227);
	assert_false(has("westmere-ep", "UNC_QMC_NORMAL_FULL.READ_CH0"));
	plays("westmere-ep", ROLE_MEM_FULL, NULL);
}

static void skylakes_filter_of_the_tor_is_in_the_upper_half(void **state)
{
	(void)state;
	assert_true(encode("skylake-sp", "UNC_CHA_TOR_INSERTS.IA_MISS_DRD").config1 ==
		    0x4043300000000);
	assert_true(encode("skylake-sp", "UNC_CHA_TOR_INSERTS.IA_MISS_DRD_LOCAL").config1 ==
		    0x4043200000000);
	assert_true(
		encode("skylake-sp", "UNC_CHA_TOR_INSERTS.IA_MISS_DRD_REMOTE").config1 ==
		0x4043100000000);
}

static struct rootfs spr_55, spr_63; /* kernels before and after the umask grew */

static int open_trees(void **state)
{
	char path[4096];
	int ret;

	(void)state;
	snprintf(path, sizeof(path), "%s/numa-spr-55", getenv("VMMPROF_TREES"));
	ret = rootfs_open(&spr_55, path, NULL);
	snprintf(path, sizeof(path), "%s/numa-spr-63", getenv("VMMPROF_TREES"));
	return ret ? ret : rootfs_open(&spr_63, path, NULL);
}

static int close_trees(void **state)
{
	(void)state;
	rootfs_close(&spr_55);
	rootfs_close(&spr_63);
	return 0;
}

/* The umask of 33 bits that only the newer kernel has room for. */
static void a_kernel_with_a_narrower_umask_is_named_and_not_obeyed(void **state)
{
	static const char text[] = "cpu GenuineIntel 6 0x8f\nsource s \"here\"\n"
				   "pmu uncore_cha counters 0-3 from s\n"
				   "format event=config:0-7 umask=config:8-15,32-63\n"
				   "event WIDE event=0x35,umask=0x1c816fe01\n";
	struct event_table *t, *spr = open_table("sapphire-rapids");
	const struct table_event *local =
		event_table_find(spr, "UNC_CHA_TOR_INSERTS.IA_MISS_DRD_LOCAL");
	struct err err = { 0 };
	struct event ev;

	(void)state;
	assert_int_equal(table_read("t", "t", text, sizeof(text) - 1, &t, &err), 0);
	assert_int_equal(table_event_make(event_table_find(t, "WIDE"), &spr_55, &ev, &err),
			 -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "32 bits wide (config:8-15,32-55)"));
	assert_int_equal(table_event_make(event_table_find(t, "WIDE"), &spr_63, &ev, &err),
			 0);
	assert_true(ev.config == 0x01c816fe00000135);
	/* What fits is put where that kernel has it, high bits from 32 on. */
	assert_int_equal(table_event_make(local, &spr_55, &ev, &err), 0);
	assert_true(ev.config == 0x00c816fe00000135);
	event_table_free(spr);
	event_table_free(t);
}

static void lines_of_memory_have_a_code_per_generation(void **state)
{
	(void)state;
	assert_int_equal(code("skylake-sp", "UNC_M_CAS_COUNT.RD"), 0x0304);
	assert_int_equal(code("skylake-sp", "UNC_M_CAS_COUNT.WR"), 0x0c04);
	assert_int_equal(code("icelake-sp", "UNC_M_CAS_COUNT.RD"), 0x0f04);
	assert_int_equal(code("icelake-sp", "UNC_M_CAS_COUNT.WR"), 0x3004);
	assert_int_equal(code("sapphire-rapids", "UNC_M_CAS_COUNT.RD"), 0xcf05);
	assert_int_equal(code("sapphire-rapids", "UNC_M_CAS_COUNT.WR"), 0xf005);
	assert_int_equal(code("granite-rapids", "UNC_M_CAS_COUNT_SCH0.RD"), 0xcf05);
	assert_int_equal(code("granite-rapids", "UNC_M_CAS_COUNT_SCH1.RD"), 0xcf06);
}

static void clocks_of_boxes_have_a_code_per_generation(void **state)
{
	(void)state;
	assert_int_equal(code("skylake-sp", "UNC_CHA_CLOCKTICKS"), 0x0000);
	assert_int_equal(code("icelake-sp", "UNC_CHA_CLOCKTICKS"), 0x0000);
	assert_int_equal(code("sapphire-rapids", "UNC_CHA_CLOCKTICKS"), 0x0001);
	assert_int_equal(code("granite-rapids", "UNC_CHA_CLOCKTICKS"), 0x0001);
	assert_int_equal(code("icelake-sp", "UNC_M_CLOCKTICKS"), 0x0000);
	assert_int_equal(code("sapphire-rapids", "UNC_M_CLOCKTICKS"), 0x0101);
	assert_int_equal(code("granite-rapids", "UNC_M_CLOCKTICKS"), 0x0101);
}

static void requests_in_flight_and_responses_moved_with_sapphire_rapids(void **state)
{
	static const char demand[] = "OFFCORE_REQUESTS_OUTSTANDING.DEMAND_DATA_RD";
	static const char ocr[] = "OCR.DEMAND_DATA_RD.LOCAL_DRAM";

	(void)state;
	assert_int_equal(code("skylake-sp", demand), 0x0160);
	assert_int_equal(code("icelake-sp", demand), 0x0160);
	assert_int_equal(code("sapphire-rapids", demand), 0x0120);
	assert_int_equal(code("granite-rapids", demand), 0x0120);
	assert_int_equal(code("icelake-sp", ocr), 0x01b7);
	assert_int_equal(code("sapphire-rapids", ocr), 0x012a);
	assert_true(encode("sapphire-rapids", ocr).config1 == 0x104000001);
}

/* No row of the PMU @pmu plays a role of memory or links in @table. */
static void plays_no_traffic(const char *table, const char *pmu)
{
	static const enum role roles[] = { ROLE_MEM_READS, ROLE_MEM_WRITES,
					   ROLE_LINK_LINES };
	const struct table_event *rows[ROLE_EVENTS];
	struct event_table *t = open_table(table);
	const char *why;

	for (size_t i = 0; i < 3; i++) {
		size_t n = event_table_role(t, roles[i], rows, ROLE_EVENTS, &why);

		while (n--)
			assert_string_not_equal(rows[n]->pmu, pmu);
	}
	event_table_free(t);
}

static void what_amds_fabric_counts_wrong_plays_no_traffic(void **state)
{
	(void)state;
	assert_int_equal(code("zen2", "xi_ccx_sdp_req1"), 0x3f9a);
	assert_int_equal(code("zen3", "xi_ccx_sdp_req1"), 0xff9a);
	plays_no_traffic("zen2", "amd_df"); /* two to three times off */
	plays_no_traffic("zen4", "amd_df"); /* twice with NPS > 1 */
	plays_no_traffic("zen5", "amd_df");
	plays("zen4", ROLE_MEM_READS, "umc_cas_cmd.rd");
	plays("zen2", ROLE_MEM_READS, NULL);
}

/* "Local" sums of other tools have fills from the L2 and the CCX in them. */
static void amds_local_memory_is_memory_and_prefetches_are_counted_once(void **state)
{
	static const char *const tables[] = { "zen3", "zen4", "zen5" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		plays(tables[i], ROLE_DRAM_LOCAL, "ls_any_fills_from_sys.dram_io_near");
		plays(tables[i], ROLE_DRAM_REMOTE, "ls_any_fills_from_sys.dram_io_far");
		plays(tables[i], ROLE_LLC_MISSES, "ls_any_fills_from_sys.beyond_ccx");
		assert_int_equal(code(tables[i], "ls_any_fills_from_sys.dram_io_near"),
				 0x0844);
		assert_int_equal(code(tables[i], "ls_any_fills_from_sys.dram_io_far"),
				 0x4044);
		assert_int_equal(code(tables[i], "ls_any_fills_from_sys.beyond_ccx"),
				 0x5c44);
	}
}

/* A request that is sent back is an event: no cycle with anything full, and no entry. */
static void requests_that_a_mesh_sends_back_are_no_cycles(void **state)
{
	static const char *const tables[] = { "neoverse", "neoverse-n1" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		plays(tables[i], ROLE_TRACKER_RETRIES, "hnf_pocq_retry");
		plays(tables[i], ROLE_TRACKER_REQUESTS, "hnf_pocq_reqs_recvd");
		plays(tables[i], ROLE_TRACKER_FULL, NULL);
		plays(tables[i], ROLE_TRACKER_ALLOCS, NULL);
		plays(tables[i], ROLE_MEM_FULL, NULL);
	}
}

/* Linux, l3_read_miss_latency: 16 cycles each; of Zen 4 and 5 it names unlike units. */
static void the_time_of_fills_is_in_cycles_where_that_is_sure(void **state)
{
	static const char *const tables[] = { "zen1", "zen2", "zen3" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct event_table *t = open_table(tables[i]);

		assert_true(event_table_find(t, "xi_sys_fill_latency")->scale == 16);
		event_table_free(t);
		plays(tables[i], ROLE_FILL_CYCLES, "xi_sys_fill_latency");
		plays(tables[i], ROLE_FILLS, "xi_ccx_sdp_req1");
	}
	plays("zen4", ROLE_FILL_CYCLES, NULL);
	plays("zen5", ROLE_FILL_CYCLES, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_and_remote_memory_are_of_the_exact_model),
		cmocka_unit_test(full_lines_read_and_written_leave_partial_ones_out),
		cmocka_unit_test(stalls_of_the_links_data_are_event_41),
		cmocka_unit_test(
			occupancy_of_the_read_tracker_is_westmeres_and_spelled_right),
		cmocka_unit_test(a_full_queue_of_the_memory_is_nehalems_only),
		cmocka_unit_test(skylakes_filter_of_the_tor_is_in_the_upper_half),
		cmocka_unit_test(a_kernel_with_a_narrower_umask_is_named_and_not_obeyed),
		cmocka_unit_test(lines_of_memory_have_a_code_per_generation),
		cmocka_unit_test(clocks_of_boxes_have_a_code_per_generation),
		cmocka_unit_test(
			requests_in_flight_and_responses_moved_with_sapphire_rapids),
		cmocka_unit_test(what_amds_fabric_counts_wrong_plays_no_traffic),
		cmocka_unit_test(requests_that_a_mesh_sends_back_are_no_cycles),
		cmocka_unit_test(the_time_of_fills_is_in_cycles_where_that_is_sure),
		cmocka_unit_test(
			amds_local_memory_is_memory_and_prefetches_are_counted_once),
	};

	return cmocka_run_group_tests(tests, open_trees, close_trees);
}
