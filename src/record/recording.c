/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing a recording. The database is in WAL mode while it grows: a killed
 * recorder leaves every committed second, and others may read along; at the end
 * it becomes one plain file again. synchronous=OFF: kill -9 loses nothing by it,
 * a power cut may.
 */
#include "record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/vec.h"
#include "record/recording_dir.h"
#include "record/recording_schema.h"

/* Space held back for finishing on a full disk: database pages, then the
 * features of each lane's file. */
#define RESERVE_BASE (128 * 1024)
#define RESERVE_LANE (16 * 1024)

enum statement {
	ADD_META,
	ADD_NODE,
	ADD_LANE,
	ADD_EVENT,
	ADD_VCPU,
	ADD_SERIES,
	ADD_NOTE,
	SET_TOTALS,
	ADD_SYMBOLS,
	NSTATEMENTS,
};

static const char *const statements[NSTATEMENTS] = {
	[ADD_META] = "INSERT INTO meta VALUES(?,?)",
	[ADD_NODE] = "INSERT INTO node VALUES(?,?,?)",
	[ADD_LANE] = ("INSERT INTO lane(id,vm_id,vm_name,vmm,pid,accel,inside,file)"
		      " VALUES(?,?,?,?,?,?,?,?)"),
	[ADD_EVENT] = "INSERT INTO event VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
	[ADD_VCPU] = "INSERT INTO vcpu VALUES(?,?,?,?,?,?)",
	[ADD_SERIES] = "INSERT OR REPLACE INTO series VALUES(?,?,?,?,?,?,?,?,?)",
	[ADD_NOTE] = "INSERT INTO note VALUES(?,?,?,?,?)",
	[SET_TOTALS] = "UPDATE lane SET samples=?,lost=?,throttled=? WHERE id=?",
	[ADD_SYMBOLS] = "INSERT INTO symbols VALUES(?,?)",
};

struct recording {
	char *path;
	int dirfd;
	sqlite3 *db;
	sqlite3_stmt *stmt[NSTATEMENTS];
	struct machine machine; /* without nodes */
	char *cmdline;
	int64_t nlanes;
	bool released;
};

static int db_fail(struct recording *rec, int code, struct err *err)
{
	int sys = sqlite3_system_errno(rec->db);
	int ret = (code & 0xff) == SQLITE_FULL || sys == ENOSPC ? -ENOSPC
		  : (code & 0xff) == SQLITE_NOMEM		? -ENOMEM
								: -EIO;

	return err_set(err, ret, "%s/" RECORDING_DB ": cannot write: %s", rec->path,
		       ret == -ENOSPC ? err_name(ret) : sqlite3_errmsg(rec->db));
}

