/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/test.h"

#include <errno.h>
#include <string.h>

#include "base/data.h"
#include "numasim/spec.h"
#include "tests/sim/machines.h"

static void a_machine_is_one_line(void **state)
{
	struct machine_spec s = machine_named(
		"2 nodes, 4 cores each, L1 32K/8, L2 256K/8, LLC 8M/16 inclusive, trackers "
		"32/16/12, 3 channels DDR3-1333, link 12.8 GB/s");
	struct machine_spec preset = machine_named("nehalem-ep");

	(void)state;
	assert_string_equal(s.name, "machine");
	/* What it does not say is as in that preset; what it says is, too. */
	memcpy(s.name, preset.name, sizeof(s.name));
	assert_memory_equal(&s, &preset, sizeof(s));
}

static void what_a_line_says_is_so(void **state)
{
	struct machine_spec s = machine_named(
		"3 nodes, 6 cores each at 2 GHz, uncore 1.5 GHz, L1 48K/12 5 cycles, "
		"L2 1M/16 14 cycles, LLC 11M/11 20.5 ns inclusive, misses 12, "
		"trackers 96/48/64, home 128, 6 channels DDR4-2400, efficiency 62%, "
		"shared 47.5 ns, modified 50 ns, local 82 ns, remote 147.5 ns, "
		"remote-cache 110 ns, remote-modified 150 ns, link 20.8 GB/s, "
		"links 0-1 1-2, memory 2G");

	(void)state;
	assert_int_equal(s.nodes, 3);
	assert_int_equal(s.cores, 6);
	assert_int_equal(s.core_hz, 2000000000);
	assert_int_equal(s.uncore_hz, 1500000000);
	assert_int_equal(s.l1.bytes, 48 << 10);
	assert_int_equal(s.l1.ways, 12);
	assert_int_equal(s.l1.latency, 2500);
	assert_int_equal(s.l2.latency, 7000);
	assert_int_equal(s.llc.ways, 11);
	assert_int_equal(s.llc.latency, 20500);
	assert_int_equal(s.lfb, 12);
	assert_int_equal(s.rt, 96);
	assert_int_equal(s.wt, 48);
	assert_int_equal(s.ppt, 64);
	assert_int_equal(s.home, 128);
	assert_int_equal(s.channels, 6);
	assert_int_equal(s.channel_rate, 19200000000);
	assert_true(s.efficiency == 0.62);
	assert_int_equal(s.shared, 47500);
	assert_int_equal(s.modified, 50000);
	assert_int_equal(s.local, 82000);
	assert_int_equal(s.remote, 147500);
	assert_int_equal(s.remote_cache, 110000);
	assert_int_equal(s.remote_modified, 150000);
	assert_int_equal(s.link_rate, 20800000000);
	assert_int_equal(s.node_bytes, 2ull << 30);
	assert_int_equal(s.hops[0][2], 2);
	assert_int_equal(s.hops[2][1], 1);
	assert_int_equal(s.hops[1][1], 0);
}

static void links_make_hops(void **state)
{
	struct machine_spec ring = machine_named("6 nodes, links ring, memory 1G");
	struct machine_spec mesh = machine_named("6 nodes, links mesh, memory 1G");

	(void)state;
	assert_int_equal(ring.hops[0][3], 3);
	assert_int_equal(ring.hops[5][0], 1);
	assert_int_equal(ring.hops[4][0], 2);
	assert_int_equal(mesh.hops[0][3], 1);
}

static int is_a_machine(void *ctx, const char *name, const char *path)
{
	struct machine_spec s = machine_named(name);

	(void)path;
	assert_string_equal(s.name, name);
	assert_non_null(strstr(s.cpu, "(simulated"));
	++*(unsigned *)ctx;
	return 0;
}

static void every_preset_is_a_machine_and_says_that_it_is_simulated(void **state)
{
	unsigned n = 0;

	(void)state;
	assert_int_equal(data_each("machines", is_a_machine, &n), 0);
	assert_int_equal(n, 5);
}

