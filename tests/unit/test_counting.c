/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/vec.h"
#include "counting_world.h"
#include "model/role.h"

static void tell(struct fake_vcpu *vcpu, size_t i, uint64_t raw, enum reading_state state)
{
	vcpu->now[i] = (struct reading) { .raw = raw,
					  .enabled_ns = 1,
					  .running_ns = 1,
					  .state = state,
					  .reason = "the monitor's" };
}

static void a_level_is_that_of_the_end_and_may_fall_or_be_unknown_for_a_while(void **state)
{
	struct event told[] = { { .name = "held",
				  .kind = EVENT_MONITOR,
				  .group = -1,
				  .config = ROLE_LLC_OCCUPANCY },
				{ .name = "moved",
				  .kind = EVENT_MONITOR,
				  .group = -1,
				  .config = ROLE_MEM_BYTES } };
	const struct target both = { NULL, { told, 2, 2 } };
	struct world w = { .per_vcpu = true };
	struct fake_vcpu *v = fake_vm_add(&w.src, "web", 100, 1)->vcpus;

	(void)state;
	assert_int_equal(world_start(&w, &both, 1, NULL), 0);
	tell(v, 0, 100, READ_COUNTED);
	tell(v, 1, 10, READ_COUNTED);
	world_interval(&w);
	tell(v, 0, 60, READ_COUNTED);
	tell(v, 1, 15, READ_SUSPECT);
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", 0, "held")->r.value, 60);
	assert_int_equal(world_find(&w, "web", 0, "held")->r.state, READ_COUNTED);
	assert_int_equal(world_find(&w, "web", 0, "moved")->r.value, 5);
	assert_int_equal(world_find(&w, "web", 0, "moved")->r.state, READ_SUSPECT);
	assert_string_equal(world_find(&w, "web", 0, "moved")->reason, "the monitor's");
	tell(v, 0, 0, READ_NOT_SCHEDULED);
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", 0, "held")->r.state, READ_NOT_SCHEDULED);
	tell(v, 0, 70, READ_COUNTED);
	tell(v, 1, 20, READ_COUNTED);
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", 0, "held")->r.value, 70);
	assert_int_equal(world_find(&w, "web", 0, "moved")->r.value, 5);
	world_totals(&w);
	assert_int_equal(world_find(&w, "web", 0, "held")->r.value, 70);
	assert_int_equal(world_find(&w, "web", -1, "held")->r.value, 70);
	assert_int_equal(world_find(&w, "web", 0, "moved")->r.value, 20);
	world_end(&w);
}

static void intervals_hold_deltas_and_their_sums_are_the_totals(void **state)
{
	struct world w = { .per_vcpu = true };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 2);
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	for (uint64_t i = 1; i <= 3; i++) {
		fake_count(&web->vcpus[0], 0, 1000001 * i, 9 * MS, 9 * MS);
		/* Turns of a third: scaled values that round. */
		fake_count(&web->vcpus[1], 0, 1000001 * i, 9 * MS, 7 * MS);
		world_interval(&w);
		assert_int_equal(world_find(&w, "web", 0, "cycles")->r.value, 1000001 * i);
		assert_int_equal(world_find(&w, "web", 0, "cycles")->r.state, READ_COUNTED);
		assert_int_equal(world_find(&w, "web", 1, "cycles")->r.state, READ_SCALED);
		sum += world_find(&w, "web", -1, "cycles")->r.value;
	}
	world_totals(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.value, sum);
	assert_int_equal(world_find(&w, "web", 0, "cycles")->r.value, 6000006);
	assert_int_equal(world_find(&w, "web", -1, "misses")->r.value, 0);
	assert_int_equal(world_find(&w, "web", -1, "misses")->r.state, READ_COUNTED);
	assert_false(counting_partial(w.c));
	world_end(&w);
}

/* 1000 per ms; the short turn counted none, as the vCPU was not in its guest. */
static void a_total_makes_up_for_intervals_without_a_turn(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);
	struct fake_vcpu *v = &web->vcpus[0];

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_count(v, 0, 9000, 9 * MS, 9 * MS);
	world_interval(&w);
	fake_count(v, 0, 0, 9 * MS, 0);
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_NOT_SCHEDULED);
	fake_count(v, 0, 0, 9 * MS, MS / 100);
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_NOT_SCHEDULED);
	world_totals(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_SCALED);
	assert_in_range(world_find(&w, "web", -1, "cycles")->r.value, 26900, 27000);
	world_end(&w);
}