static int exec(struct recording *rec, const char *sql, struct err *err)
{
	int code = sqlite3_exec(rec->db, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? 0 : db_fail(rec, code, err);
}

/* A transaction is open from the first change until recording_commit(). */
static int begin(struct recording *rec, struct err *err)
{
	return sqlite3_get_autocommit(rec->db) ? exec(rec, "BEGIN", err) : 0;
}

/* Runs a statement; @types tells the values: i int64_t, s const char *, f double. */
static int run(struct recording *rec, enum statement which, struct err *err,
	       const char *types, ...)
{
	sqlite3_stmt *st = rec->stmt[which];
	int code, ret = begin(rec, err);
	va_list ap;

	if (ret)
		return ret;
	va_start(ap, types);
	for (int i = 1; types[i - 1]; i++) {
		switch (types[i - 1]) {
		case 'i': sqlite3_bind_int64(st, i, va_arg(ap, int64_t)); break;
		case 'f': sqlite3_bind_double(st, i, va_arg(ap, double)); break;
		case 's':
			sqlite3_bind_text(st, i, va_arg(ap, const char *), -1,
					  SQLITE_TRANSIENT);
			break;
		}
	}
	va_end(ap);
	code = sqlite3_step(st);
	sqlite3_reset(st);
	return code == SQLITE_DONE ? 0 : db_fail(rec, code, err);
}

static int open_db(struct recording *rec, struct err *err)
{
	char path[PATH_MAX], pragmas[160];
	int code, fd;

	if (snprintf(path, sizeof(path), "%s/" RECORDING_DB, rec->path) >=
	    (int)sizeof(path))
		return err_set(err, ENAMETOOLONG, "%s: the name is too long", rec->path);
	/* an empty file is an empty database; SQLite's other files take its mode */
	fd = openat(rec->dirfd, RECORDING_DB, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return err_set(err, errno, "%s: cannot create: %s", path, err_name(errno));
	close(fd);
	code = sqlite3_open_v2(path, &rec->db, SQLITE_OPEN_READWRITE, NULL);
	if (code != SQLITE_OK)
		return err_set(err, EIO, "%s: cannot create: %s", path,
			       sqlite3_errmsg(rec->db));
	snprintf(pragmas, sizeof(pragmas),
		 "PRAGMA synchronous=OFF; PRAGMA application_id=%d;"
		 "PRAGMA user_version=%d; BEGIN;",
		 RECORDING_APPLICATION_ID, RECORDING_FORMAT);
	if (exec(rec, pragmas, err) || exec(rec, recording_schema, err) ||
	    exec(rec, "COMMIT; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=64;",
		 err))
		return err->code;
	for (int i = 0; i < NSTATEMENTS; i++) {
		code = sqlite3_prepare_v3(rec->db, statements[i], -1,
					  SQLITE_PREPARE_PERSISTENT, &rec->stmt[i], NULL);
		if (code != SQLITE_OK)
			return db_fail(rec, code, err);
	}
	return 0;
}

static void close_db(struct recording *rec)
{
	for (int i = 0; i < NSTATEMENTS; i++) {
		sqlite3_finalize(rec->stmt[i]);
		rec->stmt[i] = NULL;
	}
	sqlite3_close(rec->db);
	rec->db = NULL;
}

static int meta_int(struct recording *rec, const char *key, int64_t value, struct err *err)
{
	return run(rec, ADD_META, err, "si", key, value);
}

static int meta_str(struct recording *rec, const char *key, const char *s, struct err *err)
{
	return run(rec, ADD_META, err, "ss", key, s);
}

static int put_machine(struct recording *rec, const struct machine *m, struct err *err)
{
	if (meta_str(rec, "cmdline", rec->cmdline, err) ||
	    meta_str(rec, "arch", m->arch, err) ||
	    meta_str(rec, "release", m->release, err) ||
	    meta_str(rec, "hostname", m->hostname, err) ||
	    meta_str(rec, "boot_id", m->boot_id, err) ||
	    meta_str(rec, "cpu_model", m->cpu_model, err) ||
	    meta_int(rec, "ncpus", m->ncpus, err) ||
	    meta_int(rec, "threads_per_core", m->threads_per_core, err) ||
	    meta_int(rec, "start_wall_ns", clock_wall_ns(), err) ||
	    meta_int(rec, "start_ns", clock_now_ns(), err))
		return err->code;
	for (size_t i = 0; i < m->nnodes; i++)
		if (run(rec, ADD_NODE, err, "isi", (int64_t)m->nodes[i].id,
			m->nodes[i].cpus, (int64_t)m->nodes[i].mem_bytes))
			return err->code;
	return recording_commit(rec, err);
}

static void recording_free(struct recording *rec)
{
	close_db(rec);
	if (rec->dirfd >= 0)
		close(rec->dirfd);
	free(rec->cmdline);
	free(rec->path);
	free(rec);
}

int recording_create(const char *path, const struct machine *machine, const char *cmdline,
		     struct recording **out, struct err *err)
{
	struct recording *rec = calloc(1, sizeof(*rec));
	struct err local = { 0 };
	int ret;

	if (!rec)
		return err_set(err, ENOMEM, "out of memory");
	if (!err)
		err = &local;
	rec->dirfd = -1;
	rec->path = strdup(path);
	rec->cmdline = strdup(cmdline);
	rec->machine = *machine;
	rec->machine.nodes = NULL;
	rec->machine.nnodes = 0;
	if (!rec->path || !rec->cmdline) {
		ret = err_set(err, ENOMEM, "out of memory");
		goto out;
	}
	ret = recording_dir_create(path, err);
	if (ret)
		goto out;
	rec->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (rec->dirfd < 0) {
		ret = err_set(err, errno, "%s: cannot open: %s", path, err_name(errno));
		rmdir(path);
		goto out;
	}
	ret = recording_dir_reserve(rec->dirfd, RESERVE_BASE, err);
	if (!ret)
		ret = open_db(rec, err);
	if (!ret)
		ret = put_machine(rec, machine, err);
	if (ret) {
		close_db(rec);
		recording_dir_remove(path, rec->dirfd);
		rec->dirfd = -1;
	}
out:
	if (ret)
		recording_free(rec);
	else
		*out = rec;
	return ret;
}

static int put_events(struct recording *rec, int64_t lane, const struct event_set *events,
		      const struct perf_event_attr *attrs, struct err *err)
{
	for (size_t i = 0; i < events->n; i++) {
		const struct event *ev = &events->ev[i];
		const struct perf_event_attr *a = &attrs[i];
		int ret =
			run(rec, ADD_EVENT, err, "iisiiiiiisfs", lane, (int64_t)i, ev->name,
			    (int64_t)a->type, (int64_t)a->config, (int64_t)a->config1,
			    (int64_t)a->config2, (int64_t)(a->freq ? 0 : a->sample_period),
			    (int64_t)(a->freq ? a->sample_freq : 0),
			    event_side_name(ev->side), ev->scale, ev->unit);

		if (ret)
			return ret;
	}
	return 0;
}

static int make_file(struct recording *rec, const struct vm *vm, bool inside,
		     const struct event_set *events, const struct perf_event_attr *attrs,
		     const char *file, struct perfdata_writer **writer, struct err *err)
{
	const char **names = calloc(events->n + 1, sizeof(*names));
	struct machine machine = rec->machine;
	struct perfdata_config config = {
		.attrs = attrs,
		.names = names,
		.nevents = events->n,
		.machine = &machine,
		.hostname = vm->name,
		.cmdline = rec->cmdline,
	};
	char path[PATH_MAX];
	int ret;

	if (!names)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < events->n; i++)
		names[i] = events->ev[i].name;
	/* the guest's kernel is not the host's; a process runs on the host's */
	if (inside && vm->accel != ACCEL_NONE)
		machine.release[0] = '\0';
	snprintf(path, sizeof(path), "%s/%s", rec->path, file);
	ret = perfdata_create(path, &config, writer, err);
	free(names);
	return ret;
}

int recording_lane(struct recording *rec, const struct vm *vm, bool inside,
		   const struct event_set *events, const struct perf_event_attr *attrs,
		   int64_t *lane_id, struct perfdata_writer **writer, struct err *err)
{
	char file[256];
	int ret = recording_dir_name(rec->dirfd, vm->name,
				     inside ? ".perf.data" : ".host.perf.data", file,
				     sizeof(file));

	if (ret)
		return err_set(err, ret, "%s: no file name left for VM %s", rec->path,
			       vm->name);
	if (!rec->released) {
		ret = recording_dir_reserve(
			rec->dirfd, RESERVE_BASE + (rec->nlanes + 1) * RESERVE_LANE, err);
		if (ret)
			return ret;
	}
	ret = make_file(rec, vm, inside, events, attrs, file, writer, err);
	if (ret)
		return ret;
	*lane_id = ++rec->nlanes;
	ret = run(rec, ADD_LANE, err, "isssisis", *lane_id, vm->id, vm->name, vm->vmm,
		  (int64_t)vm->pid, vm_accel_name(vm->accel), (int64_t)inside, file);
	if (!ret)
		ret = put_events(rec, *lane_id, events, attrs, err);
	if (!ret)
		ret = recording_commit(rec, err); /* the file must not be an orphan */
	if (ret)
		perfdata_finish(*writer, NULL);
	return ret;
}

int recording_vcpu(struct recording *rec, int64_t lane_id, const struct vm *vm,
		   const struct vcpu *vcpu, struct err *err)
{
	(void)vm;
	return run(rec, ADD_VCPU, err, "iiissi", lane_id, (int64_t)vcpu->index,
		   (int64_t)vcpu_key(vcpu), vcpu_found_name(vcpu->found), vcpu->comm,
		   (int64_t)clock_now_ns());
}

int recording_series(struct recording *rec, int64_t lane_id, uint64_t time_ns, int vcpu,
		     const struct reading *readings, const uint64_t *lost, size_t n,
		     struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct reading *r = &readings[i];
		int ret = run(rec, ADD_SERIES, err, "iiiiiiisi", lane_id, (int64_t)time_ns,
			      (int64_t)vcpu, (int64_t)i, (int64_t)r->raw,
			      (int64_t)r->enabled_ns, (int64_t)r->running_ns,
			      reading_state_name(r->state), (int64_t)lost[i]);

		if (ret)
			return ret;
	}
	return 0;
}

