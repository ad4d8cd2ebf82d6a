/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "fake_source.h"
#include "model/role.h"
#include "session/counting.h"

#define MS 1000000u

struct seen {
	char vm[40], event[40], reason[256];
	int vcpu;
	enum event_side side;
	uint64_t interval_ns;
	struct reading r;
};

struct world {
	struct source src;
	struct counting *c;
	struct seen seen[64];
	size_t nseen;
	struct strbuf notes;
	enum event_side side;
	bool per_vcpu;
};

static void counted(void *ctx, const struct count *count)
{
	struct world *w = ctx;
	struct seen *s = &w->seen[w->nseen++];

	assert_true(w->nseen < ARRAY_SIZE(w->seen));
	*s = (struct seen) { .vcpu = count->vcpu,
			     .side = count->side,
			     .interval_ns = count->interval_ns,
			     .r = count->reading };
	str_copy(s->vm, sizeof(s->vm), count->vm_name);
	str_copy(s->event, sizeof(s->event), count->event->name);
	str_copy(s->reason, sizeof(s->reason), s->r.reason ? s->r.reason : "");
}

static void noted(void *ctx, const struct note *note)
{
	strbuf_addf(&((struct world *)ctx)->notes, "%s: %s\n", note->vm, note->text);
}

static const struct counting_ops cb = { counted, noted };

static struct event events[] = {
	{ .name = "cycles", .kind = EVENT_HARDWARE, .group = -1, .must_move = true },
	{ .name = "misses", .kind = EVENT_HARDWARE, .config = 1, .group = -1 },
};
static const struct target everything = { NULL, { events, 2, 2 } };

static int start(struct world *w, const struct target *targets, size_t n, struct err *err)
{
	const struct counting_config config = {
		.ops = &fake_source,
		.src = &w->src,
		.targets = targets,
		.ntargets = n,
		.side = w->side ? w->side : SIDE_GUEST,
		.per_vcpu = w->per_vcpu,
		.cb = &cb,
		.ctx = w,
	};

	return counting_start(&config, &w->c, err);
}

static void interval(struct world *w)
{
	w->nseen = 0;
	assert_int_equal(counting_interval(w->c, NULL), 0);
}

static void totals(struct world *w)
{
	w->nseen = 0;
	counting_totals(w->c);
}

static const struct seen *find(const struct world *w, const char *vm, int vcpu,
			       const char *event)
{
	for (size_t i = 0; i < w->nseen; i++)
		if (!strcmp(w->seen[i].vm, vm) && w->seen[i].vcpu == vcpu &&
		    !strcmp(w->seen[i].event, event))
			return &w->seen[i];
	fail_msg("no count of %s, vCPU %d, %s", vm, vcpu, event);
	return NULL;
}

static void end_world(struct world *w)
{
	counting_free(w->c);
	fake_end(&w->src);
	strbuf_free(&w->notes);
}

static void assert_notes(struct world *w, const char *text)
{
	strbuf_puts(&w->notes, "");
	assert_string_equal(w->notes.data, text);
	strbuf_reset(&w->notes);
}

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
	assert_int_equal(start(&w, &both, 1, NULL), 0);
	tell(v, 0, 100, READ_COUNTED);
	tell(v, 1, 10, READ_COUNTED);
	interval(&w);
	tell(v, 0, 60, READ_COUNTED);
	tell(v, 1, 15, READ_SUSPECT);
	interval(&w);
	assert_int_equal(find(&w, "web", 0, "held")->r.value, 60);
	assert_int_equal(find(&w, "web", 0, "held")->r.state, READ_COUNTED);
	assert_int_equal(find(&w, "web", 0, "moved")->r.value, 5);
	assert_int_equal(find(&w, "web", 0, "moved")->r.state, READ_SUSPECT);
	assert_string_equal(find(&w, "web", 0, "moved")->reason, "the monitor's");
	tell(v, 0, 0, READ_NOT_SCHEDULED);
	interval(&w);
	assert_int_equal(find(&w, "web", 0, "held")->r.state, READ_NOT_SCHEDULED);
	tell(v, 0, 70, READ_COUNTED);
	tell(v, 1, 20, READ_COUNTED);
	interval(&w);
	assert_int_equal(find(&w, "web", 0, "held")->r.value, 70);
	assert_int_equal(find(&w, "web", 0, "moved")->r.value, 5);
	totals(&w);
	assert_int_equal(find(&w, "web", 0, "held")->r.value, 70);
	assert_int_equal(find(&w, "web", -1, "held")->r.value, 70);
	assert_int_equal(find(&w, "web", 0, "moved")->r.value, 20);
	end_world(&w);
}

