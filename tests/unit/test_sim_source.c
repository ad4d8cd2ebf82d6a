/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/vec.h"
#include "events/parse.h"
#include "session/counting.h"
#include "session/nodes.h"
#include "source/sim/sim.h"

#define MS 1000000u

/* On one core two vCPUs of "shared" take turns; "alone" has its core for itself. */
static const char scenario[] =
	"machine nehalem-ep\n"
	"policy pinned\n"
	"program walk\n"
	"\tfunction near chase footprint 64K instructions 4 for 3000 steps\n"
	"\tfunction far chase footprint 16M instructions 4 for 2000 steps\n"
	"vm shared\n"
	"\tvcpus 2\n"
	"\tmemory 64M node 0\n"
	"\tpin vcpu 0 0\n"
	"\tpin vcpu 1 0\n"
	"\tthreads 2 walk\n"
	"vm alone\n"
	"\tvcpus 1\n"
	"\tmemory 64M node 1\n"
	"\tpin vcpu 0 1\n"
	"\tthreads 1 walk\n";

struct seen {
	char vm[16], event[64], reason[200];
	int node, vcpu;
	struct reading r;
};

struct world {
	struct source *src;
	struct topology topo;
	struct event_table *table;
	struct target target; /* every VM */
	struct event_set node_events;
	struct counting *c;
	struct seen seen[128];
	size_t nseen;
};

static const struct source_ops *const ops = &sim_source;

static int open_world(void **state)
{
	const struct source_config config = { .root = "/", .argument = scenario };
	struct world *w = calloc(1, sizeof(*w));
	struct cpu_id cpu;
	struct err err = { 0 };

	if (!w || ops->open(&config, &w->src, &err))
		fail_msg("%s", err.text);
	if (ops->topology(w->src, TOPOLOGY_THREADS | TOPOLOGY_MEMORY, &w->topo, &err))
		fail_msg("%s", err.text);
	ops->cpu(w->src, &cpu);
	if (event_table_load(&cpu, &w->table, &err))
		fail_msg("%s", err.text);
	*state = w;
	return 0;
}

static int close_world(void **state)
{
	struct world *w = *state;

	counting_free(w->c);
	topology_free(&w->topo);
	event_table_free(w->table);
	event_set_free(&w->target.events);
	event_set_free(&w->node_events);
	ops->close(w->src);
	free(w);
	return 0;
}

static void read_events(struct world *w, const char *spec, struct event_set *out)
{
	struct err err = { 0 };

	if (events_parse_with(spec, NULL, w->table, out, &err))
		fail_msg("%s", err.text);
}

static void pass(uint64_t ns)
{
	assert_int_equal(clock_wait(NULL, 0, clock_now_ns() + ns), 0);
}

static void counted(void *ctx, const struct count *count)
{
	struct world *w = ctx;
	struct seen *s = &w->seen[w->nseen++];

	assert_true(w->nseen < ARRAY_SIZE(w->seen));
	*s = (struct seen) { .node = count->node,
			     .vcpu = count->vcpu,
			     .r = count->reading };
	str_copy(s->vm, sizeof(s->vm), count->vm_name ? count->vm_name : "");
	str_copy(s->event, sizeof(s->event), count->event->name);
	str_copy(s->reason, sizeof(s->reason), s->r.reason ? s->r.reason : "");
}

static void noted(void *ctx, const struct note *note)
{
	(void)ctx;
	fail_msg("%s", note->text);
}

static void start(struct world *w, const char *events, const char *node_events)
{
	static const struct counting_ops cb = { counted, noted };
	struct counting_config config = {
		.ops = ops,
		.src = w->src,
		.targets = &w->target,
		.ntargets = events != NULL,
		.node_events = &w->node_events,
		.side = SIDE_GUEST,
		.per_vcpu = true,
		.cb = &cb,
		.ctx = w,
	};
	struct err err = { 0 };

	if (events)
		read_events(w, events, &w->target.events);
	if (node_events)
		read_events(w, node_events, &w->node_events);
	if (counting_start(&config, &w->c, &err))
		fail_msg("%s", err.text);
}