int recording_lane_totals(struct recording *rec, int64_t lane_id, uint64_t samples,
			  uint64_t lost, uint64_t throttled, struct err *err)
{
	return run(rec, SET_TOTALS, err, "iiii", (int64_t)samples, (int64_t)lost,
		   (int64_t)throttled, lane_id);
}

int recording_symbols(struct recording *rec, int64_t lane_id, const struct vm *vm,
		      const char *path, struct err *err)
{
	char file[256];
	int ret = recording_dir_name(rec->dirfd, vm->name, ".symbols", file, sizeof(file));

	if (ret)
		return err_set(err, ret, "%s: no file name left", rec->path);
	ret = recording_dir_copy(rec->dirfd, file, path, err);
	return ret ? ret : run(rec, ADD_SYMBOLS, err, "is", lane_id, file);
}

int recording_note(struct recording *rec, const struct note *note, struct err *err)
{
	return run(rec, ADD_NOTE, err, "issis", (int64_t)note->time_ns,
		   note_kind_name(note->kind), note->vm, (int64_t)note->count, note->text);
}

int recording_commit(struct recording *rec, struct err *err)
{
	return sqlite3_get_autocommit(rec->db) ? 0 : exec(rec, "COMMIT", err);
}

void recording_release_reserve(struct recording *rec)
{
	recording_dir_release(rec->dirfd);
	rec->released = true;
}

int recording_finish(struct recording *rec, const char *how, struct err *err)
{
	int ret;

	recording_release_reserve(rec);
	ret = recording_commit(rec, err);
	if (!ret)
		ret = meta_int(rec, "end_ns", clock_now_ns(), err);
	if (!ret)
		ret = meta_str(rec, "ended", how, err);
	if (!ret)
		ret = recording_commit(rec, err);
	/* One file, without WAL, where there is room; as it is, it can be read too. A
	 * journal on disk, left by a kill just now, would make it unreadable. */
	sqlite3_exec(rec->db, "PRAGMA journal_mode=MEMORY", NULL, NULL, NULL);
	recording_free(rec);
	return ret;
}
