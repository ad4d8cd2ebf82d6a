/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/recording.h"
#include "record/recording_dir.h"

static char top[64];

static int make_top(void **state)
{
	(void)state;
	strcpy(top, "/tmp/vmmprof-test-XXXXXX");
	return mkdtemp(top) ? 0 : -1;
}

static int drop_top(void **state)
{
	char cmd[96];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", top);
	return system(cmd);
}

static const char *at(const char *name)
{
	static char path[2][160];
	static int turn;

	turn ^= 1;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", top, name);
	return path[turn];
}

static const struct machine machine = {
	.arch = "x86_64", .release = "6.1.0", .hostname = "host", .ncpus = 2
};
static struct event events[] = {
	{ .name = "cycles", .group = -1, .scale = 1 },
	{ .name = "r1\"x'", .group = -1, .scale = 1 },
};
static const struct event_set set = { events, 2, 2 };
static const struct perf_event_attr attrs[2] = { { .size = sizeof(attrs[0]) },
						 { .size = sizeof(attrs[0]) } };

static struct recording *make(const char *path)
{
	struct recording *rec;
	struct err err = { 0 };

	if (recording_create(path, &machine, "vmmprof record", &rec, &err))
		fail_msg("%s", err.text);
	return rec;
}

static int64_t add_lane(struct recording *rec, const char *id, const char *name,
			bool inside)
{
	struct vm vm = { .pid = 7 };
	struct perfdata_writer *w;
	struct err err = { 0 };
	int64_t lane;

	strcpy(vm.id, id);
	strcpy(vm.name, name);
	if (recording_lane(rec, &vm, inside, &set, attrs, &lane, &w, &err))
		fail_msg("%s", err.text);
	assert_int_equal(perfdata_finish(w, &err), 0);
	return lane;
}

static void what_was_recorded_is_read_back(void **state)
{
	const char *path = at("a");
	struct recording *rec = make(path);
	struct recording_info info;
	struct err err;
	int64_t lane = add_lane(rec, "7", "web", true);
	const struct note note = { .time_ns = 5,
				   .kind = NOTE_LOST,
				   .vm = "web",
				   .count = 12,
				   .text = "12 samples lost" };

	(void)state;
	assert_int_equal(recording_lane_totals(rec, lane, 100, 12, 3, &err), 0);
	assert_int_equal(recording_note(rec, &note, &err), 0);
	assert_int_equal(recording_finish(rec, "normally", &err), 0);
	assert_int_equal(recording_load(path, &info, &err), 0);
	assert_string_equal(info.cmdline, "vmmprof record");
	assert_string_equal(info.machine.arch, "x86_64");
	assert_int_equal(info.machine.ncpus, 2);
	assert_true(info.end_ns >= info.start_ns && info.start_ns > 0);
	assert_string_equal(info.ended, "normally");
	assert_int_equal(info.nlanes, 1);
	assert_string_equal(info.lanes[0].file, "web.perf.data");
	assert_true(info.lanes[0].inside);
	assert_int_equal(info.lanes[0].samples, 100);
	assert_int_equal(info.lanes[0].lost, 12);
	assert_int_equal(info.lanes[0].throttled, 3);
	assert_int_equal(info.nnotes, 1);
	assert_int_equal(info.notes[0].kind, NOTE_LOST);
	assert_int_equal(info.notes[0].count, 12);
	assert_string_equal(info.notes[0].text, "12 samples lost");
	recording_info_free(&info);
}

static void a_finished_recording_is_one_plain_database_and_no_reserve(void **state)
{
	const char *path = at("a");
	struct err err;

	(void)state;
	assert_int_equal(recording_finish(make(path), "normally", &err), 0);
	assert_int_equal(access(at("a/recording.db"), F_OK), 0);
	assert_int_not_equal(access(at("a/recording.db-wal"), F_OK), 0);
	assert_int_not_equal(access(at("a/.reserve"), F_OK), 0);
}

static void a_killed_recording_keeps_all_that_was_committed(void **state)
{
	const struct note kept = { .text = "kept" }, gone = { .text = "gone" };
	struct recording_info info;
	struct err err = { 0 };
	const char *path = at("a");
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		struct recording *rec = make(path);

		add_lane(rec, "7", "web", true);
		recording_note(rec, &kept, &err);
		recording_commit(rec, &err);
		recording_note(rec, &gone, &err);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status));
	if (recording_load(path, &info, &err))
		fail_msg("%s", err.text);
	assert_int_equal(info.end_ns, 0);
	assert_string_equal(info.ended, "");
	assert_int_equal(info.nlanes, 1);
	assert_int_equal(info.nnotes, 1);
	assert_string_equal(info.notes[0].text, "kept");
	recording_info_free(&info);
}

