/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting and sampling on a Xen that the test makes up. */
#include "test.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rootfs.h"
#include "base/str.h"
#include "base/vec.h"
#include "events/parse.h"
#include "fake_xen.h"
#include "session/counting.h"
#include "session/sampling.h"
#include "source/xen/xen.h"

#define EVENTS 12

/* An open source, its topology, and one target's events with their sides. */
struct bench {
	struct source *src;
	struct topology topo;
	struct event_set set;
	struct opened opened[EVENTS];
	struct reading r[EVENTS];
	struct err err;
};

static struct bench make_bench(const char *events, enum event_side side)
{
	const struct source_config config = { .root = "/" };
	struct bench b = { 0 };
	struct rootfs root;

	assert_int_equal(xen_source_open(&fake_xen_ops, &config, &b.src, &b.err), 0);
	assert_int_equal(xen_source.topology(b.src, TOPOLOGY_BASIC, &b.topo, &b.err), 0);
	assert_int_equal(rootfs_open(&root, "/", NULL), 0);
	if (events_parse(events, &root, &b.set, &b.err))
		fail_msg("%s", b.err.text);
	rootfs_close(&root);
	for (size_t i = 0; i < b.set.n; i++)
		if (b.set.ev[i].side == SIDE_DEFAULT)
			b.set.ev[i].side = side;
	return b;
}

static void end_bench(struct bench *b)
{
	event_set_free(&b->set);
	topology_free(&b->topo);
	xen_source.close(b->src);
	assert_int_equal(fake_xen.maps, 0);
	for (size_t i = 0; i < FAKE_SETS; i++)
		assert_int_equal(fake_xen.set[i].handle, 0); /* none is left open */
}

static const struct vm *vm_of(const struct bench *b, const char *id)
{
	const struct vm *vm = topology_find(&b->topo, id);

	assert_non_null(vm);
	return vm;
}

static struct counters *counted(struct bench *b, const char *id, size_t vcpu)
{
	const struct vm *vm = vm_of(b, id);
	struct counters *c = NULL;

	assert_int_equal(xen_source.counters_open(b->src, vm, &vm->vcpus[vcpu], &b->set,
						  b->opened, &c, &b->err),
			 0);
	return c;
}

static int reset(void **state)
{
	(void)state;
	fake_xen_reset();
	return 0;
}

/* ---- counting */

static void vcpus_of_a_domain_share_one_set(void **state)
{
	struct bench b = make_bench("cycles,instructions:u", SIDE_GUEST);
	struct counters *c[2];
	struct fake_set *set;

	(void)state;
	c[0] = counted(&b, "dom0", 0);
	c[1] = counted(&b, "dom0", 1);
	assert_int_equal(fake_xen.opens, 1);
	set = fake_set_on(0);
	assert_int_equal(set->open.nevents, 2);
	assert_int_equal(set->open.event[0].config, 0x11);
	assert_int_equal(set->open.event[0].flags, VPMU_EVENT_USER | VPMU_EVENT_KERNEL);
	assert_int_equal(set->open.event[1].config, 0x08);
	assert_int_equal(set->open.event[1].flags, VPMU_EVENT_USER);
	assert_int_equal(set->open.ring_frames, 0);
	set->count[1][1] = (struct xenpmu_count) { 100, 50, 40, 0, 0 };
	assert_int_equal(xen_source.counters_read(c[1], b.r), 0);
	assert_int_equal(b.r[1].raw, 100);
	assert_int_equal(b.r[1].enabled_ns, 50);
	assert_int_equal(b.r[1].running_ns, 40);
	assert_int_equal(b.r[1].state, READ_COUNTED);
	xen_source.counters_close(c[0]);
	assert_int_equal(fake_xen.closes, 0);
	xen_source.counters_close(c[1]);
	assert_int_equal(fake_xen.closes, 1);
	end_bench(&b);
}

