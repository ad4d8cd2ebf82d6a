/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampling session against VMs and samplers that the test makes up, and a
 * sink that keeps accounts.
 */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "fake_sampler.h"
#include "fake_source.h"
#include "session/sampling.h"

/* ---- the sink */

struct lane {
	char vm[80];
	bool inside, closed;
	size_t nevents, vcpus, samples, rounds, series;
	uint64_t ids[8];
	struct sampling_totals totals;
};

static struct lane lanes[8];
static size_t nlanes;
static struct note notes[32];
static size_t nnotes;
static int write_fails;

static int lane_open(void *ctx, const struct vm *vm, bool inside,
		     const struct event_set *events, const struct perf_event_attr *attrs,
		     void **lane, struct err *err)
{
	(void)ctx;
	(void)err;
	assert_int_equal(attrs[0].size, sizeof(attrs[0]));
	lanes[nlanes] = (struct lane) { .inside = inside, .nevents = events->n };
	str_copy(lanes[nlanes].vm, sizeof(lanes[0].vm), vm->name);
	*lane = &lanes[nlanes++];
	return 0;
}

static int lane_vcpu(void *ctx, void *lane, const struct vm *vm, const struct vcpu *vcpu,
		     const uint64_t *ids, struct err *err)
{
	struct lane *l = lane;

	(void)ctx;
	(void)vm;
	(void)vcpu;
	(void)err;
	assert_int_equal(l->samples, 0);
	for (size_t i = 0; i < l->nevents; i++)
		l->ids[i] = ids[i];
	l->vcpus++;
	return 0;
}

static int lane_write(void *ctx, void *lane, const struct iovec *spans, int n,
		      struct err *err)
{
	struct lane *l = lane;

	(void)ctx;
	assert_false(l->closed);
	if (write_fails)
		return err_set(err, write_fails, "no space left");
	for (int i = 0; i < n; i++)
		l->samples += spans[i].iov_len / 8;
	return 0;
}

static int lane_round(void *ctx, void *lane, struct err *err)
{
	(void)ctx;
	(void)err;
	((struct lane *)lane)->rounds++;
	return 0;
}

static int lane_series(void *ctx, void *lane, uint64_t time_ns, int vcpu,
		       const struct reading *readings, const uint64_t *lost,
		       struct err *err)
{
	(void)ctx;
	(void)time_ns;
	(void)vcpu;
	(void)readings;
	(void)lost;
	(void)err;
	((struct lane *)lane)->series++;
	return 0;
}

static int lane_totals(void *ctx, void *lane, const struct sampling_totals *so_far,
		       struct err *err)
{
	(void)ctx;
	(void)err;
	((struct lane *)lane)->totals = *so_far;
	return 0;
}

static int lane_close(void *ctx, void *lane, const struct sampling_totals *totals,
		      struct err *err)
{
	struct lane *l = lane;

	(void)ctx;
	(void)err;
	assert_false(l->closed);
	l->closed = true;
	l->totals = *totals;
	return 0;
}

static void keep_note(void *ctx, const struct note *note)
{
	(void)ctx;
	if (nnotes < 32)
		notes[nnotes++] = *note;
}

static const struct sample_sink sink = { lane_open,   lane_vcpu,   lane_write, lane_round,
					 lane_series, lane_totals, lane_close, keep_note };

static const struct note *note_of(enum note_kind kind)
{
	for (size_t i = 0; i < nnotes; i++)
		if (notes[i].kind == kind)
			return &notes[i];
	return NULL;
}

/* ---- the runs */

static struct source_ops ops;
static struct source src;
static struct event events[2] = {
	{ .name = "cycles", .group = -1 },
	{ .name = "cpu-clock", .kind = EVENT_SOFTWARE, .group = -1, .side = SIDE_BOTH },
};
static struct target target = { .events = { events, 1, 2 } };
static struct sampling_config config;
static struct sampling *sampling;
static struct err err;

static int setup(void **state)
{
	(void)state;
	ops = fake_sampling_ops();
	memset(&src, 0, sizeof(src));
	memset(&err, 0, sizeof(err));
	nlanes = nnotes = 0;
	write_fails = 0;
	sampling = NULL;
	events[0].side = SIDE_DEFAULT;
	target.pattern = NULL;
	target.events.n = 1;
	config = (struct sampling_config) { .ops = &ops,
					    .wake_fd = { -1, -1 },
					    .src = &src,
					    .targets = &target,
					    .ntargets = 1,
					    .guest = true,
					    .sink = &sink };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sampling_free(sampling);
	for (size_t i = 0; i < nsamplers; i++)
		if (samplers[i].open)
			return -1; /* a leak */
	fake_end(&src);
	return 0;
}

