/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small recordings for the golden cases of report, always the same.
 *   make_recordings NAME DIR      NAME is a row of the table at the end
 */
#include <err.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "record/recording.h"

#define START UINT64_C(10000000000)
#define KERNEL UINT64_C(0xffffffff81000000)

static struct err error;

#define MUST(call)                                                                         \
	do {                                                                               \
		if (call)                                                                  \
			errx(1, "%s: %s", #call, error.text);                              \
	} while (0)

static const struct machine machine = {
	.arch = "x86_64",
	.release = "6.1.0",
	.hostname = "host",
	.ncpus = 4,
};
static struct vm web = { .id = "1000", .name = "web", .vmm = "qemu", .pid = 1000 };
static struct vm db = { .id = "2000", .name = "db", .vmm = "qemu", .pid = 2000 };

#define SAMPLE_TYPE                                                                        \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |    \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

static const struct perf_event_attr both[] = {
	{
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(both[0]),
		.sample_type = SAMPLE_TYPE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 100000,
	},
	{
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(both[0]),
		.sample_type = SAMPLE_TYPE,
		.config = PERF_COUNT_HW_CACHE_MISSES,
		.sample_freq = 4000,
		.freq = 1,
	},
};
static const struct perf_event_attr *const cycles = &both[0];
static const struct perf_event_attr *const misses = &both[1];

static void samples(struct perfdata_writer *w, uint64_t id, uint16_t mode, uint64_t ip,
		    uint32_t tid, uint64_t from_ms, unsigned n, uint64_t period)
{
	for (unsigned i = 0; i < n; i++) {
		const struct {
			struct perf_event_header h;
			uint64_t id, ip;
			uint32_t pid, tid;
			uint64_t time, cpu, period;
		} s = {
			{ PERF_RECORD_SAMPLE, mode, sizeof(s) },
			id,
			ip + 4 * (i & 1),
			tid / 1000 * 1000,
			tid,
			START + (from_ms + 10 * i) * 1000000,
			1,
			period,
		};
		const struct iovec span = { (void *)&s, sizeof(s) };

		MUST(perfdata_append(w, &span, 1, &error));
	}
}

static struct perfdata_writer *lane(struct recording *rec, const struct vm *vm, bool inside,
				    const struct perf_event_attr *attrs, size_t n,
				    int64_t *id)
{
	static struct event events[] = {
		{ .name = "cycles", .group = -1, .scale = 1 },
		{ .name = "cache-misses", .group = -1, .scale = 1 },
	};
	const struct event_set set = {
		n == 2 || attrs->config == cycles->config ? events : events + 1, n, n
	};
	struct perfdata_writer *w;

	MUST(recording_lane(rec, vm, inside, &set, attrs, id, &w, &error));
	return w;
}

static void vcpu(struct perfdata_writer *w, const struct vm *vm, int i, const uint64_t *ids)
{
	char name[100];

	snprintf(name, sizeof(name), "%s/vcpu%d", vm->name, i);
	MUST(perfdata_add_ids(w, ids, &error));
	MUST(perfdata_comm(w, vm->pid, vm->pid + 1 + i, name, &error));
}

static void copy_symbols(struct recording *rec, int64_t lane, const char *dir,
			 const char *text)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s.kallsyms", dir);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		err(1, "%s", path);
	MUST(recording_symbols(rec, lane, &web, path, &error));
	unlink(path);
}

/* web: cycles, inside, two vCPUs, with symbols of its kernel and a program; db: cache
 * misses by frequency, with losses, no symbols; and the host's side of web. */