static void intervals_hold_deltas_and_their_sums_are_the_totals(void **state)
{
	struct world w = { .per_vcpu = true };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 2);
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	for (uint64_t i = 1; i <= 3; i++) {
		fake_count(&web->vcpus[0], 0, 1000001 * i, 9 * MS, 9 * MS);
		/* Turns of a third: scaled values that round. */
		fake_count(&web->vcpus[1], 0, 1000001 * i, 9 * MS, 7 * MS);
		interval(&w);
		assert_int_equal(find(&w, "web", 0, "cycles")->r.value, 1000001 * i);
		assert_int_equal(find(&w, "web", 0, "cycles")->r.state, READ_COUNTED);
		assert_int_equal(find(&w, "web", 1, "cycles")->r.state, READ_SCALED);
		sum += find(&w, "web", -1, "cycles")->r.value;
	}
	totals(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.value, sum);
	assert_int_equal(find(&w, "web", 0, "cycles")->r.value, 6000006);
	assert_int_equal(find(&w, "web", -1, "misses")->r.value, 0);
	assert_int_equal(find(&w, "web", -1, "misses")->r.state, READ_COUNTED);
	assert_false(counting_partial(w.c));
	end_world(&w);
}

static void a_vm_that_dies_is_counted_to_its_end(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);
	struct fake_vm *db = fake_vm_add(&w.src, "db", 200, 1);

	(void)state;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	assert_int_equal(counting_alive(w.c), 2);
	fake_count(&db->vcpus[0], 0, 5000000, 9 * MS, 9 * MS);
	interval(&w);
	fake_count(&db->vcpus[0], 0, 7, 1000, 1000);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	fake_vm_end(db);
	assert_int_equal(counting_tick(w.c, NULL),
			 0); /* told at once, not at the interval */
	assert_notes(&w, "db: VM ended (process 200 exited)\n");
	assert_int_equal(db->vcpus[0].closes, 1);
	assert_int_equal(counting_alive(w.c), 1);
	interval(&w);
	assert_int_equal(find(&w, "db", -1, "cycles")->r.value, 7);
	interval(&w);
	assert_int_equal(w.nseen, 2); /* web's only */
	totals(&w);
	assert_int_equal(find(&w, "db", -1, "cycles")->r.value, 5000007);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.value, 4000000);
	end_world(&w);
}

