/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"

#define TIME_SLOTS 40 /* rows of a time table: one screen */

bool report_wants_event(const struct report_section *s, size_t event)
{
	const char *name = perfdata_event_name(s->reader, event), *want = s->opt->event;
	const struct perf_event_attr *attr = perfdata_attr(s->reader, event);
	size_t len;

	/* perf record opens it for the records that come along with it */
	if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY)
		return false;
	if (!want || !strcmp(name, want))
		return true;
	/* "cycles" means "cycles:G" and "cycles/period=1000/" too */
	len = strlen(want);
	return !strncmp(name, want, len) && (name[len] == ':' || name[len] == '/') &&
	       !strpbrk(want, ":/");
}

const char *report_vm_name(const struct report_section *s)
{
	const char *slash = strrchr(s->path, '/');

	return s->lane ? s->lane->vm_name : slash ? slash + 1 : s->path;
}

const char *report_view_name(const struct report_section *s)
{
	return !s->lane		  ? "file"
	       : s->lane->process ? "process"
	       : s->lane->inside  ? "inside"
				  : "host";
}

bool report_of_host(const struct report_section *s)
{
	return s->lane && (s->lane->process || !s->lane->inside);
}

const char *report_symbols_key(const struct report_section *s)
{
	return s->lane && s->lane->inside ? s->lane->vm_name : report_view_name(s);
}

static bool on_sample(void *ctx, const struct sample *sample)
{
	struct report_section *s = ctx;

	s->out_of_memory = !profile_add(s->profile, sample);
	return !s->out_of_memory;
}

static bool on_comm(void *ctx, pid_t pid, pid_t tid, const char *name)
{
	struct report_section *s = ctx;

	(void)pid;
	s->out_of_memory = !thread_names_set(&s->names, tid, name);
	return !s->out_of_memory;
}

static bool on_mmap(void *ctx, pid_t pid, uint64_t addr, uint64_t len, uint64_t offset,
		    const char *path)
{
	struct report_section *s = ctx;

	s->out_of_memory =
		pid == s->lane->pid && !maps_add(&s->maps, addr, len, offset, path);
	return !s->out_of_memory;
}

static bool on_lost(void *ctx, uint64_t count)
{
	struct report_section *s = ctx;

	s->lost = count;
	return true;
}

static bool on_throttle(void *ctx, uint64_t time_ns)
{
	struct report_section *s = ctx;

	(void)time_ns;
	s->throttled++;
	return true;
}

static bool on_timed_sample(void *ctx, const struct sample *sample)
{
	struct report_section *s = ctx;

	timeline_add(&s->timeline, sample);
	return true;
}

static unsigned keys_of(enum report_by by)
{
	switch (by) {
	case BY_SYMBOL: return PROFILE_BY_ADDRESS | PROFILE_BY_MODE;
	case BY_VCPU: return PROFILE_BY_THREAD;
	case BY_TIME: return 0;
	case BY_STACK: return PROFILE_BY_ADDRESS | PROFILE_BY_MODE | PROFILE_BY_THREAD;
	}
	return 0;
}

/* A second pass over the file, now that its span is known: cheaper than keeping all times.
 */
static int gather_time(struct report_section *s)
{
	const struct perfdata_visitor visitor = { .sample = on_timed_sample };
	uint64_t first, last;
	int ret;

	profile_span(s->profile, &first, &last);
	/* The recording's own span, so that a VM that was silent at its end shows it. */
	if (s->info && s->info->start_ns <= first && s->info->end_ns > last) {
		first = s->info->start_ns;
		last = s->info->end_ns - 1;
	}
	ret = timeline_init(&s->timeline, first, last, TIME_SLOTS,
			    perfdata_nevents(s->reader));
	if (!ret && first <= last)
		perfdata_walk(s->reader, &visitor, s, NULL, NULL);
	return ret;
}

int report_gather(struct report_section *s, struct err *err)
{
	const unsigned keys = keys_of(s->opt->by);
	const struct perfdata_visitor visitor = {
		.sample = on_sample,
		.mmap = keys & PROFILE_BY_ADDRESS && report_of_host(s) ? on_mmap : NULL,
		.comm = on_comm,
		.lost = on_lost,
		.throttle = on_throttle,
	};
	struct err bad = { 0 };
	int ret = perfdata_open(s->path, &s->reader, err);

	if (ret)
		return ret;
	s->maps.read_files = s->same_machine;
	if (profile_new(keys, perfdata_nevents(s->reader), &s->profile))
		return err_set(err, ENOMEM, "%s: out of memory", s->path);
	s->unfinished = perfdata_unfinished(s->reader);
	if (perfdata_walk(s->reader, &visitor, s, &s->truncated, &bad))
		memcpy(s->problem, bad.text, sizeof(s->problem));
	if (s->lane) {
		s->lost = s->lane->lost > s->lost ? s->lane->lost : s->lost;
		s->throttled = s->lane->throttled > s->throttled ? s->lane->throttled
								 : s->throttled;
	}
	if (s->out_of_memory || (s->opt->by == BY_TIME && gather_time(s)))
		return err_set(err, ENOMEM, "%s: out of memory", s->path);
	return 0;
}

void report_section_free(struct report_section *s)
{
	perfdata_close(s->reader);
	profile_free(s->profile);
	thread_names_free(&s->names);
	timeline_free(&s->timeline);
	maps_free(&s->maps);
	free(s->symtabs.v);
	strbuf_free(&s->symbols);
}
