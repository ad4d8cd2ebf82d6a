/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event_machines.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/vec.h"
#include "events/list.h"
#include "events/parse.h"
#include "events/target.h"

struct encoding {
	int machine;
	const char *spec;
	enum event_kind kind;
	uint32_t type;
	uint64_t config, config1;
};

static void check_encodings(const struct encoding *known, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct encoding *k = &known[i];
		struct event ev = parse_one(k->machine, k->spec);

		if (ev.kind != k->kind || ev.type != k->type || ev.config != k->config ||
		    ev.config1 != k->config1 || ev.config2)
			fail_msg("%s: kind %d type %u config %#jx,%#jx", k->spec, ev.kind,
				 ev.type, (uintmax_t)ev.config, (uintmax_t)ev.config1);
		assert_int_equal(ev.group, -1);
		assert_int_equal(ev.side,
				 k->kind == EVENT_HARDWARE ? SIDE_DEFAULT : SIDE_BOTH);
	}
}

#define HW EVENT_HARDWARE, PERF_TYPE_HARDWARE
#define CACHE EVENT_HARDWARE, PERF_TYPE_HW_CACHE
#define SW EVENT_SOFTWARE, PERF_TYPE_SOFTWARE
#define RAW EVENT_HARDWARE, PERF_TYPE_RAW

/* The numbers are those of linux/perf_event.h, written out. */
static void perfs_names_have_the_kernels_encodings(void **state)
{
	static const struct encoding known[] = {
		{ NONE, "cycles", HW, 0, 0 },
		{ NONE, "cpu-cycles", HW, 0, 0 },
		{ NONE, "instructions", HW, 1, 0 },
		{ NONE, "cache-references", HW, 2, 0 },
		{ NONE, "cache-misses", HW, 3, 0 },
		{ NONE, "branches", HW, 4, 0 },
		{ NONE, "branch-instructions", HW, 4, 0 },
		{ NONE, "branch-misses", HW, 5, 0 },
		{ NONE, "bus-cycles", HW, 6, 0 },
		{ NONE, "idle-cycles-frontend", HW, 7, 0 },
		{ NONE, "stalled-cycles-backend", HW, 8, 0 },
		{ NONE, "ref-cycles", HW, 9, 0 },
		{ NONE, "cpu-clock", SW, 0, 0 },
		{ NONE, "task-clock", SW, 1, 0 },
		{ NONE, "faults", SW, 2, 0 },
		{ NONE, "cs", SW, 3, 0 },
		{ NONE, "migrations", SW, 4, 0 },
		{ NONE, "minor-faults", SW, 5, 0 },
		{ NONE, "major-faults", SW, 6, 0 },
		{ NONE, "dummy", SW, 9, 0 },
		{ NONE, "bpf-output", SW, 10, 0 },
		{ NONE, "cgroup-switches", SW, 11, 0 },
		{ NONE, "L1-dcache-load-misses", CACHE, 0x10000, 0 },
		{ NONE, "L1-dcache-miss-loads", CACHE, 0x10000, 0 },
		{ NONE, "l1d-write", CACHE, 0x100, 0 },
		{ NONE, "L1-icache-prefetches", CACHE, 0x201, 0 },
		{ NONE, "LLC-loads", CACHE, 2, 0 },
		{ NONE, "LLC-misses", CACHE, 0x10002, 0 },
		{ NONE, "llc-speculative-read-miss", CACHE, 0x10202, 0 },
		{ NONE, "d-tlb-store-refs", CACHE, 0x103, 0 },
		{ NONE, "Instruction-TLB-load-misses", CACHE, 0x10004, 0 },
		{ NONE, "branch-loads", CACHE, 5, 0 },
		{ NONE, "node-store-misses", CACHE, 0x10106, 0 },
		{ NONE, "r1A8", RAW, 0x1a8, 0 },
		{ NONE, "rffffffffffffffff", RAW, UINT64_MAX, 0 },
	};

	(void)state;
	check_encodings(known, ARRAY_SIZE(known));
}