static void two_vms(struct recording *rec, const char *dir)
{
	const uint64_t first[] = { 1 }, second[] = { 2 };
	struct perfdata_writer *w;
	int64_t id;

	w = lane(rec, &web, true, cycles, 1, &id);
	vcpu(w, &web, 0, first);
	vcpu(w, &web, 1, second);
	samples(w, 1, PERF_RECORD_MISC_KERNEL, KERNEL + 0x100, 1001, 0, 50, 100000);
	samples(w, 2, PERF_RECORD_MISC_KERNEL, KERNEL + 0x200, 1002, 200, 25, 100000);
	samples(w, 2, PERF_RECORD_MISC_KERNEL, UINT64_C(0xffffffffc0000010), 1002, 900, 10,
		100000);
	samples(w, 1, PERF_RECORD_MISC_USER, 0x401000, 1001, 1000, 15, 100000);
	MUST(perfdata_finish(w, &error));
	copy_symbols(rec, id, dir,
		     "ffffffff81000100 T do_idle\nffffffff81000200 t memcpy;erms\n"
		     "ffffffff81000300 T end\n"
		     "ffffffffc0000000 t virtnet_poll\t[virtio_net]\n");
	copy_symbols(rec, id, dir, "401000 t hash_rows\n402000 t parse_json\n");

	w = lane(rec, &db, true, misses, 1, &id);
	vcpu(w, &db, 0, first);
	samples(w, 1, PERF_RECORD_MISC_USER, 0x7f0000001000, 2001, 0, 3, 5000);
	samples(w, 1, PERF_RECORD_MISC_USER, 0x7f0000002000, 2001, 50, 1, 85000);
	MUST(recording_lane_totals(rec, id, 4, 12, 3, &error));
	MUST(perfdata_finish(w, &error));

	w = lane(rec, &web, false, both, 2, &id);
	vcpu(w, &web, 0, (const uint64_t[]) { 1, 2 });
	MUST(perfdata_mmap(w, false, web.pid, web.pid, 0x560000000000, 0x10000, 0,
			   "/nonexistent/qemu-system-x86_64", &error));
	MUST(perfdata_mmap(w, false, db.pid, db.pid, 0x560000000000, 0x10000, 0,
			   "/nonexistent/another-process", &error));
	samples(w, 1, PERF_RECORD_MISC_KERNEL, KERNEL + 0x9000, 1001, 0, 4, 100000);
	samples(w, 2, PERF_RECORD_MISC_USER, 0x560000001000, 1001, 0, 2, 100000);
	MUST(perfdata_finish(w, &error));
}

static void silent(struct recording *rec, const char *dir)
{
	const struct note notes[] = {
		{ START, NOTE_VM_APPEARED, "web", 0, "web appeared" },
		{ START + 1, NOTE_PROBLEM, "web", 0,
		  "cycles:G counts nothing: the host hides its counters from itself while "
		  "a "
		  "guest runs (mediated vPMU)" },
		{ START + 2, NOTE_VM_GONE, "web", 0, "web ended" },
	};
	const uint64_t ids[] = { 1 };
	struct perfdata_writer *w;
	int64_t id;

	(void)dir;
	w = lane(rec, &web, true, cycles, 1, &id);
	vcpu(w, &web, 0, ids);
	MUST(perfdata_finish(w, &error));
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		MUST(recording_note(rec, &notes[i], &error));
}

/* The recorder dies between two rounds. */
static void killed(struct recording *rec, const char *dir)
{
	const uint64_t ids[] = { 1 };
	struct perfdata_writer *w;
	int64_t id;

	(void)dir;
	w = lane(rec, &web, true, cycles, 1, &id);
	vcpu(w, &web, 0, ids);
	samples(w, 1, PERF_RECORD_MISC_USER, 0x401000, 1001, 0, 2, 100000);
	MUST(perfdata_round(w, &error));
	samples(w, 1, PERF_RECORD_MISC_USER, 0x402000, 1001, 0, 2, 100000);
	MUST(recording_commit(rec, &error));
	_exit(0);
}

/* Two records, then one that says it is a sample and is too short. */
static void damaged(struct recording *rec, const char *dir)
{
	static const struct perf_event_header bad = { PERF_RECORD_SAMPLE, 0, sizeof(bad) };
	const struct iovec span = { (void *)&bad, sizeof(bad) };
	const uint64_t ids[] = { 1 };
	struct perfdata_writer *w;
	int64_t id;

	(void)dir;
	w = lane(rec, &web, true, cycles, 1, &id);
	vcpu(w, &web, 0, ids);
	samples(w, 1, PERF_RECORD_MISC_USER, 0x401000, 1001, 0, 2, 100000);
	MUST(perfdata_append(w, &span, 1, &error));
	MUST(perfdata_finish(w, &error));
}

