/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a recording's database. It may be anybody's: every text is cut to its
 * field and cleaned, every file name is checked. */
#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "base/vec.h"
#include "record/recording.h"
#include "record/recording_dir.h"
#include "record/recording_schema.h"

#define VALUE_MAX (1 << 20) /* bytes of one value: hostile ones may be huge */

static void text(sqlite3_stmt *st, int col, char *out, size_t size)
{
	const unsigned char *s = sqlite3_column_text(st, col);

	str_copy(out, size, s ? (const char *)s : "");
	str_clean(out);
}

static int bad_db(sqlite3 *db, const char *path, struct err *err)
{
	return err_set(err, EINVAL, "%s/" RECORDING_DB ": not a readable recording: %s",
		       path, sqlite3_errmsg(db));
}

/* Calls @row for each row of @sql; a row function returns 0 or -errno. */
static int each(sqlite3 *db, const char *path, const char *sql,
		int (*row)(sqlite3_stmt *st, struct recording_info *info, const char *path,
			   struct err *err),
		struct recording_info *info, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int ret = 0, code;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		return bad_db(db, path, err);
	while ((code = sqlite3_step(st)) == SQLITE_ROW && !ret)
		ret = row(st, info, path, err);
	if (!ret && code != SQLITE_DONE)
		ret = bad_db(db, path, err);
	sqlite3_finalize(st);
	return ret;
}

static int meta_row(sqlite3_stmt *st, struct recording_info *info, const char *path,
		    struct err *err)
{
	struct machine *m = &info->machine;
	const struct {
		const char *key;
		char *text;
		size_t size;
		uint64_t *u64;
		int *number;
	} fields[] = {
		{ "cmdline", info->cmdline, sizeof(info->cmdline) },
		{ "arch", m->arch, sizeof(m->arch) },
		{ "release", m->release, sizeof(m->release) },
		{ "hostname", m->hostname, sizeof(m->hostname) },
		{ "boot_id", m->boot_id, sizeof(m->boot_id) },
		{ "cpu_model", m->cpu_model, sizeof(m->cpu_model) },
		{ "ended", info->ended, sizeof(info->ended) },
		{ "start_wall_ns", .u64 = &info->start_wall_ns },
		{ "start_ns", .u64 = &info->start_ns },
		{ "end_ns", .u64 = &info->end_ns },
		{ "ncpus", .number = &m->ncpus },
		{ "threads_per_core", .number = &m->threads_per_core },
	};
	char key[32];

	(void)path;
	(void)err;
	text(st, 0, key, sizeof(key));
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strcmp(key, fields[i].key))
			continue;
		if (fields[i].text)
			text(st, 1, fields[i].text, fields[i].size);
		else if (fields[i].u64)
			*fields[i].u64 = sqlite3_column_int64(st, 1);
		else
			*fields[i].number = sqlite3_column_int(st, 1);
	}
	return 0;
}

/* A name inside the directory: no path, nothing hidden, not cut. */
static bool file_name_ok(sqlite3_stmt *st, int col, size_t size)
{
	const char *s = (const char *)sqlite3_column_text(st, col);

	return s && *s && *s != '.' && strlen(s) < size && !strchr(s, '/') &&
	       strlen(s) == (size_t)sqlite3_column_bytes(st, col);
}

static int bad_file(const char *path, struct err *err)
{
	return err_set(err, EINVAL,
		       "%s/" RECORDING_DB ": names a file outside the recording: "
		       "the recording is damaged or was tampered with",
		       path);
}

static int lane_row(sqlite3_stmt *st, struct recording_info *info, const char *path,
		    struct err *err)
{
	struct recording_lane lane = { .id = sqlite3_column_int64(st, 0) };
	char accel[16];
	size_t cap = info->nlanes; /* grows by one: there are few */

	if (!file_name_ok(st, 4, sizeof(lane.file)))
		return bad_file(path, err);
	text(st, 1, lane.vm_id, sizeof(lane.vm_id));
	text(st, 2, lane.vm_name, sizeof(lane.vm_name));
	lane.inside = sqlite3_column_int(st, 3);
	str_copy(lane.file, sizeof(lane.file), (const char *)sqlite3_column_text(st, 4));
	lane.samples = sqlite3_column_int64(st, 5);
	lane.lost = sqlite3_column_int64(st, 6);
	lane.throttled = sqlite3_column_int64(st, 7);
	text(st, 8, accel, sizeof(accel));
	lane.pid = sqlite3_column_int(st, 9);
	lane.process = !strcmp(accel, vm_accel_name(ACCEL_NONE));
	lane.hypervisor = !strcmp(accel, vm_accel_name(ACCEL_HYPERVISOR));
	if (VEC_PUSH(info->lanes, info->nlanes, cap, lane))
		return err_set(err, ENOMEM, "out of memory");
	return 0;
}

