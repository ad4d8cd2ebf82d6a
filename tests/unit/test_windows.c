/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows: readings by role, residence, memory; VMs that come and go; a clock of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "events/profile.h"
#include "fake_source.h"
#include "session/windows.h"

#define MS 1000000ull
#define WINDOW (100 * MS)

/* cycles; instructions in two events that are to be added; an event that is not there */
enum { EV_CYCLES, EV_INS_A, EV_INS_B, EVENTS };

static struct source src;
static struct source_ops ops;
static struct profile_model model;
static struct event vcpu_events[EVENTS], node_events[1];
static struct profile_place place[] = {
	{ EV_CYCLES, 1 }, { EV_INS_A, 2 }, { 0, 0 }, { 0, 1 }
};
static struct profile_need need[] = {
	{ 0 }, { 0 }, { -ENOENT, "this CPU has none" }, { 0 }
};
static struct profile_events events = { .place = place, .need = need };
static const struct diag_machine sheet = { .nodes = 2, .cores = 4, .llc_bytes = 8 << 20 };
static struct windows_config config;
static struct windows *windows;
static struct err err;

/* ---- a clock that goes on when it is waited for, and what happens meanwhile */

static uint64_t now = 1;
static void (*meanwhile)(uint64_t ns);

static uint64_t clock_now(void *ctx)
{
	(void)ctx;
	return now;
}

static int clock_wait_for(void *ctx, struct pollfd *fds, nfds_t n, uint64_t deadline)
{
	int ready = poll(fds, n, 0);

	(void)ctx;
	if (ready)
		return ready;
	if (deadline > now) {
		uint64_t ns = deadline - now;

		now = deadline;
		if (meanwhile)
			meanwhile(ns);
	}
	return 0;
}

static const struct clock_ops fake_clock = { clock_now, clock_wait_for };

/* Each vCPU runs half of the time, at 1 GHz, with an instruction every two cycles. */
static void all_run(uint64_t ns)
{
	for (size_t v = 0; v < FAKE_VMS; v++)
		for (size_t i = 0; src.vms[v].id && i < FAKE_VCPUS; i++) {
			struct fake_vcpu *f = &src.vms[v].vcpus[i];

			if (!f->tid)
				continue;
			fake_count(f, EV_CYCLES, ns / 2, ns / 2, ns / 2);
			fake_count(f, EV_INS_A, ns / 8, ns / 2, ns / 2);
			fake_count(f, EV_INS_B, ns / 8, ns / 2, ns / 2);
		}
	for (int n = 0; n < FAKE_NODES; n++)
		fake_node_count(&src, n, 0, ns * (unsigned)(n + 1), ns, ns);
}

static const char model_text[] = "model m \"Test\"\n"
				 "vcpu cycles = role cycles\n"
				 "vcpu ins = role instructions\n"
				 "vcpu refs = role llc.refs optional\n"
				 "node reads = role mem.reads\n"
				 "metric ipc = ins / cycles\n";

