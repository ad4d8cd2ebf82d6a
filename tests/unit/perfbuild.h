/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PERFBUILD_H
#define TESTS_UNIT_PERFBUILD_H

/*
 * perf.data files made by hand, independently of the writer, so that reader
 * and writer cannot agree on a mistake. Everything is appended to one strbuf.
 */

#include <linux/perf_event.h>
#include <string.h>

#include "base/str.h"
#include "record/perfdata_format.h"

#define BUILD_TYPE                                                                         \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |    \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

static inline void build_u64(struct strbuf *sb, uint64_t v)
{
	strbuf_add(sb, &v, sizeof(v));
}

static inline void build_record(struct strbuf *sb, uint32_t type, uint16_t misc,
				const void *body, size_t len)
{
	struct perf_event_header h = {
		.type = type,
		.misc = misc,
		.size = (uint16_t)(sizeof(h) + len),
	};

	strbuf_add(sb, &h, sizeof(h));
	if (len)
		strbuf_add(sb, body, len);
}

/* A sample of BUILD_TYPE. */
static inline void build_sample(struct strbuf *sb, uint16_t misc, uint64_t id, uint64_t ip,
				uint32_t tid, uint64_t time, uint64_t period)
{
	const uint64_t body[] = {
		id, ip, (uint64_t)tid << 32 | 100, time, 3 /* cpu */, period,
	};

	build_record(sb, PERF_RECORD_SAMPLE, misc, body, sizeof(body));
}

static inline void build_comm(struct strbuf *sb, uint32_t pid, uint32_t tid,
			      const char *name)
{
	char body[8 + 64] = { 0 };
	size_t len = (strlen(name) + 8) & ~(size_t)7;

	memcpy(body, &pid, 4);
	memcpy(body + 4, &tid, 4);
	memcpy(body + 8, name, strlen(name));
	build_record(sb, PERF_RECORD_COMM, 0, body, 8 + len);
}

/* MMAP, or MMAP2 (@two) with an inode and rights before the name. */
static inline void build_mmap(struct strbuf *sb, bool two, uint16_t misc, uint32_t pid,
			      uint64_t addr, uint64_t len, uint64_t offset,
			      const char *file)
{
	uint8_t body[128] = { 0 };
	size_t name = two ? 64 : 32;

	memcpy(body, &pid, 4);
	memcpy(body + 4, &pid, 4);
	memcpy(body + 8, &addr, 8);
	memcpy(body + 16, &len, 8);
	memcpy(body + 24, &offset, 8);
	memset(body + 32, 0xee, name - 32);
	memcpy(body + name, file, strlen(file));
	build_record(sb, two ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP, misc, body,
		     name + ((strlen(file) + 8) & ~(size_t)7));
}

/*
 * Header and events of a file whose records follow; event i has the ids
 * 10 * (i + 1) and 10 * (i + 1) + 1. build_end() enters the data's size.
 */
static inline void build_begin(struct strbuf *sb, const struct perf_event_attr *attrs,
			       size_t n)
{
	struct perfdata_header h = {
		.magic = PERFDATA_MAGIC,
		.size = sizeof(h),
		.attr_size = sizeof(struct perfdata_attr),
		.attrs = { sizeof(h) + 16 * n, n * sizeof(struct perfdata_attr) },
	};

	h.data.offset = h.attrs.offset + h.attrs.size;
	strbuf_add(sb, &h, sizeof(h));
	for (size_t i = 0; i < n; i++) {
		build_u64(sb, 10 * (i + 1));
		build_u64(sb, 10 * (i + 1) + 1);
	}
	for (size_t i = 0; i < n; i++) {
		struct perfdata_attr a = { attrs[i], { sizeof(h) + 16 * i, 16 } };

		strbuf_add(sb, &a, sizeof(a));
	}
}

static inline struct perfdata_header *build_header(struct strbuf *sb)
{
	return (struct perfdata_header *)sb->data;
}

static inline void build_end(struct strbuf *sb)
{
	build_header(sb)->data.size = sb->len - build_header(sb)->data.offset;
}

/* The names of all events as the EVENT_DESC feature; after build_end(). */
static inline void build_names(struct strbuf *sb, const struct perf_event_attr *attrs,
			       const char *const *names, uint32_t n)
{
	uint32_t attr_size = sizeof(struct perf_event_attr), none = 0;
	struct perfdata_section s = { sb->len + sizeof(s), 0 };
	size_t at = sb->len;

	build_header(sb)->features[0] = UINT64_C(1) << FEAT_EVENT_DESC;
	strbuf_add(sb, &s, sizeof(s));
	strbuf_add(sb, &n, 4);
	strbuf_add(sb, &attr_size, 4);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t len = (uint32_t)strlen(names[i]) + 1;

		strbuf_add(sb, &attrs[i], attr_size);
		strbuf_add(sb, &none, 4);
		strbuf_add(sb, &len, 4);
		strbuf_add(sb, names[i], len);
	}
	s.size = sb->len - s.offset;
	memcpy(sb->data + at, &s, sizeof(s));
}

#endif