static void vms_and_vcpus_that_come_are_counted_from_there_on(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);
	struct fake_vm *brief = fake_vm_add(&w.src, "brief", 300, 1);
	struct fake_vm *db;

	(void)state;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	fake_vcpu_add(web);
	db = fake_vm_add(&w.src, "db", 200, 1);
	fake_vm_end(brief); /* makes the session look */
	interval(&w);
	assert_notes(&w, "brief: VM ended (process 300 exited)\n"
			 "web: vCPU 1 appeared (thread 102), measured from here on\n"
			 "db: VM started (process 200), measured from here on\n");
	/* what came late is measured from its own start, not over the whole interval */
	assert_true(find(&w, "db", -1, "cycles")->interval_ns <
		    find(&w, "web", -1, "cycles")->interval_ns);
	fake_count(&web->vcpus[1], 0, 3000000, 9 * MS, 9 * MS);
	fake_count(&db->vcpus[0], 0, 2000000, 9 * MS, 9 * MS);
	interval(&w);
	assert_true(find(&w, "db", -1, "cycles")->interval_ns ==
		    find(&w, "web", -1, "cycles")->interval_ns);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.value, 3000000);
	assert_int_equal(find(&w, "db", -1, "cycles")->r.value, 2000000);
	assert_int_equal(web->vcpus[0].opens, 1);
	end_world(&w);
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
		assert_int_equal(start(&w, &everything, 1, NULL), 0);
		fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
		interval(&w);
		assert_int_equal(find(&w, "web", -1, "misses")->r.state, states[i]);
		assert_string_equal(find(&w, "web", -1, "misses")->reason, "because");
		assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_COUNTED);
		totals(&w);
		assert_int_equal(find(&w, "web", -1, "misses")->r.state, states[i]);
		assert_true(counting_partial(w.c));
		end_world(&w);
	}
}

static void a_counter_taken_away_midway_has_no_value_from_then_on(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	interval(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_COUNTED);
	web->vcpus[0].now[0].state = READ_TAKEN;
	interval(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_TAKEN);
	totals(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_TAKEN);
	end_world(&w);
}

static void an_event_without_a_turn_is_no_zero(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 0, 50 * MS, 0);
	interval(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_NOT_SCHEDULED);
	end_world(&w);
}

static void a_counter_that_stands_still_while_its_vcpu_ran_is_suspect(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);
	struct fake_vcpu *v = &web->vcpus[0];

	(void)state;
	v->guest_ns = 5000u * MS; /* from before the run: must not count */
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	fake_count(v, 0, 312, 1300u * MS, 1300u * MS);
	fake_count(v, 1, 0, 1300u * MS, 1300u * MS);
	v->guest_ns += 1200u * MS;
	interval(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	assert_non_null(strstr(find(&w, "web", -1, "cycles")->reason,
			       "counted 312 while the vCPU ran 1.20 s in guest mode"));
	assert_int_equal(find(&w, "web", -1, "misses")->r.state, READ_COUNTED);
	totals(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	end_world(&w);
}

static void a_vcpu_that_idled_or_moved_is_not_suspect(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 3);

	(void)state;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	/* Busy in the host, never in guest mode. */
	fake_count(&web->vcpus[0], 0, 0, 1000u * MS, 1000u * MS);
	/* Moves. */
	fake_count(&web->vcpus[1], 0, 1000000000, 1000u * MS, 1000u * MS);
	web->vcpus[1].guest_ns = 1000u * MS;
	/* vCPU 2 idles. */
	w.src.ran_asked = 0;
	interval(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_COUNTED);
	assert_int_equal(w.src.ran_asked, 1); /* only on suspicion */
	end_world(&w);
}