static void every_kind_of_missing_number_has_its_own_word(void **state)
{
	static const enum reading_state states[] = { READ_UNSUPPORTED, READ_DENIED,
						     READ_TAKEN, READ_INVISIBLE };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		struct world w = { 0 };
		struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);

		web->vcpus[0].now[1].state = states[i];
		web->vcpus[0].now[1].reason = "because";
		assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
		fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
		world_interval(&w);
		assert_int_equal(world_find(&w, "web", -1, "misses")->r.state, states[i]);
		assert_string_equal(world_find(&w, "web", -1, "misses")->reason, "because");
		assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state,
				 READ_COUNTED);
		world_totals(&w);
		assert_int_equal(world_find(&w, "web", -1, "misses")->r.state, states[i]);
		assert_true(counting_partial(w.c));
		world_end(&w);
	}
}

static void a_counter_taken_away_midway_has_no_value_from_then_on(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_COUNTED);
	web->vcpus[0].now[0].state = READ_TAKEN;
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_TAKEN);
	world_totals(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_TAKEN);
	world_end(&w);
}

static void an_event_without_a_turn_is_no_zero(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 0, 50 * MS, 0);
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_NOT_SCHEDULED);
	world_end(&w);
}

static void a_counter_that_stands_still_while_its_vcpu_ran_is_suspect(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);
	struct fake_vcpu *v = &web->vcpus[0];

	(void)state;
	v->guest_ns = 5000u * MS; /* from before the run: must not count */
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_count(v, 0, 312, 1300u * MS, 1300u * MS);
	fake_count(v, 1, 0, 1300u * MS, 1300u * MS);
	v->guest_ns += 1200u * MS;
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	assert_non_null(strstr(world_find(&w, "web", -1, "cycles")->reason,
			       "counted 312 while the vCPU ran 1.20 s in guest mode"));
	assert_int_equal(world_find(&w, "web", -1, "misses")->r.state, READ_COUNTED);
	world_totals(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	world_end(&w);
}

static void a_vcpu_that_idled_or_moved_is_not_suspect(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 3);

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	/* Busy in the host, never in guest mode. */
	fake_count(&web->vcpus[0], 0, 0, 1000u * MS, 1000u * MS);
	/* Moves. */
	fake_count(&web->vcpus[1], 0, 1000000000, 1000u * MS, 1000u * MS);
	web->vcpus[1].guest_ns = 1000u * MS;
	/* vCPU 2 idles. */
	w.src.ran_asked = 0;
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_COUNTED);
	assert_int_equal(w.src.ran_asked, 1); /* only on suspicion */
	world_end(&w);
}

static void a_value_that_the_kernel_spoils_in_turns_is_suspect(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	web->vcpus[0].wrong_in_turns = "this kernel loses some";
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 5 * MS);
	fake_count(&web->vcpus[0], 1, 4000000, 9 * MS, 9 * MS);
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	assert_string_equal(world_find(&w, "web", -1, "cycles")->reason,
			    "this kernel loses some");
	/* was on all the time, but was programmed anew with each turn */
	assert_int_equal(world_find(&w, "web", -1, "misses")->r.state, READ_SUSPECT);
	world_totals(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	world_end(&w);
}

static void what_takes_no_turns_is_not_spoilt(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	web->vcpus[0].wrong_in_turns = "this kernel loses some";
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_COUNTED);
	world_end(&w);
}