static void an_older_recording_moves_to_old_and_its_predecessor_goes(void **state)
{
	struct recording_info info;
	struct recording *rec;
	struct err err;

	(void)state;
	for (int i = 0; i < 3; i++) {
		rec = make(at("a/"));
		if (i == 1)
			add_lane(rec, "7", "second", true);
		assert_int_equal(recording_finish(rec, "normally", &err), 0);
	}
	assert_int_equal(recording_load(at("a.old"), &info, &err), 0);
	assert_int_equal(info.nlanes, 1);
	recording_info_free(&info);
	assert_int_not_equal(access(at("a.old.old"), F_OK), 0);
}

static void anything_that_is_no_recording_is_left_alone(void **state)
{
	struct recording *rec;
	struct recording_info info;
	struct err err;

	(void)state;
	mkdir(at("d"), 0755);
	fclose(fopen(at("d/thesis.txt"), "w"));
	assert_int_equal(recording_create(at("d"), &machine, "", &rec, &err), -EEXIST);
	assert_non_null(strstr(err.text, "choose another name with -o"));
	assert_int_equal(access(at("d/thesis.txt"), F_OK), 0);
	assert_int_equal(recording_load(at("d"), &info, &err), -EINVAL);
	assert_int_equal(recording_load(at("nowhere"), &info, &err), -EINVAL);
	fclose(fopen(at("file"), "w"));
	assert_int_equal(recording_create(at("file"), &machine, "", &rec, &err), -EEXIST);
}

static void names_of_vms_cannot_leave_the_directory_or_collide(void **state)
{
	struct recording *rec = make(at("a"));
	struct recording_info info;
	struct err err;

	(void)state;
	add_lane(rec, "1", "../../etc/passwd", true);
	add_lane(rec, "2", "..", true);
	add_lane(rec, "3", "a/b", true);
	add_lane(rec, "4", "a\tb", true);
	add_lane(rec, "5", "-rf", false);
	add_lane(rec, "6", "Grün", true);
	assert_int_equal(recording_finish(rec, "normally", &err), 0);
	assert_int_equal(recording_load(at("a"), &info, &err), 0);
	assert_string_equal(info.lanes[0].file, "_._.._etc_passwd.perf.data");
	assert_string_equal(info.lanes[1].file, "_..perf.data");
	assert_string_equal(info.lanes[2].file, "a_b.perf.data");
	assert_string_equal(info.lanes[3].file, "a_b~2.perf.data");
	assert_string_equal(info.lanes[4].file, "_rf.host.perf.data");
	assert_string_equal(info.lanes[5].file, "Grün.perf.data");
	recording_info_free(&info);
}

static void symbols_are_copied_for_a_lane_in_the_order_they_are_given(void **state)
{
	struct vm vm = { .id = "7", .name = "web" };
	struct recording *rec = make(at("a"));
	struct recording_info info;
	struct err err;
	FILE *f = fopen(at("kallsyms"), "w");

	(void)state;
	fputs("ffff800008000000 T _stext\n", f);
	fclose(f);
	add_lane(rec, "7", "web", true);
	add_lane(rec, "7", "web", false);
	assert_int_equal(recording_symbols(rec, 1, &vm, at("kallsyms"), &err), 0);
	assert_int_equal(recording_symbols(rec, 1, &vm, at("kallsyms"), &err), 0);
	assert_int_equal(recording_finish(rec, "normally", &err), 0);
	assert_int_equal(recording_load(at("a"), &info, &err), 0);
	assert_int_equal(info.nsymbols, 2);
	assert_int_equal(info.symbols[0].lane, 1);
	assert_string_equal(info.symbols[0].file, "web.symbols");
	assert_string_equal(info.symbols[1].file, "web~2.symbols");
	recording_info_free(&info);
	assert_int_equal(access(at("a/web~2.symbols"), F_OK), 0);
}

