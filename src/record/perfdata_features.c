/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The feature sections at the end of a perf.data file: what perf report --header
 * shows. Built in memory, written at once. A fact that is not known, or not
 * true for the view, is left out.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "record/perfdata_write.h"

static void put_u32(struct strbuf *sb, uint32_t v)
{
	strbuf_add(sb, &v, sizeof(v));
}

static void put_u64(struct strbuf *sb, uint64_t v)
{
	strbuf_add(sb, &v, sizeof(v));
}

/* struct perf_header_string: length with padding, then NUL-padded text. */
static void put_string(struct strbuf *sb, const char *s)
{
	static const char zeros[PERFDATA_NAME_ALIGN];
	size_t len = strlen(s) + 1;
	size_t padded =
		(len + PERFDATA_NAME_ALIGN - 1) / PERFDATA_NAME_ALIGN * PERFDATA_NAME_ALIGN;

	put_u32(sb, padded);
	strbuf_add(sb, s, len);
	strbuf_add(sb, zeros, padded - len);
}

static bool hostname(struct strbuf *sb, const struct perfdata_writer *w)
{
	put_string(sb, w->hostname);
	return *w->hostname;
}

static bool osrelease(struct strbuf *sb, const struct perfdata_writer *w)
{
	put_string(sb, w->machine.release);
	return *w->machine.release;
}

static bool version(struct strbuf *sb, const struct perfdata_writer *w)
{
	(void)w;
	put_string(sb, "vmmprof");
	return true;
}

static bool arch(struct strbuf *sb, const struct perfdata_writer *w)
{
	put_string(sb, w->machine.arch);
	return *w->machine.arch;
}

static bool nrcpus(struct strbuf *sb, const struct perfdata_writer *w)
{
	put_u32(sb, w->machine.ncpus); /* available */
	put_u32(sb, w->machine.ncpus); /* online */
	return w->machine.ncpus > 0;
}

static bool cpudesc(struct strbuf *sb, const struct perfdata_writer *w)
{
	put_string(sb, w->machine.cpu_model);
	return *w->machine.cpu_model;
}

static bool cmdline(struct strbuf *sb, const struct perfdata_writer *w)
{
	put_u32(sb, 1);
	put_string(sb, w->cmdline);
	return *w->cmdline;
}

static bool event_desc(struct strbuf *sb, const struct perfdata_writer *w)
{
	put_u32(sb, w->nevents);
	put_u32(sb, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < w->nevents; i++) {
		const struct perfdata_event *ev = &w->events[i];

		strbuf_add(sb, &ev->attr, sizeof(ev->attr));
		put_u32(sb, ev->nids);
		put_string(sb, ev->name);
		strbuf_add(sb, ev->ids, ev->nids * sizeof(*ev->ids));
	}
	return true;
}

/* Ties the records' clock to the wall clock: perf script -F +tod. */
static bool clock_data(struct strbuf *sb, const struct perfdata_writer *w)
{
	put_u32(sb, 1); /* version */
	put_u32(sb, CLOCK_MONOTONIC);
	put_u64(sb, clock_wall_ns());
	put_u64(sb, clock_now_ns());
	return w->nevents && w->events[0].attr.use_clockid &&
	       w->events[0].attr.clockid == CLOCK_MONOTONIC;
}

/* In ascending order of feature, as the sections must stand. */
static const struct {
	enum perfdata_feature feature;
	bool (*put)(struct strbuf *sb, const struct perfdata_writer *w);
} features[] = {
	{ FEAT_HOSTNAME, hostname },	 { FEAT_OSRELEASE, osrelease },
	{ FEAT_VERSION, version },	 { FEAT_ARCH, arch },
	{ FEAT_NRCPUS, nrcpus },	 { FEAT_CPUDESC, cpudesc },
	{ FEAT_CMDLINE, cmdline },	 { FEAT_EVENT_DESC, event_desc },
	{ FEAT_CLOCK_DATA, clock_data },
};

int perfdata_put_features(struct perfdata_writer *w, struct err *err)
{
	struct perfdata_section table[ARRAY_SIZE(features)];
	struct strbuf sb = { 0 };
	uint64_t bits = 0, start;
	size_t n = 0;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		size_t before = sb.len;

		if (!features[i].put(&sb, w)) {
			sb.len = before;
			continue;
		}
		bits |= 1ULL << features[i].feature;
		table[n++] = (struct perfdata_section) { before, sb.len - before };
	}
	start = w->end + n * sizeof(table[0]);
	for (size_t i = 0; i < n; i++)
		table[i].offset += start;
	ret = sb.oom ? err_set(err, ENOMEM, "out of memory") : 0;
	if (!ret)
		ret = perfdata_pwrite(w, sb.data, sb.len, start, err);
	if (!ret)
		ret = perfdata_pwrite(w, table, n * sizeof(table[0]), w->end, err);
	if (!ret) {
		w->features = bits;
		ret = perfdata_put_header(w, err);
	}
	strbuf_free(&sb);
	return ret;
}