static void a_value_that_the_kernel_spoils_in_turns_is_suspect(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	web->vcpus[0].wrong_in_turns = "this kernel loses some";
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 5 * MS);
	fake_count(&web->vcpus[0], 1, 4000000, 9 * MS, 9 * MS);
	interval(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	assert_string_equal(find(&w, "web", -1, "cycles")->reason,
			    "this kernel loses some");
	/* was on all the time, but was programmed anew with each turn */
	assert_int_equal(find(&w, "web", -1, "misses")->r.state, READ_SUSPECT);
	totals(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	end_world(&w);
}

static void what_takes_no_turns_is_not_spoilt(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	web->vcpus[0].wrong_in_turns = "this kernel loses some";
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	interval(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_COUNTED);
	end_world(&w);
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
	assert_int_equal(start(&w, &target, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 0, 9 * MS, 0);
	fake_count(&web->vcpus[0], 1, 0, 9 * MS, 0);
	interval(&w);
	totals(&w);
	assert_int_equal(find(&w, "web", -1, "misses")->r.state, READ_NOT_SCHEDULED);
	assert_non_null(strstr(find(&w, "web", -1, "misses")->reason, "its group"));
	end_world(&w);
}

static void both_sides_stand_side_by_side(void **state)
{
	struct world w = { .side = SIDE_BOTH };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);
	struct event_set set;

	(void)state;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	set = web->vcpus[0].set;
	assert_int_equal(set.n, 4);
	assert_int_equal(set.ev[0].side, SIDE_GUEST);
	assert_int_equal(set.ev[1].side, SIDE_HOST);
	interval(&w);
	assert_int_equal(w.seen[0].side, SIDE_GUEST);
	assert_int_equal(w.seen[1].side, SIDE_HOST);
	end_world(&w);
}

static void a_plain_process_has_the_hosts_side_only(void **state)
{
	struct world w = { .side = SIDE_BOTH };
	struct fake_vm *vm = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	vm->accel = ACCEL_NONE;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	assert_int_equal(vm->vcpus[0].set.n, 2);
	assert_int_equal(vm->vcpus[0].set.ev[0].side, SIDE_HOST);
	end_world(&w);
}

static void counters_that_cannot_be_read_make_the_run_a_partial_one(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 2);

	(void)state;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	fake_count(&web->vcpus[0], 1, 4000000, 9 * MS, 9 * MS);
	web->vcpus[1].read_fails = -EIO;
	interval(&w);
	totals(&w);
	assert_true(counting_partial(w.c));
	end_world(&w);
}

static void nothing_to_count_is_an_error_that_names_the_pattern(void **state)
{
	const struct target nobody = { "nobody", { events, 2, 2 } };
	struct world w = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(start(&w, &everything, 1, &err), -ENOENT);
	assert_non_null(strstr(err.text, "vmmprof check"));
	fake_vm_add(&w.src, "web", 100, 1);
	assert_int_equal(start(&w, &nobody, 1, &err), -ENOENT);
	assert_non_null(strstr(err.text, "nobody"));
	end_world(&w);
}

static void a_vm_whose_threads_are_not_known_yet_is_waited_for(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);
	struct fake_vm *brief = fake_vm_add(&w.src, "brief", 300, 0);

	(void)state;
	web->vcpus[0].thread_unknown = true;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	assert_int_equal(counting_alive(w.c), 2);
	assert_true(counting_partial(w.c));
	assert_false(counting_measured(w.c));
	web->vcpus[0].thread_unknown = false;
	fake_vm_end(brief); /* makes the session look */
	interval(&w);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	interval(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.value, 4000000);
	assert_false(counting_partial(w.c));
	assert_true(counting_measured(w.c));
	end_world(&w);
}

static void a_thread_that_ends_before_its_events_open_is_no_failure(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 2);

	(void)state;
	web->vcpus[1].open_fails = -ESRCH;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	interval(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.value, 4000000);
	end_world(&w);
	w = (struct world) { 0 };
	fake_vm_add(&w.src, "web", 100, 1)->vcpus[0].open_fails = -EMFILE;
	assert_int_equal(start(&w, &everything, 1, NULL), -EMFILE);
	end_world(&w);
}

static void a_sum_without_all_vcpus_is_suspect_and_says_how_many_are_missing(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 3);
	struct fake_vm *brief = fake_vm_add(&w.src, "brief", 300, 0);

	(void)state;
	web->vcpus[1].thread_unknown = web->vcpus[2].thread_unknown = true;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	interval(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.value, 4000000);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	assert_non_null(
		strstr(find(&w, "web", -1, "cycles")->reason, "2 of its vCPUs are"));
	/* one is found, and cannot be opened */
	web->vcpus[1].thread_unknown = web->vcpus[2].thread_unknown = false;
	web->vcpus[2].open_fails = -EMFILE;
	fake_vm_end(brief);
	interval(&w);
	assert_non_null(strstr(find(&w, "web", -1, "cycles")->reason, "1 of its vCPUs is"));
	fake_vm_end(web);
	interval(&w);
	totals(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.value, 4000000);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	assert_true(counting_partial(w.c));
	end_world(&w);
}