static void tampered(const char *sql)
{
	struct recording_info info;
	struct err err;
	struct recording *rec = make(at("a"));
	sqlite3 *db;

	add_lane(rec, "7", "web", true);
	assert_int_equal(recording_finish(rec, "normally", &err), 0);
	assert_int_equal(sqlite3_open(at("a/recording.db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(recording_load(at("a"), &info, &err), -EINVAL);
	assert_non_null(strstr(err.text, "recording.db"));
	assert_int_equal(info.nlanes, 0);
}

static void a_tampered_database_is_refused(void **state)
{
	(void)state;
	tampered("UPDATE lane SET file='../../etc/shadow'");
	tampered("UPDATE lane SET file=''");
	tampered("UPDATE lane SET file='..'");
	tampered("UPDATE lane SET file=NULL || 'x' || char(0) || 'y' WHERE 0;"
		 "UPDATE lane SET file='x' || char(0) || 'y'");
	tampered("INSERT INTO symbols VALUES(1,'/etc/shadow')");
	tampered("DROP TABLE note");
	tampered("DROP TABLE note; CREATE VIEW note AS WITH RECURSIVE n(x) AS (SELECT 1 "
		 "UNION ALL SELECT x+1 FROM n) SELECT x AS time_ns, 'info' AS kind, '' AS "
		 "vm, 1 AS count, '' AS text FROM n LIMIT 1000");
	tampered("PRAGMA user_version=2");
}

static void finish(struct recording *rec)
{
	assert_int_equal(recording_finish(rec, "normally", NULL), 0);
}

static void a_link_called_old_does_not_lead_to_what_is_deleted(void **state)
{
	struct recording *rec;
	struct err err;

	(void)state;
	finish(make(at("precious")));
	finish(make(at("a")));
	assert_int_equal(symlink(at("precious"), at("a.old")), 0);
	assert_true(recording_create(at("a"), &machine, "", &rec, &err) < 0);
	assert_non_null(strstr(err.text, "-o"));
	assert_true(recording_dir_is_ours(at("precious")));
	assert_true(recording_dir_is_ours(at("a")));
}

static unsigned mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 0777;
}

static void a_recording_is_its_owner_s_alone(void **state)
{
	struct recording *rec = make(at("a"));

	(void)state;
	add_lane(rec, "7", "web", true);
	assert_int_equal(mode_of(at("a")), 0700);
	assert_int_equal(mode_of(at("a/recording.db")), 0600);
	assert_int_equal(mode_of(at("a/recording.db-wal")), 0600);
	assert_int_equal(mode_of(at("a/web.perf.data")), 0600);
	finish(rec);
}

/* A hot journal names a file that SQLite would delete: fileformat.html, section 3. */
static void reading_a_recording_changes_nothing_beside_it(void **state)
{
	struct recording_info info;
	struct stat before, after;
	struct err err;
	char cmd[400];
	struct recording *rec = make(at("a"));

	(void)state;
	add_lane(rec, "7", "web", true);
	snprintf(cmd, sizeof(cmd), "cp -r '%s' '%s'", at("a"), at("killed"));
	assert_int_equal(system(cmd), 0);
	finish(rec);
	assert_int_equal(stat(at("killed/recording.db-wal"), &before), 0);
	assert_int_equal(recording_load(at("killed"), &info, &err), 0);
	assert_int_equal(info.nlanes, 1);
	recording_info_free(&info);
	assert_int_equal(stat(at("killed/recording.db-wal"), &after), 0);
	assert_int_equal(before.st_size, after.st_size);
}

static void what_cannot_be_begun_for_want_of_descriptors_leaves_nothing(void **state)
{
	const char *path = at("few");
	unsigned failures = 0;
	struct recording *rec;
	struct err err;

	(void)state;
	for (int few = 0;; few++) {
		struct rlimit old, limit;
		int lowest = dup(0), ret;

		close(lowest);
		assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
		limit = (struct rlimit) { lowest + few, old.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		ret = recording_create(path, &machine, "vmmprof record", &rec, &err);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
		if (!ret)
			break;
		failures++;
		assert_int_equal(access(path, F_OK), -1);
	}
	assert_in_range(failures, 3, 20);
	assert_int_equal(recording_finish(rec, "normally", &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, make_top, drop_top)
		T(what_was_recorded_is_read_back),
		T(a_finished_recording_is_one_plain_database_and_no_reserve),
		T(a_killed_recording_keeps_all_that_was_committed),
		T(an_older_recording_moves_to_old_and_its_predecessor_goes),
		T(anything_that_is_no_recording_is_left_alone),
		T(names_of_vms_cannot_leave_the_directory_or_collide),
		T(symbols_are_copied_for_a_lane_in_the_order_they_are_given),
		T(a_tampered_database_is_refused),
		T(a_link_called_old_does_not_lead_to_what_is_deleted),
		T(a_recording_is_its_owner_s_alone),
		T(reading_a_recording_changes_nothing_beside_it),
		T(what_cannot_be_begun_for_want_of_descriptors_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