/* Events that were asked for with their own rate, and other terms. */
static void rates(struct recording *rec, const char *dir)
{
	static struct event events[] = {
		{ .name = "cycles/period=100000/u", .group = -1, .scale = 1 },
		{ .name = "cpu/event=0x3c,period=100000,umask=1/",
		  .group = -1,
		  .scale = 1 },
	};
	const struct perf_event_attr attrs[] = { *cycles, *cycles };
	const struct event_set set = { events, 2, 2 };
	const uint64_t ids[] = { 1, 2 };
	struct perfdata_writer *w;
	int64_t id;

	(void)dir;
	MUST(recording_lane(rec, &web, true, &set, attrs, &id, &w, &error));
	vcpu(w, &web, 0, ids);
	for (int i = 1; i <= 2; i++)
		samples(w, i, PERF_RECORD_MISC_USER, 0x401000, 1001, 0, i, 100000);
	MUST(perfdata_finish(w, &error));
}

/* A domain, and Xen itself. */
static void xen(struct recording *rec, const char *dir)
{
	const struct vm domain = { .id = "dom1", .name = "dom1", .accel = ACCEL_XEN };
	const struct vm itself = { .id = "xen", .name = "xen", .accel = ACCEL_HYPERVISOR };
	const uint64_t ids[] = { 1 };
	struct perfdata_writer *w;
	int64_t id;

	(void)dir;
	w = lane(rec, &domain, true, cycles, 1, &id);
	MUST(perfdata_add_ids(w, ids, &error));
	MUST(perfdata_comm(w, 1, 1, "dom1/vcpu0", &error));
	samples(w, 1, PERF_RECORD_MISC_USER, 0x401000, 1, 0, 3, 100000);
	samples(w, 1, PERF_RECORD_MISC_KERNEL, KERNEL, 1, 50, 1, 100000);
	MUST(perfdata_finish(w, &error));
	w = lane(rec, &itself, true, cycles, 1, &id);
	MUST(perfdata_add_ids(w, ids, &error));
	MUST(perfdata_comm(w, 1, 1, "xen/vcpu0", &error));
	samples(w, 1, PERF_RECORD_MISC_HYPERVISOR, 0x200000, 1, 0, 4, 100000);
	MUST(perfdata_finish(w, &error));
}

/* The same moment in every run. */
static void set_times(const char *dir)
{
	char path[4096], sql[256];
	sqlite3 *sql_db;

	snprintf(path, sizeof(path), "%s/recording.db", dir);
	snprintf(sql, sizeof(sql),
		 "UPDATE meta SET value=%llu WHERE key='start_ns';"
		 "UPDATE meta SET value=%llu WHERE key='end_ns'",
		 (unsigned long long)START, (unsigned long long)START + 2000000000);
	if (sqlite3_open(path, &sql_db) || sqlite3_exec(sql_db, sql, NULL, NULL, NULL))
		errx(1, "%s: %s", path, sqlite3_errmsg(sql_db));
	sqlite3_close(sql_db);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(struct recording *rec, const char *dir);
		const char *ended;
	} rows[] = {
		{ "two-vms", two_vms, "normally" }, { "silent", silent, "normally" },
		{ "killed", killed, "" },	    { "damaged", damaged, "disk full" },
		{ "rates", rates, "normally" },	    { "xen", xen, "normally" },
	};
	struct recording *rec;

	for (size_t i = 0; argc == 3 && i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].name, argv[1]))
			continue;
		MUST(recording_create(argv[2], &machine, "vmmprof record", &rec, &error));
		rows[i].make(rec, argv[2]);
		MUST(recording_finish(rec, rows[i].ended, &error));
		set_times(argv[2]);
		return 0;
	}
	errx(2, "usage: make_recordings two-vms|silent|killed|damaged|rates|xen DIR");
}