static void xen_itself_is_counted_in_its_own_mode(void **state)
{
	struct bench b = make_bench("cycles,instructions:h", SIDE_HOST);
	struct counters *c = counted(&b, "xen", 3);

	(void)state;
	assert_int_equal(fake_set_on(XENPMU_DOMID_XEN)->open.event[0].flags,
			 VPMU_EVENT_HYP);
	assert_int_equal(fake_set_on(XENPMU_DOMID_XEN)->open.event[1].flags,
			 VPMU_EVENT_HYP);
	xen_source.counters_close(c);
	end_bench(&b);
}

/* What becomes of one event, and a piece of the words for it. */
static void assert_refused(const char *event, enum event_side side, const char *vm,
			   enum reading_state state, const char *words)
{
	struct bench b = make_bench(event, side);
	struct counters *c = counted(&b, vm, 0);

	if (b.opened[0].state != state || !strstr(b.opened[0].reason, words))
		fail_msg("%s: %s: %s", event, reading_state_name(b.opened[0].state),
			 b.opened[0].reason);
	assert_int_equal(xen_source.counters_read(c, b.r), 0);
	assert_int_equal(b.r[0].state, state);
	xen_source.counters_close(c);
	end_bench(&b);
}

static void what_xen_cannot_count_is_refused_in_words(void **state)
{
	const struct {
		const char *event;
		enum event_side side;
		const char *vm, *words;
	} cases[] = {
		{ "cache-misses", SIDE_GUEST, "dom0", "no such event" },
		{ "cycles:h", SIDE_GUEST, "dom0", "target xen" },
		{ "cycles:u", SIDE_HOST, "xen", "one mode" },
		{ "cycles:H", SIDE_GUEST, "dom0", "target xen" },
		{ "cycles:GH", SIDE_GUEST, "dom0", "target xen" },
		{ "cycles:G", SIDE_HOST, "xen", "no guest mode" },
		{ "cycles:D", SIDE_GUEST, "dom0", "leave D out" },
		{ "cycles:I", SIDE_GUEST, "dom0", "leave I out" },
		{ "cycles:Hp", SIDE_HOST, "xen", "leave p out" },
		{ "page-faults", SIDE_BOTH, "dom0", "task-clock" },
		{ "task-clock", SIDE_BOTH, "xen", "of domains" },
		{ "ref-cycles", SIDE_GUEST, "dom0", "rNN" },
		{ "r12345", SIDE_GUEST, "dom0", "rNN" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_refused(cases[i].event, cases[i].side, cases[i].vm, READ_UNSUPPORTED,
			       cases[i].words);
}

static void refusals_of_xen_have_a_state_each(void **state)
{
	const struct {
		int code;
		enum reading_state state;
		const char *words;
	} cases[] = {
		{ -EPERM, READ_DENIED, "dom0" },
		{ -EBUSY, READ_TAKEN, "vpmu=host=4" },
		{ -ENOSPC, READ_TAKEN, "too many events" },
		{ -EMFILE, READ_TAKEN, "too many event sets" },
		{ -EINVAL, READ_UNSUPPORTED, "refuses" },
		{ -EIO, READ_UNSUPPORTED, "Input/output error" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_xen.open_fails = cases[i].code;
		fake_xen.bad = 1;
		assert_refused("cycles", SIDE_GUEST, "dom0", cases[i].state,
			       cases[i].words);
	}
}

static void a_xen_without_graft_or_with_its_pmu_off_is_told(void **state)
{
	(void)state;
	fake_xen.info.flags = XENPMU_INFO_PRIVILEGED;
	str_copy(fake_xen.info.why, sizeof(fake_xen.info.why), "no PMU is there");
	assert_refused("cycles", SIDE_GUEST, "dom0", READ_UNSUPPORTED,
		       "no PMU is there; boot Xen with vpmu=1");
	fake_xen.graft = false;
	assert_refused("cycles", SIDE_GUEST, "dom0", READ_UNSUPPORTED, "xen/graft");
}

static void the_others_are_counted_where_one_event_is_refused(void **state)
{
	struct bench b = make_bench("cycles,cache-misses,r3f,instructions", SIDE_GUEST);
	struct counters *c = counted(&b, "dom0", 0);
	struct fake_set *set = fake_set_on(0);

	(void)state;
	assert_int_equal(set->open.nevents, 2);
	set->count[0][1].value = 77; /* at the second place is the fourth event */
	assert_int_equal(xen_source.counters_read(c, b.r), 0);
	assert_int_equal(b.r[0].state, READ_COUNTED);
	assert_int_equal(b.r[1].state, READ_UNSUPPORTED);
	assert_int_equal(b.r[2].state, READ_UNSUPPORTED);
	assert_int_equal(b.r[3].raw, 77);
	xen_source.counters_close(c);
	end_bench(&b);
}

static void a_ninth_event_is_too_many(void **state)
{
	struct bench b;
	struct counters *c;

	(void)state;
	fake_xen.info.events[0] = ~0ull;
	b = make_bench("r1,r2,r3,r4,r5,r6,r7,r8,r9", SIDE_GUEST);
	c = counted(&b, "dom0", 0);
	assert_int_equal(fake_set_on(0)->open.nevents, 8);
	assert_int_equal(b.opened[8].state, READ_UNSUPPORTED);
	xen_source.counters_close(c);
	end_bench(&b);
}

static void a_group_that_would_take_turns_is_refused(void **state)
{
	struct bench b = make_bench("{cycles,instructions}", SIDE_GUEST);
	struct counters *c = counted(&b, "dom0", 0);

	(void)state;
	assert_int_equal(b.opened[0].state, READ_COUNTED);
	xen_source.counters_close(c);
	end_bench(&b);
	b = make_bench("{cycles,instructions},r11", SIDE_GUEST);
	c = counted(&b, "dom0", 0);
	assert_int_equal(b.opened[0].state, READ_UNSUPPORTED);
	assert_int_equal(b.opened[2].state, READ_COUNTED);
	xen_source.counters_close(c);
	end_bench(&b);
}

static void task_clock_is_xens_own_account_of_the_vcpu(void **state)
{
	struct bench b;
	struct counters *c;

	(void)state;
	fake_xen.domain[0].vcpu[1].cpu_time = 1000;
	fake_xen.graft = false; /* it needs none */
	b = make_bench("task-clock", SIDE_BOTH);
	c = counted(&b, "dom0", 1);
	assert_int_equal(b.opened[0].state, READ_COUNTED);
	fake_xen.domain[0].vcpu[1].cpu_time = 1500;
	assert_int_equal(xen_source.counters_read(c, b.r), 0);
	assert_int_equal(b.r[0].raw, 500);
	assert_int_equal(b.r[0].running_ns, 500);
	fake_xen.domain[0].there = false; /* what it was stays */
	assert_int_equal(xen_source.counters_read(c, b.r), 0);
	assert_int_equal(b.r[0].raw, 500);
	xen_source.counters_close(c);
	end_bench(&b);
}

static void a_domain_that_left_is_no_failure_of_its_events(void **state)
{
	struct bench b = make_bench("cycles", SIDE_GUEST);
	const struct vm *vm = vm_of(&b, "dom0");
	struct counters *c = NULL;

	(void)state;
	fake_xen.domain[0].there = false;
	assert_int_equal(xen_source.counters_open(b.src, vm, &vm->vcpus[0], &b.set,
						  b.opened, &c, &b.err),
			 -ESRCH);
	end_bench(&b);
}

static void a_count_that_changes_is_read_again(void **state)
{
	struct bench b = make_bench("cycles", SIDE_GUEST);
	struct counters *c = counted(&b, "dom0", 0);

	(void)state;
	fake_xen.read_fails = -EAGAIN;
	assert_int_equal(xen_source.counters_read(c, b.r), -EAGAIN);
	assert_int_equal(fake_xen.reads, 8);
	fake_xen.read_fails = 0;
	xen_source.counters_close(c);
	end_bench(&b);
}

static void more_running_than_enabled_is_cut(void **state)
{
	struct bench b = make_bench("cycles", SIDE_GUEST);
	struct counters *c = counted(&b, "dom0", 0);

	(void)state;
	fake_set_on(0)->count[0][0] = (struct xenpmu_count) { 1, 10, ~0ull, 0, 0 };
	assert_int_equal(xen_source.counters_read(c, b.r), 0);
	assert_int_equal(b.r[0].running_ns, 10);
	xen_source.counters_close(c);
	end_bench(&b);
}

static void sets_of_killed_tools_are_closed_and_no_others(void **state)
{
	struct xenpmu_open left = { .nevents = 1, .event = { { 0x11, 0, 1, 0 } } };
	struct bench b = make_bench("cycles", SIDE_GUEST);
	struct counters *c = counted(&b, "dom0", 0);
	uint64_t mine = fake_set_on(0)->open.owner;

	(void)state;
	xen_source.counters_close(c);
	end_bench(&b);
	assert_int_equal(mine >> 32, getpid());
	left.owner = mine + 1; /* our number, started at another time: reused */
	fake_set_open(&left);
	left.owner = mine;
	fake_set_open(&left);
	left.owner = 0; /* of a tool that leaves no mark */
	fake_set_open(&left);
	fake_xen.closes = 0;
	b = make_bench("cycles", SIDE_GUEST);
	c = counted(&b, "dom0", 0);
	assert_int_equal(fake_xen.closes, 1);
	assert_int_equal(fake_xen.set[1].open.owner, mine);
	assert_true(fake_xen.set[1].handle);
	assert_true(fake_xen.set[2].handle);
	xen_source.counters_close(c);
	fake_xen.set[1].handle = fake_xen.set[2].handle = 0;
	end_bench(&b);
}

/* ---- sampling */

static struct sampler *sampled(struct bench *b, const char *id, size_t vcpu)
{
	const struct vm *vm = vm_of(b, id);
	struct sampler *s = NULL;

	if (xen_source.sampler_open(b->src, vm, &vm->vcpus[vcpu], &b->set, true, 4096,
				    b->opened, &s, &b->err))
		fail_msg("%s", b->err.text);
	return s;
}

static void take_sample(struct fake_set *set, unsigned vcpu, uint8_t event, uint8_t mode,
			uint64_t pc)
{
	const struct vpmu_sample s = {
		.size = sizeof(s),
		.mode = mode,
		.event = event,
		.pcpu = 2,
		.vcpu = vcpu,
		.time = fake_xen.info.now_ns + 1000,
		.pc = pc,
		.period = 20000,
	};

	vpmu_ring_put(&set->ring[vcpu], &s);
}

/* A PERF_RECORD_SAMPLE or _LOST as perf_event_open(2) has them. */
struct record {
	struct perf_event_header header;
	uint64_t id, ip_or_lost;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, zero;
	uint64_t period;
};

static const struct record *peek(struct sampler *s, struct sampler_tally *tally, size_t *n)
{
	struct iovec spans[2];
	int nspans = xen_source.sampler_peek(s, spans, tally);

	*n = nspans ? spans[0].iov_len / sizeof(struct record) : 0;
	return nspans ? spans[0].iov_base : NULL;
}

static void samples_become_perf_records_as_seen_from_inside(void **state)
{
	struct bench b =
		make_bench("cycles/period=20000/,instructions/period=20000/u", SIDE_GUEST);
	struct sampler *s = sampled(&b, "dom0", 1);
	struct fake_set *set = fake_set_on(0);
	struct sampler_tally tally = { 0 };
	struct perf_event_attr attr[2];
	const struct record *r;
	uint64_t id[2];
	size_t n;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_true(xen_source.sampler_event(s, i, &attr[i], &id[i]));
	assert_int_not_equal(id[0], id[1]);
	assert_int_equal(attr[0].sample_period, 20000);
	take_sample(set, 1, 0, VPMU_MODE_KERNEL, 0xffff000000001000);
	take_sample(set, 1, 1, VPMU_MODE_USER, 0x1000);
	r = peek(s, &tally, &n);
	assert_int_equal(n, 2);
	assert_int_equal(tally.samples, 2);
	assert_int_equal(tally.bytes, 2 * sizeof(*r));
	assert_int_equal(r[0].header.type, PERF_RECORD_SAMPLE);
	assert_int_equal(r[0].header.size, 56);
	assert_int_equal(r[0].header.misc, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(r[0].id, id[0]);
	assert_int_equal(r[0].ip_or_lost, 0xffff000000001000);
	assert_int_equal(r[0].pid, 1);
	assert_int_equal(r[0].tid, 2);
	assert_int_equal(r[0].cpu, 2);
	assert_int_equal(r[0].period, 20000);
	assert_int_equal(r[1].header.misc, PERF_RECORD_MISC_USER);
	assert_int_equal(r[1].id, id[1]);
	xen_source.sampler_release(s);
	peek(s, &tally, &n);
	assert_int_equal(n, 0);
	xen_source.sampler_close(s);
	end_bench(&b);
}

static void xens_own_samples_are_in_hypervisor_mode(void **state)
{
	struct bench b = make_bench("cycles/period=20000/", SIDE_HOST);
	struct sampler *s = sampled(&b, "xen", 0);
	struct fake_set *set = fake_set_on(XENPMU_DOMID_XEN);
	struct sampler_tally tally = { 0 };
	const struct record *r;
	size_t n;

	(void)state;
	take_sample(set, 0, 0, VPMU_MODE_HYP, 0x200000);
	take_sample(set, 0, 0, VPMU_MODE_KERNEL, 1); /* no domain's gets in */
	r = peek(s, &tally, &n);
	assert_int_equal(n, 1);
	assert_int_equal(r[0].header.misc, PERF_RECORD_MISC_HYPERVISOR);
	assert_int_equal(tally.corrupt, sizeof(struct vpmu_sample));
	xen_source.sampler_close(s);
	end_bench(&b);
}

static void times_are_brought_to_our_clock(void **state)
{
	struct bench b = make_bench("cycles", SIDE_GUEST);
	uint64_t before = clock_now_ns(), after;
	struct sampler *s = sampled(&b, "dom0", 0);
	struct sampler_tally tally = { 0 };
	const struct record *r;
	size_t n;

	(void)state;
	after = clock_now_ns();
	take_sample(fake_set_on(0), 0, 0, VPMU_MODE_USER, 1);
	r = peek(s, &tally, &n);
	/* taken 1000 ns after the moment at which the two clocks were compared */
	assert_in_range(r[0].time, before + 1000, after + 1001);
	xen_source.sampler_close(s);
	end_bench(&b);
}

static void records_that_make_no_sense_are_left_out_and_counted(void **state)
{
	struct bench b = make_bench("cycles", SIDE_GUEST);
	struct sampler *s = sampled(&b, "dom0", 0);
	struct fake_set *set = fake_set_on(0);
	struct sampler_tally tally = { 0 };
	const struct record *r;
	size_t n;

	(void)state;
	take_sample(set, 0, 1, VPMU_MODE_USER, 1); /* an event that is not open */
	take_sample(set, 0, 7, VPMU_MODE_USER, 1);
	take_sample(set, 0, 255, VPMU_MODE_USER, 1);
	take_sample(set, 0, 0, 0, 1);
	take_sample(set, 0, 0, 4, 1);
	take_sample(set, 0, 0, VPMU_MODE_HYP, 1); /* Xen's own */
	take_sample(set, 0, 0, VPMU_MODE_USER, 42);
	set->ring[0].record[6].vcpu = 1; /* another vCPU's */
	take_sample(set, 0, 0, VPMU_MODE_USER, 43);
	r = peek(s, &tally, &n);
	assert_int_equal(n, 1);
	assert_int_equal(r[0].ip_or_lost, 43);
	assert_int_equal(tally.samples, 1);
	assert_int_equal(tally.corrupt, 7 * sizeof(struct vpmu_sample));
	xen_source.sampler_close(s);
	end_bench(&b);
}

static void wild_heads_of_a_ring_bring_nothing(void **state)
{
	static const uint64_t heads[] = { 1ull << 63, ~0ull, 1 << 20 };
	struct bench b = make_bench("cycles", SIDE_GUEST);
	struct sampler *s = sampled(&b, "dom0", 0);
	struct fake_set *set = fake_set_on(0);
	struct sampler_tally tally = { 0 };
	size_t n;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		set->ring[0].page->head = heads[i];
		peek(s, &tally, &n);
		assert_int_equal(n, 0);
		xen_source.sampler_release(s);
	}
	assert_int_equal(tally.samples, 0);
	xen_source.sampler_close(s);
	end_bench(&b);
}

static void rubbish_in_the_header_is_told_and_xen_s_own_account_believed(void **state)
{
	struct bench b = make_bench("cycles", SIDE_GUEST);
	struct sampler *s = sampled(&b, "dom0", 0);
	struct fake_set *set = fake_set_on(0);
	struct sampler_tally tally = { 0 };
	uint32_t room = set->ring[0].page->records;
	size_t n;

	(void)state;
	for (uint32_t i = 0; i < room + 5; i++)
		take_sample(set, 0, 0, VPMU_MODE_USER, i);
	set->count[0][0].lost = 5;
	set->ring[0].page->lost = 1ull << 62;
	peek(s, &tally, &n);
	assert_int_equal(n, room);
	assert_int_equal(tally.lost, 0);
	assert_int_equal(tally.corrupt, sizeof(struct vpmu_ring_page));
	xen_source.sampler_release(s);
	xen_source.sampler_stop(s);
	peek(s, &tally, &n);
	assert_int_equal(tally.samples, room);
	assert_int_equal(tally.lost, 5);
	xen_source.sampler_release(s);
	xen_source.sampler_close(s);
	end_bench(&b);
}

static void received_and_lost_are_all_that_was_taken(void **state)
{
	struct bench b = make_bench("cycles", SIDE_GUEST);
	struct sampler *s = sampled(&b, "dom0", 0);
	struct fake_set *set = fake_set_on(0);
	struct sampler_tally tally = { 0 };
	struct vpmu_ring_page *page = set->ring[0].page;
	const struct record *r;
	uint32_t room = page->records;
	size_t n;

	(void)state;
	for (uint32_t i = 0; i < room + 5; i++)
		take_sample(set, 0, 0, VPMU_MODE_USER, i);
	r = peek(s, &tally, &n);
	assert_int_equal(tally.samples, room);
	assert_int_equal(tally.lost, 5);
	r = (const void *)((const char *)r + room * sizeof(*r));
	assert_int_equal(r->header.type, PERF_RECORD_LOST);
	assert_int_equal(r->ip_or_lost, 5);
	xen_source.sampler_release(s);
	peek(s, &tally, &n);
	assert_int_equal(n, 0); /* told once */
	take_sample(set, 0, 0, VPMU_MODE_USER, 1);
	/* Xen gave more than the ring has room for, which cannot be read any more */
	page->taken += 2 * room;
	page->head += 2 * room;
	xen_source.sampler_stop(s);
	peek(s, &tally, &n);
	assert_int_equal(tally.samples + tally.lost, page->taken);
	xen_source.sampler_release(s);
	xen_source.sampler_close(s);
	end_bench(&b);
}

static void rates_short_periods_and_software_are_refused_in_words(void **state)
{
	const struct {
		const char *event, *words;
	} cases[] = {
		{ "cycles/freq=1000/", "-c N" },
		{ "cycles/period=999/", "every 1000 to" },
		{ "cycles/period=2000000000/", "every 1000 to" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bench b = make_bench(cases[i].event, SIDE_GUEST);
		struct sampler *s = sampled(&b, "dom0", 0);
		struct sampler_tally tally = { 0 };
		size_t n;

		assert_int_equal(b.opened[0].state, READ_UNSUPPORTED);
		assert_non_null(strstr(b.opened[0].reason, cases[i].words));
		peek(s, &tally, &n);
		assert_int_equal(n, 0);
		xen_source.sampler_stop(s);
		xen_source.sampler_close(s);
		end_bench(&b);
	}
}

static void a_period_that_nobody_chose_is_told(void **state)
{
	struct bench b = make_bench("cycles", SIDE_GUEST);
	struct sampler *s = sampled(&b, "dom0", 0);

	(void)state;
	assert_int_equal(b.opened[0].state, READ_COUNTED);
	assert_non_null(strstr(b.opened[0].reason, "every 1000003 events"));
	assert_int_equal(fake_set_on(0)->open.event[0].period, 1000003);
	xen_source.sampler_close(s);
	end_bench(&b);
}

static void the_last_counts_are_kept_when_sampling_stops(void **state)
{
	struct bench b = make_bench("cycles", SIDE_GUEST);
	struct sampler *s = sampled(&b, "dom0", 0);
	uint64_t lost[EVENTS];

	(void)state;
	fake_set_on(0)->count[0][0] = (struct xenpmu_count) { 9, 8, 7, 6, 5 };
	xen_source.sampler_stop(s);
	assert_int_equal(fake_xen.closes, 1);
	assert_int_equal(xen_source.sampler_read(s, b.r, lost), 0);
	assert_int_equal(b.r[0].raw, 9);
	assert_int_equal(lost[0], 5);
	xen_source.sampler_close(s);
	assert_int_equal(fake_xen.closes, 1);
	end_bench(&b);
}

static void the_virtual_interrupt_wakes_and_is_taken(void **state)
{
	struct bench b = make_bench("cycles", SIDE_GUEST);
	struct sampler *s = sampled(&b, "dom0", 0);
	struct pollfd p = { .fd = xen_source.sampler_fd(s), .events = POLLIN };
	struct sampler_tally tally = { 0 };
	size_t n;

	(void)state;
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(write(fake_xen.wake[1], "x", 1), 1);
	assert_int_equal(poll(&p, 1, 0), 1);
	peek(s, &tally, &n);
	assert_int_equal(poll(&p, 1, 0), 0);
	xen_source.sampler_close(s);
	end_bench(&b);
}

static void without_a_wake_up_the_clock_alone_tells(void **state)
{
	struct bench b;
	struct sampler *s;

	(void)state;
	fake_xen.bind_fails = -EEXIST; /* another tool has it */
	b = make_bench("cycles", SIDE_GUEST);
	s = sampled(&b, "dom0", 0);
	assert_true(xen_source.sampler_fd(s) < 0);
	xen_source.sampler_close(s);
	end_bench(&b);
}

static void what_is_no_ring_is_not_read(void **state)
{
	struct bench b = make_bench("cycles", SIDE_GUEST);
	const struct vm *vm = vm_of(&b, "dom0");
	struct sampler *s = NULL;

	(void)state;
	fake_xen.map_fails = -EIO;
	assert_int_equal(xen_source.sampler_open(b.src, vm, &vm->vcpus[0], &b.set, true,
						 4096, b.opened, &s, &b.err),
			 -EIO);
	assert_non_null(strstr(b.err.text, "cannot map"));
	fake_xen.map_fails = 0;
	fake_xen.wrong_ring = true;
	assert_int_equal(xen_source.sampler_open(b.src, vm, &vm->vcpus[0], &b.set, true,
						 4096, b.opened, &s, &b.err),
			 -EINVAL);
	assert_non_null(strstr(b.err.text, "no ring"));
	end_bench(&b);
}

/* ---- a session on it */

struct seen {
	size_t counts, notes;
	uint64_t value[2];
	struct note last;
};

static void on_count(void *ctx, const struct count *c)
{
	struct seen *seen = ctx;

	assert_true(c->vcpu < 0);
	seen->value[seen->counts++ % 2] = c->reading.value;
}

static void on_note(void *ctx, const struct note *note)
{
	struct seen *seen = ctx;

	seen->notes++;
	seen->last = *note;
}

static void domains_are_counted_each_with_its_own_events(void **state)
{
	static const struct counting_ops cb = { on_count, on_note };
	struct bench a, b;
	struct target targets[2];
	struct counting_config config;
	struct counting *c = NULL;
	struct seen seen = { 0 };

	(void)state;
	fake_domain_add(1, 2);
	fake_domain_add(2, 1);
	a = make_bench("cycles", SIDE_DEFAULT);
	b = make_bench("instructions", SIDE_DEFAULT);
	targets[0] = (struct target) { "dom1", a.set };
	targets[1] = (struct target) { "dom2", b.set };
	config = (struct counting_config) {
		.ops = &xen_source,
		.src = a.src,
		.targets = targets,
		.ntargets = 2,
		.side = SIDE_GUEST,
		.cb = &cb,
		.ctx = &seen,
	};
	if (counting_start(&config, &c, &a.err))
		fail_msg("%s", a.err.text);
	fake_set_on(1)->count[0][0] = (struct xenpmu_count) { 100, 50, 50, 0, 0 };
	fake_set_on(1)->count[1][0] = (struct xenpmu_count) { 11, 50, 50, 0, 0 };
	fake_set_on(2)->count[0][0] = (struct xenpmu_count) { 7, 50, 50, 0, 0 };
	assert_int_equal(counting_interval(c, &a.err), 0);
	assert_int_equal(seen.counts, 2);
	assert_int_equal(seen.value[0], 111);
	assert_int_equal(seen.value[1], 7);
	assert_int_equal(counting_alive(c), 2);
	fake_xen.domain[1].flags = XEN_DOMINF_DYING;
	while (counting_alive(c) == 2) {
		usleep(20000);
		assert_int_equal(counting_tick(c, &a.err), 0);
	}
	assert_int_equal(seen.last.kind, NOTE_VM_GONE);
	assert_string_equal(seen.last.text, "VM ended (dom1)");
	counting_free(c);
	end_bench(&a);
	end_bench(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(vcpus_of_a_domain_share_one_set, reset),
		cmocka_unit_test_setup(xen_itself_is_counted_in_its_own_mode, reset),
		cmocka_unit_test_setup(what_xen_cannot_count_is_refused_in_words, reset),
		cmocka_unit_test_setup(refusals_of_xen_have_a_state_each, reset),
		cmocka_unit_test_setup(a_xen_without_graft_or_with_its_pmu_off_is_told,
				       reset),
		cmocka_unit_test_setup(the_others_are_counted_where_one_event_is_refused,
				       reset),
		cmocka_unit_test_setup(a_ninth_event_is_too_many, reset),
		cmocka_unit_test_setup(a_group_that_would_take_turns_is_refused, reset),
		cmocka_unit_test_setup(task_clock_is_xens_own_account_of_the_vcpu, reset),
		cmocka_unit_test_setup(a_domain_that_left_is_no_failure_of_its_events,
				       reset),
		cmocka_unit_test_setup(a_count_that_changes_is_read_again, reset),
		cmocka_unit_test_setup(more_running_than_enabled_is_cut, reset),
		cmocka_unit_test_setup(sets_of_killed_tools_are_closed_and_no_others,
				       reset),
		cmocka_unit_test_setup(samples_become_perf_records_as_seen_from_inside,
				       reset),
		cmocka_unit_test_setup(xens_own_samples_are_in_hypervisor_mode, reset),
		cmocka_unit_test_setup(times_are_brought_to_our_clock, reset),
		cmocka_unit_test_setup(records_that_make_no_sense_are_left_out_and_counted,
				       reset),
		cmocka_unit_test_setup(wild_heads_of_a_ring_bring_nothing, reset),
		cmocka_unit_test_setup(
			rubbish_in_the_header_is_told_and_xen_s_own_account_believed,
			reset),
		cmocka_unit_test_setup(received_and_lost_are_all_that_was_taken, reset),
		cmocka_unit_test_setup(
			rates_short_periods_and_software_are_refused_in_words, reset),
		cmocka_unit_test_setup(a_period_that_nobody_chose_is_told, reset),
		cmocka_unit_test_setup(the_last_counts_are_kept_when_sampling_stops, reset),
		cmocka_unit_test_setup(the_virtual_interrupt_wakes_and_is_taken, reset),
		cmocka_unit_test_setup(without_a_wake_up_the_clock_alone_tells, reset),
		cmocka_unit_test_setup(what_is_no_ring_is_not_read, reset),
		cmocka_unit_test_setup(domains_are_counted_each_with_its_own_events, reset),
	};

	return cmocka_run_group_tests_name("xen_counts", tests, NULL, NULL);
}