static void a_vcpu_that_is_lost_from_sight_and_found_again_is_counted_once(void **state)
{
	struct world w = { .per_vcpu = true };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 2);
	struct fake_vm *brief[2] = { fake_vm_add(&w.src, "a", 300, 0),
				     fake_vm_add(&w.src, "b", 400, 0) };
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 1000, 9 * MS, 9 * MS);
	interval(&w);
	sum += find(&w, "web", -1, "cycles")->r.value;
	web->vcpus[0].thread_unknown = true;
	fake_vm_end(brief[0]);
	interval(&w);
	sum += find(&w, "web", -1, "cycles")->r.value;
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	web->vcpus[0].thread_unknown = false;
	memset(web->vcpus[0].now, 0, sizeof(web->vcpus[0].now)); /* counters are new */
	fake_vm_end(brief[1]);
	interval(&w);
	fake_count(&web->vcpus[0], 0, 500, 9 * MS, 9 * MS);
	interval(&w);
	sum += find(&w, "web", -1, "cycles")->r.value;
	assert_int_equal(web->vcpus[0].opens, 2);
	assert_int_equal(web->vcpus[0].closes, 1);
	totals(&w);
	assert_int_equal(sum, 1500);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.value, sum);
	end_world(&w);
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
	assert_int_equal(start(&w, &target, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 4000000, 9 * MS, 9 * MS);
	fake_count(&web->vcpus[0], 1, 4000000, 9 * MS, 9 * MS);
	fake_count(&web->vcpus[0], 2, 4000000, 9 * MS, 5 * MS);
	interval(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_COUNTED);
	assert_int_equal(find(&w, "web", -1, "misses")->r.state, READ_COUNTED);
	assert_int_equal(find(&w, "web", -1, "other")->r.state, READ_SUSPECT);
	end_world(&w);
}

static void a_counter_that_goes_back_is_a_note_and_no_huge_number(void **state)
{
	struct world w = { 0 };
	struct fake_vm *web = fake_vm_add(&w.src, "web", 100, 1);

	(void)state;
	assert_int_equal(start(&w, &everything, 1, NULL), 0);
	fake_count(&web->vcpus[0], 0, 1000000, 9 * MS, 9 * MS);
	interval(&w);
	web->vcpus[0].now[0].raw = 5;
	interval(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.value, 0);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	interval(&w); /* said once */
	totals(&w);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.value, 1000000);
	assert_int_equal(find(&w, "web", -1, "cycles")->r.state, READ_SUSPECT);
	assert_int_equal(find(&w, "web", -1, "misses")->r.state, READ_COUNTED);
	assert_notes(&w,
		     "web: vCPU 0: a counter went back; what it counted meanwhile is left "
		     "out\n");
	end_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_level_is_that_of_the_end_and_may_fall_or_be_unknown_for_a_while),
		cmocka_unit_test(intervals_hold_deltas_and_their_sums_are_the_totals),
		cmocka_unit_test(a_vm_that_dies_is_counted_to_its_end),
		cmocka_unit_test(vms_and_vcpus_that_come_are_counted_from_there_on),
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
		cmocka_unit_test(nothing_to_count_is_an_error_that_names_the_pattern),
		cmocka_unit_test(a_vm_whose_threads_are_not_known_yet_is_waited_for),
		cmocka_unit_test(a_thread_that_ends_before_its_events_open_is_no_failure),
		cmocka_unit_test(
			a_sum_without_all_vcpus_is_suspect_and_says_how_many_are_missing),
		cmocka_unit_test(
			a_vcpu_that_is_lost_from_sight_and_found_again_is_counted_once),
		cmocka_unit_test(a_pinned_group_takes_no_turns_and_is_not_spoilt),
		cmocka_unit_test(a_counter_that_goes_back_is_a_note_and_no_huge_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