static void a_group_without_a_turn_says_that_it_is_one(void **state)
{
	static struct event pair[] = {
		{ .name = "cycles", .kind = EVENT_HARDWARE, .group = 0 },
		{ .name = "misses", .kind = EVENT_HARDWARE, .config = 1, .group = 0 },
	};
	static const struct target target = { NULL, { pair, 2, 2 } };
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	assert_int_equal(world_start(&w, &target, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 0, 9 * MS, 0);
	fake_count(&web->vcpus[0], 1, 0, 9 * MS, 0);
	world_interval(&w);
	world_totals(&w);
	assert_int_equal(world_find(&w, "web", -1, "misses")->r.state, READ_NOT_SCHEDULED);
	assert_non_null(strstr(world_find(&w, "web", -1, "misses")->reason, "its group"));
	world_end(&w);
}

static void both_sides_stand_side_by_side(void **state)
{
	struct world w = { .side = SIDE_BOTH };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);
	struct event_set set;

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	set = web->vcpus[0].set;
	assert_int_equal(set.n, 4);
	assert_int_equal(set.ev[0].side, SIDE_GUEST);
	assert_int_equal(set.ev[1].side, SIDE_HOST);
	world_interval(&w);
	assert_int_equal(w.seen[0].side, SIDE_GUEST);
	assert_int_equal(w.seen[1].side, SIDE_HOST);
	world_end(&w);
}

static void a_plain_process_has_the_hosts_side_only(void **state)
{
	struct world w = { .side = SIDE_BOTH };
	struct fake_vm *vm = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	vm->accel = ACCEL_NONE;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	assert_int_equal(vm->vcpus[0].set.n, 2);
	assert_int_equal(vm->vcpus[0].set.ev[0].side, SIDE_HOST);
	world_end(&w);
}

static void counters_that_cannot_be_read_make_the_run_a_partial_one(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 2);

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	fake_count(&web->vcpus[0], 1, 4000000, 9 * MS, 9 * MS);
	web->vcpus[1].read_fails = -EIO;
	world_interval(&w);
	world_totals(&w);
	assert_true(counting_partial(w.c));
	world_end(&w);
}

static void a_pinned_group_takes_no_turns_and_is_not_spoilt(void **state)
{
	static struct event three[] = {
		{ .name = "cycles", .kind = EVENT_HARDWARE, .group = 0, .pinned = true },
		{ .name = "misses", .kind = EVENT_HARDWARE, .config = 1, .group = 0 },
		{ .name = "other", .kind = EVENT_HARDWARE, .config = 2, .group = -1 },
	};
	static const struct target target = { NULL, { three, 3, 3 } };
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	web->vcpus[0].wrong_in_turns = "this kernel loses some";
	assert_int_equal(world_start(&w, &target, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	fake_count(&web->vcpus[0], 1, 4000000, 9 * MS, 9 * MS);
	fake_count(&web->vcpus[0], 2, 4000000, 9 * MS, 5 * MS);
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_COUNTED);
	assert_int_equal(world_find(&w, "web", -1, "misses")->r.state, READ_COUNTED);
	assert_int_equal(world_find(&w, "web", -1, "other")->r.state, READ_SUSPECT);
	world_end(&w);
}

static void a_counter_that_goes_back_is_a_note_and_no_huge_number(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 1000000, 9 * MS, 9 * MS);
	world_interval(&w);
	web->vcpus[0].now[0].raw = 5;
	world_interval(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.value, 0);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	world_interval(&w); /* said once */
	world_totals(&w);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.value, 1000000);
	assert_int_equal(world_find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	assert_int_equal(world_find(&w, "web", -1, "misses")->r.state, READ_COUNTED);
	world_notes(&w,
		    "web: vCPU 0: a counter went back; what it counted meanwhile is left "
		    "out\n");
	world_end(&w);
}

static const struct seen *seen_of_node(const struct world *w, int node)
{
	for (size_t i = 0; i < w->nseen; i++)
		if (!strcmp(w->seen[i].vm, "a node") && w->seen[i].node == node)
			return &w->seen[i];
	fail_msg("no count of node %d", node);
	return NULL;
}

static uint64_t of_node(const struct world *w, int node)
{
	return seen_of_node(w, node)->r.value;
}

