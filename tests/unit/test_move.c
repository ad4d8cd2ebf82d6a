/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moves: the commands that are said, and what the KVM source does itself. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/kvm/kvm.h"
#include "source/xen/xen.h"

static struct source *open_tree(const char *name)
{
	const char *trees = getenv("VMMPROF_TREES");
	struct err err = { 0 };
	struct source *src;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", trees ? trees : ".", name);
	assert_int_equal(
		kvm_source.open(&(struct source_config) { .root = path }, &src, &err), 0);
	return src;
}

static void assert_said(struct source *src, const struct vm *vm, struct move move,
			const char *command)
{
	struct strbuf said = { 0 };

	kvm_source.say_move(src, vm, &move, &said);
	assert_string_equal(said.len ? said.data : "", command);
	strbuf_free(&said);
}

static void libvirts_vms_are_moved_by_virsh_and_others_by_their_threads(void **state)
{
	struct source *src = open_tree("libvirt");
	struct topology topo = { 0 };
	struct move pin = { .kind = MOVE_VCPU, .vcpu = 1, .cpus = "4-7" };
	struct move memory = { .kind = MOVE_MEMORY, .node = 1 };
	struct vm *vm;

	(void)state;
	assert_int_equal(kvm_source.topology(src, TOPOLOGY_BASIC, &topo, NULL), 0);
	vm = (struct vm *)topology_find(&topo, "web");
	assert_said(src, vm, pin, "virsh vcpupin web 1 4-7 --live");
	assert_said(src, vm, memory, "virsh numatune web --nodeset 1 --live");
	strcpy(vm->name, "it's web");
	assert_said(src, vm, pin, "virsh vcpupin 'it'\\''s web' 1 4-7 --live");
	vm = (struct vm *)topology_find(&topo, "2002");
	pin.vcpu = 0;
	assert_said(src, vm, pin, "taskset -p -c 4-7 2020");
	assert_said(src, vm, memory, "migratepages 2002 all 1");
	pin.vcpu = 7; /* it has none */
	assert_said(src, vm, pin, "");
	topology_free(&topo);
	kvm_source.close(src);
}

static void a_recorded_tree_stands_still(void **state)
{
	struct source *src = open_tree("libvirt");
	const struct move move = { .kind = MOVE_VCPU, .cpus = "0" };
	struct vm vm = { .pid = 1 };
	struct err err;

	(void)state;
	assert_int_equal(kvm_source.move(src, &vm, &move, &err), -EOPNOTSUPP);
	kvm_source.close(src);
}

/* A process that waits, as a VM with one vCPU. */
static pid_t sleeper(struct vm *vm, struct vcpu *vcpu)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	*vcpu = (struct vcpu) { .index = 3, .tid = pid };
	*vm = (struct vm) { .name = "sleeper", .pid = pid, .vcpus = vcpu, .nvcpus = 1 };
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_vcpu_is_put_on_the_cpus_that_the_move_names(void **state)
{
	struct move move = { .kind = MOVE_VCPU, .vcpu = 3 };
	struct source src = { .live = true };
	struct err err = { 0 };
	struct vcpu vcpu;
	struct vm vm;
	pid_t pid = sleeper(&vm, &vcpu);
	cpu_set_t mine, its;
	int last = -1;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
	for (int i = 0; i < CPU_SETSIZE; i++)
		last = CPU_ISSET(i, &mine) ? i : last;
	snprintf(move.cpus, sizeof(move.cpus), "%d", last);
	assert_int_equal(kvm_source.move(&src, &vm, &move, &err), 0);
	assert_int_equal(sched_getaffinity(pid, sizeof(its), &its), 0);
	assert_int_equal(CPU_COUNT(&its), 1);
	assert_true(CPU_ISSET(last, &its));
	end(pid);
}

static void a_move_that_cannot_be_done_says_what_was_wrong(void **state)
{
	struct move move = { .kind = MOVE_VCPU, .vcpu = 4, .cpus = "0" };
	struct source src = { .live = true };
	struct err err = { 0 };
	struct vcpu vcpu;
	struct vm vm;
	pid_t pid = sleeper(&vm, &vcpu);

	(void)state;
	assert_int_equal(kvm_source.move(&src, &vm, &move, &err), -ESRCH);
	assert_non_null(strstr(err.text, "vCPU 4 of sleeper"));
	move.vcpu = 3;
	strcpy(move.cpus, "none");
	assert_int_equal(kvm_source.move(&src, &vm, &move, &err), -EINVAL);
	assert_non_null(strstr(err.text, "none: expected a list"));
	move = (struct move) { .kind = MOVE_MEMORY, .node = 5000 };
	assert_int_equal(kvm_source.move(&src, &vm, &move, &err), -EINVAL);
	end(pid);
}

static void xens_domains_are_moved_by_xl(void **state)
{
	const struct vm vm = { .id = "dom3", .name = "db one", .accel = ACCEL_XEN };
	struct move move = { .kind = MOVE_VCPU, .vcpu = 2, .cpus = "8-15" };
	struct strbuf said = { 0 };

	(void)state;
	assert_null(xen_source.move);
	xen_source.say_move(NULL, &vm, &move, &said);
	assert_string_equal(said.data, "xl vcpu-pin 'db one' 2 8-15");
	strbuf_reset(&said);
	move.kind = MOVE_MEMORY;
	xen_source.say_move(NULL, &vm, &move, &said);
	assert_int_equal(said.len, 0);
	strbuf_free(&said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			libvirts_vms_are_moved_by_virsh_and_others_by_their_threads),
		cmocka_unit_test(a_recorded_tree_stands_still),
		cmocka_unit_test(a_vcpu_is_put_on_the_cpus_that_the_move_names),
		cmocka_unit_test(a_move_that_cannot_be_done_says_what_was_wrong),
		cmocka_unit_test(xens_domains_are_moved_by_xl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