static int symbols_row(sqlite3_stmt *st, struct recording_info *info, const char *path,
		       struct err *err)
{
	struct recording_symbols symbols = { .lane = sqlite3_column_int64(st, 0) };
	size_t cap = info->nsymbols;

	if (!file_name_ok(st, 1, sizeof(symbols.file)))
		return bad_file(path, err);
	str_copy(symbols.file, sizeof(symbols.file),
		 (const char *)sqlite3_column_text(st, 1));
	if (VEC_PUSH(info->symbols, info->nsymbols, cap, symbols))
		return err_set(err, ENOMEM, "out of memory");
	return 0;
}

static enum note_kind note_kind(const char *name)
{
	for (enum note_kind k = NOTE_VM_APPEARED; k < NOTE_INFO; k++)
		if (!strcmp(name, note_kind_name(k)))
			return k;
	return NOTE_INFO;
}

static int note_row(sqlite3_stmt *st, struct recording_info *info, const char *path,
		    struct err *err)
{
	struct note note = { .time_ns = sqlite3_column_int64(st, 0),
			     .count = sqlite3_column_int64(st, 3) };
	size_t cap = info->nnotes;
	char kind[32];

	(void)path;
	text(st, 1, kind, sizeof(kind));
	note.kind = note_kind(kind);
	text(st, 2, note.vm, sizeof(note.vm));
	text(st, 4, note.text, sizeof(note.text));
	if (VEC_PUSH(info->notes, info->nnotes, cap, note))
		return err_set(err, ENOMEM, "out of memory");
	return 0;
}

/*
 * Reading only: with rights to write, SQLite would act on whatever journals lie
 * beside the file, and those of a hostile recording name files to delete.
 */
static int open_db(const char *path, sqlite3 **db, struct err *err)
{
	char db_path[PATH_MAX];

	snprintf(db_path, sizeof(db_path), "%s/" RECORDING_DB, path);
	if (access(db_path, R_OK) && errno == EACCES)
		return err_set(
			err, EACCES,
			"%s: cannot read: %s; a recording is its owner's: run as who "
			"made it, or give it away with chown -R",
			db_path, err_name(EACCES));
	if (!recording_dir_is_ours(path))
		return err_set(
			err, EINVAL,
			"%s: not a recording of vmmprof (a directory with a " RECORDING_DB
			" of its own): make one with vmmprof record",
			path);
	if (sqlite3_open_v2(db_path, db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		return bad_db(*db, path, err);
	sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_busy_timeout(*db, 2000);
	if (sqlite3_exec(*db, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;", NULL,
			 NULL, NULL) != SQLITE_OK)
		return bad_db(*db, path, err);
	return 0;
}

static int format_row(sqlite3_stmt *st, struct recording_info *info, const char *path,
		      struct err *err)
{
	int format = sqlite3_column_int(st, 0);

	(void)info;
	if (format == RECORDING_FORMAT)
		return 0;
	return err_set(err, EINVAL,
		       "%s/" RECORDING_DB
		       ": format %d, made by another version of vmmprof; "
		       "this one reads format %d",
		       path, format, RECORDING_FORMAT);
}

/* What is no plain table may compute without end when it is read. */
static int foreign_row(sqlite3_stmt *st, struct recording_info *info, const char *path,
		       struct err *err)
{
	char name[64];

	(void)info;
	text(st, 0, name, sizeof(name));
	return err_set(err, EINVAL,
		       "%s/" RECORDING_DB ": %s is not a plain table: the recording is "
		       "damaged or was tampered with",
		       path, name);
}

int recording_load(const char *path, struct recording_info *info, struct err *err)
{
	sqlite3 *db = NULL;
	int ret;

	*info = (struct recording_info) { 0 };
	ret = open_db(path, &db, err);
	if (!ret)
		ret = each(db, path, "PRAGMA user_version", format_row, info, err);
	if (!ret)
		ret = each(db, path,
			   "SELECT name FROM sqlite_master WHERE type<>'table' AND"
			   " type<>'index' OR rootpage<1",
			   foreign_row, info, err);
	if (!ret)
		ret = each(db, path, "SELECT key,value FROM meta", meta_row, info, err);
	if (!ret)
		ret = each(db, path,
			   "SELECT id,vm_id,vm_name,inside,file,samples,lost,throttled,"
			   "accel,pid"
			   " FROM lane ORDER BY id",
			   lane_row, info, err);
	if (!ret)
		ret = each(db, path, "SELECT lane,file FROM symbols ORDER BY rowid",
			   symbols_row, info, err);
	if (!ret)
		ret = each(db, path,
			   "SELECT time_ns,kind,vm,count,text FROM note ORDER BY "
			   "time_ns,rowid",
			   note_row, info, err);
	sqlite3_close(db);
	if (ret)
		recording_info_free(info);
	return ret;
}

void recording_info_free(struct recording_info *info)
{
	free(info->lanes);
	free(info->symbols);
	free(info->notes);
	*info = (struct recording_info) { 0 };
}