/* One node's events are open, and count, before the next one's are. */
static void nodes_begin_to_count_when_all_is_open(void **state)
{
	struct event lines = { .name = "lines", .kind = EVENT_UNCORE, .group = -1 };
	const struct event_set set = { &lines, 1, 1 };
	struct world w = { .node_events = &set, .src.nodes = 2 };

	(void)state;
	fake_vm_add(&w.src, "web", 100, 1);
	fake_node_count(&w.src, 0, 0, 5000, 2 * MS, 2 * MS);
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_node_count(&w.src, 0, 0, 70, MS, MS);
	fake_node_count(&w.src, 1, 0, 30, MS, MS);
	world_interval(&w);
	assert_int_equal(of_node(&w, 0), 70);
	assert_int_equal(of_node(&w, 1), 30);
	/* rates are over the time that was counted, whenever a node was read */
	assert_int_equal(seen_of_node(&w, 1)->interval_ns, MS);
	world_totals(&w);
	assert_int_equal(of_node(&w, 0), 70);
	assert_int_equal(of_node(&w, 1), 30);
	world_end(&w);
}

/* A tick is due again after five turns of 10 ms, and 1 ms is no hundredth of that. */
static void a_tick_that_waits_for_the_cpu_makes_the_next_ones_no_rarer(void **state)
{
	struct world w = { .src.read_waits_us = 1000 };
	struct fake_vcpu *v = fake_vm_add(&w.src, "web", 100, 1)->vcpus;
	unsigned reads;

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	fake_count(v, 0, 1000, 20 * MS, 10 * MS);
	world_interval(&w);
	reads = w.src.reads;
	for (int i = 0; i < 2; i++) {
		uint64_t due = counting_due_ns(w.c);

		assert_true(due < clock_now_ns() + 60 * MS);
		clock_wait(NULL, 0, due);
		assert_int_equal(counting_tick(w.c, NULL), 0);
	}
	assert_true(w.src.reads > reads);
	world_end(&w);
}

/* A VM that starts a while after the session shares its counters from then on only. */
static void who_begins_to_share_counters_late_is_noticed_soon(void **state)
{
	struct world w = { .per_vcpu = true };
	struct fake_vcpu *v = fake_vm_add(&w.src, "web", 100, 1)->vcpus;

	(void)state;
	assert_int_equal(world_start(&w, &everything, 1, NULL), 0);
	for (int i = 0; i < 5; i++) {
		uint64_t due = counting_due_ns(w.c);

		assert_true(due < clock_now_ns() + 150 * MS);
		clock_wait(NULL, 0, due);
		assert_int_equal(counting_tick(w.c, NULL), 0);
		if (i)
			fake_count(v, 0, 1000, 20 * MS, 10 * MS);
	}
	world_interval(&w);
	assert_true(world_find(&w, "web", 0, "cycles")->r.error >= 0);
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_begins_to_share_counters_late_is_noticed_soon),
		cmocka_unit_test(
			a_tick_that_waits_for_the_cpu_makes_the_next_ones_no_rarer),
		cmocka_unit_test(nodes_begin_to_count_when_all_is_open),
		cmocka_unit_test(
			a_level_is_that_of_the_end_and_may_fall_or_be_unknown_for_a_while),
		cmocka_unit_test(intervals_hold_deltas_and_their_sums_are_the_totals),
		cmocka_unit_test(a_total_makes_up_for_intervals_without_a_turn),
		cmocka_unit_test(every_kind_of_missing_number_has_its_own_word),
		cmocka_unit_test(a_counter_taken_away_midway_has_no_value_from_then_on),
		cmocka_unit_test(an_event_without_a_turn_is_no_zero),
		cmocka_unit_test(a_counter_that_stands_still_while_its_vcpu_ran_is_suspect),
		cmocka_unit_test(a_vcpu_that_idled_or_moved_is_not_suspect),
		cmocka_unit_test(a_value_that_the_kernel_spoils_in_turns_is_suspect),
		cmocka_unit_test(what_takes_no_turns_is_not_spoilt),
		cmocka_unit_test(a_group_without_a_turn_says_that_it_is_one),
		cmocka_unit_test(both_sides_stand_side_by_side),
		cmocka_unit_test(a_plain_process_has_the_hosts_side_only),
		cmocka_unit_test(counters_that_cannot_be_read_make_the_run_a_partial_one),
		cmocka_unit_test(a_pinned_group_takes_no_turns_and_is_not_spoilt),
		cmocka_unit_test(a_counter_that_goes_back_is_a_note_and_no_huge_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
