/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading perf.data (linux/tools/perf/Documentation/perf.data-file-format.txt;
 * record layouts: perf_event_open(2)): the header, events, ids and names.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "record/perfdata_reader.h"

#define PIPE_HEADER_SIZE 16 /* struct perf_pipe_file_header */
#define NEVENTS_MAX 1024

static bool inside(const struct perfdata_reader *r, uint64_t offset, uint64_t size)
{
	return offset <= r->size && size <= r->size - offset;
}

ssize_t perfdata_read_some(const struct perfdata_reader *r, uint64_t offset, void *buf,
			   size_t len)
{
	size_t got = 0;

	if (r->fd < 0) {
		got = inside(r, offset, len) ? len : 0;
		if (got)
			memcpy(buf, r->mem + offset, len);
		return got;
	}
	while (got < len) {
		ssize_t n = pread(r->fd, (char *)buf + got, len - got, offset + got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		got += n;
	}
	return got;
}

static int read_exactly(const struct perfdata_reader *r, uint64_t offset, void *buf,
			size_t len, const char *what, struct err *err)
{
	ssize_t n = inside(r, offset, len) ? perfdata_read_some(r, offset, buf, len) : 0;

	if (n < 0)
		return err_set(err, n, "%s: cannot read: %s", r->path, err_name(n));
	if ((size_t)n != len)
		return err_set(err, EINVAL,
			       "%s: malformed: %s (%zu bytes at byte %" PRIu64
			       ") lies outside the file of %" PRIu64 " bytes",
			       r->path, what, len, offset, r->size);
	return 0;
}

static int check_magic(const struct perfdata_reader *r, const struct perfdata_header *h,
		       size_t len, struct err *err)
{
	if (len >= 8 && !memcmp(h, "2ELIFREP", 8))
		return err_set(err, EINVAL,
			       "%s: recorded on a machine of the other byte order; "
			       "read it on a machine like the one that recorded it",
			       r->path);
	if (len >= 8 && !memcmp(h, "PERFFILE", 8))
		return err_set(err, EINVAL,
			       "%s: the first perf.data format, of Linux before 3.7; "
			       "record again with a newer perf",
			       r->path);
	if (len < 8 || memcmp(h, "PERFILE2", 8))
		return err_set(err, EINVAL,
			       "%s: not a perf.data file: expected PERFILE2 at its start%s",
			       r->path, len ? "" : "; it is empty");
	if (len >= PIPE_HEADER_SIZE && h->size == PIPE_HEADER_SIZE)
		return err_set(
			err, EINVAL,
			"%s: written to a pipe (perf record -o -), which this reader "
			"does not take; record to a file: perf record -o FILE",
			r->path);
	if (len < sizeof(*h) || h->size < sizeof(*h))
		return err_set(err, EINVAL,
			       "%s: malformed: its header is shorter than %zu bytes",
			       r->path, sizeof(*h));
	return 0;
}

/* Where an event's samples keep the fields we read (perf_event_open(2)). */
static void lay_out(struct event_slot *e)
{
	uint64_t type = e->attr.sample_type;
	uint16_t off = sizeof(struct perf_event_header);
	struct {
		uint64_t bit;
		uint16_t *where;
	} fields[] = {
		{ PERF_SAMPLE_IDENTIFIER, &e->id }, { PERF_SAMPLE_IP, &e->ip },
		{ PERF_SAMPLE_TID, &e->tid },	    { PERF_SAMPLE_TIME, &e->time },
		{ PERF_SAMPLE_ADDR, NULL },	    { PERF_SAMPLE_ID, &e->id },
		{ PERF_SAMPLE_STREAM_ID, NULL },    { PERF_SAMPLE_CPU, &e->cpu },
		{ PERF_SAMPLE_PERIOD, &e->period },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (!(type & fields[i].bit))
			continue;
		if (fields[i].where && !*fields[i].where)
			*fields[i].where = off;
		off += sizeof(uint64_t);
	}
	e->min_size = off;
	e->fixed_period = e->attr.freq ? 1 : e->attr.sample_period;
}

static int read_ids(struct perfdata_reader *r, uint32_t event,
		    const struct perfdata_section *s, struct err *err)
{
	size_t n = s->size / 8;
	uint64_t *ids;
	int ret;

	/* Sections may overlap in a hostile file: their sum has a bound of its own. */
	if (s->size % 8 || !inside(r, s->offset, s->size) || n > r->max_ids - r->nids)
		return err_set(err, EINVAL,
			       "%s: malformed: event %u's ids (%" PRIu64
			       " bytes at byte %" PRIu64 ") do not fit the file of %" PRIu64
			       " bytes",
			       r->path, event, s->size, s->offset, r->size);
	if (!n)
		return 0;
	ids = malloc(s->size);
	if (!ids)
		return err_set(err, ENOMEM, "%s: out of memory", r->path);
	ret = read_exactly(r, s->offset, ids, s->size, "an event's ids", err);
	if (!ret) {
		struct id_slot *grown = reallocarray(r->ids, r->nids + n, sizeof(*r->ids));

		if (grown) {
			r->ids = grown;
			for (size_t i = 0; i < n; i++)
				r->ids[r->nids++] = (struct id_slot) { ids[i], event };
		} else {
			ret = err_set(err, ENOMEM, "%s: out of memory", r->path);
		}
	}
	free(ids);
	return ret;
}

static int read_attr(struct perfdata_reader *r, uint32_t i, uint64_t offset,
		     size_t entry_size, struct err *err)
{
	struct event_slot *e = &r->events[i];
	size_t attr_size = entry_size - sizeof(struct perfdata_section);
	size_t take = attr_size < sizeof(e->attr) ? attr_size : sizeof(e->attr);
	struct perfdata_section ids;
	int ret;

	ret = read_exactly(r, offset, &e->attr, take, "an event's attributes", err);
	if (!ret)
		ret = read_exactly(r, offset + attr_size, &ids, sizeof(ids),
				   "an event's id section", err);
	if (!ret)
		ret = read_ids(r, i, &ids, err);
	if (ret)
		return ret;
	perfdata_name_attr(&e->attr, e->name, sizeof(e->name));
	lay_out(e);
	if (r->events[0].id != e->id)
		return err_set(
			err, EINVAL,
			"%s: malformed: its events keep their ids at different places "
			"of a sample",
			r->path);
	if (i && !e->id)
		return err_set(
			err, EINVAL,
			"%s: has several events, but its samples do not say which is "
			"theirs (no id in sample_type)",
			r->path);
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	const struct id_slot *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

static int read_attrs(struct perfdata_reader *r, const struct perfdata_section *s,
		      uint64_t entry_size, struct err *err)
{
	const size_t least = PERF_ATTR_SIZE_VER0 + sizeof(struct perfdata_section);
	uint64_t n;

	if (entry_size < least || entry_size > 4096 || s->size % entry_size)
		return err_set(err, EINVAL,
			       "%s: malformed: %" PRIu64 " bytes of events, %" PRIu64
			       " bytes each",
			       r->path, s->size, entry_size);
	n = s->size / entry_size;
	if (!inside(r, s->offset, s->size) || !n || n > NEVENTS_MAX)
		return err_set(err, EINVAL,
			       "%s: malformed: its header tells of %" PRIu64
			       " events at byte %" PRIu64
			       "; expected 1 to %d inside the file",
			       r->path, n, s->offset, NEVENTS_MAX);
	r->events = calloc(n, sizeof(*r->events));
	if (!r->events)
		return err_set(err, ENOMEM, "%s: out of memory", r->path);
	r->nevents = n;
	r->max_ids = r->size / 8;
	for (uint32_t i = 0; i < n; i++) {
		int ret = read_attr(r, i, s->offset + i * entry_size, entry_size, err);

		if (ret)
			return ret;
	}
	if (r->nids)
		qsort(r->ids, r->nids, sizeof(*r->ids), compare_ids);
	return 0;
}

/*
 * Names of the EVENT_DESC feature: u32 events, u32 size of an attr, then per
 * event the attr, u32 ids, u32 length and text of the name, the ids. Names are
 * a help, so a section that makes no sense leaves the made ones.
 */
static void take_names(struct perfdata_reader *r, const uint8_t *p, size_t len)
{
	size_t attr_size, pos = 8;
	uint32_t n;

	if (len < pos)
		return;
	n = get32(p);
	attr_size = get32(p + 4);
	if (n > r->nevents || attr_size < PERF_ATTR_SIZE_VER0)
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct event_slot *e = &r->events[i];
		uint64_t nids, name_len;
		const char *name;

		if (len - pos < attr_size + 8)
			return;
		nids = get32(p + pos + attr_size);
		name_len = get32(p + pos + attr_size + 4);
		name = (const char *)p + pos + attr_size + 8;
		if (name_len > len - pos - attr_size - 8 ||
		    nids * 8 > len - pos - attr_size - 8 - name_len)
			return;
		if (get32(p + pos) == e->attr.type &&
		    get64(p + pos + 8) == e->attr.config && memchr(name, '\0', name_len) &&
		    *name) {
			str_copy(e->name, sizeof(e->name), name);
			str_clean(e->name);
		}
		pos += attr_size + 8 + name_len + nids * 8;
	}
}

static void read_names(struct perfdata_reader *r, uint64_t features)
{
	uint64_t entry = r->data.offset + r->data.size;
	struct perfdata_section s;
	uint8_t *p;

	if (!(features & (UINT64_C(1) << FEAT_EVENT_DESC)))
		return;
	features &= (UINT64_C(1) << FEAT_EVENT_DESC) - 1;
	entry += sizeof(s) * __builtin_popcountll(features);
	if (read_exactly(r, entry, &s, sizeof(s), "", NULL) || s.size > 1 << 24 ||
	    !inside(r, s.offset, s.size))
		return;
	p = malloc(s.size ? s.size : 1);
	if (p && !read_exactly(r, s.offset, p, s.size, "", NULL))
		take_names(r, p, s.size);
	free(p);
}

/*
 * A size of 0 is also what a file ends with to which nothing happened. Then the
 * table of features stands where the data would start, and tells where its own
 * end is: there the first feature begins.
 */
static bool ended_empty(const struct perfdata_reader *r, uint64_t features)
{
	uint64_t table = sizeof(struct perfdata_section) * __builtin_popcountll(features);
	struct perfdata_section first;

	return table && !read_exactly(r, r->data.offset, &first, sizeof(first), "", NULL) &&
	       first.offset == r->data.offset + table;
}

static int read_header(struct perfdata_reader *r, struct err *err)
{
	struct perfdata_header h = { 0 };
	size_t len = r->size < sizeof(h) ? r->size : sizeof(h);
	int ret;

	ret = read_exactly(r, 0, &h, len, "the header", err);
	if (!ret)
		ret = check_magic(r, &h, len, err);
	if (ret)
		return ret;
	r->data = h.data;
	ret = read_attrs(r, &h.attrs, h.attr_size, err);
	if (ret)
		return ret;
	if (r->data.offset > r->size || r->data.size > UINT64_MAX - r->data.offset)
		return err_set(err, EINVAL,
			       "%s: malformed: its data start at byte %" PRIu64
			       ", beyond its end at %" PRIu64,
			       r->path, r->data.offset, r->size);
	/* perf fills in the size when it ends; until then the data run to the end. */
	r->unfinished = r->data.size == 0 && !ended_empty(r, h.features[0]);
	if (r->unfinished)
		r->data.size = r->size - r->data.offset;
	else if (inside(r, r->data.offset, r->data.size))
		read_names(r, h.features[0]);
	return 0;
}

static int open_reader(struct perfdata_reader *r, struct perfdata_reader **out,
		       struct err *err)
{
	int ret = r->path ? read_header(r, err)
			  : err_set(err, ENOMEM, "perf.data: out of memory");

	if (ret) {
		perfdata_close(r);
		return ret;
	}
	*out = r;
	return 0;
}

int perfdata_open(const char *path, struct perfdata_reader **out, struct err *err)
{
	struct perfdata_reader *r;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return err_set(err, errno, "%s: cannot open: %s", path, err_name(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(err, EINVAL,
			       "%s: not a regular file; expected a perf.data file", path);
	}
	r = calloc(1, sizeof(*r));
	if (!r) {
		close(fd);
		return err_set(err, ENOMEM, "%s: out of memory", path);
	}
	r->path = strdup(path);
	r->fd = fd;
	r->size = st.st_size;
	return open_reader(r, out, err);
}

int perfdata_open_memory(const void *data, size_t size, struct perfdata_reader **out,
			 struct err *err)
{
	struct perfdata_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return err_set(err, ENOMEM, "perf.data: out of memory");
	r->path = strdup("perf.data in memory");
	r->fd = -1;
	r->mem = data;
	r->size = size;
	return open_reader(r, out, err);
}

size_t perfdata_nevents(const struct perfdata_reader *r)
{
	return r->nevents;
}

const struct perf_event_attr *perfdata_attr(const struct perfdata_reader *r, size_t i)
{
	return &r->events[i].attr;
}

const char *perfdata_event_name(const struct perfdata_reader *r, size_t i)
{
	return r->events[i].name;
}

bool perfdata_unfinished(const struct perfdata_reader *r)
{
	return r->unfinished;
}

void perfdata_close(struct perfdata_reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	free(r->path);
	free(r->events);
	free(r->ids);
	free(r->window);
	free(r);
}
