/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way back from moves: what it is, and the file that keeps it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/placement.h"

static char home[] = "/tmp/vmmprof-state-XXXXXX";
static char file[128];

static struct node nodes[] = { { .id = 0, .cpus = "0-3" }, { .id = 2, .cpus = "4-7" } };
static struct vcpu vcpus[] = {
	{ .index = 0, .tid = 11, .affinity = "0-3" },
	{ .index = 1, .tid = 12, .affinity = "0,2,4,6,..." },
};
static uint64_t memory[] = { 100, 300 };
static struct vm vms[] = { { .id = "10",
			     .name = "web",
			     .pid = 10,
			     .birth = 77,
			     .vcpus = vcpus,
			     .nvcpus = 2,
			     .mem_node = memory,
			     .nmem_node = 2 } };
static const struct topology topo = {
	.machine = { .boot_id = "b-1", .nodes = nodes, .nnodes = 2 }, .vms = vms, .nvms = 1
};

static const struct move moves[] = {
	{ .kind = MOVE_VCPU, .vm_id = "10", .vcpu = 0, .cpus = "4-7", .node = 2 },
	{ .kind = MOVE_MEMORY, .vm_id = "10", .node = 0 },
	{ .kind = MOVE_VCPU, .vm_id = "10", .vcpu = 1, .cpus = "4-7", .node = 2 },
};

static int setup(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(home));
	setenv("XDG_STATE_HOME", home, 1);
	snprintf(file, sizeof(file), "%s/vmmprof/placement", home);
	return 0;
}

static int teardown(void **state)
{
	char folder[128];

	(void)state;
	unlink(file);
	snprintf(folder, sizeof(folder), "%s/vmmprof", home);
	rmdir(folder);
	return rmdir(home);
}

static void the_way_back_is_where_everything_was_last_move_first(void **state)
{
	struct way_back back;

	(void)state;
	assert_int_equal(way_back_find(moves, 3, &topo, "kvm", &back), 0);
	/* where vCPU 1 could run is only known in part: there is no way back for it */
	assert_int_equal(back.n, 2);
	assert_int_equal(back.moves[0].kind, MOVE_MEMORY);
	assert_int_equal(back.moves[0].node, 2); /* where most of it was, by its id */
	assert_int_equal(back.moves[1].kind, MOVE_VCPU);
	assert_string_equal(back.moves[1].cpus, "0-3");
	assert_int_equal(back.births[1], 77);
	assert_non_null(strstr(back.lacks, "on several nodes"));
	way_back_free(&back);
}

static void what_is_saved_is_what_is_loaded(void **state)
{
	struct way_back back, loaded;
	struct err err = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(way_back_find(moves, 3, &topo, "kvm", &back), 0);
	assert_int_equal(way_back_save(&back, &err), 0);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 077, 0);
	assert_int_equal(way_back_load(&loaded, &err), 0);
	assert_int_equal(loaded.n, back.n);
	for (size_t i = 0; i < back.n; i++) {
		assert_int_equal(loaded.moves[i].kind, back.moves[i].kind);
		assert_string_equal(loaded.moves[i].vm_id, back.moves[i].vm_id);
		assert_int_equal(loaded.births[i], back.births[i]);
	}
	assert_string_equal(loaded.moves[1].cpus, "0-3");
	assert_int_equal(way_back_check(&loaded, &topo, "kvm", &err), 0);
	way_back_free(&loaded);
	way_back_free(&back);
	way_back_forget();
	assert_int_equal(way_back_load(&loaded, &err), -ENOENT);
}

static void a_placement_of_another_time_is_refused(void **state)
{
	struct topology other = topo;
	struct vm vm = vms[0];
	struct way_back back;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(way_back_find(moves, 3, &topo, "kvm", &back), 0);
	assert_int_equal(way_back_check(&back, &topo, "xen", &err), -ESTALE);
	strcpy(other.machine.boot_id, "b-2");
	assert_int_equal(way_back_check(&back, &other, "kvm", &err), -ESTALE);
	assert_non_null(strstr(err.text, "started anew"));
	other = topo;
	other.vms = &vm;
	vm.birth++; /* the same number, another process */
	assert_int_equal(way_back_check(&back, &other, "kvm", &err), -ESTALE);
	assert_non_null(strstr(err.text, "VM 10 has ended"));
	way_back_free(&back);
}

static void write_file(const char *text)
{
	FILE *f;
	char folder[128];

	snprintf(folder, sizeof(folder), "%s/vmmprof", home);
	mkdir(folder, 0700);
	unlink(file);
	f = fopen(file, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(file, 0600), 0);
}

static void a_file_with_nonsense_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "", "expected vmmprof-placement 1" },
		{ "vmmprof-placement 2\n", ":1: expected vmmprof-placement 1" },
		{ "vmmprof-placement 1\nrm -rf\n", ":2: rm: expected boot" },
		{ "vmmprof-placement 1\nvcpu 10 77 0\n", ":2: expected vcpu VM" },
		{ "vmmprof-placement 1\nvcpu 10 77 0 x;reboot\n",
		  ":2: x;reboot: expected a" },
		{ "vmmprof-placement 1\nvcpu 10 -1 0 0-3\n", ":2: " },
		{ "vmmprof-placement 1\nmemory 10 77 99999999\n", ":2: " },
		{ "vmmprof-placement 1\nmemory "
		  "0123456789012345678901234567890123456789 77 1\n",
		  "expected the id of a VM" },
		{ "vmmprof-placement 1\nmemory \"\" 77 1\n", ":2: \"\": expected the id" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct way_back back;
		struct err err = { 0 };

		write_file(cases[i].text);
		assert_int_equal(way_back_load(&back, &err), -EINVAL);
		if (!strstr(err.text, cases[i].words))
			fail_msg("case %zu: %s", i, err.text);
	}
}

static void a_file_that_others_may_write_is_not_believed(void **state)
{
	struct way_back back;
	struct err err = { 0 };
	char elsewhere[160];

	(void)state;
	write_file("vmmprof-placement 1\n");
	assert_int_equal(way_back_load(&back, &err), 0);
	way_back_free(&back);
	assert_int_equal(chmod(file, 0620), 0);
	assert_int_equal(way_back_load(&back, &err), -EPERM);
	assert_int_equal(chmod(file, 0600), 0);
	snprintf(elsewhere, sizeof(elsewhere), "%s.other", file);
	assert_int_equal(rename(file, elsewhere), 0);
	assert_int_equal(symlink(elsewhere, file), 0);
	assert_int_equal(way_back_load(&back, &err), -ELOOP);
	unlink(elsewhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_way_back_is_where_everything_was_last_move_first),
		cmocka_unit_test(what_is_saved_is_what_is_loaded),
		cmocka_unit_test(a_placement_of_another_time_is_refused),
		cmocka_unit_test(a_file_with_nonsense_is_refused_with_its_line),
		cmocka_unit_test(a_file_that_others_may_write_is_not_believed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