static void start(void)
{
	if (sampling_start(&config, &sampling, &err))
		fail_msg("%s", err.text);
}

static void poll_once(void)
{
	if (sampling_poll(sampling, 0, &err))
		fail_msg("%s", err.text);
}

static void samples_of_all_rings_reach_their_vms_lane(void **state)
{
	(void)state;
	fake_vm_add(&src, "web", 100, 2);
	fake_vm_add(&src, "db", 200, 1);
	start();
	assert_int_equal(nlanes, 2);
	assert_int_equal(lanes[0].vcpus, 2);
	put_samples(sampler_of(101, true), 3);
	put_samples(sampler_of(102, true), 4);
	put_samples(sampler_of(201, true), 5);
	poll_once();
	assert_int_equal(lanes[0].samples, 7);
	assert_int_equal(lanes[1].samples, 5);
	assert_int_equal(lanes[0].rounds, 1);
	assert_int_equal(sampling_totals(sampling).samples, 12);
	poll_once();
	assert_int_equal(lanes[0].rounds, 1); /* nothing came: no round */
}

static void what_waits_at_the_end_is_written(void **state)
{
	(void)state;
	fake_vm_add(&src, "web", 100, 1);
	start();
	put_samples(sampler_of(101, true), 3);
	assert_int_equal(sampling_stop(sampling, &err), 0);
	assert_true(samplers[0].stopped);
	assert_int_equal(lanes[0].samples, 3);
	assert_int_equal(lanes[0].totals.samples, 3);
	assert_true(lanes[0].closed);
	assert_true(lanes[0].series > 0);
	assert_int_equal(sampling_totals(sampling).samples, 3);
	assert_false(sampling_partial(sampling));
}

static bool noted(const char *what)
{
	for (size_t i = 0; i < nnotes; i++)
		if (strstr(notes[i].text, what))
			return true;
	return false;
}

static void an_event_that_never_had_its_turn_was_not_recorded(void **state)
{
	(void)state;
	fake_vm_add(&src, "web", 100, 2);
	start();
	sampler_of(101, true)->enabled_ns = sampler_of(102, true)->enabled_ns = 50000000;
	assert_int_equal(sampling_stop(sampling, &err), 0);
	assert_true(noted("cycles was never on a counter"));
	assert_true(sampling_partial(sampling));
}

static void one_vcpu_that_had_its_turn_is_enough(void **state)
{
	(void)state;
	fake_vm_add(&src, "web", 100, 2);
	start();
	sampler_of(101, true)->enabled_ns = sampler_of(102, true)->enabled_ns = 50000000;
	sampler_of(102, true)->running_ns = 10000000;
	assert_int_equal(sampling_stop(sampling, &err), 0);
	assert_int_equal(nnotes, 0);
	assert_false(sampling_partial(sampling));
}

static void samples_that_the_kernel_spoils_are_doubted_once(void **state)
{
	(void)state;
	fake_wrong_in_turns = "this kernel loses some";
	fake_vm_add(&src, "web", 100, 2);
	start();
	sampler_of(101, true)->enabled_ns = sampler_of(101, true)->running_ns = 50000000;
	sampler_of(102, true)->enabled_ns = sampler_of(102, true)->running_ns = 50000000;
	put_samples(sampler_of(101, true), 1);
	poll_once();
	sampler_of(101, true)->enabled_ns = 90000000;
	sampler_of(102, true)->enabled_ns = 90000000;
	assert_int_equal(sampling_stop(sampling, &err), 0);
	assert_int_equal(nnotes, 1);
	assert_true(noted("cycles took turns: this kernel loses some"));
}

static void a_vm_that_dies_keeps_its_last_samples_and_closes_its_lane(void **state)
{
	struct fake_vm *web = fake_vm_add(&src, "web", 100, 2);

	(void)state;
	fake_vm_add(&src, "db", 200, 1);
	start();
	put_samples(sampler_of(101, true), 2);
	put_samples(sampler_of(102, true), 1);
	fake_vm_end(web);
	poll_once();
	assert_int_equal(lanes[0].samples, 3);
	assert_true(lanes[0].closed);
	assert_false(lanes[1].closed);
	assert_int_equal(lanes[0].totals.samples, 3);
	assert_int_equal(sampling_alive(sampling), 1);
	assert_non_null(note_of(NOTE_VM_GONE));
	assert_false(sampling_partial(sampling));
}