static int setup(void **state)
{
	(void)state;
	memset(&src, 0, sizeof(src));
	src.nodes = FAKE_NODES;
	ops = fake_source;
	assert_int_equal(
		profile_model_parse("m", model_text, strlen(model_text), &model, &err), 0);
	for (size_t i = 0; i < EVENTS; i++)
		vcpu_events[i] = (struct event) {
			.kind = EVENT_HARDWARE, .config = i, .group = -1, .scale = 1
		};
	node_events[0] = (struct event) { .kind = EVENT_UNCORE, .group = -1, .scale = 64 };
	events.vcpu = (struct event_set) { vcpu_events, EVENTS, EVENTS };
	events.node = (struct event_set) { node_events, 1, 1 };
	config = (struct windows_config) { .ops = &ops,
					   .src = &src,
					   .model = &model,
					   .events = &events,
					   .machine = &sheet,
					   .window_ns = WINDOW,
					   .wake_fd = -1 };
	now = 1;
	meanwhile = all_run;
	clock_use(&fake_clock, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	windows_free(windows);
	windows = NULL;
	profile_model_free(&model);
	fake_end(&src);
	clock_use(NULL, NULL);
	return 0;
}

static void start(void)
{
	assert_int_equal(windows_start(&config, &windows, &err), 0);
}

static void a_window_has_what_each_vcpu_did_by_role(void **state)
{
	const struct diag_window *w;
	const struct diag_vcpu *v;

	(void)state;
	fake_vm_add(&src, "web", 100, 2);
	start();
	assert_int_equal(windows_next(windows, &err), 0);
	assert_int_equal(windows_count(windows), 1);
	w = windows_get(windows, 0);
	assert_true(w->seconds == 0.1 && w->machine.llc_bytes == 8 << 20);
	assert_int_equal(w->nvms, 1);
	assert_string_equal(w->vms[0].name, "web");
	assert_int_equal(w->vms[0].nvcpus, 2);
	v = &w->vms[0].vcpus[1];
	assert_int_equal(v->index, 1);
	assert_int_equal(v->role[ROLE_CYCLES].state, READ_COUNTED);
	assert_true(v->role[ROLE_CYCLES].value == WINDOW / 2);
	assert_true(v->role[ROLE_CYCLES].error == 0);
	assert_true(v->role[ROLE_INSTRUCTIONS].value == WINDOW / 4); /* of two events */
}

static void a_role_without_an_event_says_why(void **state)
{
	const struct quantity *q;

	(void)state;
	fake_vm_add(&src, "web", 100, 1);
	start();
	assert_int_equal(windows_next(windows, &err), 0);
	q = &windows_get(windows, 0)->vms[0].vcpus[0].role[ROLE_LLC_REFS];
	assert_int_equal(q->state, READ_UNSUPPORTED);
	assert_string_equal(q->reason, "this CPU has none");
	q = &windows_get(windows, 0)->vms[0].vcpus[0].role[ROLE_LOADS];
	assert_int_equal(q->state, READ_UNSUPPORTED);
	assert_non_null(q->reason);
}

static void windows_do_not_run_into_each_other(void **state)
{
	(void)state;
	fake_vm_add(&src, "web", 100, 1);
	start();
	for (int i = 0; i < 3; i++)
		assert_int_equal(windows_next(windows, &err), 0);
	assert_int_equal(windows_count(windows), 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(
			windows_get(windows, i)->vms[0].vcpus[0].role[ROLE_CYCLES].value ==
			WINDOW / 2);
}

static void a_nodes_readings_are_scaled_as_the_event_says(void **state)
{
	const struct diag_window *w;

	(void)state;
	fake_vm_add(&src, "web", 100, 1);
	start();
	assert_int_equal(windows_next(windows, &err), 0);
	w = windows_get(windows, 0);
	assert_true(w->node[0].role[ROLE_MEM_READS - ROLE_OF_NODE].value == 64.0 * WINDOW);
	assert_true(w->node[1].role[ROLE_MEM_READS - ROLE_OF_NODE].value == 128.0 * WINDOW);
	assert_int_equal(w->node[0].role[0].state, READ_UNSUPPORTED);
}

static void a_role_is_as_bad_as_its_worst_event(void **state)
{
	const struct quantity *q;

	(void)state;
	fake_vm_add(&src, "web", 100, 1);
	src.vms[0].vcpus[0].now[EV_INS_B].state = READ_TAKEN;
	src.vms[0].vcpus[0].now[EV_INS_B].reason = "someone has it";
	start();
	assert_int_equal(windows_next(windows, &err), 0);
	q = &windows_get(windows, 0)->vms[0].vcpus[0].role[ROLE_INSTRUCTIONS];
	assert_int_equal(q->state, READ_TAKEN);
	assert_string_equal(q->reason, "someone has it");
	assert_true(q->value == 0);
}

/* 1 of 4 looks finds it on the second node. */
static void moves_about(uint64_t ns)
{
	struct fake_vcpu *f = &src.vms[0].vcpus[1];

	f->last_cpu = now % WINDOW < WINDOW / 4 ? 5 : 1;
	all_run(ns);
}

static void where_a_vcpu_runs_follows_from_its_affinity_or_from_looking(void **state)
{
	const struct diag_window *w;
	struct fake_vm *vm;

	(void)state;
	vm = fake_vm_add(&src, "web", 100, 3);
	vm->vcpus[0].affinity = "4-7";
	vm->vcpus[0].last_cpu = 0; /* moved just now; it may not run there */
	vm->vcpus[1].affinity = "0-7";
	vm->vcpus[2].last_cpu = -1;
	vm->mem_node[1] = 1 << 20;
	meanwhile = moves_about;
	start();
	assert_int_equal(windows_next(windows, &err), 0);
	w = windows_get(windows, 0);
	/* it ran half of the time */
	assert_true(w->vms[0].vcpus[0].on_node[0] == 0);
	assert_true(w->vms[0].vcpus[0].on_node[1] == 0.5);
	assert_true(w->vms[0].vcpus[1].on_node[0] == 0.375);
	assert_true(w->vms[0].vcpus[1].on_node[1] == 0.125);
	assert_true(w->vms[0].vcpus[2].on_node[0] + w->vms[0].vcpus[2].on_node[1] == 0);
	assert_true(w->vms[0].mem_node[0] == 0 && w->vms[0].mem_node[1] == 1 << 20);
	assert_int_equal(w->vms[0].vcpus[0].choices, 0);
	assert_int_equal(w->vms[0].vcpus[1].choices, 8);
	assert_int_equal(w->vms[0].vcpus[1].cpu, 1);
	assert_int_equal(w->vms[0].vcpus[2].choices, 0);
}

static void a_vm_that_comes_later_has_no_values_before(void **state)
{
	const struct diag_window *w;

	(void)state;
	fake_vm_add(&src, "web", 100, 1);
	config.window_ns = 2000 * MS; /* long enough to notice */
	start();
	assert_int_equal(windows_next(windows, &err), 0);
	fake_vm_add(&src, "db", 200, 2);
	assert_int_equal(windows_next(windows, &err), 0);
	for (size_t i = 0; i < 2; i++) {
		w = windows_get(windows, i);
		assert_int_equal(w->nvms, 2);
		assert_string_equal(w->vms[1].name, "db");
		assert_int_equal(w->vms[1].nvcpus, 2);
	}
	w = windows_get(windows, 0);
	assert_int_equal(w->vms[1].vcpus[0].role[ROLE_CYCLES].state, READ_NOT_SCHEDULED);
	assert_non_null(w->vms[1].vcpus[0].role[ROLE_CYCLES].reason);
	w = windows_get(windows, 1);
	assert_true(w->vms[1].vcpus[1].role[ROLE_CYCLES].value > 0);
}

static int wake[2];

static void woken_after_30_ms(uint64_t ns)
{
	all_run(ns);
	if (now > 30 * MS)
		assert_int_equal(write(wake[1], "x", 1), 1);
}

static void a_signal_ends_a_window_and_the_first_one_counts_though_it_is_short(void **state)
{
	const struct diag_window *w;

	(void)state;
	fake_vm_add(&src, "web", 100, 1);
	assert_int_equal(pipe2(wake, O_CLOEXEC), 0);
	config.wake_fd = wake[0];
	meanwhile = woken_after_30_ms;
	start();
	assert_int_equal(windows_next(windows, &err), -EINTR);
	assert_int_equal(windows_count(windows), 1);
	w = windows_get(windows, 0);
	assert_true(w->seconds >= 0.03 && w->seconds < 0.05);
	assert_true(w->vms[0].vcpus[0].role[ROLE_CYCLES].value == w->seconds * 1e9 / 2);
	assert_int_equal(windows_next(windows, &err), -EINTR);
	assert_int_equal(windows_count(windows), 1); /* the second is not worth it */
	close(wake[0]);
	close(wake[1]);
}

static void when_the_last_vm_has_left_windows_end(void **state)
{
	struct fake_vm *vm;

	(void)state;
	vm = fake_vm_add(&src, "web", 100, 1);
	start();
	assert_int_equal(windows_next(windows, &err), 0);
	fake_vm_end(vm);
	assert_int_equal(windows_next(windows, &err), -ENODATA);
	assert_int_equal(windows_count(windows), 2);
	assert_string_equal(windows_get(windows, 1)->vms[0].name, "web");
}

static void where_no_vm_is_there_are_no_windows(void **state)
{
	(void)state;
	assert_int_equal(windows_start(&config, &windows, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no VM found"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TEST(a_window_has_what_each_vcpu_did_by_role),
		TEST(a_role_without_an_event_says_why),
		TEST(windows_do_not_run_into_each_other),
		TEST(a_nodes_readings_are_scaled_as_the_event_says),
		TEST(a_role_is_as_bad_as_its_worst_event),
		TEST(where_a_vcpu_runs_follows_from_its_affinity_or_from_looking),
		TEST(a_vm_that_comes_later_has_no_values_before),
		TEST(a_signal_ends_a_window_and_the_first_one_counts_though_it_is_short),
		TEST(when_the_last_vm_has_left_windows_end),
		TEST(where_no_vm_is_there_are_no_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