static void interval(struct world *w, uint64_t ns)
{
	uint64_t end = clock_now_ns() + ns, due;

	while (clock_now_ns() < end) {
		due = counting_due_ns(w->c);
		clock_wait(NULL, 0, due < end ? due : end);
		if (clock_now_ns() < end)
			assert_int_equal(counting_tick(w->c, NULL), 0);
	}
	w->nseen = 0;
	assert_int_equal(counting_interval(w->c, NULL), 0);
}

static const struct reading *reading_of(const struct world *w, const char *vm, int node,
					int vcpu, const char *event)
{
	for (size_t i = 0; i < w->nseen; i++) {
		const struct seen *s = &w->seen[i];

		if (!strcmp(s->vm, vm) && s->node == node && s->vcpu == vcpu &&
		    !strcmp(s->event, event))
			return &s->r;
	}
	fail_msg("no count of %s of %s, node %d, vCPU %d", event, vm, node, vcpu);
	return NULL;
}

static uint64_t value_of(const struct world *w, const char *vm, int vcpu, const char *event)
{
	return reading_of(w, vm, -1, vcpu, event)->value;
}

/* ---- the clock */

static void waiting_lets_simulated_time_pass_to_the_nanosecond(void **state)
{
	uint64_t before = clock_now_ns();

	(void)state;
	assert_in_range(before, 1, UINT64_MAX / 2);
	assert_int_equal(clock_now_ns(), before); /* else it stands */
	pass(1234567);
	assert_int_equal(clock_now_ns(), before + 1234567);
}

static void a_descriptor_ends_a_wait_that_has_no_end(void **state)
{
	struct pollfd p = { .events = POLLIN };
	uint64_t before = clock_now_ns();
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	p.fd = fds[0];
	assert_int_equal(clock_wait(&p, 1, CLOCK_NEVER), 1);
	assert_int_equal(clock_now_ns(), before);
	close(fds[0]);
	close(fds[1]);
}

static void once_it_is_closed_the_clock_is_the_machines_again(void **state)
{
	const struct source_config config = { .root = "/", .argument = scenario };
	struct source *src;
	uint64_t real;

	(void)state;
	assert_int_equal(ops->open(&config, &src, NULL), 0);
	ops->close(src);
	real = clock_real_ns();
	assert_in_range(clock_now_ns(), real, real + 60ull * 1000 * MS);
}

/* ---- what there is */

static void the_host_says_that_it_is_simulated(void **state)
{
	const struct world *w = *state;

	assert_non_null(strstr(ops->simulated(w->src), "nehalem-ep"));
	assert_non_null(strstr(w->topo.machine.cpu_model, "(simulated)"));
	assert_int_equal(w->topo.machine.nnodes, 2);
	assert_string_equal(w->topo.machine.nodes[1].cpus, "4-7");
	assert_int_equal(w->topo.nvms, 2);
	assert_int_equal(w->topo.vms[0].accel, ACCEL_SIM);
	assert_string_equal(w->topo.vms[0].vcpus[1].affinity, "0");
	assert_int_equal(w->topo.vms[1].mem_node[1], 64u << 20);
	assert_int_equal(w->topo.vms[1].mem_node[0], 0);
}