static void a_thread_that_ends_does_not_wake_us_for_ever(void **state)
{
	struct sampler *s;

	(void)state;
	fake_vm_add(&src, "web", 100, 1);
	start();
	s = sampler_of(101, true);
	close(s->pipe[1]); /* POLLHUP from here on */
	s->pipe[1] = -1;
	poll_once();
	poll_once();
	put_samples(s, 1);
	poll_once();
	assert_int_equal(lanes[0].samples, 1);
}

static void guest_and_host_go_to_a_lane_each(void **state)
{
	(void)state;
	target.events.n = 2;
	config.host = true;
	fake_vm_add(&src, "web", 100, 1);
	start();
	assert_int_equal(nlanes, 2);
	assert_true(lanes[0].inside);
	assert_false(lanes[1].inside);
	assert_int_equal(sampler_of(101, true)->set.ev[0].side, SIDE_GUEST);
	assert_int_equal(sampler_of(101, false)->set.ev[0].side, SIDE_HOST);
	assert_int_equal(sampler_of(101, true)->set.ev[1].side, SIDE_BOTH);
	assert_int_equal(sampler_of(101, false)->set.ev[1].side, SIDE_BOTH);
}

static void an_event_that_names_its_side_goes_there_and_only_there(void **state)
{
	(void)state;
	target.events.n = 2;
	events[0].side = SIDE_HOST;
	fake_vm_add(&src, "web", 100, 1);
	start();
	assert_int_equal(nlanes, 2);
	assert_int_equal(sampler_of(101, true)->set.n, 1);
	assert_string_equal(sampler_of(101, true)->set.ev[0].name, "cpu-clock");
	assert_int_equal(sampler_of(101, false)->set.n, 1);
	assert_string_equal(sampler_of(101, false)->set.ev[0].name, "cycles");
}

static void a_vm_without_guest_mode_has_the_one_view_it_can_have(void **state)
{
	(void)state;
	fake_vm_add(&src, "emulated", 100, 1)->accel = ACCEL_TCG;
	fake_vm_add(&src, "process", 200, 0)->accel = ACCEL_NONE;
	fake_vcpu_add(&src.vms[1]);
	config.host = true;
	start();
	assert_int_equal(nlanes, 2);
	assert_false(lanes[0].inside);
	assert_true(lanes[1].inside);
	assert_int_equal(sampler_of(101, false)->set.ev[0].side, SIDE_HOST);
	assert_int_equal(sampler_of(201, true)->set.ev[0].side, SIDE_BOTH);
}

static void an_event_that_cannot_be_opened_is_said_once_and_makes_it_partial(void **state)
{
	const struct note *note;

	(void)state;
	fake_unsupported = "cycles";
	target.events.n = 2;
	fake_vm_add(&src, "web", 100, 3);
	start();
	assert_int_equal(nnotes, 1);
	note = note_of(NOTE_PROBLEM);
	assert_non_null(strstr(note->text, "cycles"));
	assert_non_null(strstr(note->text, "try cpu-clock"));
	assert_true(sampling_partial(sampling));
	assert_int_equal(lanes[0].ids[0], 0);
	assert_int_not_equal(lanes[0].ids[1], 0);
	assert_int_equal(sampling_stop(sampling, &err), 0);
	assert_true(sampling_partial(sampling));
}

static void a_run_in_which_nothing_opens_fails_with_the_reason(void **state)
{
	(void)state;
	fake_unsupported = "cycles";
	fake_vm_add(&src, "web", 100, 1);
	assert_int_equal(sampling_start(&config, &sampling, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "cycles: no PMU counts it: try cpu-clock"));
	assert_int_equal(nlanes, 0);
}

static void no_vm_is_an_error_that_names_what_was_asked_for(void **state)
{
	(void)state;
	assert_int_equal(sampling_start(&config, &sampling, &err), -ENOENT);
	assert_non_null(strstr(err.text, "vmmprof check"));
	target.pattern = "wbe";
	fake_vm_add(&src, "web", 100, 1);
	assert_int_equal(sampling_start(&config, &sampling, &err), -ENOENT);
	assert_non_null(strstr(err.text, "wbe"));
}

static void a_vm_whose_threads_are_not_known_yet_is_waited_for(void **state)
{
	struct fake_vm *web = fake_vm_add(&src, "web", 100, 1);
	struct fake_vm *brief = fake_vm_add(&src, "brief", 300, 0);

	(void)state;
	web->vcpus[0].thread_unknown = true;
	start();
	assert_true(sampling_alive(sampling) > 0);
	assert_true(sampling_partial(sampling));
	web->vcpus[0].thread_unknown = false;
	fake_vm_end(brief); /* makes the session look */
	poll_once();
	assert_non_null(sampler_of(101, true));
	assert_false(sampling_partial(sampling));
}