static void terms_are_put_where_the_pmus_format_says(void **state)
{
	static const struct encoding known[] = {
		{ X86, "cpu/event=0x3c/", RAW, 0x3c, 0 },
		{ X86, "cpu/event=60,umask=0x01,cmask=2,inv,edge/", RAW, 0x284013c, 0 },
		{ X86, "cpu/event=0xb7,umask=1,offcore_rsp=0x3f80400004/", RAW, 0x1b7,
		  0x3f80400004 },
		{ X86, "cpu/mem-loads/", RAW, 0x1cd, 3 },
		{ X86, "cpu/mem-loads,ldlat=30/", RAW, 0x1cd, 30 },
		{ X86, "cpu/event=0xff,event=0x3c/", RAW, 0x3c, 0 },
		{ X86, "cpu/config=0xffff,umask=0x0/", RAW, 0xff, 0 },
		{ X86, "cpu/config=1,config1=2/", RAW, 1, 2 },
		{ X86, "cpu//", RAW, 0, 0 },
		{ X86, "cpu/cache-misses/", RAW, 0x412e, 0 },
		{ X86, "cpu/cycles/", HW, 0, 0 },
		{ X86, "cpu/r1a8/", RAW, 0x1a8, 0 },
		{ X86, "cpu/el-start/", RAW, 0x400c8, 0 },
		{ X86, "msr/tsc/", EVENT_SOFTWARE, 9, 0, 0 },
		{ AMD, "cpu/event=0x1d3/", RAW, 0x1000000d3, 0 },
		{ AMD, "cpu/event=0xfff,umask=0xff/", RAW, 0xf0000ffff, 0 },
		{ AMD, "ibs_op/cnt_ctl/", EVENT_SOFTWARE, 11, 0x80000, 0 },
		{ ARM, "armv8_pmuv3_0/cpu_cycles/", EVENT_HARDWARE, 8, 0x11, 0 },
		{ ARM, "armv8_pmuv3_0/event=0x8,long/", EVENT_HARDWARE, 8, 8, 1 },
		{ HYBRID, "cpu_atom/cycles/", HW, 0xa00000000, 0 },
		{ HYBRID, "cpu_core/LLC-load-misses/", CACHE, 0x400010002, 0 },
	};

	(void)state;
	check_encodings(known, ARRAY_SIZE(known));
}

static void bare_names_come_from_core_pmus(void **state)
{
	static const struct encoding known[] = {
		{ ARM, "inst_retired", EVENT_HARDWARE, 8, 8, 0 },
		{ ARM, "l1d_cache_refill", EVENT_HARDWARE, 8, 3, 0 },
		{ X86, "mem-loads", RAW, 0x1cd, 3 },
		{ X86, "cache-misses", HW, 3, 0 },	/* perf's name before the PMU's */
		{ HYBRID, "mem-loads", RAW, 0x1cd, 0 }, /* cpu_core's */
		{ HYBRID, "topdown-bad-spec", EVENT_HARDWARE, 10, 0x73, 0 },
	};

	(void)state;
	check_encodings(known, ARRAY_SIZE(known));
	refused(X86, "cas_count_read", -ENOENT, "no such event");
	refused(X86, "tsc", -ENOENT, "no such event");
}

static void an_alias_brings_its_unit_and_scale(void **state)
{
	struct event ev = parse_one(X86, "cpu/energy/");

	(void)state;
	assert_string_equal(ev.unit, "Joules");
	assert_true(ev.scale > 2.3e-10 && ev.scale < 2.4e-10);
	ev = parse_one(X86, "task-clock");
	assert_string_equal(ev.unit, "ns");
	assert_true(ev.scale == 1.0);
}

