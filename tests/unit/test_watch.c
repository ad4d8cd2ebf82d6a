/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "fake_source.h"
#include "session/watch.h"

/* What happened, as words: "+web/0 " a vCPU came, "-web:101 " its thread went, … */
struct log {
	struct strbuf events, notes;
	size_t nevents; /* of the last vCPU that appeared */
};

static int appeared(void *ctx, const struct vm *vm, const struct vcpu *vcpu,
		    const struct event_set *events)
{
	struct log *log = ctx;

	strbuf_addf(&log->events, "+%s/%d ", vm->name, vcpu->index);
	log->nevents = events->n;
	return 0;
}

static void vcpu_gone(void *ctx, const char *vm_id, pid_t tid)
{
	strbuf_addf(&((struct log *)ctx)->events, "-%s:%d ", vm_id, tid);
}

static void vm_gone(void *ctx, const char *vm_id)
{
	strbuf_addf(&((struct log *)ctx)->events, "-%s ", vm_id);
}

static void noted(void *ctx, const struct note *note)
{
	strbuf_addf(&((struct log *)ctx)->notes, "%s: %s\n", note->vm, note->text);
}

static const struct watch_ops ops = { appeared, vcpu_gone, vm_gone, noted };

static struct event cycles = { .name = "cycles", .group = -1 };
static struct event clocks = { .name = "task-clock", .type = 1, .group = -1 };

struct world {
	struct source src;
	struct log log;
	struct watch *w;
};

static void watch_world(struct world *world, const struct target *targets, size_t n)
{
	assert_int_equal(watch_create(&fake_source, &world->src, targets, n, &ops,
				      &world->log, &world->w, NULL),
			 0);
}

/* What one scan says: events, then notes. */
static void assert_scan(struct world *world, const char *events, const char *notes)
{
	strbuf_reset(&world->log.events);
	strbuf_reset(&world->log.notes);
	assert_int_equal(watch_scan(world->w, NULL), 0);
	strbuf_puts(&world->log.events, "");
	strbuf_puts(&world->log.notes, "");
	assert_string_equal(world->log.events.data, events);
	assert_string_equal(world->log.notes.data, notes);
}

static void end_world(struct world *world)
{
	watch_free(world->w);
	fake_end(&world->src);
	strbuf_free(&world->log.events);
	strbuf_free(&world->log.notes);
}

static const struct target everything = { NULL, { &cycles, 1, 1 } };

static void the_first_scan_reports_what_is_there_without_notes(void **state)
{
	struct world world = { 0 };

	(void)state;
	fake_vm_add(&world.src, "web", 100, 2);
	watch_world(&world, &everything, 1);
	assert_scan(&world, "+web/0 +web/1 ", "");
	assert_scan(&world, "", "");
	end_world(&world);
}

static void vms_and_vcpus_that_come_are_told(void **state)
{
	struct world world = { 0 };
	struct fake_vm *web = fake_vm_add(&world.src, "web", 100, 1);

	(void)state;
	watch_world(&world, &everything, 1);
	assert_scan(&world, "+web/0 ", "");
	fake_vcpu_add(web);
	fake_vm_add(&world.src, "db", 200, 1);
	assert_scan(&world, "+web/1 +db/0 ",
		    "web: vCPU 1 appeared (thread 102), measured from here on\n"
		    "db: VM started (process 200), measured from here on\n");
	end_world(&world);
}

static void a_vm_that_ends_wakes_the_watch_and_is_told(void **state)
{
	struct world world = { 0 };
	struct pollfd p = { .events = POLLIN };

	(void)state;
	fake_vm_add(&world.src, "web", 100, 1);
	fake_vm_add(&world.src, "db", 200, 2);
	watch_world(&world, &everything, 1);
	assert_scan(&world, "+web/0 +db/0 +db/1 ", "");
	p.fd = watch_fd(world.w);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(watch_poll(world.w, NULL), 0);
	assert_int_equal(world.src.topologies, 1); /* nothing happened: no scan */
	fake_vm_end(&world.src.vms[1]);
	assert_int_equal(poll(&p, 1, 0), 1);
	strbuf_reset(&world.log.events);
	assert_int_equal(watch_poll(world.w, NULL), 0);
	assert_string_equal(world.log.events.data, "-db:201 -db:202 -db ");
	assert_string_equal(world.log.notes.data, "db: VM ended (process 200 exited)\n");
	assert_int_equal(poll(&p, 1, 0), 0);
	end_world(&world);
}

static void a_reused_pid_is_another_vm(void **state)
{
	struct world world = { 0 };
	struct fake_vm *vm = fake_vm_add(&world.src, "web", 100, 1);

	(void)state;
	watch_world(&world, &everything, 1);
	assert_scan(&world, "+web/0 ", "");
	vm->birth++;
	assert_scan(&world, "-web:101 -web +web/0 ",
		    "web: VM ended (process 100 still runs)\n"
		    "web: VM started (process 100), measured from here on\n");
	end_world(&world);
}

static void a_vcpu_that_goes_is_told_and_the_others_stay(void **state)
{
	struct world world = { 0 };
	struct fake_vm *vm = fake_vm_add(&world.src, "web", 100, 3);

	(void)state;
	watch_world(&world, &everything, 1);
	assert_scan(&world, "+web/0 +web/1 +web/2 ", "");
	vm->vcpus[1].tid = 0;
	assert_scan(&world, "-web:102 ", "web: vCPU 1 ended (thread 102)\n");
	assert_scan(&world, "", "");
	end_world(&world);
}

static void a_vcpu_without_a_thread_is_a_problem_told_once(void **state)
{
	struct world world = { 0 };
	struct fake_vm *vm = fake_vm_add(&world.src, "web", 100, 2);

	(void)state;
	vm->vcpus[1].thread_unknown = true;
	watch_world(&world, &everything, 1);
	assert_scan(&world, "+web/0 ",
		    "web: vCPU 1 is not measured: its thread is not known so far\n");
	assert_scan(&world, "", "");
	vm->vcpus[1].thread_unknown = false;
	assert_scan(&world, "+web/1 ",
		    "web: vCPU 1 appeared (thread 102), measured from here on\n");
	end_world(&world);
}

static void a_vm_gets_the_union_of_the_events_of_its_targets(void **state)
{
	struct world world = { 0 };
	struct event both[] = { cycles, clocks };
	struct target targets[] = {
		{ "web", { &cycles, 1, 1 } },
		{ "w*", { both, 2, 2 } },
		{ "nobody", { &cycles, 1, 1 } },
	};

	(void)state;
	fake_vm_add(&world.src, "web", 100, 1);
	fake_vm_add(&world.src, "db", 200, 1);
	watch_world(&world, targets, 3);
	assert_scan(&world, "+web/0 ", "");
	assert_int_equal(world.log.nevents, 2); /* cycles once, task-clock */
	assert_string_equal(watch_unmatched(world.w), "nobody");
	end_world(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_scan_reports_what_is_there_without_notes),
		cmocka_unit_test(vms_and_vcpus_that_come_are_told),
		cmocka_unit_test(a_vm_that_ends_wakes_the_watch_and_is_told),
		cmocka_unit_test(a_reused_pid_is_another_vm),
		cmocka_unit_test(a_vcpu_that_goes_is_told_and_the_others_stay),
		cmocka_unit_test(a_vcpu_without_a_thread_is_a_problem_told_once),
		cmocka_unit_test(a_vm_gets_the_union_of_the_events_of_its_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