static void a_full_disk_ends_the_run_and_counts_only_what_was_written(void **state)
{
	(void)state;
	fake_vm_add(&src, "web", 100, 1);
	start();
	put_samples(sampler_of(101, true), 3);
	poll_once();
	put_samples(sampler_of(101, true), 4);
	write_fails = -ENOSPC;
	assert_int_equal(sampling_poll(sampling, 0, &err), -ENOSPC);
	assert_int_equal(sampling_poll(sampling, 0, &err), -ENOSPC);
	assert_int_equal(sampling_stop(sampling, &err), -ENOSPC);
	assert_string_equal(err.text, "no space left");
	assert_int_equal(lanes[0].samples, 3);
	assert_int_equal(lanes[0].totals.samples, 3);
	assert_true(lanes[0].closed);
}

static void notes_about_losses_add_up_to_what_was_lost(void **state)
{
	uint64_t lost = 0, throttled = 0;
	struct sampler *s;

	(void)state;
	fake_vm_add(&src, "web", 100, 2);
	start();
	s = sampler_of(101, true);
	for (int i = 0; i < 5; i++) {
		put_samples(s, 1);
		s->next.lost = 10;
		s->next.throttled = 1;
		poll_once();
	}
	s->lost = 53; /* the kernel's own count is exact */
	sampler_of(102, true)->lost = 100;
	assert_int_equal(sampling_stop(sampling, &err), 0);
	assert_int_equal(lanes[0].totals.lost, 153);
	assert_int_equal(lanes[0].totals.throttled, 5);
	for (size_t i = 0; i < nnotes; i++) {
		lost += notes[i].kind == NOTE_LOST ? notes[i].count : 0;
		throttled += notes[i].kind == NOTE_THROTTLED ? notes[i].count : 0;
	}
	assert_int_equal(lost, 153);
	assert_int_equal(throttled, 5);
	assert_true(nnotes <= 4);
}

static void bytes_that_make_no_sense_are_told(void **state)
{
	(void)state;
	fake_vm_add(&src, "web", 100, 1);
	start();
	put_samples(sampler_of(101, true), 1);
	sampler_of(101, true)->next.corrupt = 64;
	poll_once();
	assert_int_equal(sampling_stop(sampling, &err), 0);
	assert_non_null(strstr(note_of(NOTE_PROBLEM)->text, "64 bytes"));
}

static void a_vcpu_that_is_refused_is_told_and_the_others_go_on(void **state)
{
	(void)state;
	fake_vm_add(&src, "web", 100, 1);
	start();
	fake_refuse = -EMFILE;
	fake_vcpu_add(&src.vms[0]);
	fake_vm_end(fake_vm_add(&src, "x", 300, 1));
	put_samples(sampler_of(101, true), 1);
	poll_once();
	assert_int_equal(sampling_stop(sampling, &err), 0);
	assert_int_equal(lanes[0].samples, 1);
}

static void more_rings_than_one_write_can_take_are_all_written(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		fake_vm_add(&src, "web", 100 * (i + 1), 8);
	start();
	for (size_t i = 0; i < nsamplers; i++)
		put_samples(&samplers[i], 2);
	poll_once();
	assert_int_equal(sampling_totals(sampling).samples, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(samples_of_all_rings_reach_their_vms_lane),
		T(what_waits_at_the_end_is_written),
		T(an_event_that_never_had_its_turn_was_not_recorded),
		T(one_vcpu_that_had_its_turn_is_enough),
		T(samples_that_the_kernel_spoils_are_doubted_once),
		T(a_vm_that_dies_keeps_its_last_samples_and_closes_its_lane),
		T(a_thread_that_ends_does_not_wake_us_for_ever),
		T(guest_and_host_go_to_a_lane_each),
		T(an_event_that_names_its_side_goes_there_and_only_there),
		T(a_vm_without_guest_mode_has_the_one_view_it_can_have),
		T(an_event_that_cannot_be_opened_is_said_once_and_makes_it_partial),
		T(a_run_in_which_nothing_opens_fails_with_the_reason),
		T(no_vm_is_an_error_that_names_what_was_asked_for),
		T(a_vm_whose_threads_are_not_known_yet_is_waited_for),
		T(a_full_disk_ends_the_run_and_counts_only_what_was_written),
		T(notes_about_losses_add_up_to_what_was_lost),
		T(bytes_that_make_no_sense_are_told),
		T(a_vcpu_that_is_refused_is_told_and_the_others_go_on),
		T(more_rings_than_one_write_can_take_are_all_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