static void modifiers_choose_modes_and_sides(void **state)
{
	struct event ev = parse_one(X86, "cycles:u");

	(void)state;
	assert_true(!ev.exclude_user && ev.exclude_kernel && ev.exclude_hv);
	assert_int_equal(ev.side, SIDE_DEFAULT);
	ev = parse_one(X86, "cpu/event=0x3c/ukG");
	assert_true(!ev.exclude_user && !ev.exclude_kernel && ev.exclude_hv);
	assert_int_equal(ev.side, SIDE_GUEST);
	ev = parse_one(X86, "cpu/event=0x3c/:HID");
	assert_int_equal(ev.side, SIDE_HOST);
	assert_true(ev.exclude_idle && ev.pinned && !ev.exclude_user);
	assert_int_equal(parse_one(X86, "r3c:GH").side, SIDE_BOTH);
	assert_int_equal(parse_one(X86, "cycles:ppH").precise, 2);
	ev = parse_one(X86, "kvm:kvm_exit:k");
	assert_true(ev.exclude_user && !ev.exclude_kernel);
	assert_int_equal(ev.side, SIDE_BOTH);
}

static void names_tell_events_apart_by_their_modes(void **state)
{
	static const char *const named[][2] = {
		{ "cycles:u", "cycles:u" },
		{ "cycles:kG", "cycles:k" },
		{ "cycles:khu", "cycles" },
		{ "cycles:GH", "cycles" },
		{ "cpu/event=0x3c/ukG", "cpu/event=0x3c/:uk" },
		{ "cycles:ppHI", "cycles:Ipp" },
		{ "{cycles}:k", "cycles:k" },
		{ "kvm:kvm_exit:k", "kvm:kvm_exit:k" },
		{ "cpu/event=0x3c,name=mine/k", "mine" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(named); i++)
		assert_string_equal(parse_one(X86, named[i][0]).name, named[i][1]);
}

static void a_group_hands_its_modifiers_to_its_members(void **state)
{
	struct event_set set =
		parse(X86, "branches,{cycles:u,task-clock}:GD,{cs},{r3c:k,r4}:u");

	(void)state;
	assert_int_equal(set.n, 6);
	assert_int_equal(set.ev[0].group, -1);
	assert_int_equal(set.ev[0].side, SIDE_DEFAULT);
	assert_int_equal(set.ev[1].group, set.ev[2].group);
	assert_int_equal(set.ev[1].side, SIDE_GUEST);
	assert_true(set.ev[1].exclude_kernel && set.ev[1].pinned);
	assert_int_equal(set.ev[2].side, SIDE_BOTH); /* task-clock knows no sides */
	assert_false(set.ev[2].pinned);		     /* the leader pins the group */
	assert_int_not_equal(set.ev[3].group, set.ev[2].group);
	assert_true(!set.ev[4].exclude_user && !set.ev[4].exclude_kernel);
	assert_true(!set.ev[5].exclude_user && set.ev[5].exclude_kernel);
	event_set_free(&set);
}

static void lists_are_appended_and_their_groups_kept_apart(void **state)
{
	struct event_set set = parse(X86, "{cycles,r3c}");
	struct err err = { 0 };

	(void)state;
	assert_int_equal(events_parse("{cs,faults}", &machines[X86], &set, &err), 0);
	assert_int_equal(set.n, 4);
	assert_int_not_equal(set.ev[0].group, set.ev[2].group);
	assert_int_equal(events_parse("cs,nope", &machines[X86], &set, &err), -ENOENT);
	assert_int_equal(set.n, 4);
	event_set_free(&set);
}

static void any_event_takes_a_name_and_a_rate(void **state)
{
	struct event ev = parse_one(X86, "cycles/period=100k,name=x/u");

	(void)state;
	assert_int_equal(ev.period, 100000);
	assert_string_equal(ev.name, "x");
	ev = parse_one(X86, "r1a8/freq=0x10/");
	assert_int_equal(ev.freq, 16);
	assert_string_equal(ev.name, "r1a8/freq=0x10/");
	ev = parse_one(X86, "kvm:kvm_exit/period=1,name='VM, exits / s'/");
	assert_int_equal(ev.period, 1);
	assert_string_equal(ev.name, "VM, exits / s");
	ev = parse_one(X86, "mem-loads/period=7/");
	assert_int_equal(ev.config, 0x1cd);
	ev = parse_one(X86, "cpu/cycles,period=4/");
	assert_int_equal(ev.period, 4);
	ev = parse_one(X86, "cpu/event=0x3c,period=3,name=y/");
	assert_int_equal(ev.period, 3);
	assert_string_equal(ev.name, "y");
}

static void tracepoints_go_by_the_id_in_tracefs(void **state)
{
	static const struct encoding known[] = {
		{ X86, "kvm:kvm_exit", EVENT_TRACEPOINT, PERF_TYPE_TRACEPOINT, 1387, 0 },
		{ ARM, "kvm:kvm_exit", EVENT_TRACEPOINT, PERF_TYPE_TRACEPOINT, 77, 0 },
	};

	(void)state;
	check_encodings(known, ARRAY_SIZE(known));
	refused(X86, "kvm:kvm_exti", -ENOENT, "did you mean kvm_exit?");
	refused(X86, "kvm:*", -EINVAL, "patterns are not taken");
	refused(X86, "kvm:..", -ENOENT, "kvm:..");
	refused(X86, "..:kvm", -ENOENT, "..:kvm");
	refused(NONE, "kvm:kvm_exit", -ENOENT, "mount -t tracefs");
}

static void libpfm4_knows_the_vendors_names(void **state)
{
	struct event ev;
	struct event_set set = { 0 };

	(void)state;
	if (events_parse("skx::INST_RETIRED:ANY_P", &machines[HERE], &set, NULL))
		skip(); /* a libpfm4 for another architecture */
	event_set_free(&set);
	ev = parse_one(HERE, "skx::MEM_LOAD_RETIRED:L3_MISS");
	assert_int_equal(ev.type, PERF_TYPE_RAW);
	assert_int_equal(ev.config, 0x20d1);
	assert_int_equal(ev.side, SIDE_DEFAULT);
	assert_string_equal(ev.name, "skx::MEM_LOAD_RETIRED:L3_MISS");
	ev = parse_one(HERE, "skx::MEM_LOAD_RETIRED:L3_MISS:kG");
	assert_int_equal(ev.config, 0x20d1);
	assert_int_equal(ev.side, SIDE_GUEST);
	assert_true(ev.exclude_user && !ev.exclude_kernel);
	assert_string_equal(ev.name, "skx::MEM_LOAD_RETIRED:L3_MISS:k");
	/* I is a umask there before it is a modifier. */
	ev = parse_one(HERE, "ivb::L2_LINES_IN:I");
	assert_int_equal(ev.config, 0x1f1);
	assert_false(ev.exclude_idle);
	ev = parse_one(HERE, "skx::INST_RETIRED:ANY_P:c=1/period=9/u");
	assert_int_equal(ev.config, 0x10000c0);
	assert_int_equal(ev.period, 9);
	assert_true(ev.exclude_kernel);
	refused(HERE, "skx::INST_RETIRED:BOGUS", -ENOENT,
		"libpfm4: invalid event attribute");
	refused(HERE, "skx::BOGUS", -ENOENT, "libpfm4: event not found");
	/* A recorded machine has not this machine's CPU. */
	refused(X86, "skx::MEM_LOAD_RETIRED:L3_MISS", -ENOENT, "no such event");
}

static void what_never_stands_still_is_marked(void **state)
{
	static const struct {
		int machine;
		const char *spec;
		bool must_move;
	} known[] = {
		{ NONE, "cycles", true },
		{ NONE, "instructions", true },
		{ NONE, "cpu-clock", true },
		{ NONE, "task-clock", true },
		{ NONE, "branches:G", true },
		{ NONE, "cycles:u", false },
		{ NONE, "cache-misses", false },
		{ NONE, "cs", false },
		{ X86, "r3c", true },
		{ X86, "cpu/event=0xc0/", true },
		{ X86, "cpu/instructions/", true },
		{ X86, "r10000c0", false },
		{ X86, "r76", false },
		{ AMD, "r76", true },
		{ ARM, "r11", true },
		{ ARM, "inst_retired", true },
		{ ARM, "armv8_pmuv3_0/event=8/", true },
		{ ARM, "r3", false },
		{ X86, "r11", false },
		{ HYBRID, "cpu_atom/cycles/", true },
		{ X86, "LLC-loads", false },
		{ X86, "kvm:kvm_exit", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (parse_one(known[i].machine, known[i].spec).must_move !=
		    known[i].must_move)
			fail_msg("%s: must_move", known[i].spec);
}

static int parses_too(void *ctx, const struct event_name *name)
{
	const int *machine = ctx;
	struct event ev = parse_one(*machine, name->name);

	assert_int_equal(ev.kind, name->kind);
	return 0;
}

static int count_listed(void *ctx, const struct event_name *name)
{
	int *counts = ctx;

	counts[0]++;
	counts[1] += !strcmp(name->name, "dTLB-prefetch-misses");
	counts[2] += !strcmp(name->name, "armv8_pmuv3_0/inst_retired/") &&
		     !strcmp(name->pmu, "armv8_pmuv3_0");
	counts[3] += !strncmp(name->pmu, "uncore", 6);
	return 0;
}

static int stop_at_third(void *ctx, const struct event_name *name)
{
	int *n = ctx;

	(void)name;
	return ++*n == 3 ? 42 : 0;
}

static void what_is_listed_can_be_asked_for(void **state)
{
	int some[] = { AMD, ARM, HYBRID, NONE }, counts[4] = { 0 }, n = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(some); i++)
		assert_int_equal(events_list(&machines[some[i]], parses_too, &some[i]), 0);
	assert_int_equal(events_list(&machines[ARM], count_listed, counts), 0);
	assert_int_equal(counts[1], 1);
	assert_int_equal(counts[2], 1);
	assert_int_equal(events_list(&machines[X86], count_listed, counts), 0);
	assert_int_equal(counts[3], 1);
	assert_int_equal(events_list(&machines[X86], stop_at_third, &n), 42);
}

static void a_target_is_a_pattern_and_events(void **state)
{
	static const struct {
		const char *arg, *pattern, *events;
	} known[] = {
		{ "web", "web", NULL },
		{ "web:cycles,r11", "web", "cycles,r11" },
		{ "web*:{cycles,cs}:G", "web*", "{cycles,cs}:G" },
		{ "12345.2:kvm:kvm_exit", "12345.2", "kvm:kvm_exit" },
		{ "a\\:b:cycles", "a:b", "cycles" },
		{ "a\\*b:cs", "a\\*b", "cs" },
		{ "a\\\\:cs", "a\\\\", "cs" },
		{ "a\\", "a\\", NULL },
	};
	char pattern[16];
	const char *events;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		assert_int_equal(
			target_split(known[i].arg, pattern, sizeof(pattern), &events, &err),
			0);
		assert_string_equal(pattern, known[i].pattern);
		assert_int_equal(!events, !known[i].events);
		if (events)
			assert_string_equal(events, known[i].events);
	}
	assert_int_equal(target_split(":cycles", pattern, sizeof(pattern), &events, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "before the ':'"));
	assert_int_equal(target_split("web:", pattern, sizeof(pattern), &events, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "expected events"));
	assert_int_equal(target_split("0123456789abcdef", pattern, 16, &events, &err),
			 -EINVAL);
	assert_int_equal(target_split("0123456789abcde", pattern, 16, &events, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perfs_names_have_the_kernels_encodings),
		cmocka_unit_test(terms_are_put_where_the_pmus_format_says),
		cmocka_unit_test(bare_names_come_from_core_pmus),
		cmocka_unit_test(an_alias_brings_its_unit_and_scale),
		cmocka_unit_test(modifiers_choose_modes_and_sides),
		cmocka_unit_test(names_tell_events_apart_by_their_modes),
		cmocka_unit_test(a_group_hands_its_modifiers_to_its_members),
		cmocka_unit_test(lists_are_appended_and_their_groups_kept_apart),
		cmocka_unit_test(any_event_takes_a_name_and_a_rate),
		cmocka_unit_test(tracepoints_go_by_the_id_in_tracefs),
		cmocka_unit_test(libpfm4_knows_the_vendors_names),
		cmocka_unit_test(what_never_stands_still_is_marked),
		cmocka_unit_test(what_is_listed_can_be_asked_for),
		cmocka_unit_test(a_target_is_a_pattern_and_events),
	};

	return cmocka_run_group_tests(tests, open_machines, close_machines);
}