static void plain_processes_are_refused(void **state)
{
	const pid_t self = getpid();
	const struct source_config config = { .root = "/", .pids = &self, .npids = 1 };
	struct source *src;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(ops->open(&config, &src, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--source kvm"));
}

static void a_wrong_scenario_is_told_with_its_line(void **state)
{
	const struct source_config config = { .root = "/",
					      .argument = "machine nehalem-ep\nvm\n" };
	struct source *src;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(ops->open(&config, &src, &err), -EINVAL);
	assert_non_null(strstr(err.text, ":2:"));
}

/* ---- counting */

static void intervals_add_up_to_the_total_and_vcpus_to_their_vm(void **state)
{
	static const char *const events[] = { "cycles", "instructions", "task-clock" };
	uint64_t sums[3] = { 0 };
	struct world *w = *state;

	start(w, "cycles,instructions,task-clock", NULL);
	for (int i = 0; i < 3; i++) {
		interval(w, 700000);
		for (size_t e = 0; e < 3; e++) {
			sums[e] += value_of(w, "shared", -1, events[e]);
			assert_int_equal(value_of(w, "shared", 0, events[e]) +
						 value_of(w, "shared", 1, events[e]),
					 value_of(w, "shared", -1, events[e]));
		}
	}
	w->nseen = 0;
	counting_totals(w->c);
	for (size_t e = 0; e < 3; e++) {
		assert_in_range(sums[e], 1000, UINT64_MAX);
		assert_int_equal(value_of(w, "shared", -1, events[e]), sums[e]);
	}
	assert_false(counting_partial(w->c));
}

/* Whose core is its own runs all the time; two that share one wait for each other. */
static void waiting_is_told_without_a_counter(void **state)
{
	struct world *w = *state;

	start(w, "task-clock,waited", NULL);
	interval(w, 20 * MS);
	assert_in_range(value_of(w, "alone", -1, "waited"), 0, MS / 10);
	assert_in_range(value_of(w, "alone", -1, "task-clock"), 19 * MS, 20 * MS + 10000);
	assert_in_range(value_of(w, "shared", -1, "waited"), 15 * MS, 21 * MS);
	assert_in_range(value_of(w, "shared", -1, "task-clock") +
				value_of(w, "shared", -1, "waited"),
			39 * MS, 40 * MS + 20000);
}

static void two_runs_are_identical(void **state)
{
	struct world *w = *state;
	struct seen first[ARRAY_SIZE(w->seen)];
	void *again = NULL;
	size_t n;

	start(w, "cycles,cache-misses,MEM_UNCORE_RETIRED.LOCAL_DRAM",
	      "UNC_QMC_NORMAL_READS.ANY");
	interval(w, 2 * MS);
	n = w->nseen;
	memcpy(first, w->seen, n * sizeof(first[0]));
	close_world(state);
	open_world(&again);
	w = *state = again;
	start(w, "cycles,cache-misses,MEM_UNCORE_RETIRED.LOCAL_DRAM",
	      "UNC_QMC_NORMAL_READS.ANY");
	interval(w, MS); /* in other pieces */
	pass(MS / 3);
	pass(MS - MS / 3);
	w->nseen = 0;
	assert_int_equal(counting_interval(w->c, NULL), 0);
	counting_totals(w->c);
	assert_int_equal(w->nseen, 2 * n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(w->seen[n + i].event, first[i].event);
		assert_int_equal(w->seen[n + i].r.value, first[i].r.value);
	}
}

static void more_events_than_counters_are_scaled_and_bounded(void **state)
{
	struct world *w = *state;

	start(w,
	      "instructions,MEM_INST_RETIRED.LOADS,cache-references,cache-misses,"
	      "MEM_LOAD_RETIRED.L1D_HIT,MEM_LOAD_RETIRED.L2_HIT,RESOURCE_STALLS.LOAD,"
	      "MEM_UNCORE_RETIRED.LOCAL_DRAM,MEM_UNCORE_RETIRED.REMOTE_DRAM",
	      NULL);
	interval(w, 20 * MS);
	for (size_t i = 0; i < w->nseen; i++) {
		assert_true(reading_has_value(w->seen[i].r.state));
		assert_in_range(w->seen[i].r.running_ns, 1, w->seen[i].r.enabled_ns);
	}
	assert_int_equal(reading_of(w, "alone", -1, 0, "cache-misses")->state, READ_SCALED);
	assert_true(reading_of(w, "alone", -1, 0, "cache-misses")->error > 0);
}

static void a_group_is_on_counters_at_the_same_time(void **state)
{
	struct world *w = *state;
	const struct reading *refs, *misses, *loads;

	start(w,
	      "{cache-references,cache-misses,MEM_LOAD_RETIRED.L2_HIT},"
	      "{MEM_INST_RETIRED.LOADS,MEM_UNCORE_RETIRED.LOCAL_DRAM}",
	      NULL);
	interval(w, 5 * MS);
	refs = reading_of(w, "alone", -1, 0, "cache-references");
	misses = reading_of(w, "alone", -1, 0, "cache-misses");
	loads = reading_of(w, "alone", -1, 0, "MEM_INST_RETIRED.LOADS");
	assert_int_equal(refs->running_ns, misses->running_ns);
	assert_in_range(refs->running_ns, 1, refs->enabled_ns - MS);
	assert_in_range(loads->running_ns, 1, loads->enabled_ns - MS);
	assert_in_range(misses->raw, 1, refs->raw);
}

static void what_the_pmu_lacks_is_unsupported_with_a_reason(void **state)
{
	struct world *w = *state;

	start(w, "branches,cycles:H,page-faults,cycles", NULL);
	interval(w, MS / 2);
	for (size_t i = 0; i < w->nseen; i++) {
		bool there = !strcmp(w->seen[i].event, "cycles") && !*w->seen[i].reason;

		assert_int_equal(w->seen[i].r.state,
				 there ? READ_COUNTED : READ_UNSUPPORTED);
		assert_int_equal(!*w->seen[i].reason, there);
	}
	assert_true(counting_measured(w->c));
}

/* ---- sockets */

static void nodes_are_counted_beside_vms_and_without_them(void **state)
{
	struct world *w = *state;

	start(w, NULL, "UNC_QMC_NORMAL_READS.ANY,uncore/event=0x2c,umask=0x07/");
	interval(w, 2 * MS);
	assert_int_equal(w->nseen, 4);
	for (int node = 0; node < 2; node++) {
		uint64_t reads =
			reading_of(w, "", node, -1, "UNC_QMC_NORMAL_READS.ANY")->value;

		assert_in_range(reads, 100, UINT64_MAX);
		assert_int_equal(
			reading_of(w, "", node, -1, "uncore/event=0x2c,umask=0x07/")->value,
			reads);
	}
	assert_false(counting_over(w->c));
	assert_true(counting_measured(w->c));
}

static void a_source_without_sockets_counters_says_so_of_each(void **state)
{
	struct world *w = *state;
	struct source_ops none = *ops;
	struct nodes *nodes;
	struct reading r;

	none.node_open = NULL;
	read_events(w, "UNC_QMC_NORMAL_READS.ANY", &w->node_events);
	assert_int_equal(
		nodes_open(&none, w->src, &w->topo.machine, &w->node_events, &nodes, NULL),
		0);
	assert_int_equal(nodes_read(nodes), 0);
	assert_true(nodes_idle(nodes));
	assert_int_equal(nodes_count(nodes), 2);
	r = nodes_interval(nodes, 1, 0);
	assert_int_equal(r.state, READ_UNSUPPORTED);
	assert_non_null(r.reason);
	nodes_free(nodes);
}

/* ---- sampling */

struct sampled {
	struct sampler *s;
	struct opened opened;
	struct sampler_tally tally;
	size_t inside; /* samples that lie in a function of their VM */
};

struct function {
	uint64_t ip;
	bool found;
};

static int covers(void *ctx, uint64_t address, uint64_t size, const char *name)
{
	struct function *f = ctx;

	(void)name;
	f->found = f->found || f->ip - address < size;
	return 0;
}

static void look_at(struct world *w, const struct vm *vm, struct sampled *s,
		    const struct iovec *span)
{
	const char *at = span->iov_base, *end = at + span->iov_len;

	while (at < end) {
		const struct perf_event_header *h = (const void *)at;
		const uint64_t *body = (const void *)(h + 1);
		struct function f = { body[1], false };

		if (h->type == PERF_RECORD_SAMPLE) { /* id, ip, … */
			ops->symbols(w->src, vm, covers, &f);
			s->inside += f.found;
		}
		at += h->size;
	}
}

static void sample(struct world *w, const char *event, size_t ring, struct sampled *s)
{
	struct err err = { 0 };

	read_events(w, event, &w->target.events);
	w->target.events.ev[0].side = SIDE_GUEST;
	if (ops->sampler_open(w->src, &w->topo.vms[1], &w->topo.vms[1].vcpus[0],
			      &w->target.events, true, ring, &s->opened, &s->s, &err))
		fail_msg("%s", err.text);
	assert_int_equal(s->opened.state, READ_COUNTED);
}

static void drain(struct world *w, struct sampled *s)
{
	struct iovec spans[2];
	int n = ops->sampler_peek(s->s, spans, &s->tally);

	for (int i = 0; i < n; i++)
		look_at(w, &w->topo.vms[1], s, &spans[i]);
	ops->sampler_release(s->s);
}

static void samples_lie_in_functions_of_their_vm(void **state)
{
	struct world *w = *state;
	struct sampled s = { 0 };
	struct reading r;
	uint64_t lost;

	sample(w, "cycles/period=10000/", 0, &s);
	pass(3 * MS);
	drain(w, &s);
	assert_int_equal(ops->sampler_read(s.s, &r, &lost), 0);
	assert_int_equal(lost, 0);
	assert_in_range(s.tally.samples, r.raw / 10000 - 1, r.raw / 10000);
	assert_int_equal(s.inside, s.tally.samples);
	ops->sampler_close(s.s);
}

static void a_half_full_ring_ends_the_wait(void **state)
{
	struct world *w = *state;
	struct pollfd p = { .events = POLLIN };
	struct sampled s = { 0 };

	sample(w, "cycles/period=1000/", 16384, &s);
	p.fd = ops->sampler_fd(s.s);
	assert_int_equal(clock_wait(&p, 1, clock_now_ns() + 1000ull * MS), 1);
	drain(w, &s);
	assert_in_range(s.tally.samples, 16384 / 48 / 4, 16384 / 48);
	assert_int_equal(poll(&p, 1, 0), 0);
	ops->sampler_close(s.s);
}

static void what_found_the_ring_full_is_lost_and_told(void **state)
{
	struct world *w = *state;
	struct sampled s = { 0 };
	struct reading r;
	uint64_t lost;

	sample(w, "cycles/period=1000/", 8192, &s);
	pass(2 * MS);
	ops->sampler_stop(s.s);
	drain(w, &s);
	assert_int_equal(ops->sampler_read(s.s, &r, &lost), 0);
	assert_in_range(lost, 1000, UINT64_MAX);
	assert_int_equal(s.tally.lost, lost);
	assert_in_range(s.tally.samples + lost, r.raw / 1000 - 1, r.raw / 1000);
	ops->sampler_close(s.s);
}

/* ---- moves */

static void a_vcpu_runs_where_it_is_pinned_and_memory_moves(void **state)
{
	struct move move = { .kind = MOVE_VCPU, .vcpu = 0, .cpus = "4-5,7" };
	struct world *w = *state;
	struct topology after = { 0 };
	struct strbuf words = { 0 };

	ops->say_move(w->src, &w->topo.vms[1], &move, &words);
	assert_string_equal(words.data, "simulated: pin vCPU 0 of alone to pCPUs 4-5,7");
	strbuf_free(&words);
	assert_int_equal(ops->move(w->src, &w->topo.vms[1], &move, NULL), 0);
	move = (struct move) { .kind = MOVE_MEMORY, .node = 0 };
	assert_int_equal(ops->move(w->src, &w->topo.vms[1], &move, NULL), 0);
	move.node = 2;
	assert_int_equal(ops->move(w->src, &w->topo.vms[1], &move, NULL), -EINVAL);
	pass(100 * MS);
	assert_int_equal(
		ops->topology(w->src, TOPOLOGY_THREADS | TOPOLOGY_MEMORY, &after, NULL), 0);
	assert_string_equal(after.vms[1].vcpus[0].affinity, "4-5,7");
	assert_in_range(after.vms[1].vcpus[0].last_cpu, 4, 7);
	assert_int_equal(after.vms[1].mem_node[0], 64u << 20);
	topology_free(&after);
}

#define T(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(waiting_lets_simulated_time_pass_to_the_nanosecond),
		T(a_descriptor_ends_a_wait_that_has_no_end),
		cmocka_unit_test(once_it_is_closed_the_clock_is_the_machines_again),
		T(the_host_says_that_it_is_simulated),
		cmocka_unit_test(plain_processes_are_refused),
		cmocka_unit_test(a_wrong_scenario_is_told_with_its_line),
		T(intervals_add_up_to_the_total_and_vcpus_to_their_vm),
		T(waiting_is_told_without_a_counter),
		T(two_runs_are_identical),
		T(more_events_than_counters_are_scaled_and_bounded),
		T(a_group_is_on_counters_at_the_same_time),
		T(what_the_pmu_lacks_is_unsupported_with_a_reason),
		T(nodes_are_counted_beside_vms_and_without_them),
		T(a_source_without_sockets_counters_says_so_of_each),
		T(samples_lie_in_functions_of_their_vm),
		T(a_half_full_ring_ends_the_wait),
		T(what_found_the_ring_full_is_lost_and_told),
		T(a_vcpu_runs_where_it_is_pinned_and_memory_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