static void a_bad_machine_is_refused_with_file_and_line(void **state)
{
	static const struct {
		const char *text, *complaint;
	} bad[] = {
		{ "2 nodes\nfoo 3\n", "m:2: \"foo\" is no statement" },
		{ "nodes 2\n", "m:1: \"nodes\" is no statement" },
		{ "9 nodes\n", "m:1: \"9\" is not a number of nodes (1 to 8)" },
		{ "2 nodes\n2 nodes\n", "m:2: \"nodes\" is said twice" },
		{ "\n0 cores each\n", "m:2: \"0\" is not a number of cores" },
		{ "4 cores\n", "m:1: expected \"N cores each" },
		{ "4 cores each at 3 MHz\n", "m:1: after 3: expected \"GHz\"" },
		{ "L1 32K\n", "m:1: \"32K\" is not a cache" },
		{ "L1 32K/1\n", "m:1: \"32K/1\" is not a cache" },
		{ "L1 24K/8\n", "m:1: L1 and L2: expected a power of two" },
		{ "L2 16K/8\n", "m:1: expected L1, L2 and LLC from small to large" },
		{ "LLC 8M/16\n", "m:1: expected \"LLC SIZE/WAYS" },
		{ "LLC 8M/7 inclusive\n", "m:1: 8M/7 does not divide" },
		{ "L1 32K/8 4\n", "m:1: expected \"L1 SIZE" },
		{ "L1 32K/8 4 apples\n", "m:1: after 4: expected \"ns\" or \"cycles\"" },
		{ "L1 32K/8 -4 cycles\n", "m:1: \"-4\" is not a time" },
		{ "trackers 32/16\n", "m:1: \"32/16\" is not trackers' entries" },
		{ "trackers 32/16/0\n", "m:1: \"32/16/0\" is not" },
		{ "3 channels SRAM\n", "m:1: \"SRAM\" is not a memory" },
		{ "local 10 ns\n", "m:1: local takes 10 ns, and LLC 13.652 ns" },
		{ "name x\nremote 50 ns\n", "m:2: remote takes 50 ns, and local 60 ns" },
		{ "remote-cache 45 ns\n", "m:1: remote caches take 45 ns" },
		{ "link 0 GB/s\n", "m:1: \"0\" is not a link's rate" },
		{ "link 12 MB/s\n", "m:1: after 12: expected \"GB/s\"" },
		{ "links 0-2\n", "m:1: link 0-2: there are nodes 0 to 1 only" },
		{ "4 nodes\nlinks 0-1 2-3\n", "m:2: no link leads from node 0 to node 2" },
		{ "links 0-0\n", "m:1: \"0-0\" is not a link" },
		{ "8 nodes\nmemory 32G\n", "m:2: 8 nodes with 34359738368 bytes" },
		{ "efficiency 120%\n", "m:1: \"120%\" is not a share" },
		{ "name \"a b\n", "m:1: a quote that does not end" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct machine_spec s;
		struct err err = { 0 };
		int ret =
			machine_spec_parse("m", bad[i].text, strlen(bad[i].text), &s, &err);

		assert_int_equal(ret, -EINVAL);
		if (strncmp(err.text, bad[i].complaint, strlen(bad[i].complaint)))
			fail_msg("\"%s\" instead of \"%s\"", err.text, bad[i].complaint);
	}
}

static void a_machine_that_is_not_there_is_told_with_those_that_are(void **state)
{
	struct machine_spec s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(machine_spec_load("nehalem-ex", &s, &err), -ENOENT);
	assert_non_null(strstr(err.text, "nehalem-ep"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_is_one_line),
		cmocka_unit_test(what_a_line_says_is_so),
		cmocka_unit_test(links_make_hops),
		cmocka_unit_test(every_preset_is_a_machine_and_says_that_it_is_simulated),
		cmocka_unit_test(a_bad_machine_is_refused_with_file_and_line),
		cmocka_unit_test(a_machine_that_is_not_there_is_told_with_those_that_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
