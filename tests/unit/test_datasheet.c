/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine is known to do when it is idle, and where that is told. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data.h"
#include "source/datasheet.h"
#include "source/sheet.h"

static void refused(const char *text, const char *words)
{
	struct diag_machine m = { .local_ns = 7, .remote_ns = 8 };
	struct err err = { 0 };

	assert_int_equal(datasheet_parse("mine", text, strlen(text), &m, &err), -EINVAL);
	if (!strstr(err.text, words))
		fail_msg("\"%s\" lacks \"%s\"", err.text, words);
	assert_true(m.local_ns == 7);
}

static void a_sheet_says_what_it_says_and_leaves_the_rest(void **state)
{
	static const char text[] =
		"source \"a paper\" # words\nlocal 90 ns\nremote 145 ns\n"
		"link 21.3 GB/s\nmisses 22\nLLC 16M inclusive\nclock 2.2 GHz\n";
	struct diag_machine m = { .cores = 8, .llc_ns = 5 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(datasheet_parse("mine", text, sizeof(text) - 1, &m, &err), 0);
	assert_true(m.local_ns == 90 && m.remote_ns == 145 && m.link_rate == 21.3e9);
	assert_true(m.lfb == 22 && m.llc_bytes == 16 << 20 && m.core_hz == 2.2e9);
	assert_true(m.inclusive);
	assert_true(m.cores == 8 && m.llc_ns == 5 && m.trackers == 0);
}

static void a_wrong_sheet_is_refused_with_its_line_and_changes_nothing(void **state)
{
	(void)state;
	refused("local 90\n", "mine:1: expected \"local NUMBER ns\"");
	refused("\nlocal 90 us\n", "mine:2: expected \"local NUMBER ns\"");
	refused("memory -3 GB/s\n", "mine:1");
	refused("misses 0\n", "a number of entries");
	refused("LLC 16 M\n", "expected \"LLC BYTES [inclusive]\"");
	refused("latency 90 ns\n", "\"latency\" is no statement of a data sheet");
	refused("local 90 ns\nremote 80 ns\n", "nearer");
}

static int is_whole(void *ctx, const char *name, const char *path)
{
	struct diag_machine m = { 0 };
	struct err err = { 0 };

	(void)path;
	if (datasheet_load(name, &m, &err))
		fail_msg("%s", err.text);
	if (!(m.llc_ns > 0) || m.local_ns <= m.llc_ns || m.remote_ns <= m.local_ns)
		fail_msg("%s: latencies do not grow with the distance", name);
	++*(unsigned *)ctx;
	return 0;
}

static void every_sheet_tells_the_latencies_that_a_diagnosis_needs(void **state)
{
	unsigned n = 0;

	(void)state;
	assert_int_equal(data_each("sheets", is_whole, &n), 0);
	assert_true(n >= 3);
}

/* A host with this CPU and nothing else. */
static struct rootfs host_of(char *dir, const char *cpuinfo)
{
	char path[160];
	struct rootfs root;
	struct err err = { 0 };
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/proc", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(cpuinfo, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(rootfs_open(&root, dir, &err), 0);
	return root;
}

static void forget(struct rootfs *root, const char *dir)
{
	char path[160];

	rootfs_close(root);
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/proc", dir);
	rmdir(path);
	rmdir(dir);
}

static void a_cpu_has_the_sheet_of_its_event_table(void **state)
{
	char dir[] = "/tmp/datasheet.XXXXXX";
	struct rootfs root = host_of(dir, "vendor_id\t: AuthenticAMD\ncpu family\t: 23\n"
					  "model\t\t: 1\nstepping\t: 2\n");
	struct machine machine = { 0 };
	struct diag_machine m;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(sheet_read(&root, &machine, &m, &err), 0);
	assert_string_equal(m.origin, "data sheet of zen1; sizes as the kernel says");
	assert_true(m.local_ns > 0);
	forget(&root, dir);
}

static void a_cpu_without_a_sheet_is_said_to_have_none(void **state)
{
	char dir[] = "/tmp/datasheet.XXXXXX";
	struct rootfs root = host_of(dir, "vendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
					  "model\t\t: 1\nstepping\t: 1\n");
	struct machine machine = { 0 };
	struct diag_machine m;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(sheet_read(&root, &machine, &m, &err), 0);
	assert_string_equal(m.origin, "the kernel; no data sheet for this CPU");
	assert_true(m.local_ns == 0);
	forget(&root, dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sheet_says_what_it_says_and_leaves_the_rest),
		cmocka_unit_test(
			a_wrong_sheet_is_refused_with_its_line_and_changes_nothing),
		cmocka_unit_test(every_sheet_tells_the_latencies_that_a_diagnosis_needs),
		cmocka_unit_test(a_cpu_has_the_sheet_of_its_event_table),
		cmocka_unit_test(a_cpu_without_a_sheet_is_said_to_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
