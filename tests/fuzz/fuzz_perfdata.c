/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A perf.data file from memory: opened, walked, and made into a profile. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "record/perfdata.h"
#include "record/profile.h"
#include "record/thread_names.h"

struct run {
	struct perfdata_reader *reader;
	struct profile *profile;
	struct thread_names names;
	struct maps maps; /* no file is opened */
	uint64_t samples;
	unsigned lost_calls;
};

static bool on_sample(void *ctx, const struct sample *s)
{
	struct run *run = ctx;

	if (s->event >= perfdata_nevents(run->reader) || s->mode > MODE_GUEST_USER)
		abort();
	run->samples++;
	return profile_add(run->profile, s);
}

static bool on_comm(void *ctx, pid_t pid, pid_t tid, const char *name)
{
	struct run *run = ctx;

	(void)pid;
	return thread_names_set(&run->names, tid, name) &&
	       thread_names_find(&run->names, tid);
}

static bool on_mmap(void *ctx, pid_t pid, uint64_t addr, uint64_t len, uint64_t offset,
		    const char *path)
{
	struct run *run = ctx;

	(void)pid;
	return maps_add(&run->maps, addr, len, offset, path);
}

static bool on_lost(void *ctx, uint64_t count)
{
	struct run *run = ctx;

	if (!count || run->lost_calls++)
		abort();
	return true;
}

static bool on_throttle(void *ctx, uint64_t time_ns)
{
	(void)ctx;
	(void)time_ns;
	return true;
}

static void must_say_why(const struct err *err)
{
	if (err->code >= 0 || !*err->text)
		abort();
}

static void check_rows(struct run *run)
{
	struct profile_row *rows;
	uint64_t sum = 0;
	size_t n;

	if (profile_rows(run->profile, NULL, &run->maps, &rows, &n))
		return;
	for (size_t i = 0; i < n; i++)
		sum += rows[i].weight.samples;
	if (sum != run->samples)
		abort();
	free(rows);
}

static void walk(struct run *run, size_t size)
{
	static const struct perfdata_visitor visitor = {
		.sample = on_sample,
		.comm = on_comm,
		.mmap = on_mmap,
		.lost = on_lost,
		.throttle = on_throttle,
	};
	struct err err = { 0 };
	uint64_t truncated = 0;

	for (size_t i = 0; i < perfdata_nevents(run->reader); i++)
		if (!*perfdata_event_name(run->reader, i) || !perfdata_attr(run->reader, i))
			abort();
	if (perfdata_walk(run->reader, &visitor, run, &truncated, &err))
		must_say_why(&err);
	if (run->samples > size)
		abort();
	check_rows(run);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run run = { 0 };
	struct err err = { 0 };

	if (perfdata_open_memory(data, size, &run.reader, &err)) {
		must_say_why(&err);
		return 0;
	}
	if (!profile_new(PROFILE_BY_ADDRESS | PROFILE_BY_THREAD | PROFILE_BY_MODE,
			 perfdata_nevents(run.reader), &run.profile))
		walk(&run, size);
	profile_free(run.profile);
	thread_names_free(&run.names);
	maps_free(&run.maps);
	perfdata_close(run.reader);
	return 0;
}
